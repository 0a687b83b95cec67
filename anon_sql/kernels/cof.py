"""Score every row within its leaf by the connectivity-based outlier factor (COF).

Compute the path from a row through its nearest neighbours and its chaining distance. Costs are in
units of 1e-9 * k(k + 1) / 2: whole numbers, which float64 adds exactly. The unit cancels in the
factor, a ratio.

Sources: Tang et al. 2002; Haruna et al. 2026 (RAYDEN), section on COF, with another path and other
weights (``variant``).
"""

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.distance import key, measure_of
from anon_sql.kernels.kernel import Runner, kernel
from anon_sql.kernels.sides import Leaves

VARIANTS = ("rayden", "tang", "pyod")
RAYDEN, TANG = 0, 1


@kernel
def nearest(keys, own, k, members, reach):
    """Write ``own`` and its k nearest positions, by (key, position), into members, int32[k + 1].

    keys: int64[m], distance keys from row ``own``. reach: int64[k], scratch.
    """
    members[0] = own
    found = 0
    for at in range(keys.size):
        distance = keys[at]
        if at == own or (found == k and distance >= reach[k - 1]):
            continue  # at equal distance the lower position is already in
        place = min(found, k - 1)
        found = place + 1
        while place > 0 and reach[place - 1] > distance:
            reach[place] = reach[place - 1]
            members[place + 1] = members[place]
            place -= 1
        reach[place] = distance
        members[place + 1] = at


@kernel
def path_cost(between, members, variant, gap, waiting):
    """Return the average chaining distance of members[0] over its neighbours, in the module's unit.

    between: int64[., .], keys between members. gap: int64[k], waiting: int32[k], scratch.

    - rayden: from each neighbour to the next farther one, later steps weigh more.
    - tang: from the set so far to the nearest neighbour outside, earlier steps weigh more (Tang et
      al. 2002).
    - pyod: neighbours by distance, each from the nearest one before it (PyOD's implementation).
    """
    k = members.size - 1
    cost = 0.0
    if variant == RAYDEN:
        for step in range(1, k + 1):
            cost += float(step) * float(between[members[step], members[step - 1]])
        return cost
    if variant == TANG:
        for at in range(k):
            waiting[at] = members[at + 1]
            gap[at] = between[members[0], members[at + 1]]
        for step in range(1, k + 1):
            left = k + 1 - step
            best = 0
            for at in range(1, left):
                closer = gap[at] < gap[best]
                if closer or (gap[at] == gap[best] and waiting[at] < waiting[best]):
                    best = at
            cost += float(left) * float(gap[best])
            joined = waiting[best]
            waiting[best], gap[best] = waiting[left - 1], gap[left - 1]
            for at in range(left - 1):
                gap[at] = min(gap[at], between[joined, waiting[at]])
        return cost
    for step in range(1, k + 1):
        least = between[members[step], members[0]]
        for before in range(1, step):
            least = min(least, between[members[step], members[before]])
        cost += float(k + 1 - step) * float(least)
    return cost


@kernel
def factors(costs, neighbours, low, out):
    """Write the COF of rows low … into out: k times the own cost over the neighbours' costs.

    0/0 is 1. costs: float64[m] of a leaf. neighbours: int32[rows, 1 + k], own position first.
    """
    k = neighbours.shape[1] - 1
    for r in range(neighbours.shape[0]):
        around = 0.0
        for step in range(1, k + 1):
            around += costs[neighbours[r, step]]
        own = costs[neighbours[r, 0]]
        if around > 0.0:
            out[low + r] = k * own / around
        else:
            out[low + r] = np.inf if own > 0.0 else 1.0


SQUARE = 2048  # most rows of a leaf whose distances are all held at once (32 MB)
JOB = 1 << 21  # distances in a job, under .3 s even with paths of 100 neighbours
TOLERANCE = 1e-9  # relative; a score this near the threshold is not above it


@kernel
def score_leaves(points, order, starts, chosen, k, measure, variant, scores):
    """Write the COF of the rows of the chosen leaves, each of at most SQUARE rows, into scores."""
    widest = 1
    for leaf in chosen:
        widest = max(widest, starts[leaf + 1] - starts[leaf])
    reach = np.empty(min(k, widest), np.int64)
    gap, waiting = np.empty_like(reach), np.empty(reach.size, np.int32)
    square, costs = np.empty(widest * widest, np.int64), np.empty(widest)
    paths, found = np.empty(widest * (reach.size + 1), np.int32), np.empty(widest)
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
        factors(costs, members, 0, found)
        for r in range(m):
            scores[rows[r]] = found[r]


@kernel
def walk(points, rows, low, high, k, measure, variant):
    """Return cost float64[r] and path int32[r, 1 + k] of positions low … high - 1 of one leaf.

    For leaves whose distances do not fit in memory at once; k < rows.size.
    """
    keys, reach = np.empty(rows.size, np.int64), np.empty(k, np.int64)
    gap, waiting = np.empty(k, np.int64), np.empty(k, np.int32)
    between, local = np.zeros((k + 1, k + 1), np.int64), np.zeros(k + 1, np.int32)
    costs, members = np.empty(high - low), np.empty((high - low, k + 1), np.int32)
    for r in range(low, high):
        for at in range(rows.size):
            keys[at] = key(points, rows[at], rows[r], measure)
        path = members[r - low]
        nearest(keys, r, k, path, reach)
        # numbered in order of position, the neighbours keep the tie rule
        local[1:] = np.searchsorted(np.sort(path[1:]), path[1:]) + 1
        for a in range(1, k + 1):
            for b in range(a - 1 if variant == RAYDEN else 0, a):
                distance = key(points, rows[path[a]], rows[path[b]], measure)
                between[local[a], local[b]] = between[local[b], local[a]] = distance
        costs[r - low] = path_cost(between, local, variant, gap, waiting)
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

    points: float64[n, d] in canonical order. k: neighbours, or all others in a smaller leaf.
    variant: 'rayden', 'tang' (the original) or 'pyod'. weights: float64[d], of the columns;
    None for 1 each. The score is infinite where a row lies apart from neighbours that all coincide.
    Time grows with the square of a leaf's rows.
    """
    points = np.ascontiguousarray(points, dtype=np.float64)
    how = measure_of(metric, points.shape[1], weights), VARIANTS.index(variant)
    scores = np.ones(len(points))
    sizes = np.diff(leaves.starts)
    small = np.flatnonzero(sizes <= SQUARE)
    work = np.cumsum(sizes[small] ** 2)
    parts = np.split(small, np.flatnonzero(np.diff(work // JOB)) + 1) if len(small) else []
    jobs = [(points, leaves.order, leaves.starts, part, k, *how, scores) for part in parts]
    workers.map(score_leaves, jobs, [int(sizes[part].sum()) for part in parts])
    for leaf in np.flatnonzero(sizes > SQUARE):
        rows = leaves.order[leaves.starts[leaf] : leaves.starts[leaf + 1]]
        near = min(k, len(rows) - 1)
        step = max(1, JOB // len(rows))
        ranges = [(low, min(low + step, len(rows))) for low in range(0, len(rows), step)]
        found = workers.map(
            walk, [(points, rows, *part, near, *how) for part in ranges], [b - a for a, b in ranges]
        )
        costs, inside = np.concatenate([cost for cost, _ in found]), np.empty(len(rows))
        for (low, _), (_, members) in zip(ranges, found, strict=True):
            factors(costs, members, low, inside)
        scores[rows] = inside
    return scores


@kernel
def cof_threshold(scores, order, starts, alpha):
    """Return mean plus alpha standard deviations of each leaf's finite scores, float64[leaves].

    The deviation is the population's.
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
    """Return the rows above their leaf's threshold or of infinite score, bool[n]."""
    threshold = cof_threshold(scores, leaves.order, leaves.starts, float(alpha))
    bound = np.empty(len(scores))
    bound[leaves.order] = np.repeat(threshold, np.diff(leaves.starts))
    above = scores > bound + TOLERANCE * np.maximum(1.0, np.abs(bound))
    return np.asarray(above | np.isinf(scores), dtype=np.bool_)
