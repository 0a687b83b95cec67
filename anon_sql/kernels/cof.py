"""Score every row within its leaf by the connectivity-based outlier factor (COF).

Sources: Tang et al. 2002; Haruna et al. 2026 (RAYDEN), "Outlier Handling Phase" and algorithm 2,
with another path and other weights (``variant``). COF(r) is the average chaining distance
ac-dist(r) of a row over the mean of its neighbours' ac-dist.

Costs are ac-dist in units of 1e-9 / (k(k + 1) / 2): whole numbers, which float64 adds exactly. The
unit cancels in the ratio.
"""

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.distance import key, measure_of
from anon_sql.kernels.kernel import Runner, kernel
from anon_sql.kernels.sides import Leaves

VARIANTS = ("rayden", "tang", "pyod")
RAYDEN, TANG = 0, 1


@kernel
def nearest(keys, position, k, members, reach):
    """Write a row's position and its k nearest others, by (key, position), into ``members``.

    keys: int64[m], distance keys from the row to each row of the leaf.
    position: int, the row's position in the leaf.
    k: int, neighbours, less than m.
    members: int32[k + 1], written, the row itself first.
    reach: int64[k], scratch.
    """
    members[0] = position
    count = 0
    for other in range(keys.size):
        distance = keys[other]
        if other == position or (count == k and distance >= reach[k - 1]):
            continue  # at equal distance the lower position is already in
        slot = min(count, k - 1)
        count = slot + 1
        while slot > 0 and reach[slot - 1] > distance:
            reach[slot] = reach[slot - 1]
            members[slot + 1] = members[slot]
            slot -= 1
        reach[slot] = distance
        members[slot + 1] = other


@kernel
def path_cost(between, members, variant, distance_to_set, waiting):
    """Return ac-dist of members[0] over its neighbours, in the module's unit.

    - rayden: from each neighbour to the next farther one, later steps weigh more (RAYDEN, "Outlier
      Handling Phase").
    - tang: from the set of rows reached to the nearest neighbour outside, earlier steps weigh more
      (Tang et al. 2002).
    - pyod: neighbours by distance, each from the nearest one before it (PyOD's implementation).

    between: int64[., .], distance keys between members.
    members: int32[k + 1], positions in ``between``: r(0), the row itself, to r(k), by distance.
    variant: int, index in VARIANTS.
    distance_to_set: int64[k], scratch.
    waiting: int32[k], scratch.
    """
    k = members.size - 1
    cost = 0.0
    if variant == RAYDEN:
        for step in range(1, k + 1):
            cost += float(step) * float(between[members[step], members[step - 1]])
        return cost
    if variant == TANG:
        for i in range(k):
            waiting[i] = members[i + 1]
            distance_to_set[i] = between[members[0], members[i + 1]]
        for step in range(1, k + 1):
            left = k + 1 - step
            best = 0
            for i in range(1, left):
                closer = distance_to_set[i] < distance_to_set[best]
                if closer or (
                    distance_to_set[i] == distance_to_set[best] and waiting[i] < waiting[best]
                ):
                    best = i
            cost += float(left) * float(distance_to_set[best])
            nearest_member = waiting[best]
            waiting[best], distance_to_set[best] = waiting[left - 1], distance_to_set[left - 1]
            for i in range(left - 1):
                distance_to_set[i] = min(distance_to_set[i], between[nearest_member, waiting[i]])
        return cost
    for step in range(1, k + 1):
        shortest = between[members[step], members[0]]
        for earlier in range(1, step):
            shortest = min(shortest, between[members[step], members[earlier]])
        cost += float(k + 1 - step) * float(shortest)
    return cost


@kernel
def factors(costs, neighbours, first, out):
    """Write the COF of some rows into ``out``: k times the row's cost over its neighbours' costs.

    0/0 is 1.

    costs: float64[m], of each row of a leaf, from ``path_cost``.
    neighbours: int32[r, 1 + k], positions of r rows, each first, and of their neighbours.
    first: int, position in ``out`` of the first of these rows.
    out: float64[m], written from ``first`` on.
    """
    k = neighbours.shape[1] - 1
    for r in range(neighbours.shape[0]):
        neighbour_cost = 0.0
        for step in range(1, k + 1):
            neighbour_cost += costs[neighbours[r, step]]
        cost = costs[neighbours[r, 0]]
        if neighbour_cost > 0.0:
            out[first + r] = k * cost / neighbour_cost
        else:
            out[first + r] = np.inf if cost > 0.0 else 1.0


MATRIX_ROWS = 2048  # of a leaf whose distances are all held at once, at most (32 MB)
JOB_DISTANCES = 1 << 21  # in a job, under .3 s even with paths of 100 neighbours
TOLERANCE = 1e-9  # relative; a score this near the threshold is not above it


@kernel
def score_leaves(points, order, starts, chosen, k, measure, variant, scores):
    """Write the COF of the rows of the chosen leaves into ``scores``.

    points: float64[n, d], the points of the rows in each column.
    order: int32[n], rows leaf by leaf.
    starts: int64[leaves + 1], where each leaf begins in ``order``.
    chosen: int64[…], leaves of at most MATRIX_ROWS rows.
    k: int, neighbours, or all others in a smaller leaf.
    measure: (metric, weights), as ``measure_of`` returns it.
    variant: int, index in VARIANTS.
    scores: float64[n], written.
    """
    widest = 1
    for leaf in chosen:
        widest = max(widest, starts[leaf + 1] - starts[leaf])
    reach = np.empty(min(k, widest), np.int64)
    gap, waiting = np.empty_like(reach), np.empty(reach.size, np.int32)
    square, costs = np.empty(widest * widest, np.int64), np.empty(widest)
    paths, leaf_scores = np.empty(widest * (reach.size + 1), np.int32), np.empty(widest)
    for leaf in chosen:
        rows = order[starts[leaf] : starts[leaf + 1]]
        m = rows.size
        near = min(k, m - 1)
        if near == 0:
            scores[rows[0]] = 1.0
            continue
        between = square[: m * m].reshape(m, m)
        for i in range(m):
            between[i, i] = 0
            for j in range(i):
                between[i, j] = between[j, i] = key(points, rows[i], rows[j], measure)
        members = paths[: m * (near + 1)].reshape(m, near + 1)
        for r in range(m):
            nearest(between[r], r, near, members[r], reach)
            costs[r] = path_cost(between, members[r], variant, gap, waiting)
        factors(costs, members, 0, leaf_scores)
        for r in range(m):
            scores[rows[r]] = leaf_scores[r]


@kernel
def walk(points, rows, first, end, k, measure, variant):
    """Return cost float64[r] and path int32[r, 1 + k] of positions first … end - 1 of one leaf.

    For leaves whose distances do not fit in memory at once.

    points: float64[n, d], the points of the rows in each column.
    rows: int32[m], rows of the leaf.
    first, end: int, positions in ``rows``; r is end - first.
    k: int, neighbours, less than m.
    measure: (metric, weights), as ``measure_of`` returns it.
    variant: int, index in VARIANTS.
    """
    keys, reach = np.empty(rows.size, np.int64), np.empty(k, np.int64)
    gap, waiting = np.empty(k, np.int64), np.empty(k, np.int32)
    between, local = np.zeros((k + 1, k + 1), np.int64), np.zeros(k + 1, np.int32)
    costs, members = np.empty(end - first), np.empty((end - first, k + 1), np.int32)
    for r in range(first, end):
        for position in range(rows.size):
            keys[position] = key(points, rows[position], rows[r], measure)
        path = members[r - first]
        nearest(keys, r, k, path, reach)
        # numbered in order of position, the neighbours keep the tie rule
        local[1:] = np.searchsorted(np.sort(path[1:]), path[1:]) + 1
        for a in range(1, k + 1):
            for b in range(a - 1 if variant == RAYDEN else 0, a):
                distance = key(points, rows[path[a]], rows[path[b]], measure)
                between[local[a], local[b]] = between[local[b], local[a]] = distance
        costs[r - first] = path_cost(between, local, variant, gap, waiting)
    return costs, members


def cof_score(
    points: npt.NDArray[np.float64],
    leaves: Leaves,
    k: int,
    *,
    metric: str,
    variant: str,
    weights: npt.NDArray[np.float64] | None = None,
    workers: Runner,
) -> npt.NDArray[np.float64]:
    """Return the COF of every row within its leaf, float64[n]; about 1 for an ordinary row.

    The score is infinite if a row lies apart from neighbours that all coincide. Time grows with the
    square of a leaf's rows.

    points: float64[n, d] in canonical order.
    leaves: the partition.
    k: neighbours, or all others in a smaller leaf.
    metric: 'gower' or 'euclid'.
    variant: 'rayden', 'tang' (the original) or 'pyod'.
    weights: float64[d], of the columns; None for 1 each.
    workers: runs the leaves.
    """
    points = np.ascontiguousarray(points, dtype=np.float64)
    how = measure_of(metric, points.shape[1], weights), VARIANTS.index(variant)
    scores = np.ones(len(points))
    sizes = np.diff(leaves.starts)
    small = np.flatnonzero(sizes <= MATRIX_ROWS)
    work = np.cumsum(sizes[small] ** 2)
    parts = (
        np.split(small, np.flatnonzero(np.diff(work // JOB_DISTANCES)) + 1) if len(small) else []
    )
    jobs = [(points, leaves.order, leaves.starts, part, k, *how, scores) for part in parts]
    workers.map(score_leaves, jobs, [int(sizes[part].sum()) for part in parts])
    for leaf in np.flatnonzero(sizes > MATRIX_ROWS):
        rows = leaves.order[leaves.starts[leaf] : leaves.starts[leaf + 1]]
        near = min(k, len(rows) - 1)
        step = max(1, JOB_DISTANCES // len(rows))
        ranges = [(low, min(low + step, len(rows))) for low in range(0, len(rows), step)]
        walked = workers.map(
            walk, [(points, rows, *part, near, *how) for part in ranges], [b - a for a, b in ranges]
        )
        costs, inside = np.concatenate([cost for cost, _ in walked]), np.empty(len(rows))
        for (low, _), (_, members) in zip(ranges, walked, strict=True):
            factors(costs, members, low, inside)
        scores[rows] = inside
    return scores


@kernel
def cof_threshold(scores, order, starts, alpha):
    """Return the threshold τ = mean + α · deviation of each leaf's finite scores, float64[leaves].

    The deviation is the population's (RAYDEN, algorithm 2, lines 7 to 9).

    scores: float64[n], from ``cof_score``.
    order: int32[n], rows leaf by leaf.
    starts: int64[leaves + 1], where each leaf begins in ``order``.
    alpha: float64, α.
    """
    threshold = np.empty(starts.size - 1)
    for leaf in range(threshold.size):
        count, total, squares = 0, 0.0, 0.0
        for row in order[starts[leaf] : starts[leaf + 1]]:
            if np.isfinite(scores[row]):
                count += 1
                total += scores[row]
        mean = total / max(count, 1)
        for row in order[starts[leaf] : starts[leaf + 1]]:
            if np.isfinite(scores[row]):
                squares += (scores[row] - mean) ** 2
        threshold[leaf] = mean + alpha * np.sqrt(squares / max(count, 1))
    return threshold


def outliers(
    scores: npt.NDArray[np.float64], leaves: Leaves, alpha: float
) -> npt.NDArray[np.bool_]:
    """Return the rows above their leaf's threshold or of infinite score, bool[n].

    scores: float64[n], from ``cof_score``.
    leaves: the partition.
    alpha: deviations above the mean from which a row is an outlier.
    """
    threshold = cof_threshold(scores, leaves.order, leaves.starts, float(alpha))
    bound = np.empty(len(scores))
    bound[leaves.order] = np.repeat(threshold, np.diff(leaves.starts))
    above = scores > bound + TOLERANCE * np.maximum(1.0, np.abs(bound))
    return np.asarray(above | np.isinf(scores), dtype=np.bool_)
