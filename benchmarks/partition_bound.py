"""A proven lower bound of the loss of every partition into classes of at least k rows.

A row loses the width w(g) of its class g: the sum over columns of the range of g, where the columns
are scaled so that this is the NCP. If numbers u satisfy sum of u over g <= k w(g) for every group g
of k rows, every partition loses at least sum(u): the mean of u over a larger class is the mean of
that over its groups of k rows, none of which is wider. This is the dual of the linear programme of
the set partition. Its groups are generated as in Gilmore and Gomory 1961, with u kept near the best
u so far (Wentges 1997).

Whatever u the linear programme gives, branch and bound over bounding boxes gives for each row a an
upper bound f of sum of u over g - k w(g) in the groups in which a has the highest u. Therefore
u - e - max(0, f - k e) satisfies all conditions for every e >= 0; the best e is taken. No limit of
time and no error of the linear programme makes the result more than a lower bound.
"""

import time
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.optimize import LinearConstraint, linprog, milp
from scipy.sparse import csc_array

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Groups = dict[tuple[int, ...], float]  # what each group loses, by its rows
MOST_BOXES = 1 << 18  # of one search
SHARE = 0.5  # of the prices of the programme, the rest is the best u


@njit(cache=True)
def relaxed(x, u, k, box, least, chosen):
    """Return the value of the best group in ``box`` if its width were that of the widest row alone.

    The value is sum of u - k w, here an upper bound of it for groups of row 0 and later ones that are
    in box[2:4] and cover box[0:2]. The later rows go into ``chosen``. At most ``least`` is returned
    where no group exceeds ``least``.
    """
    n, d = x.shape
    inner, most = (box[1] - box[0]).sum(), -np.inf
    held, wide = np.empty(k - 1, np.int64), np.empty(k - 1)
    count, total, limit = 0, u[0], np.inf
    for row in range(1, n):  # by descending u
        if total + (k - 1 - count) * u[row] - k * inner <= max(least, most):
            break
        more = 0.0
        for j in range(d):
            value = x[row, j]
            if value < box[2, j] or value > box[3, j]:
                more = np.inf
                break
            more += max(0.0, box[0, j] - value, value - box[1, j])
        if more >= limit:
            continue
        held[count], wide[count] = row, more
        count, total = count + 1, total + u[row]
        if count == k - 1:
            widest = wide.argmax()
            limit = wide[widest]
            if total - k * (inner + limit) > most:
                most = total - k * (inner + limit)
                chosen[:] = held
            if limit == 0:
                break
            count, total = count - 1, total - u[held[widest]]
            held[widest], wide[widest] = held[count], wide[count]
    return most


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


@njit(cache=True)
def best_group(x, u, k, least, limit, group):
    """Return an upper bound of the value of groups of row 0 and later ones, and the best found.

    Both are at least ``least``. ``limit`` is the number of boxes that are looked at; those that are
    left count with their upper bounds.
    """
    d = x.shape[1]
    boxes, bounds = np.empty((limit + 2, 4, d)), np.empty(limit + 2)
    children, chosen = np.empty((2, 4, d)), np.empty(k - 1, np.int64)
    low, high = np.empty(d), np.empty(d)
    boxes[0, 0], boxes[0, 1], boxes[0, 2], boxes[0, 3] = x[0], x[0], -np.inf, np.inf
    bounds[0], count, best = np.inf, 1, least
    for _ in range(limit):
        if count == 0:
            return best, best
        at = bounds[:count].argmax()
        if bounds[at] <= best:
            return best, best
        box, above = boxes[at].copy(), bounds[at]
        count -= 1
        boxes[at], bounds[at] = boxes[count], bounds[count]
        value = relaxed(x, u, k, box, best, chosen)
        if value <= best:
            continue
        low[:], high[:], total = x[0], x[0], u[0]
        for row in chosen:
            low[:], high[:] = np.minimum(low, x[row]), np.maximum(high, x[row])
            total += u[row]
        true = total - k * (high - low).sum()
        if true > best:
            best = true
            group[0], group[1:] = 0, chosen
        if value - true > 1e-12:
            split(x, box, low, high, children)
            for child in children:
                boxes[count], bounds[count] = child, min(above, value)
                count += 1
    return (max(best, bounds[:count].max()) if count else best), best


@njit(cache=True)
def best_groups(x, u, k, least, limit):
    """Return ``best_group`` of each row and later ones; u descends. float64[n] twice, int64[n, k]."""
    n, d = x.shape
    bounds, found = np.full(n, least), np.full(n, least)
    groups = np.zeros((n, k), np.int64)
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
                x[rows], u[rows], k, least, limit, groups[first]
            )
            groups[first] = rows[groups[first]]
    return bounds, found, groups


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


def made_feasible(x: Floats, u: Floats, k: int, least: float, limit: int) -> tuple[Floats, Groups]:
    """Return u lowered until it is proven to satisfy all conditions, and groups that broke one."""
    order = np.argsort(-u, kind="stable")
    bounds, found, groups = best_groups(x[order], u[order], k, least, limit)
    above = np.sort(np.maximum(bounds, 0) + 1e-12)[::-1]
    even = above[len(x) // k] / k
    lowered = np.empty_like(u)
    lowered[order] = u[order] - even - np.maximum(0, bounds + 1e-12 - k * even)
    broken = (tuple(sorted(order[rows].tolist())) for rows in groups[found > least])
    return lowered, {rows: loss(x, rows) for rows in broken}


def covered(n: int, groups: Groups) -> csc_array:
    """Return which row is in which group: float64[n, groups]."""
    ends = np.cumsum([0, *map(len, groups)])
    rows = np.concatenate([np.array(rows) for rows in groups])
    return csc_array((np.ones(len(rows)), rows, ends), shape=(n, len(groups)))


def duals(n: int, groups: Groups) -> tuple[float, Floats]:
    """Return the least loss of fractions of ``groups`` that cover each row once, and its prices."""
    cover = covered(n, groups)
    solved = linprog(list(groups.values()), A_eq=cover, b_eq=np.ones(n), method="highs")
    return solved.fun, solved.eqlin.marginals


def chosen_partition(n: int, groups: Groups, seconds: float) -> float:
    """Return the loss of the best partition into some of ``groups`` that is found in time."""
    once = LinearConstraint(covered(n, groups), 1, 1)
    whole, options = np.ones(len(groups)), {"time_limit": seconds}
    found = milp(list(groups.values()), constraints=once, integrality=whole, options=options)
    return np.inf if found.fun is None else float(found.fun)


def lower_bound(
    x: Floats,
    k: int,
    classes: list[list[int]],
    seconds: float,
    gap: float = 0.001,
    limit: int = 512,
) -> tuple[Floats, float, Groups]:
    """Return the best feasible u, the last value of the programme, and the groups that it used.

    The sum of u is the bound. It cannot exceed the value. classes: a partition to start from. Ends
    when the bound is within ``gap`` of the value, or after ``seconds``.
    """
    end, n = time.perf_counter() + seconds, len(x)
    groups = {tuple(sorted(rows)): loss(x, rows) for rows in classes}
    for row in x:
        near = tuple(sorted(np.argsort(np.abs(x - row).sum(axis=1))[:k].tolist()))
        groups[near] = loss(x, near)
    best, share = nearest(x, k), SHARE
    while True:
        value, u = duals(n, groups)
        if value - best.sum() <= gap * value or time.perf_counter() > end:
            return best, value, groups
        point = share * u + (1 - share) * best
        feasible, broken = made_feasible(x, point, k, gap / 2 * value * k / n, limit)
        if feasible.sum() > best.sum():
            best = feasible
        if broken.keys() <= groups.keys():  # u itself is tried next, and more boxes
            share, limit = 1.0, min(limit * 4, MOST_BOXES)
        else:
            share = SHARE
        groups |= broken
