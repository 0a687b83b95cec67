"""Improve the classes of a group by simulated annealing: rows move to the classes of near rows.

Source: Kirkpatrick, Gelatt and Vecchi 1983. A row proposes the class of one of the rows near it; it
moves there if both sizes allow it, else it is exchanged with a random row of that class.

A class is described by the count of each category and by its two smallest and two largest numbers,
which suffice for its exact loss without one row and with another. Only when a row leaves that holds
one of the four numbers are the class's other rows scanned.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.distance import draw
from anon_sql.kernels.guard import exchange_price, keep
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import SET, TREE, LossModel, range_loss, set_loss

COUNTED_CODES = 4  # per row, at most, that are counted instead of sorted


class ClassState(NamedTuple):
    """State of C classes of m rows in d columns; rows are numbered from 0, columns are reordered.

    points: float64[m, d].
    place: int64[m, d], index in ``counts`` of a row's category in a SET column.
    model: ``LossModel`` of the reordered columns.
    plain: int64[2]; columns without NULL in these rows come first, SET columns up to plain[0],
        NUMBER columns up to plain[1].
    home: int32[m], the class of a row.
    members: int32[C, capacity], rows of a class.
    position: int32[m], of a row in its class.
    size: int64[C], rows of a class.
    counts: int32[C, places], rows of a class with each category.
    distinct, nulls: int64[C, d], categories (NULL excluded) and NULLs.
    ends: float64[C, d, 4], smallest, second smallest, largest, second largest number.
    ncp: float64[C], NCP of the class, summed over columns.
    """

    points: npt.NDArray[np.float64]
    place: npt.NDArray[np.int64]
    model: Any
    plain: npt.NDArray[np.int64]
    home: npt.NDArray[np.int32]
    members: npt.NDArray[np.int32]
    position: npt.NDArray[np.int32]
    size: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int32]
    distinct: npt.NDArray[np.int64]
    nulls: npt.NDArray[np.int64]
    ends: npt.NDArray[np.float64]
    ncp: npt.NDArray[np.float64]


@kernel(widened=True, borrows=True, inlined=True)
def ncp_with(state, class_id, row_out, row_in):
    """Return the NCP of a class, summed over columns, without one row and with another.

    state: ``ClassState``.
    class_id: int, the class.
    row_out, row_in: int, the row that leaves and the one that enters; -1 for none.
    """
    total = 0.0
    model = state.model
    for c in range(state.plain[0]):
        distinct = state.distinct[class_id, c]
        lost = state.place[row_out, c] if row_out >= 0 else np.int64(-1)
        gained = state.place[row_in, c] if row_in >= 0 else np.int64(-1)
        if lost != gained:
            if lost >= 0 and state.counts[class_id, lost] == 1:
                distinct -= 1
            if gained >= 0 and state.counts[class_id, gained] == 0:
                distinct += 1
        total += set_loss(model, c, distinct)
    for c in range(state.plain[0], state.plain[1]):
        low, high = state.ends[class_id, c, 0], state.ends[class_id, c, 2]
        if row_out >= 0:
            value = state.points[row_out, c]
            low = state.ends[class_id, c, 1] if value == low else low
            high = state.ends[class_id, c, 3] if value == high else high
        if row_in >= 0:
            value = state.points[row_in, c]
            low, high = min(low, value), max(high, value)
        total += max(high - low, 0.0)
    if state.plain[1] < state.points.shape[1]:
        total += _ncp_of_others(state, class_id, row_out, row_in)
    return total


@kernel(widened=True, borrows=True, inlined=True)
def _ncp_of_others(state, class_id, row_out, row_in):
    """Return the part of ``ncp_with`` in hierarchies and in columns that hold NULL.

    state: ``ClassState``.
    class_id: int, the class.
    row_out, row_in: int, the row that leaves and the one that enters; -1 for none.
    """
    total = 0.0
    model = state.model
    size = state.size[class_id] - (row_out >= 0) + (row_in >= 0)
    for c in range(state.plain[1], state.points.shape[1]):
        nulls = state.nulls[class_id, c]
        leaves = row_out >= 0 and state.points[row_out, c] != model.null[c]
        enters = row_in >= 0 and state.points[row_in, c] != model.null[c]
        nulls += np.int64(row_in >= 0 and not enters) - np.int64(row_out >= 0 and not leaves)
        if nulls > 0:
            total += model.weight[c] if nulls < size else 0.0
        elif model.kind[c] == SET:
            distinct = state.distinct[class_id, c]
            same = leaves and enters and state.place[row_out, c] == state.place[row_in, c]
            if leaves and not same and state.counts[class_id, state.place[row_out, c]] == 1:
                distinct -= 1
            if enters and not same and state.counts[class_id, state.place[row_in, c]] == 0:
                distinct += 1
            total += set_loss(model, c, distinct)
        else:
            low, high = state.ends[class_id, c, 0], state.ends[class_id, c, 2]
            if leaves:
                low = state.ends[class_id, c, 1] if state.points[row_out, c] == low else low
                high = state.ends[class_id, c, 3] if state.points[row_out, c] == high else high
            if enters:
                low, high = min(low, state.points[row_in, c]), max(high, state.points[row_in, c])
            if low <= high:
                total += range_loss(model, c, low, high)
    return total


@kernel(widened=True, borrows=True, inlined=True)
def add_member(state, class_id, row):
    """List a row in a class.

    state: has home, position, members and size, which are changed.
    class_id: int, the class.
    row: int, the row.
    """
    state.home[row] = class_id
    state.position[row] = state.size[class_id]
    state.members[class_id, state.size[class_id]] = row
    state.size[class_id] += 1


@kernel(widened=True, borrows=True, inlined=True)
def drop_member(state, class_id, row):
    """Remove a row from the list of a class; the last row takes its place.

    state: has position, members and size, which are changed.
    class_id: int, the class.
    row: int, the row.
    """
    state.size[class_id] -= 1
    last = state.members[class_id, state.size[class_id]]
    state.members[class_id, state.position[row]] = last
    state.position[last] = state.position[row]


@kernel(widened=True, borrows=True, inlined=True)
def enter(state, class_id, row):
    """Add a row to a class; the caller updates ``ncp``.

    state: ``ClassState``, changed.
    class_id: int, the class.
    row: int, the row.
    """
    add_member(state, class_id, row)
    for c in range(state.points.shape[1]):
        value = state.points[row, c]
        if value == state.model.null[c]:
            state.nulls[class_id, c] += 1
        elif state.model.kind[c] == SET:
            state.counts[class_id, state.place[row, c]] += 1
            state.distinct[class_id, c] += state.counts[class_id, state.place[row, c]] == 1
        else:
            _extend(state.ends[class_id, c], value)


@kernel(widened=True, borrows=True, inlined=True)
def _extend(ends, value):
    """Update the two smallest and two largest numbers by a value.

    ends: float64[4], of a class in a column, changed.
    value: float64.
    """
    if value < ends[1]:
        ends[1] = max(value, ends[0])
        ends[0] = min(value, ends[0])
    if value > ends[3]:
        ends[3] = min(value, ends[2])
        ends[2] = max(value, ends[2])


@kernel(widened=True, borrows=True, inlined=True)
def leave(state, class_id, row):
    """Remove a row from a class; the caller updates ``ncp``.

    state: ``ClassState``, changed.
    class_id: int, the class.
    row: int, the row.
    """
    drop_member(state, class_id, row)
    for c in range(state.points.shape[1]):
        value = state.points[row, c]
        if value == state.model.null[c]:
            state.nulls[class_id, c] -= 1
        elif state.model.kind[c] == SET:
            state.counts[class_id, state.place[row, c]] -= 1
            state.distinct[class_id, c] -= state.counts[class_id, state.place[row, c]] == 0
        else:
            if value <= state.ends[class_id, c, 1]:
                _least_again(state, class_id, c)
            if value >= state.ends[class_id, c, 3]:
                _largest_again(state, class_id, c)


@kernel(widened=True, borrows=True, inlined=True)
def _least_again(state, class_id, column):
    """Find the two smallest numbers of a class after one of them has left.

    state: ``ClassState``, changed.
    class_id: int, the class.
    column: int, the column, 0 … d - 1.
    """
    ends, lowest, position = state.ends[class_id, column], state.ends[class_id, column, 0], 0
    ends[0] = ends[1] = np.inf
    while position < state.size[class_id] and ends[1] > lowest:
        value = state.points[state.members[class_id, position], column]
        if value != state.model.null[column] and value < ends[1]:
            ends[1] = max(value, ends[0])
            ends[0] = min(value, ends[0])
        position += 1


@kernel(widened=True, borrows=True, inlined=True)
def _largest_again(state, class_id, column):
    """Find the two largest numbers of a class after one of them has left.

    state: ``ClassState``, changed.
    class_id: int, the class.
    column: int, the column, 0 … d - 1.
    """
    ends, highest, position = state.ends[class_id, column], state.ends[class_id, column, 2], 0
    ends[2] = ends[3] = -np.inf
    while position < state.size[class_id] and ends[3] < highest:
        value = state.points[state.members[class_id, position], column]
        if value != state.model.null[column] and value > ends[3]:
            ends[3] = min(value, ends[2])
            ends[2] = max(value, ends[2])
        position += 1


@kernel(widened=True, borrows=True)
def fill(state):
    """Put each row into the class that ``home`` names.

    state: ``ClassState``, changed.
    """
    state.size[:] = 0
    state.counts[:] = 0
    state.distinct[:] = 0
    state.nulls[:] = 0
    state.ends[:, :, :2], state.ends[:, :, 2:] = np.inf, -np.inf
    for row in range(state.home.size):
        enter(state, state.home[row], row)
    for class_id in range(state.size.size):
        state.ncp[class_id] = ncp_with(state, class_id, -1, -1)


def class_state(
    points: npt.NDArray[np.float64], model: LossModel, classes: npt.NDArray[np.int32], capacity: int
) -> ClassState:
    """Return the state of rows in classes.

    points: float64[m, d].
    model: ``LossModel``, the meaning of the points.
    classes: int32[m], 0 … C - 1.
    capacity: the largest number of rows of a class.
    """
    holds_null = (points == model.null).any(axis=0)
    rank = np.where(holds_null | (model.kind == TREE), 2, np.where(model.kind == SET, 0, 1))
    order = np.argsort(rank, kind="stable")
    points = np.ascontiguousarray(points[:, order])
    by_column = ("kind", "values", "null", "base", "weight")
    model = model._replace(**{name: getattr(model, name)[order] for name in by_column})
    place, used = np.zeros(points.shape, np.int64), 0
    for column in np.flatnonzero(model.kind == SET):
        codes = points[:, column].astype(np.int64)
        if model.null[column] > COUNTED_CODES * len(codes):
            codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
        ranks = np.cumsum(np.bincount(codes) > 0)
        place[:, column] = used - 1 + ranks[codes]
        used += int(ranks[-1])
    (m, d), count = points.shape, int(classes.max()) + 1
    return ClassState(
        points=points,
        place=place,
        model=model,
        plain=np.searchsorted(rank[order], [1, 2]).astype(np.int64),
        home=classes.astype(np.int32),
        members=np.zeros((count, capacity), np.int32),
        position=np.zeros(m, np.int32),
        size=np.zeros(count, np.int64),
        counts=np.zeros((count, used), np.int32),
        distinct=np.zeros((count, d), np.int64),
        nulls=np.zeros((count, d), np.int64),
        ends=np.zeros((count, d, 4)),
        ncp=np.zeros(count),
    )


COOLING_PROPOSALS = 1024  # between two changes of temperature
LOW_MASK = np.uint64(0xFFFFFFFF)
HALF_BITS = np.uint64(32)


@kernel(borrows=True)
def warmth(state):
    """Return the mean decrease of |E| * NCP(E) by a row that leaves, over rows whose leaving helps.

    It is the unit of temperatures; 0.0 if no class would lose less without one of its rows.

    state: ``ClassState``.
    """
    total, count = 0.0, 0
    for row in range(state.home.size):
        class_id = state.home[row]
        gain = state.ncp[class_id] - ncp_with(state, class_id, row, -1)
        if gain > 1e-12:
            total += state.size[class_id] * gain
            count += 1
    return total / max(count, 1)


@kernel(borrows=True, inlined=True)
def proposed(near, seed, step):
    """Return a random row, a row near it, and random bits for what else the step draws.

    near: int32[m, …], rows near each row.
    seed: uint64.
    step: int, number of the proposal.
    """
    bits = draw(seed, np.uint64(2 * step))
    row = np.int64(((bits & LOW_MASK) * np.uint64(near.shape[0])) >> HALF_BITS)
    near_row = near[row, np.int64((bits >> HALF_BITS) % np.uint64(near.shape[1]))]
    return row, near_row, draw(seed, np.uint64(2 * step + 1))


@kernel(borrows=True, inlined=True)
def tolerated(heat, bits):
    """Return the increase below which a proposal is accepted (the criterion of Metropolis).

    heat: float64, the temperature.
    bits: uint64, random.
    """
    return -heat * np.log((np.float64(bits >> HALF_BITS) + 0.5) / 4294967296.0)


@kernel(borrows=True, inlined=True)
def random_member(state, class_id, bits):
    """Return a random row of a class.

    state: has members and size.
    class_id: int, the class.
    bits: uint64, random.
    """
    return state.members[
        class_id, np.int64(((bits & LOW_MASK) * np.uint64(state.size[class_id])) >> HALF_BITS)
    ]


@kernel(borrows=True)
def anneal(state, guard, near, k, capacity, proposals, hot, cold, seed):
    """Apply proposals while cooling; return the change of loss.

    It is the change of the sum of |E| * NCP(E) plus the guard's price times the change of the
    shortfalls.

    state: ``ClassState``, changed.
    guard: ``Guard``, changed.
    near: int32[m, …], rows near each row.
    k, capacity: int, least and most rows of a class.
    proposals: int, how many.
    hot, cold: float64, first and last temperature, in units of loss.
    seed: uint64.
    """
    change = 0.0
    guarded = guard.rules.total.size > 0
    heat, cooling = hot, (cold / hot) ** (COOLING_PROPOSALS / proposals)
    for step in range(proposals):
        if step % COOLING_PROPOSALS == COOLING_PROPOSALS - 1:
            heat *= cooling
        row, near_row, bits = proposed(near, seed, step)
        origin, target = state.home[row], state.home[near_row]
        if origin == target:
            continue
        p, q = state.size[origin], state.size[target]
        before = p * state.ncp[origin] + q * state.ncp[target]
        accepted, other = tolerated(heat, bits), random_member(state, target, bits)
        for swap in range(0 if p > k and q < capacity else 1, 2):
            if swap == 1 and other == near_row:
                continue
            row_back = other if swap == 1 else np.int32(-1)
            left, right = (
                ncp_with(state, origin, row, row_back),
                ncp_with(state, target, row_back, row),
            )
            increase = (p - 1 + swap) * left + (q + 1 - swap) * right - before
            if guarded:
                increase += exchange_price(
                    state, guard, origin, target, row, row_back, accepted - increase
                )
            if increase < accepted:
                if guarded:
                    keep(state, guard, origin, target, row, row_back)
                leave(state, origin, row)
                if swap == 1:
                    leave(state, target, other)
                    enter(state, origin, other)
                enter(state, target, row)
                state.ncp[origin], state.ncp[target] = left, right
                change += increase
                break
    return change
