"""Group rows at the least sum of squared distances from the means of their classes (SSE).

Group rows around the ones far from the mean: MDAV. Source: Domingo-Ferrer and Torra 2005 (Ordinal,
continuous and heterogeneous k-anonymity through microaggregation), algorithm MDAV-generic, with
squared Euclidean distances. A category is a point on an axis of its value, so that a distance is
one step a column, however many values there are.

Improve classes by the sum of squared distances of rows from the mean of their class (SSE).
Simulated annealing as in ``annealing``: a row moves to the class of a near row, or is exchanged
with one of its rows. Between two anneals, classes are dissolved whose rows lose less elsewhere
(after the iterative refinement of Soria-Comas, Domingo-Ferrer and Mulero 2019, ONA).
"""

from typing import Any, NamedTuple

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


class Points(NamedTuple):
    """n rows of numbers and categories, as points of a space with an axis for each category value.

    numbers: float64[n, N]. codes: int32[n, C], the axis of each category, counted from 0 over all
    columns. square: float64[V], the squared distance of a value from the origin, along its axis.
    length: float64[n], that of each row.
    """

    numbers: npt.NDArray[np.float64]
    codes: npt.NDArray[np.int32]
    square: npt.NDArray[np.float64]
    length: npt.NDArray[np.float64]

    @property
    def axes(self) -> int:
        """Return the number of axes."""
        return self.numbers.shape[1] + len(self.square)

    def only(self, rows: npt.NDArray[np.int32]) -> "Points":
        """Return the points of some rows, int32[m]."""
        return Points(self.numbers[rows], self.codes[rows], self.square, self.length[rows])


def points_of(
    numbers: npt.NDArray[np.float64],
    codes: npt.NDArray[np.int32] | None = None,
    square: npt.NDArray[np.float64] | None = None,
) -> Points:
    """Return the points of rows float64[n, N] and int32[n, C]; see ``Points``."""
    codes = np.zeros((len(numbers), 0), np.int32) if codes is None else codes
    square = np.zeros(0) if square is None else square
    length = (numbers**2).sum(axis=1) + square[codes].sum(axis=1)
    return Points(np.ascontiguousarray(numbers), np.ascontiguousarray(codes), square, length)


@kernel(borrows=True)
def between(x, a, b):
    """Return the squared distance of two rows."""
    total = 0.0
    for c in range(x.numbers.shape[1]):
        total += (x.numbers[a, c] - x.numbers[b, c]) ** 2
    for c in range(x.codes.shape[1]):
        if x.codes[a, c] != x.codes[b, c]:
            total += x.square[x.codes[a, c]] + x.square[x.codes[b, c]]
    return total


@kernel(borrows=True)
def product(x, row, sums):
    """Return the scalar product of a row and a sum of rows, of which ``sums`` is as in ``add``."""
    total, first = 0.0, x.numbers.shape[1]
    for c in range(first):
        total += x.numbers[row, c] * sums[c]
    for c in range(x.codes.shape[1]):
        total += sums[first + x.codes[row, c]]
    return total


@kernel(borrows=True)
def add(x, row, sums, times):
    """Add ``times`` a row to a sum of rows, float64[N + V]: of numbers and of ``square``."""
    first = x.numbers.shape[1]
    for c in range(first):
        sums[c] += times * x.numbers[row, c]
    for c in range(x.codes.shape[1]):
        sums[first + x.codes[row, c]] += times * x.square[x.codes[row, c]]


@kernel
def squares_of(x, order, starts):
    """Return the SSE of classes: order int32[n], starts int64[m + 1], the rows class by class."""
    total, sums = 0.0, np.zeros(x.numbers.shape[1] + x.square.size)
    for at in range(starts.size - 1):
        norm = 0.0
        for place in range(starts[at], starts[at + 1]):
            row = order[place]
            norm += 2 * product(x, row, sums) + x.length[row]
            add(x, row, sums, 1.0)
            total += x.length[row]
        total -= norm / max(starts[at + 1] - starts[at], 1)
        for c in range(x.numbers.shape[1]):
            sums[c] = 0.0
        for place in range(starts[at], starts[at + 1]):
            for c in range(x.codes.shape[1]):
                sums[x.numbers.shape[1] + x.codes[order[place], c]] = 0.0
    return total


def mdav(x: Points, k: int, more: int = 0) -> npt.NDArray[np.int32]:
    """Return the class of each of n rows, int32[n], from 0 without gaps.

    Classes have k rows, every second one k + ``more``, at most 2k - 1, and the last one up to 2k -
    1. MDAV is ``more`` = 0. n is at least k. Ties go to the first row.
    """
    home = np.full(len(x.length), -1, np.int32)
    _mdav(x, k, min(more, k - 1), home)
    return home


@kernel
def _mdav(x, k, more, home):
    """Write the class of each row into ``home``, int32[n], which holds -1."""
    n = home.size
    at, rows = 0, n
    left, sums = np.empty(n, np.int32), np.zeros(x.numbers.shape[1] + x.square.size)
    keys, near = np.empty(k + more), np.empty(k + more, np.int32)
    for row in range(n):
        left[row] = row
        add(x, row, sums, 1.0)
    while rows >= 2 * k:
        most, far = -np.inf, left[0]
        for place in range(rows):  # from the mean, but for what is equal for all
            away = x.length[left[place]] - 2 / rows * product(x, left[place], sums)
            if away > most:
                most, far = away, left[place]
        rows = _take(x, left, rows, far, sums, keys, near, k, home, at)
        at += 1
        if rows >= 2 * k + more:
            most, other = -1.0, left[0]
            for place in range(rows):
                away = between(x, left[place], far)
                if away > most:
                    most, other = away, left[place]
            rows = _take(x, left, rows, other, sums, keys, near, k + more, home, at)
            at += 1
    for place in range(rows):
        home[left[place]] = at


@kernel(borrows=True)
def _take(x, left, rows, first, sums, keys, near, count, home, at):
    """Move a row and those nearest to it into class ``at``, and out of ``sums``.

    count: rows of the class. Returns how many rows are left.
    """
    for i in range(count):
        keys[i] = np.inf
    for place in range(rows):
        away = between(x, left[place], first)
        if away >= keys[count - 1]:
            continue
        i = count - 1
        while i > 0 and keys[i - 1] > away:
            keys[i], near[i] = keys[i - 1], near[i - 1]
            i -= 1
        keys[i], near[i] = away, left[place]
    for i in range(count):
        home[near[i]] = at
        add(x, near[i], sums, -1.0)
    kept = 0
    for place in range(rows):
        if home[left[place]] < 0:
            left[kept] = left[place]
            kept += 1
    return kept


class Means(NamedTuple):
    """m rows in C classes.

    x: ``Points``. home: int32[m], the class of a row. members: int32[C, capacity], rows of a class.
    position: int32[m], position of a row in its class. size: int64[C]. sums: float64[C, N + V], of
    the rows of a class, as in ``add``. norm: float64[C], the squared length of that sum.
    """

    x: Any
    home: npt.NDArray[np.int32]
    members: npt.NDArray[np.int32]
    position: npt.NDArray[np.int32]
    size: npt.NDArray[np.int64]
    sums: npt.NDArray[np.float64]
    norm: npt.NDArray[np.float64]


def means_of(x: Points, classes: npt.NDArray[np.int32], capacity: int) -> Means:
    """Return the state of rows in classes int32[m] (0 … C - 1).

    capacity: the largest number of rows of a class.
    """
    m, count = len(classes), int(classes.max()) + 1
    state = Means(
        x,
        classes.astype(np.int32),
        np.zeros((count, capacity), np.int32),
        np.zeros(m, np.int32),
        np.zeros(count, np.int64),
        np.zeros((count, x.axes)),
        np.zeros(count),
    )
    fill(state)
    return state


@kernel(borrows=True)
def fill(s):
    """Put each row into the class that ``home`` names."""
    s.size[:] = 0
    s.norm[:] = 0.0
    s.sums[:] = 0.0
    for row in range(s.home.size):
        take_in(s, s.home[row], row)


@kernel(borrows=True)
def squares(s):
    """Return the SSE."""
    total = 0.0
    for row in range(s.home.size):
        total += s.x.length[row]
    for at in range(s.size.size):
        total -= s.norm[at] / max(s.size[at], 1)
    return total


@kernel(borrows=True)
def leave(s, at, row):
    """Remove a row from its class ``at``."""
    drop_member(s, at, row)
    s.norm[at] += s.x.length[row] - 2 * product(s.x, row, s.sums[at])
    add(s.x, row, s.sums[at], -1.0)


@kernel(borrows=True)
def take_in(s, at, row):
    """Add a row to class ``at``."""
    add_member(s, at, row)
    s.norm[at] += s.x.length[row] + 2 * product(s.x, row, s.sums[at])
    add(s.x, row, s.sums[at], 1.0)


@kernel(borrows=True)
def entry_cost(s, row, there, inn):
    """Return the increase of the SSE of class ``there`` by a row, its own length left out.

    inn: the product of the row and the sum of the class.
    """
    longer = s.norm[there] + 2 * inn + s.x.length[row]
    return s.norm[there] / s.size[there] - longer / (s.size[there] + 1)


@kernel(borrows=True)
def move_cost(s, row, here, there, out, inn):
    """Return the change of the SSE by a row that moves; ``here`` has another row.

    out, inn: the products of the row and the sums of ``here`` and ``there``.
    """
    shorter = s.norm[here] - 2 * out + s.x.length[row]
    left = s.norm[here] / s.size[here] - shorter / (s.size[here] - 1)
    return entry_cost(s, row, there, inn) + left


@kernel(borrows=True)
def swap_cost(s, row, back, here, there, out, inn):
    """Return the change of the SSE by an exchange of two rows; out, inn as in ``move_cost``."""
    far = between(s.x, row, back)
    left = 2 * (out - product(s.x, back, s.sums[here])) - far
    right = 2 * (inn - product(s.x, back, s.sums[there])) + far
    return left / s.size[here] - right / s.size[there]


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
        out, inn = product(s.x, row, s.sums[here]), product(s.x, row, s.sums[there])
        if moves and move_cost(s, row, here, there, out, inn) < accepted:
            leave(s, here, row)
            take_in(s, there, row)
            continue
        back = random_member(s, there, more)
        if swap_cost(s, row, back, here, there, out, inn) < accepted:
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
        count, saved, cost = s.size[at], -s.norm[at] / max(s.size[at], 1), 0.0
        for place in range(count):
            rows[place] = s.members[at, place]
            saved += s.x.length[rows[place]]
        done = 0
        for place in range(count):
            row, best, target = rows[place], np.inf, -1
            for i in range(width):
                there = s.home[near[row, i]]
                if there == at or s.size[there] >= most:
                    continue
                inn = product(s.x, row, s.sums[there])
                price = s.x.length[row] + entry_cost(s, row, there, inn)
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
