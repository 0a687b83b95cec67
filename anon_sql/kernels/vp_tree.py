"""Partition by a VP-tree: rows near a vantage point on one side of a cut, the others on the other.

Sources: CANON, section VI and figure 3; RAYDEN, "VP-Tree Partitioning Phase" and algorithm 1. In
the papers' words, v is the vantage point, d(v, r) the distance of row r from it, and the radius μ
is the median of these distances. The near side has d(v, r) <= μ, the far side d(v, r) > μ.

Departure: the pseudo-code splits until a set is smaller than k, which is never legal. Here a cut is
allowed only if both sides keep k rows, as the papers' text says. The papers merge sets below k; no
cut makes such a set.
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
    """Return the n-th smallest key (quickselect).

    keys: int64[m] or another number, which is put in another order.
    n: int, from 0 to m - 1.
    """
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
def vantage_point(points, rows, measure, vantage, seed, counter):
    """Return the vantage point v, a row of ``rows``; draws numbers from ``counter`` on.

    points: float64[n, d], the points of the rows in each column.
    rows: int32[m], rows of the node.
    measure: (metric, weights), as ``measure_of`` returns it.
    vantage: int, 0 random, as in the papers; FARTHEST from a random row; MAX_SPREAD (Yianilos
        1993): of CANDIDATES rows the one whose distances to SAMPLE other rows vary most.
    seed: uint64, seed of the node's stream of random numbers.
    counter: int, first number of the node's stream that is used.
    """
    m = rows.size
    chosen = rows[draw_below(seed, counter, m)]
    if vantage == FARTHEST:
        origin, farthest = chosen, np.int64(-1)
        for position in range(m):
            distance = key(points, rows[position], origin, measure)
            if distance > farthest:
                chosen, farthest = rows[position], distance
    if vantage == MAX_SPREAD:
        widest = -1.0
        for c in range(CANDIDATES):
            candidate = rows[draw_below(seed, counter + c, m)]
            total = squares = 0.0
            for s in range(SAMPLE):
                other = rows[draw_below(seed, counter + CANDIDATES + s, m)]
                distance = float(key(points, candidate, other, measure))
                total += distance
                squares += distance * distance
            spread = squares - total * total / SAMPLE
            if spread > widest:
                chosen, widest = candidate, spread
    return chosen


@kernel
def cut_node(points, rows, k, rule, seed, scratch):
    """Bring the near rows to the front, both sides ascending; return their number, 0 without a cut.

    A cut is allowed if k rows are on both sides. Ties at the radius mu are near if the cut is
    MEDIAN; else as many of them as fill the near side, in order of position.

    points: float64[n, d], the points of the rows in each column.
    rows: int32[m], rows of the node; they are put in another order.
    k: int, least rows of a class.
    rule: (measure, vantage, cut, tries), as in ``vp_partition``; vantage and cut as numbers.
    seed: uint64, seed of the node's stream of random numbers.
    scratch: int64[m], int64[m], int32[m], or longer.
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
        for position in range(m):
            work[position] = keys[position]
        mu = nth(work, rank - 1)
        below = tied = 0
        for position in range(m):
            below += keys[position] < mu
            tied += keys[position] == mu
        # d <= mu holds for the same rows whether m is odd or even: those up to the lower
        # middle one, with all its ties
        ties = tied if cut == MEDIAN else rank - below
        if m - below - ties < k:
            continue
        near = far = 0
        for position in range(m):
            row, distance = rows[position], keys[position]
            tie = distance == mu
            is_near = (distance < mu) | (tie & (ties > 0))
            ties -= tie
            rows[near] = row
            buffer[far] = row
            near += is_near
            far += not is_near
        for position in range(far):
            rows[near + position] = buffer[position]
        return near
    return 0


CACHED_ROWS = 4096  # copied together before they are cut further, to fit in the L2 cache
JOB_ROWS = 1 << 17  # in the subtree of one job, some .1 s

Node = tuple[int, int, int]  # first row, end, seed: a range of the order


@kernel
def grow(points, rows, stop, k, rule, seed, scratch, starts, seeds):
    """Cut sets of more than ``stop`` rows while a cut is allowed; return the number of sets.

    points: float64[n, d], the points of the rows in each column.
    rows: int32[m]; they are put in the order of the sets, near side first.
    stop: int64, rows of a set that is not cut.
    k: int, least rows of a class.
    rule: (measure, vantage, cut, tries), as in ``vp_partition``; vantage and cut as numbers.
    seed: uint64, of the root.
    scratch: as in ``cut_node``.
    starts: int64[m // k + 1], written: where each set begins in ``rows``.
    seeds: uint64[m // k + 1], written: the seed of each set's node.
    """
    first, last = np.empty(rows.size // k + 2, np.int64), np.empty(rows.size // k + 2, np.int64)
    stream = np.empty(rows.size // k + 2, np.uint64)
    first[0], last[0], stream[0] = 0, rows.size, seed
    depth, count = 1, 0
    while depth:
        depth -= 1
        begin, end, node_seed = first[depth], last[depth], stream[depth]
        near = (
            cut_node(points, rows[begin:end], k, rule, node_seed, scratch)
            if end - begin > stop
            else 0
        )
        if near == 0:
            starts[count], seeds[count] = begin, node_seed
            count += 1
            continue
        first[depth], last[depth], stream[depth] = begin + near, end, draw(node_seed, np.uint64(1))
        first[depth + 1], last[depth + 1], stream[depth + 1] = (
            begin,
            begin + near,
            draw(node_seed, np.uint64(0)),
        )
        depth += 2
    return count


@kernel
def subtree(points, rows, k, rule, seed):
    """Put the rows of a node in the order of its leaves; return where each begins, int64[leaves].

    Blocks of CACHED_ROWS rows are copied together before they are cut further.

    points: float64[n, d], the points of the rows in each column.
    rows: int32[m], rows of the node; they are put in another order.
    k: int, least rows of a class.
    rule: (measure, vantage, cut, tries), as in ``vp_partition``; vantage and cut as numbers.
    seed: uint64, seed of the node's stream of random numbers.
    """
    m, max_leaves = rows.size, rows.size // k + 1
    scratch = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int32)
    blocks, seeds = np.empty(max_leaves, np.int64), np.empty(max_leaves, np.uint64)
    starts, inner, unused = (
        np.empty(max_leaves, np.int64),
        np.empty(max_leaves, np.int64),
        seeds.copy(),
    )
    size = min(m, CACHED_ROWS)
    local_points, positions = np.empty((size, points.shape[1])), np.empty(size, np.int32)
    block_count = grow(points, rows, np.int64(CACHED_ROWS), k, rule, seed, scratch, blocks, seeds)
    count = 0
    for block in range(block_count):
        begin = blocks[block]
        end = blocks[block + 1] if block + 1 < block_count else m
        if end - begin > CACHED_ROWS or end - begin < 2 * k:
            starts[count] = begin
            count += 1
            continue
        block_rows = rows[begin:end].copy()
        for position in range(block_rows.size):
            positions[position] = position
            for c in range(points.shape[1]):
                local_points[position, c] = points[block_rows[position], c]
        local_rows = positions[: block_rows.size]
        leaves = grow(
            local_points, local_rows, 2 * k - 1, k, rule, seeds[block], scratch, inner, unused
        )
        for position in range(block_rows.size):
            rows[begin + position] = block_rows[local_rows[position]]
        for leaf in range(leaves):
            starts[count] = begin + inner[leaf]
            count += 1
    return starts[:count]


@kernel
def cut_top(points, rows, k, rule, seed):
    """Cut one node as ``cut_node`` does, with scratch of its own; return the number of near rows.

    points: float64[n, d], the points of the rows in each column.
    rows: int32[m], rows of the node; they are put in another order.
    k: int, least rows of a class.
    rule: (measure, vantage, cut, tries), as in ``vp_partition``; vantage and cut as numbers.
    seed: uint64, seed of the node's stream of random numbers.
    """
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

    The result depends on the seed, not on the number of threads.

    points: float64[n, d], rows in canonical order; the lower position wins a tie.
    k: least rows of a leaf.
    metric: 'gower' or 'euclid'.
    vantage: how the vantage point is chosen, see ``vantage_point``.
    cut: 'balanced' at the middle rank (leaves of k to 2k - 1 rows), 'aligned' at the rank that
        gives nearly all leaves k rows, 'median' at the median distance with its ties (the papers).
    tries: vantage points that are tried with 'median' before a node becomes a leaf.
    seed: any int.
    weights: float64[d], of the columns; None for 1 each.
    workers: runs the subtrees.
    """
    n = len(points)
    points = np.ascontiguousarray(points, dtype=np.float64)
    measure = measure_of(metric, points.shape[1], weights)
    rule = (measure, VANTAGES.index(vantage), CUTS.index(cut), max(1, tries))
    order = np.arange(n, dtype=np.int32)
    nodes: list[Node] = [(0, n, draw(np.uint64(seed % 2**64), np.uint64(0)))]
    uncut: set[Node] = set()  # nodes of more than JOB_ROWS rows that no cut divides
    while todo := [node for node in nodes if node[1] - node[0] > JOB_ROWS and node not in uncut]:
        jobs = [
            (points, order[begin:end], k, rule, np.uint64(stream)) for begin, end, stream in todo
        ]
        near = dict(
            zip(
                todo,
                workers.map(cut_top, jobs, [end - begin for begin, end, _ in todo]),
                strict=True,
            )
        )
        uncut.update(node for node in todo if near[node] == 0)
        nodes = [side for node in nodes for side in sides(node, near.get(node, 0))]
    subtrees = [node for node in nodes if node not in uncut]
    jobs = [
        (points, order[begin:end], k, rule, np.uint64(stream)) for begin, end, stream in subtrees
    ]
    leaf_starts = dict(
        zip(
            subtrees,
            workers.map(subtree, jobs, [end - begin for begin, end, _ in subtrees]),
            strict=True,
        )
    )
    starts = [node[0] + leaf_starts.get(node, np.zeros(1, np.int64)) for node in nodes]
    return Leaves(order, np.concatenate([*starts, [n]]).astype(np.int64))


def sides(node: Node, near: int) -> list[Node]:
    """Return the two sides of a node, near side first, or the node itself.

    node: (first row, end, seed).
    near: rows of the near side; 0 for a node that is not cut.
    """
    begin, end, stream = node
    if near == 0:
        return [node]
    seeds = [draw(np.uint64(stream), np.uint64(side)) for side in (0, 1)]
    return [(begin, begin + near, seeds[0]), (begin + near, end, seeds[1])]
