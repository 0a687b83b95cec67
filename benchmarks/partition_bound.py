"""A proven lower bound of the loss of every partition into classes of at least k rows.

A row loses the width w(g) of its class g: the sum over columns of the range of g, where the columns
are scaled so that this is the NCP. If numbers u satisfy sum of u over g <= k w(g) for every group g
of k rows, every partition loses at least sum(u): the mean of u over a larger class is the mean of
that over its groups of k rows, none of which is wider. This is the dual of the linear programme of
the set partition. Its groups are generated as in Gilmore and Gomory 1961, with u kept in a box around
the best u so far (Marsten, Hogan and Blankenship 1975).

Whatever u the linear programme gives, branch and bound over bounding boxes gives for each row a an
upper bound f of sum of u over g - k w(g) in the groups in which a has the highest u. Therefore
u - e - max(0, f - k e) satisfies all conditions for every e >= 0; the best e is taken. No limit of
time and no error of the linear programme makes the result more than a lower bound.

rare_bound.py has the same of l = 2.
"""

import heapq
import time
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.optimize import LinearConstraint, linprog, milp
from scipy.sparse import csc_array

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Groups = dict[tuple[int, ...], float]  # what each group loses, by its rows
Lowered = Callable[[Floats, float, int], tuple[Floats, Groups]]  # ``made_feasible`` of a table
MOST_BOXES = 1 << 18  # of one search
SEVERAL = 8  # groups that a search returns


@njit(cache=True)
def beyond(x, row, box):
    """Return how much wider box[0:2] becomes with a row, infinite where box[2:4] excludes it."""
    more = 0.0
    for j in range(x.shape[1]):
        value = x[row, j]
        if value < box[2, j] or value > box[3, j]:
            return np.inf
        more += max(0.0, box[0, j] - value, value - box[1, j])
    return more


@njit(cache=True)
def relaxed(x, u, k, box, least, chosen):
    """Return the value of the best group in ``box`` if its width were that of the widest row alone.

    The value is sum of u - k w, here an upper bound of it for groups of row 0 and later ones that are
    in box[2:4] and cover box[0:2]. The later rows go into ``chosen``, their number is returned too.
    At most ``least`` is returned where no group exceeds ``least``.
    """
    inner, most = (box[1] - box[0]).sum(), -np.inf
    held, wide = np.empty(k - 1, np.int64), np.empty(k - 1)
    count, total, limit = 0, u[0], np.inf
    for row in range(1, len(x)):  # by descending u
        if total + (k - 1 - count) * u[row] - k * inner <= max(least, most):
            break
        more = beyond(x, row, box)
        if more >= limit:
            continue
        held[count], wide[count] = row, more
        count, total = count + 1, total + u[row]
        if count == k - 1:
            widest = wide.argmax()
            limit = wide[widest]
            if total - k * (inner + limit) > most:
                most = total - k * (inner + limit)
                chosen[: k - 1] = held
            if limit == 0:
                break
            count, total = count - 1, total - u[held[widest]]
            held[widest], wide[widest] = held[count], wide[count]
    return most, k - 1


@njit(cache=True)
def split(x, box, low, high, children):
    """Make two boxes of one: with groups that reach a value on one side, and groups that do not.

    The side is where low and high, the ends of a group, are farthest from what all groups cover.
    """
    side, at, most = 0, 0, -1.0
    for j in range(x.shape[1]):
        if box[0, j] - low[j] > most:
            side, at, most, value = 0, j, box[0, j] - low[j], (box[0, j] + low[j]) / 2
        if high[j] - box[1, j] > most:
            side, at, most, value = 1, j, high[j] - box[1, j], (box[1, j] + high[j]) / 2
    sign = 1.0 if side == 1 else -1.0
    reach, stay = sign * box[2 + side, at], sign * box[side, at]
    for row in range(1, len(x)):
        if sign * x[row, at] >= sign * value:
            reach = min(reach, sign * x[row, at])
        else:
            stay = max(stay, sign * x[row, at])
    children[0], children[1] = box, box
    children[0, side, at] = sign * reach
    children[1, 2 + side, at] = sign * stay


@njit
def best_group(relaxed, x, u, k, least, limit, groups, sizes):
    """Return an upper bound of the value of groups of row 0 and later ones, and the best found.

    Both are at least ``least``. The rows of the best go into ``groups[0]``, those of others that
    exceed ``least`` after it, their numbers into ``sizes``. ``limit`` is the number of boxes that
    are looked at; those that are left count with their upper bounds.
    """
    n, d = x.shape
    boxes, chosen = np.empty((limit + 2, 4, d)), np.empty(n, np.int64)
    children = np.empty((2, 4, d))
    low, high = np.empty(d), np.empty(d)
    boxes[0, 0], boxes[0, 1], boxes[0, 2], boxes[0, 3] = x[0], x[0], -np.inf, np.inf
    waiting, used, best, seen = [(-np.inf, 0)], 1, least, 0  # negative bound and box
    for _ in range(limit):
        if len(waiting) == 0 or -waiting[0][0] <= best:
            return best, best
        above, box = heapq.heappop(waiting)
        value, count = relaxed(x, u, k, boxes[box], best, chosen)
        if value <= best:
            continue
        low[:], high[:], total = x[0], x[0], u[0]
        for row in chosen[:count]:
            low[:], high[:] = np.minimum(low, x[row]), np.maximum(high, x[row])
            total += u[row]
        true = total - (count + 1) * (high - low).sum()
        if true > least:
            at = 0 if true > best else 1 + seen % (len(sizes) - 1)
            best, seen = max(best, true), seen + 1
            groups[at, 0], groups[at, 1 : count + 1], sizes[at] = 0, chosen[:count], count + 1
        if value - true > 1e-12:
            split(x, boxes[box], low, high, children)
            boxes[box], boxes[used] = children[0], children[1]
            heapq.heappush(waiting, (max(above, -value), box))
            heapq.heappush(waiting, (max(above, -value), used))
            used += 1
    return (max(best, -waiting[0][0]) if waiting else best), best


@njit
def best_groups(x, u, k, least, limit):
    """Return ``best_group`` of each row and later ones; u descends.

    float64[n] twice, the groups int64[n, SEVERAL, k], and their sizes int64[n, SEVERAL], 0 or k.
    """
    n, d = x.shape
    bounds, found = np.full(n, least), np.full(n, least)
    groups, sizes = np.zeros((n, SEVERAL, k), np.int64), np.zeros((n, SEVERAL), np.int64)
    for first in range(n - k + 1):
        most = u[first] + u[first + 1 : first + k - 1].sum()  # of k - 1 rows
        near = [first]
        for row in range(first + 1, n):
            width = 0.0
            for j in range(d):
                width += abs(x[row, j] - x[first, j])
            if most + u[row] - k * width > least:
                near.append(row)
        if len(near) >= k:
            rows = np.array(near)
            bounds[first], found[first] = best_group(
                relaxed, x[rows], u[rows], k, least, limit, groups[first], sizes[first]
            )
            for at in range(SEVERAL):
                groups[first, at] = rows[groups[first, at]]
    return bounds, found, groups, sizes


def listed(x: Floats, order: Ints, groups: Ints, sizes: Ints) -> Groups:
    """Return the groups that a search has found; order: the row at each place of the search."""
    rows = [order[groups[at][: sizes[at]]].tolist() for at in zip(*sizes.nonzero(), strict=True)]
    return {tuple(sorted(each)): loss(x, each) for each in rows}


def scaled(columns: Iterable[npt.ArrayLike]) -> Floats:
    """Return columns whose ranges add up to the NCP of a group: float64[rows, columns]."""
    x = np.column_stack([np.asarray(column, np.float64) for column in columns])
    width = np.maximum(np.ptp(x, axis=0), np.finfo(np.float64).tiny)  # a constant column loses 0
    return np.ascontiguousarray((x - x.min(axis=0)) / (width * x.shape[1]))


def loss(x: Floats, rows: Iterable[int]) -> float:
    """Return what a group loses: its rows times its NCP."""
    inside = x[list(rows)]
    return len(inside) * float(np.ptp(inside, axis=0).sum())


def nearest(x: Floats, k: int) -> Floats:
    """Return the NCP of each row with the (k - 1)th nearest other row, which no class of it beats."""
    return np.array([np.sort(np.abs(x - row).sum(axis=1))[k - 1] for row in x])


def start_groups(x: Floats, k: int, classes: Iterable[Iterable[int]]) -> Groups:
    """Return groups to start from: classes of a partition, and each row with those nearest to it."""
    near = [np.argsort(np.abs(x - row).sum(axis=1))[:k].tolist() for row in x]
    return {tuple(sorted(rows)): loss(x, rows) for rows in [*classes, *near]}


def made_feasible(
    x: Floats, k: int, u: Floats, tolerance: float, limit: int
) -> tuple[Floats, Groups]:
    """Return u lowered until it is proven to satisfy all conditions, and groups that broke one.

    tolerance: how much may be lost in total by conditions that are broken a little.
    """
    order = np.argsort(-u, kind="stable")
    least = tolerance * k / len(x)
    bounds, _, groups, sizes = best_groups(x[order], u[order], k, least, limit)
    above = np.sort(np.maximum(bounds, 0) + 1e-12)[::-1]
    even = above[len(x) // k] / k
    lowered = np.empty_like(u)
    lowered[order] = u[order] - even - np.maximum(0, bounds + 1e-12 - k * even)
    return lowered, listed(x, order, groups, sizes)


def covered(n: int, groups: Groups) -> csc_array:
    """Return which row is in which group: float64[n, groups]."""
    ends = np.cumsum([0, *map(len, groups)])
    rows = np.concatenate([np.array(rows) for rows in groups])
    return csc_array((np.ones(len(rows)), rows, ends), shape=(n, len(groups)))


def duals(n: int, groups: Groups, low: npt.ArrayLike, high: npt.ArrayLike) -> Floats:
    """Return the u between low and high with the largest sum that satisfies the given conditions."""
    bounds = np.column_stack([np.broadcast_to(low, n), np.broadcast_to(high, n)])
    conditions, most = covered(n, groups).T.tocsc(), list(groups.values())
    solved = linprog(-np.ones(n), A_ub=conditions, b_ub=most, bounds=bounds, method="highs")
    return np.asarray(solved.x)


def chosen_partition(n: int, groups: Groups, seconds: float) -> float:
    """Return the loss of the best partition into some of ``groups`` that is found in time."""
    once = LinearConstraint(covered(n, groups), 1, 1)
    whole, options = np.ones(len(groups)), {"time_limit": seconds}
    found = milp(list(groups.values()), constraints=once, integrality=whole, options=options)
    return np.inf if found.fun is None else float(found.fun)


def lower_bound(
    start: Floats,
    groups: Groups,
    lowered: Lowered,
    seconds: float,
    gap: float = 0.001,
    limit: int = 512,
) -> tuple[Floats, float, Groups]:
    """Return the best feasible u, the last value of the programme, and the groups that it used.

    The sum of u is the bound. It cannot exceed the value. start: a feasible u. lowered: returns a u
    made feasible. Ends when the bound is within ``gap`` of the value, or after ``seconds``.
    """
    end, n = time.perf_counter() + seconds, len(start)
    best, radius = start, float(start.mean())
    while True:
        u = duals(n, groups, best - radius, best + radius)
        inside = bool((np.abs(u - best) < radius * (1 - 1e-9)).all())
        done = inside and u.sum() - best.sum() <= gap * u.sum()
        if done or time.perf_counter() > end:
            return best, float(duals(n, groups, -np.inf, np.inf).sum()), groups
        feasible, broken = lowered(u, gap / 2 * float(u.sum()), limit)
        if broken.keys() <= groups.keys():  # no group is missing in this box
            if u.sum() - feasible.sum() > gap * u.sum():
                limit = min(limit * 4, MOST_BOXES)
            radius *= 2
        elif feasible.sum() <= best.sum():
            radius *= 0.8
        if feasible.sum() > best.sum():
            best = feasible
        groups = groups | broken
