"""Join clusters that are too small or not diverse to the nearest one, smallest first."""

import heapq

import numpy as np
import numpy.typing as npt

from anon_sql.core.constraints import Constraint
from anon_sql.core.interrupt import check
from anon_sql.core.progress import Progress
from anon_sql.methods.parts.standardized import Features

STEPS = 50  # joins between two tests for Ctrl-C
Clusters = npt.NDArray[np.int32]


def join_clusters(
    function: str,
    features: Features,
    clusters: Clusters,
    real: npt.NDArray[np.bool_],
    constraint: Constraint,
) -> tuple[Clusters, int]:
    """Return clusters int32[n] of at least k real rows, and how many were joined to another.

    Where l > 1, a cluster also needs two sensitive values of real rows. The distance is that of the
    centres and is computed anew after each join. real: bool[n]; constraint: of the real rows. A
    single cluster may be left that is still short.
    """
    count = int(clusters.max()) + 1
    size = np.bincount(clusters, minlength=count).astype(np.float64)
    centre = np.zeros((count, features.shape[1]))
    np.add.at(centre, clusters, features)
    centre /= size[:, None]
    rows = np.bincount(clusters[real], minlength=count)
    held = _values(clusters[real], count, constraint)

    def short(at: int) -> bool:
        return bool(rows[at] < constraint.k or any(len(values[at]) < 2 for values in held))

    waiting = [(int(rows[at]), at) for at in range(count) if short(at)]
    heapq.heapify(waiting)
    becomes, joined, alive = np.arange(count), 0, np.ones(count, dtype=np.bool_)
    with Progress(function, len(waiting)) as progress:
        progress.note = "joins clusters"
        while waiting and joined < count - 1:
            known, at = heapq.heappop(waiting)
            progress.advance(1)
            if not alive[at] or known != rows[at] or not short(at):
                continue
            if joined % STEPS == 0:
                check(function)
            away = ((centre - centre[at]) ** 2).sum(axis=1)
            away[~alive] = np.inf
            away[at] = np.inf
            other = int(away.argmin())
            total = size[at] + size[other]
            centre[other] = (size[at] * centre[at] + size[other] * centre[other]) / total
            size[other], rows[other] = total, rows[other] + rows[at]
            for values in held:
                values[other] |= values[at]
            alive[at], becomes[at], joined = False, other, joined + 1
            if short(other):
                heapq.heappush(waiting, (int(rows[other]), other))
    while (becomes[becomes] != becomes).any():
        becomes = becomes[becomes]
    _, dense = np.unique(becomes[clusters], return_inverse=True)
    return np.asarray(dense, np.int32).reshape(-1), joined


def _values(clusters: Clusters, count: int, constraint: Constraint) -> list[list[set[int]]]:
    """Return by sensitive column the values in each cluster; none where l is 1."""
    rules = constraint.rules
    if rules is None or rules.l <= 1:
        return []
    found = []
    for bag in range(len(constraint.names)):
        value = rules.value[bag][rules.keys[bag]]
        held: list[set[int]] = [set() for _ in range(count)]
        for at, one in set(zip(clusters.tolist(), value.tolist(), strict=True)):
            if one < rules.known[bag]:
                held[at].add(one)
        found.append(held)
    return found
