"""Partition by a VP-tree: rows near a vantage point on one side of a cut, the others on the other.

Sources: CANON, figure 3; RAYDEN, algorithm 1. The paper's merging of sets below k has nothing to
do, since no cut makes any.
"""

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss.distance import draw, measure_of
from anon_sql.kernels.runner import Runner
from anon_sql.kernels.tree.leaf_order import Leaves
from anon_sql.kernels.tree.vp_cut import CUTS, VANTAGES, cut_node

CACHED = 4096  # rows copied together before they are cut further, to fit in the L2 cache
JOB = 1 << 17  # rows in the subtree of one job, some .1 s

Node = tuple[int, int, int]  # first row, end, seed: a range of the order


@kernel
def grow(points, rows, stop, k, rule, seed, scratch, starts, seeds):
    """Cut sets of more than ``stop`` rows where a cut is allowed; return the number of sets.

    Writes where each set begins in ``rows`` into starts, and the seed of its node into seeds, near
    side first.
    """
    low, high = np.empty(rows.size // k + 2, np.int64), np.empty(rows.size // k + 2, np.int64)
    stream = np.empty(rows.size // k + 2, np.uint64)
    low[0], high[0], stream[0] = 0, rows.size, seed
    depth, count = 1, 0
    while depth:
        depth -= 1
        a, b, own = low[depth], high[depth], stream[depth]
        near = cut_node(points, rows[a:b], k, rule, own, scratch) if b - a > stop else 0
        if near == 0:
            starts[count], seeds[count] = a, own
            count += 1
            continue
        low[depth], high[depth], stream[depth] = a + near, b, draw(own, np.uint64(1))
        low[depth + 1], high[depth + 1], stream[depth + 1] = a, a + near, draw(own, np.uint64(0))
        depth += 2
    return count


@kernel
def subtree(points, rows, k, rule, seed):
    """Reorder rows int32[m] of a node and return where each leaf below it begins, int64[…]."""
    m, most = rows.size, rows.size // k + 1
    scratch = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int32)
    blocks, seeds = np.empty(most, np.int64), np.empty(most, np.uint64)
    starts, inner, unused = np.empty(most, np.int64), np.empty(most, np.int64), seeds.copy()
    size = min(m, CACHED)
    near_by, place = np.empty((size, points.shape[1])), np.empty(size, np.int32)
    found = grow(points, rows, np.int64(CACHED), k, rule, seed, scratch, blocks, seeds)
    count = 0
    for block in range(found):
        a = blocks[block]
        b = blocks[block + 1] if block + 1 < found else m
        if b - a > CACHED or b - a < 2 * k:
            starts[count] = a
            count += 1
            continue
        own = rows[a:b].copy()
        for at in range(own.size):
            place[at] = at
            for c in range(points.shape[1]):
                near_by[at, c] = points[own[at], c]
        here = place[: own.size]
        leaves = grow(near_by, here, 2 * k - 1, k, rule, seeds[block], scratch, inner, unused)
        for at in range(own.size):
            rows[a + at] = own[here[at]]
        for leaf in range(leaves):
            starts[count] = a + inner[leaf]
            count += 1
    return starts[:count]


@kernel
def cut_top(points, rows, k, rule, seed):
    """Call ``cut_node`` with scratch space of its own."""
    m = rows.size
    scratch = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int32)
    return cut_node(points, rows, k, rule, seed, scratch)


def vp_partition(
    points: npt.NDArray[np.float64],
    k: int,
    *,
    metric: str,
    vantage: str = "random",
    cut: str = "balanced",
    tries: int = 1,
    seed: int = 0,
    weights: npt.NDArray[np.float64] | None = None,
    workers: Runner,
) -> Leaves:
    """Return a partition into leaves of at least k rows (CANON figure 3, RAYDEN algorithm 1).

    points: float64[n, d], rows in canonical order; the lower position wins a tie. cut: 'balanced'
    at the middle rank (leaves of k to 2k - 1 rows), 'aligned' at the rank that gives nearly all
    leaves k rows, 'median' at the median distance with its ties (the papers). With 'median' a node
    tries up to ``tries`` vantage points before it becomes a leaf. weights: float64[d], of the
    columns; None for 1 each. The result depends on the seed, not on the number of threads.
    """
    n = len(points)
    points = np.ascontiguousarray(points, dtype=np.float64)
    measure = measure_of(metric, points.shape[1], weights)
    rule = (measure, VANTAGES.index(vantage), CUTS.index(cut), max(1, tries))
    order = np.arange(n, dtype=np.int32)
    nodes: list[Node] = [(0, n, draw(np.uint64(seed % 2**64), np.uint64(0)))]
    whole: set[Node] = set()  # nodes of more than JOB rows that no cut divides
    while todo := [node for node in nodes if node[1] - node[0] > JOB and node not in whole]:
        jobs = [(points, order[a:b], k, rule, np.uint64(stream)) for a, b, stream in todo]
        near = dict(zip(todo, workers.map(cut_top, jobs, [b - a for a, b, _ in todo]), strict=True))
        whole.update(node for node in todo if near[node] == 0)
        nodes = [side for node in nodes for side in sides(node, near.get(node, 0))]
    below = [node for node in nodes if node not in whole]
    jobs = [(points, order[a:b], k, rule, np.uint64(stream)) for a, b, stream in below]
    found = dict(zip(below, workers.map(subtree, jobs, [b - a for a, b, _ in below]), strict=True))
    starts = [node[0] + found.get(node, np.zeros(1, np.int64)) for node in nodes]
    return Leaves(order, np.concatenate([*starts, [n]]).astype(np.int64))


def sides(node: Node, near: int) -> list[Node]:
    """Return the two sides of a cut node, near side first; the node itself where ``near`` is 0."""
    a, b, stream = node
    if near == 0:
        return [node]
    seeds = [draw(np.uint64(stream), np.uint64(side)) for side in (0, 1)]
    return [(a, a + near, seeds[0]), (a + near, b, seeds[1])]
