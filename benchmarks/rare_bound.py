"""A proven lower bound of the loss of every partition into classes of k rows with a rare value each.

This is l = 2 where a column has two values: each class needs a row of the rarer one. (It needs one
of the other too, which the bound leaves out.) A class of any size may be the only one around its
rare row, so that the conditions are those of all groups g of at least k rows with a rare one: the
sum of u over g is at most |g| w(g), w as in partition_bound.py.

Each group belongs to its rare row with the highest u. Branch and bound gives each rare row an upper
bound f of the sum of u over g - |g| w(g) in its groups; u lowered by f at that row satisfies all
conditions.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from numba import njit
from partition_bound import (
    SEVERAL,
    Floats,
    Groups,
    best_group,
    beyond,
    listed,
    loss,
    nearest,
    start_groups,
)

Bools = npt.NDArray[np.bool_]


@njit
def relaxed(x, u, k, box, least, chosen):
    """Return the value of the best group in ``box`` if its width were that of the widest row alone.

    The value is sum of u - |g| w. Others as in ``partition_bound.relaxed``; u descends from row 1.
    """
    n = len(x)
    inner = (box[1] - box[0]).sum()
    rows, more = np.empty(n, np.int64), np.empty(n)
    count, total = 0, u[0] - inner
    for row in range(1, n):
        extra = beyond(x, row, box)
        if extra < np.inf:
            rows[count], more[count] = row, extra
            count, total = count + 1, total + max(0.0, u[row] - inner - extra)
    if count < k - 1 or total <= least:
        return -np.inf, 0
    most, size, limit = -np.inf, 0, 0.0
    for width in np.unique(more[:count]):
        value, taken = u[0] - inner - width, 0
        for at in range(count):  # by descending u
            if more[at] <= width:
                gain = u[rows[at]] - inner - width
                if gain <= 0 and taken >= k - 1:
                    break
                value, taken = value + gain, taken + 1
        if taken >= k - 1 and value > most:
            most, size, limit = value, taken, width
    taken = 0
    for at in range(count):
        if more[at] <= limit and taken < size:
            chosen[taken] = rows[at]
            taken += 1
    return most, size


@njit
def best_groups(x, u, rare, k, least, limit):
    """Return ``best_group`` of each rare row, with common rows and rare ones that come later.

    The rare rows come first; within both kinds u descends. rare: their number. float64[rare] twice,
    the groups int64[rare, SEVERAL, n], and their sizes int64[rare, SEVERAL].
    """
    n = len(x)
    bounds, found = np.full(rare, least), np.full(rare, least)
    groups, sizes = np.zeros((rare, SEVERAL, n), np.int64), np.zeros((rare, SEVERAL), np.int64)
    for first in range(rare):
        rows = np.arange(first, n)
        rows[1:] = rows[1:][np.argsort(-u[first + 1 :], kind="mergesort")]
        bounds[first], found[first] = best_group(
            relaxed, x[rows], u[rows], k, least, limit, groups[first], sizes[first]
        )
        for at in range(SEVERAL):
            groups[first, at] = rows[groups[first, at]]
    return bounds, found, groups, sizes


def nearest_with_rare(x: Floats, rare: Bools, k: int) -> Floats:
    """Return an NCP for each row that no class of it with k rows and a rare one is below."""
    reach = np.array([np.abs(x[rare] - row).sum(axis=1).min() for row in x])
    return np.maximum(nearest(x, k), reach)


def start_with_rare(x: Floats, rare: Bools, k: int, classes: Iterable[Iterable[int]]) -> Groups:
    """Return groups to start from: classes, and each row with what is nearest to it and rare."""
    groups = start_groups(x, k, classes)
    lone = np.flatnonzero(rare)
    for row in x:
        away = np.abs(x - row).sum(axis=1)
        rows = {*np.argsort(away)[: k - 1].tolist(), int(lone[away[lone].argmin()])}
        rows |= set(np.argsort(away)[:k].tolist()) if len(rows) < k else set()
        groups[tuple(sorted(rows))] = loss(x, rows)
    return {rows: lost for rows, lost in groups.items() if rare[list(rows)].any()}


def made_feasible_with_rare(
    x: Floats, rare: Bools, k: int, u: Floats, tolerance: float, limit: int
) -> tuple[Floats, Groups]:
    """Return u and broken groups as ``partition_bound.made_feasible`` does."""
    order = np.lexsort((-u, ~rare))
    count = int(rare.sum())
    least = tolerance / count
    bounds, _, groups, sizes = best_groups(x[order], u[order], count, k, least, limit)
    lowered = u.copy()
    lowered[order[:count]] -= np.maximum(0, bounds) + 1e-12
    return lowered, listed(x, order, groups, sizes)
