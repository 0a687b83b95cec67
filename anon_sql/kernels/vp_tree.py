"""Partition by a VP-tree: a cut has rows near a vantage point on one side.

Make one cut of a VP-tree: a vantage point, a radius, and the rows on either side. Sources: CANON,
figure 3; RAYDEN, algorithm 1. Departure: the pseudo-code splits until a set is smaller than k,
which is never legal; a cut is allowed only if both sides keep k rows, as the papers' text says.

Partition by a VP-tree: rows near a vantage point on one side of a cut, the others on the other.
Sources: CANON, figure 3; RAYDEN, algorithm 1. The paper's merging of sets below k has nothing to
do, since no cut makes any.
"""

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.distance import draw, draw_below, key, keys_to, measure_of
from anon_sql.kernels.kernel import Runner, kernel
from anon_sql.kernels.sides import Leaves

VANTAGES = ("random", "max_spread", "farthest")
CUTS = ("balanced", "median", "aligned")
MAX_SPREAD, FARTHEST = 1, 2
MEDIAN, ALIGNED = 1, 2

CANDIDATES, SAMPLE = 6, 24  # of max_spread; doubling both gains 1 % of GCP for twice the time

CHILDREN = 2  # numbers of a node's stream that seed its sides; its draws follow
PER_TRY = 64  # numbers of the stream reserved for one try, more than CANDIDATES + SAMPLE


@kernel(borrows=True)
def nth(keys, n):
    """Return the n-th smallest key, counted from 0; reorders keys."""
    low, high = 0, keys.size - 1
    while low < high:
        a, b, c = keys[low], keys[(low + high) >> 1], keys[high]
        pivot = max(min(a, b), min(max(a, b), c))
        less = low
        for i in range(low, high + 1):  # no branch on the data: always swap, sometimes advance
            value = keys[i]
            keys[i] = keys[less]
            keys[less] = value
            less += value < pivot
        if n < less:
            high = less - 1
            continue
        same = less
        for i in range(less, high + 1):
            value = keys[i]
            keys[i] = keys[same]
            keys[same] = value
            same += value == pivot
        if n < same:
            return pivot
        low = same
    return keys[n]


@kernel
def vantage_point(points, rows, measure, vantage, seed, first):
    """Return the row to measure from; draws from the node's stream at ``first`` and after.

    random: as in the papers. farthest: the row farthest from a random row. max_spread (Yianilos
    1993): of a few candidates the one whose distances to a sample vary most.
    """
    m = rows.size
    chosen = rows[draw_below(seed, first, m)]
    if vantage == FARTHEST:
        origin, most = chosen, np.int64(-1)
        for at in range(m):
            distance = key(points, rows[at], origin, measure)
            if distance > most:
                chosen, most = rows[at], distance
    if vantage == MAX_SPREAD:
        widest = -1.0
        for c in range(CANDIDATES):
            candidate = rows[draw_below(seed, first + c, m)]
            total = squares = 0.0
            for s in range(SAMPLE):
                other = rows[draw_below(seed, first + CANDIDATES + s, m)]
                distance = float(key(points, candidate, other, measure))
                total += distance
                squares += distance * distance
            spread = squares - total * total / SAMPLE
            if spread > widest:
                chosen, widest = candidate, spread
    return chosen


@kernel
def cut_node(points, rows, k, rule, seed, scratch):
    """Bring the near rows to the front, both sides ascending; return their number.

    Returns 0 where no cut leaves k rows on both sides. rule: (measure, vantage, cut, tries).
    """
    measure, vantage, cut, tries = rule
    keys, work, buffer = scratch
    m = rows.size
    if m < 2 * k:
        return 0
    keys, work = keys[:m], work[:m]
    rank = k * (m // k // 2) if cut == ALIGNED else (m + 1) // 2
    for attempt in range(tries):
        v = vantage_point(points, rows, measure, vantage, seed, CHILDREN + attempt * PER_TRY)
        keys_to(points, rows, v, measure, keys)
        for at in range(m):
            work[at] = keys[at]
        edge = nth(work, rank - 1)
        below = tied = 0
        for at in range(m):
            below += keys[at] < edge
            tied += keys[at] == edge
        # d <= median holds for the same rows whether m is odd or even: those up to the lower
        # middle one, with all its ties
        ties = tied if cut == MEDIAN else rank - below
        if m - below - ties < k:
            continue
        near = far = 0
        for at in range(m):
            row, distance = rows[at], keys[at]
            tie = distance == edge
            is_near = (distance < edge) | (tie & (ties > 0))
            ties -= tie
            rows[near] = row
            buffer[far] = row
            near += is_near
            far += not is_near
        for at in range(far):
            rows[near + at] = buffer[at]
        return near
    return 0


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
    uncut: set[Node] = set()  # nodes of more than JOB rows that no cut divides
    while todo := [node for node in nodes if node[1] - node[0] > JOB and node not in uncut]:
        jobs = [(points, order[a:b], k, rule, np.uint64(stream)) for a, b, stream in todo]
        near = dict(zip(todo, workers.map(cut_top, jobs, [b - a for a, b, _ in todo]), strict=True))
        uncut.update(node for node in todo if near[node] == 0)
        nodes = [side for node in nodes for side in sides(node, near.get(node, 0))]
    below = [node for node in nodes if node not in uncut]
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
