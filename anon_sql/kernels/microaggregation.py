"""Group rows at the least sum of squared distances from the means of their classes (SSE).

MDAV groups rows around the ones far from the mean. Source: Domingo-Ferrer and Torra 2005 (Ordinal,
continuous and heterogeneous k-anonymity through microaggregation), algorithm MDAV-generic, with
squared Euclidean distances. A category is a point on an axis of its value, so that a distance is
one step per column, however many values there are.

Simulated annealing as in ``annealing`` improves the classes: a row moves to the class of a near
row, or is exchanged with one of its rows. Between two anneals, classes are dissolved whose rows
lose less elsewhere (after the iterative refinement of Soria-Comas, Domingo-Ferrer and Mulero 2019,
ONA).
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.annealing import (
    COOLING_PROPOSALS,
    add_member,
    drop_member,
    proposed,
    random_member,
    tolerated,
)
from anon_sql.kernels.kernel import kernel


class Points(NamedTuple):
    """n rows of numbers and categories, as points of a space with an axis for each category value.

    numbers: float64[n, N].
    codes: int32[n, C], the axis of each category, counted from 0 over all columns.
    square: float64[V], the squared distance of a value from the origin, along its axis.
    length: float64[n], the squared length of each row.
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
    """Return the points of rows; see ``Points``.

    numbers: float64[n, N].
    codes: int32[n, C]; None for no category.
    square: float64[V]; None for no category.
    """
    codes = np.zeros((len(numbers), 0), np.int32) if codes is None else codes
    square = np.zeros(0) if square is None else square
    length = (numbers**2).sum(axis=1) + square[codes].sum(axis=1)
    return Points(np.ascontiguousarray(numbers), np.ascontiguousarray(codes), square, length)


@kernel(borrows=True)
def between(x, a, b):
    """Return the squared distance of two rows.

    x: ``Points``.
    a, b: int, the rows.
    """
    total = 0.0
    for c in range(x.numbers.shape[1]):
        total += (x.numbers[a, c] - x.numbers[b, c]) ** 2
    for c in range(x.codes.shape[1]):
        if x.codes[a, c] != x.codes[b, c]:
            total += x.square[x.codes[a, c]] + x.square[x.codes[b, c]]
    return total


@kernel(borrows=True)
def product(x, row, sums):
    """Return the scalar product of a row and a sum of rows.

    x: ``Points``.
    row: int, the row.
    sums: float64[N + V], as in ``add``.
    """
    total, first = 0.0, x.numbers.shape[1]
    for c in range(first):
        total += x.numbers[row, c] * sums[c]
    for c in range(x.codes.shape[1]):
        total += sums[first + x.codes[row, c]]
    return total


@kernel(borrows=True)
def add(x, row, sums, times):
    """Add a row, some times, to a sum of rows.

    x: ``Points``.
    row: int, the row.
    sums: float64[N + V], of numbers and of ``square``; changed.
    times: float64, how often the row is added.
    """
    first = x.numbers.shape[1]
    for c in range(first):
        sums[c] += times * x.numbers[row, c]
    for c in range(x.codes.shape[1]):
        sums[first + x.codes[row, c]] += times * x.square[x.codes[row, c]]


@kernel
def squares_of(x, order, starts):
    """Return the SSE of classes.

    x: ``Points``.
    order: int32[n], rows class by class.
    starts: int64[m + 1], where each class begins in ``order``.
    """
    total, sums = 0.0, np.zeros(x.numbers.shape[1] + x.square.size)
    for class_id in range(starts.size - 1):
        norm = 0.0
        for i in range(starts[class_id], starts[class_id + 1]):
            row = order[i]
            norm += 2 * product(x, row, sums) + x.length[row]
            add(x, row, sums, 1.0)
            total += x.length[row]
        total -= norm / max(starts[class_id + 1] - starts[class_id], 1)
        for c in range(x.numbers.shape[1]):
            sums[c] = 0.0
        for i in range(starts[class_id], starts[class_id + 1]):
            for c in range(x.codes.shape[1]):
                sums[x.numbers.shape[1] + x.codes[order[i], c]] = 0.0
    return total


def mdav(x: Points, k: int, more: int = 0) -> npt.NDArray[np.int32]:
    """Return the class of each of n rows, int32[n], from 0 without gaps.

    Classes have k rows, every second one k + ``more``, at most 2k - 1, and the last one up to 2k -
    1. MDAV is ``more`` = 0. Ties go to the first row.

    x: n rows, at least k.
    k: least rows of a class.
    more: rows that every second class has more.
    """
    classes = np.full(len(x.length), -1, np.int32)
    _mdav(x, k, min(more, k - 1), classes)
    return classes


@kernel
def _mdav(x, k, more, classes):
    """Write the class of each row; r is the row farthest from the mean, s the row farthest from r.

    x: ``Points``.
    k: int, least rows of a class.
    more: int, rows that every second class has more.
    classes: int32[n], -1 for each; written.
    """
    n = classes.size
    class_id, count = 0, n
    waiting, sums = np.empty(n, np.int32), np.zeros(x.numbers.shape[1] + x.square.size)
    keys, near = np.empty(k + more), np.empty(k + more, np.int32)
    for row in range(n):
        waiting[row] = row
        add(x, row, sums, 1.0)
    while count >= 2 * k:
        longest, r = -np.inf, waiting[0]
        for i in range(count):  # from the mean, but for what is equal for all
            distance = x.length[waiting[i]] - 2 / count * product(x, waiting[i], sums)
            if distance > longest:
                longest, r = distance, waiting[i]
        count = _take(x, waiting, count, r, sums, keys, near, k, classes, class_id)
        class_id += 1
        if count >= 2 * k + more:
            longest, s = -1.0, waiting[0]
            for i in range(count):
                distance = between(x, waiting[i], r)
                if distance > longest:
                    longest, s = distance, waiting[i]
            count = _take(x, waiting, count, s, sums, keys, near, k + more, classes, class_id)
            class_id += 1
    for i in range(count):
        classes[waiting[i]] = class_id


@kernel(borrows=True)
def _take(x, waiting, waiting_count, first, sums, keys, near, count, classes, class_id):
    """Move a row and those nearest to it into a class; return how many rows still wait.

    x: ``Points``.
    waiting: int32[n], the waiting rows, changed.
    waiting_count: int, how many wait.
    first: int, the row.
    sums: float64[N + V], of the waiting rows, changed.
    keys: float64[…], scratch for ``count`` distances.
    near: int32[…], scratch for ``count`` rows.
    count: int, rows of the class.
    classes: int32[n], written.
    class_id: int, the class.
    """
    for i in range(count):
        keys[i] = np.inf
    for position in range(waiting_count):
        distance = between(x, waiting[position], first)
        if distance >= keys[count - 1]:
            continue
        i = count - 1
        while i > 0 and keys[i - 1] > distance:
            keys[i], near[i] = keys[i - 1], near[i - 1]
            i -= 1
        keys[i], near[i] = distance, waiting[position]
    for i in range(count):
        classes[near[i]] = class_id
        add(x, near[i], sums, -1.0)
    kept = 0
    for position in range(waiting_count):
        if classes[waiting[position]] < 0:
            waiting[kept] = waiting[position]
            kept += 1
    return kept


class Means(NamedTuple):
    """m rows in C classes.

    x: ``Points``.
    home: int32[m], the class of a row.
    members: int32[C, capacity], rows of a class.
    position: int32[m], position of a row in its class.
    size: int64[C], rows of a class.
    sums: float64[C, N + V], of the rows of a class, as in ``add``.
    norm: float64[C], the squared length of that sum.
    """

    x: Any
    home: npt.NDArray[np.int32]
    members: npt.NDArray[np.int32]
    position: npt.NDArray[np.int32]
    size: npt.NDArray[np.int64]
    sums: npt.NDArray[np.float64]
    norm: npt.NDArray[np.float64]


def means_of(x: Points, classes: npt.NDArray[np.int32], capacity: int) -> Means:
    """Return the state of rows in classes.

    x: m rows.
    classes: int32[m], 0 … C - 1.
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
def fill(state):
    """Put each row into the class that ``home`` names.

    state: ``Means``, changed.
    """
    state.size[:] = 0
    state.norm[:] = 0.0
    state.sums[:] = 0.0
    for row in range(state.home.size):
        take_in(state, state.home[row], row)


@kernel(borrows=True)
def squares(state):
    """Return the SSE.

    state: ``Means``.
    """
    total = 0.0
    for row in range(state.home.size):
        total += state.x.length[row]
    for class_id in range(state.size.size):
        total -= state.norm[class_id] / max(state.size[class_id], 1)
    return total


@kernel(borrows=True)
def leave(state, class_id, row):
    """Remove a row from its class.

    state: ``Means``, changed.
    class_id: int, the class.
    row: int, the row.
    """
    drop_member(state, class_id, row)
    state.norm[class_id] += state.x.length[row] - 2 * product(state.x, row, state.sums[class_id])
    add(state.x, row, state.sums[class_id], -1.0)


@kernel(borrows=True)
def take_in(state, class_id, row):
    """Add a row to a class.

    state: ``Means``, changed.
    class_id: int, the class.
    row: int, the row.
    """
    add_member(state, class_id, row)
    state.norm[class_id] += state.x.length[row] + 2 * product(state.x, row, state.sums[class_id])
    add(state.x, row, state.sums[class_id], 1.0)


@kernel(borrows=True)
def entry_cost(state, row, target, target_product):
    """Return the increase of the SSE of a class by a row, the row's own length left out.

    state: ``Means``.
    row: int, the row.
    target: int, the class.
    target_product: float64, the product of the row and the sum of the class.
    """
    norm_with = state.norm[target] + 2 * target_product + state.x.length[row]
    return state.norm[target] / state.size[target] - norm_with / (state.size[target] + 1)


@kernel(borrows=True)
def move_cost(state, row, origin, target, origin_product, target_product):
    """Return the change of the SSE by a row that moves from a class with other rows.

    state: ``Means``.
    row: int, the row.
    origin, target: int, the class of the row and the other class.
    origin_product, target_product: float64, the products of the row and the sums of the two
        classes.
    """
    norm_without = state.norm[origin] - 2 * origin_product + state.x.length[row]
    exit_cost = state.norm[origin] / state.size[origin] - norm_without / (state.size[origin] - 1)
    return entry_cost(state, row, target, target_product) + exit_cost


@kernel(borrows=True)
def swap_cost(state, row, row_back, origin, target, origin_product, target_product):
    """Return the change of the SSE by an exchange of two rows.

    state: ``Means``.
    row: int, the row.
    row_back: int, the row of ``target`` that moves back.
    origin, target: int, the class of the row and the other class.
    origin_product, target_product: float64, the products of the row and the sums of the two
        classes.
    """
    distance = between(state.x, row, row_back)
    origin_change = 2 * (origin_product - product(state.x, row_back, state.sums[origin])) - distance
    target_change = 2 * (target_product - product(state.x, row_back, state.sums[target])) + distance
    return origin_change / state.size[origin] - target_change / state.size[target]


@kernel(borrows=True)
def anneal(state, near, k, capacity, proposals, hot, cold, seed):
    """Apply proposals while cooling.

    state: ``Means``, changed.
    near: int32[m, …], rows near each row.
    k, capacity: int, least and most rows of a class.
    proposals: int, how many.
    hot, cold: float64, first and last temperature, in units of the SSE.
    seed: uint64.
    """
    heat, cooling = hot, (cold / hot) ** (COOLING_PROPOSALS / proposals)
    for step in range(proposals):
        if step % COOLING_PROPOSALS == COOLING_PROPOSALS - 1:
            heat *= cooling
        row, near_row, bits = proposed(near, seed, step)
        origin, target = state.home[row], state.home[near_row]
        if origin == target:
            continue
        accepted = tolerated(heat, bits)
        moves = state.size[origin] > k and state.size[target] < capacity
        origin_product, target_product = (
            product(state.x, row, state.sums[origin]),
            product(state.x, row, state.sums[target]),
        )
        if (
            moves
            and move_cost(state, row, origin, target, origin_product, target_product) < accepted
        ):
            leave(state, origin, row)
            take_in(state, target, row)
            continue
        row_back = random_member(state, target, bits)
        if (
            swap_cost(state, row, row_back, origin, target, origin_product, target_product)
            < accepted
        ):
            leave(state, origin, row)
            leave(state, target, row_back)
            take_in(state, origin, row_back)
            take_in(state, target, row)


@kernel
def dissolve(state, near, capacity):
    """Move all rows of a class to the classes of near rows, class by class, if the SSE falls.

    An emptied class keeps its number and has size 0. Returns how many were emptied.

    state: ``Means``, changed.
    near: int32[m, …], rows near each row.
    capacity: int, most rows of a class.
    """
    emptied, width = 0, near.shape[1]
    rows, targets = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    for class_id in range(state.size.size):
        count, saved, cost = (
            state.size[class_id],
            -state.norm[class_id] / max(state.size[class_id], 1),
            0.0,
        )
        for j in range(count):
            rows[j] = state.members[class_id, j]
            saved += state.x.length[rows[j]]
        moved = 0
        for j in range(count):
            row, least_price, target = rows[j], np.inf, -1
            for i in range(width):
                candidate = state.home[near[row, i]]
                if candidate == class_id or state.size[candidate] >= capacity:
                    continue
                candidate_product = product(state.x, row, state.sums[candidate])
                price = state.x.length[row] + entry_cost(state, row, candidate, candidate_product)
                if price < least_price:
                    least_price, target = price, candidate
            cost += least_price
            if cost >= saved - 1e-12:
                break
            leave(state, class_id, row)
            take_in(state, target, row)
            targets[j] = target
            moved += 1
        if moved == count:
            emptied += 1
        else:
            for j in range(moved):
                leave(state, targets[j], rows[j])
                take_in(state, class_id, rows[j])
    return emptied
