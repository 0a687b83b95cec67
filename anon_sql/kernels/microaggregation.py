"""Group rows at the least sum of squared distances from the means of their classes (SSE).

Group rows around the ones far from the mean: MDAV. Source: Domingo-Ferrer and Torra 2005 (Ordinal,
continuous and heterogeneous k-anonymity through microaggregation), algorithm MDAV-generic, with
squared Euclidean distances.

Improve classes by the sum of squared distances of rows from the mean of their class (SSE).
Simulated annealing as in ``annealing``: a row moves to the class of a near row, or is exchanged
with one of its rows. Between two anneals, classes are dissolved whose rows lose less elsewhere
(after the iterative refinement of Soria-Comas, Domingo-Ferrer and Mulero 2019, ONA).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.annealing import (
    COOLING,
    add_member,
    drop_member,
    proposed,
    random_member,
    tolerated,
)
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import SET, range_loss, set_loss


def mdav(x: npt.NDArray[np.float64], k: int, more: int = 0) -> npt.NDArray[np.int32]:
    """Return the class of each row of float64[n, d], int32[n], from 0 without gaps.

    Classes have k rows, every second one k + ``more``, at most 2k - 1, and the last one up to 2k -
    1. MDAV is ``more`` = 0. n is at least k. Ties go to the first row.
    """
    home = np.full(len(x), -1, np.int32)
    _mdav(np.ascontiguousarray(x), k, min(more, k - 1), home)
    return home


@kernel
def _mdav(x, k, more, home):
    """Write the class of each row into ``home``, int32[n], which holds -1."""
    n, d = x.shape
    at, rows = 0, n
    left, point = np.empty(n, np.int32), np.empty(d)
    keys, near = np.empty(k + more), np.empty(k + more, np.int32)
    for row in range(n):
        left[row] = row
    while rows >= 2 * k:
        for c in range(d):
            point[c] = 0.0
            for place in range(rows):
                point[c] += x[left[place], c] / rows
        rows = _take(x, left, rows, point, keys, near, k, home, at)
        at += 1
        if rows >= 2 * k + more:
            rows = _take(x, left, rows, point, keys, near, k + more, home, at)
            at += 1
    for place in range(rows):
        home[left[place]] = at


@kernel
def _take(x, left, rows, point, keys, near, count, home, at):
    """Move the row farthest from a point and those nearest to it into class ``at``.

    count: rows of the class. ``point`` becomes the farthest row. Returns how many rows are left.
    """
    most, far = -1.0, left[0]
    for place in range(rows):
        away = gap(x, left[place], point)
        if away > most:
            most, far = away, left[place]
    for c in range(point.size):
        point[c] = x[far, c]
    for i in range(count):
        keys[i] = np.inf
    for place in range(rows):
        away = gap(x, left[place], point)
        if away >= keys[count - 1]:
            continue
        i = count - 1
        while i > 0 and keys[i - 1] > away:
            keys[i], near[i] = keys[i - 1], near[i - 1]
            i -= 1
        keys[i], near[i] = away, left[place]
    for i in range(count):
        home[near[i]] = at
    kept = 0
    for place in range(rows):
        if home[left[place]] < 0:
            left[kept] = left[place]
            kept += 1
    return kept


@kernel(borrows=True)
def gap(x, row, point):
    """Return the squared distance of a row from a point."""
    total = 0.0
    for c in range(point.size):
        total += (x[row, c] - point[c]) ** 2
    return total


class Means(NamedTuple):
    """m rows in C classes.

    x: float64[m, d]. home: int32[m], the class of a row. members: int32[C, capacity], rows of a
    class. position: int32[m], position of a row in its class. size: int64[C]. mean: float64[C, d].
    """

    x: npt.NDArray[np.float64]
    home: npt.NDArray[np.int32]
    members: npt.NDArray[np.int32]
    position: npt.NDArray[np.int32]
    size: npt.NDArray[np.int64]
    mean: npt.NDArray[np.float64]


def means_of(x: npt.NDArray[np.float64], classes: npt.NDArray[np.int32], capacity: int) -> Means:
    """Return the state of rows float64[m, d] in classes int32[m] (0 … C - 1).

    capacity: the largest number of rows of a class.
    """
    m, count = len(x), int(classes.max()) + 1
    state = Means(
        np.ascontiguousarray(x),
        classes.astype(np.int32),
        np.zeros((count, capacity), np.int32),
        np.zeros(m, np.int32),
        np.zeros(count, np.int64),
        np.zeros((count, x.shape[1])),
    )
    fill(state)
    return state


@kernel(borrows=True)
def fill(s):
    """Put each row into the class that ``home`` names, and compute the means."""
    s.size[:] = 0
    s.mean[:] = 0.0
    for row in range(s.home.size):
        at = s.home[row]
        add_member(s, at, row)
        for c in range(s.x.shape[1]):
            s.mean[at, c] += s.x[row, c]
    for at in range(s.size.size):
        for c in range(s.x.shape[1]):
            s.mean[at, c] /= max(s.size[at], 1)


@kernel(borrows=True)
def squares(s):
    """Return the SSE."""
    total = 0.0
    for row in range(s.home.size):
        total += away(s, row, s.home[row])
    return total


@kernel(borrows=True)
def away(s, row, at):
    """Return the squared distance of a row from the mean of class ``at``."""
    total = 0.0
    for c in range(s.x.shape[1]):
        total += (s.x[row, c] - s.mean[at, c]) ** 2
    return total


@kernel(borrows=True)
def between(s, a, b):
    """Return the squared distance of two rows."""
    total = 0.0
    for c in range(s.x.shape[1]):
        total += (s.x[a, c] - s.x[b, c]) ** 2
    return total


@kernel(borrows=True)
def leave(s, at, row):
    """Remove a row from its class ``at``."""
    drop_member(s, at, row)
    for c in range(s.x.shape[1]):
        s.mean[at, c] += (s.mean[at, c] - s.x[row, c]) / max(s.size[at], 1)


@kernel(borrows=True)
def take_in(s, at, row):
    """Add a row to class ``at``."""
    add_member(s, at, row)
    for c in range(s.x.shape[1]):
        s.mean[at, c] += (s.x[row, c] - s.mean[at, c]) / s.size[at]


@kernel(borrows=True)
def move_cost(s, row, here, there):
    """Return the change of the SSE by a row that moves; ``here`` has another row."""
    p, q = s.size[here], s.size[there]
    return away(s, row, there) * q / (q + 1) - away(s, row, here) * p / (p - 1)


@kernel(borrows=True)
def swap_cost(s, row, back, here, there):
    """Return the change of the SSE by an exchange of two rows."""
    far = between(s, row, back) * (1 / s.size[here] + 1 / s.size[there])
    out = away(s, row, there) - away(s, row, here)
    return out + away(s, back, here) - away(s, back, there) - far


@kernel(borrows=True)
def anneal(s, near, k, most, proposals, hot, cold, seed):
    """Apply ``proposals`` proposals while cooling from ``hot`` to ``cold``, in units of the SSE.

    s: Means, changed in place. near: int32[m, …], rows near each row. Sizes stay in k … most.
    """
    heat, cooling = hot, (cold / hot) ** (COOLING / proposals)
    for step in range(proposals):
        if step % COOLING == COOLING - 1:
            heat *= cooling
        row, like, more = proposed(near, seed, step)
        here, there = s.home[row], s.home[like]
        if here == there:
            continue
        accepted = tolerated(heat, more)
        moves = s.size[here] > k and s.size[there] < most
        if moves and move_cost(s, row, here, there) < accepted:
            leave(s, here, row)
            take_in(s, there, row)
            continue
        back = random_member(s, there, more)
        if swap_cost(s, row, back, here, there) < accepted:
            leave(s, here, row)
            leave(s, there, back)
            take_in(s, here, back)
            take_in(s, there, row)


@kernel
def dissolve(s, near, most):
    """Move all rows of a class to the classes of near rows, class by class, where the SSE falls.

    An emptied class keeps its number and has size 0. Returns how many were emptied.
    """
    emptied, width = 0, near.shape[1]
    rows, came = np.empty(most, np.int32), np.empty(most, np.int32)
    for at in range(s.size.size):
        count, saved, cost = s.size[at], 0.0, 0.0
        for place in range(count):
            rows[place] = s.members[at, place]
            saved += away(s, rows[place], at)
        done = 0
        for place in range(count):
            row, best, target = rows[place], np.inf, -1
            for i in range(width):
                there = s.home[near[row, i]]
                if there == at or s.size[there] >= most:
                    continue
                q = s.size[there]
                price = away(s, row, there) * q / (q + 1)
                if price < best:
                    best, target = price, there
            cost += best
            if cost >= saved - 1e-12:
                break
            leave(s, at, row)
            take_in(s, target, row)
            came[place] = target
            done += 1
        if done == count:
            emptied += 1
        else:
            for place in range(done):
                leave(s, came[place], rows[place])
                take_in(s, at, rows[place])
    return emptied


class Sides(NamedTuple):
    """Content of two classes, by side and column.

    low, high: float64[2, d], without values where high is below 0. nulls: bool[2, d]. own:
    float64[2, d], loss. distinct: int64[2, d], of SET columns. last_split: int64[2, codes], codes
    of column c from first[c] on, NULL last: the number of the split, now[0], in which the class
    last received that code.
    """

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    nulls: npt.NDArray[np.bool_]
    own: npt.NDArray[np.float64]
    distinct: npt.NDArray[np.int64]
    last_split: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    now: npt.NDArray[np.int64]


@kernel
def no_sides(model):
    """Return two empty classes."""
    d = model.kind.size
    first = np.zeros(d + 1, np.int64)
    for c in range(d):
        first[c + 1] = first[c] + (np.int64(model.null[c]) + 1 if model.kind[c] == SET else 0)
    low, high, own = np.full((2, d), np.inf), np.full((2, d), -np.inf), np.zeros((2, d))
    nulls, distinct = np.zeros((2, d), np.bool_), np.zeros((2, d), np.int64)
    last_split, now = np.zeros((2, first[d]), np.int64), np.zeros(1, np.int64)
    return Sides(low, high, nulls, own, distinct, last_split, first, now)


@kernel
def empty(sides):
    """Empty both classes."""
    sides.low[:], sides.high[:] = np.inf, -np.inf
    sides.nulls[:], sides.own[:], sides.distinct[:] = False, 0.0, 0
    sides.now[0] += 1


@kernel
def loss_with(sides, side, model, row):
    """Return the loss of a non-empty class with a row, float64[d], added."""
    low, high, own = sides.low[side], sides.high[side], sides.own[side]
    total = 0.0
    for c in range(row.size):
        value = row[c]
        if low[c] <= value <= high[c]:
            total += own[c]
        elif model.kind[c] == SET:
            if sides.last_split[side, sides.first[c] + np.int64(value)] == sides.now[0]:
                total += own[c]
            elif sides.nulls[side, c] or value == model.null[c]:
                total += model.weight[c]
            else:
                total += set_loss(model, c, sides.distinct[side, c] + 1)
        elif value == model.null[c]:
            total += model.weight[c] if high[c] >= 0 else 0.0
        elif sides.nulls[side, c]:
            total += model.weight[c]
        else:
            total += range_loss(model, c, min(low[c], value), max(high[c], value))
    return total


@kernel
def join_side(sides, side, model, row):
    """Add a row, float64[d], to a class."""
    for c in range(row.size):
        value, at = row[c], sides.first[c] + np.int64(row[c])
        if sides.low[side, c] <= value <= sides.high[side, c]:
            continue
        null = value == model.null[c]
        if model.kind[c] == SET:
            if sides.last_split[side, at] == sides.now[0]:
                continue
            sides.last_split[side, at] = sides.now[0]
            sides.distinct[side, c] += 1
            sides.nulls[side, c] |= null
            mixed = sides.nulls[side, c] and sides.distinct[side, c] > 1
            own = set_loss(model, c, sides.distinct[side, c])
            sides.own[side, c] = model.weight[c] if mixed else own
            continue
        sides.nulls[side, c] |= null
        if not null:
            sides.low[side, c] = min(sides.low[side, c], value)
            sides.high[side, c] = max(sides.high[side, c], value)
        low, high = sides.low[side, c], sides.high[side, c]
        if high >= 0:
            mixed = sides.nulls[side, c]
            own = range_loss(model, c, low, high)
            sides.own[side, c] = model.weight[c] if mixed else own
