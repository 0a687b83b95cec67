"""Cluster by k-member: a class grows by the row of least increase of loss, until it has k rows.

Source: Byun et al. 2007, algorithm "greedy k-member clustering". The loss of the class with each
waiting row is kept and updated column by column. A row that joins seldom widens more than one
column, so that it costs one or two passes over the waiting rows instead of one for each column.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.annealing import class_state, fill, ncp_with
from anon_sql.kernels.distance import NULL, coded, count_loss, draw_below, full_loss, span_loss
from anon_sql.kernels.kernel import Runner, kernel
from anon_sql.kernels.loss import NUMBER, SET, TREE, LossModel

CALL_CELLS = 1 << 28  # visited in a call, some .2 s
TAKEN = np.int64(1) << 60  # a cost of at least half of it marks a row that no longer waits
LENGTH, LEFT, CLASS, SIZE, LAST = range(5)  # places in Growth.state


class Growth(NamedTuple):
    """State between two calls: waiting rows, their costs, and the class that grows.

    rows: int32[n], waiting rows up to state[LENGTH], of which state[LEFT] still wait.
    columns: int32[d, n], their codes, in the same order.
    cost: int64[n], loss of the class with each, in the same order; TAKEN if it no longer waits.
    low, high, nulls, distinct: int64[d], the content of the class.
    members: bool[d, codes], its codes in SET columns.
    delta: int64[codes or leaves], scratch.
    state: int64[5], see LENGTH and the following.
    """

    rows: npt.NDArray[np.int32]
    columns: npt.NDArray[np.int32]
    cost: npt.NDArray[np.int64]
    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]
    nulls: npt.NDArray[np.int64]
    distinct: npt.NDArray[np.int64]
    members: npt.NDArray[np.bool_]
    delta: npt.NDArray[np.int64]
    state: npt.NDArray[np.int64]


@kernel
def joined(model, column, low, high, nulls, value):
    """Return the loss of a class in a NUMBER or TREE column after a value is added, in billionths.

    model: ``LossModel``, the meaning of the points.
    column: int, the column, 0 … d - 1.
    low, high: int64, ends of the class, none if high is below 0.
    nulls: int64, its NULLs.
    value: int32, the code that is added.
    """
    if value == NULL:
        return full_loss(model, column) if high >= 0 else np.int64(0)
    if nulls:
        return full_loss(model, column)
    return span_loss(model, column, min(low, np.int64(value)), max(high, np.int64(value)))


@kernel
def enter_set(growth, model, column, value):
    """Add a code to a SET column of the class; return the number of cells visited.

    growth: ``Growth``, changed.
    model: ``LossModel``, the meaning of the points.
    column: int, the column, 0 … d - 1.
    value: int32, the code.
    """
    members, delta = growth.members[column], growth.delta
    if members[value]:
        return 0
    null, count = np.int64(model.null[column]), growth.distinct[column]
    for code in range(null + 1):
        grown = count + (not members[code])
        delta[code] = -count_loss(model, column, grown, members[null] or code == null)
    members[value] = True
    growth.distinct[column] = count + 1
    for code in range(null + 1):
        grown = count + 1 + (not members[code])
        delta[code] += count_loss(model, column, grown, members[null] or code == null)
    length = growth.state[LENGTH]
    codes, cost = growth.columns[column], growth.cost
    for i in range(length):
        cost[i] += delta[codes[i]]
    return length


@kernel
def enter_range(growth, model, column, value):
    """Add a value to a NUMBER or TREE column of the class; return the number of cells visited.

    growth: ``Growth``, changed.
    model: ``LossModel``, the meaning of the points.
    column: int, the column, 0 … d - 1.
    value: int32, the code.
    """
    low, high, nulls = growth.low[column], growth.high[column], growth.nulls[column]
    new_low, new_high, new_nulls = low, high, nulls
    if value == NULL:
        new_nulls += 1
    else:
        new_low, new_high = min(low, np.int64(value)), max(high, np.int64(value))
    growth.low[column], growth.high[column], growth.nulls[column] = new_low, new_high, new_nulls
    if new_low == low and new_high == high and (new_nulls > 0) == (nulls > 0):
        return 0
    length = growth.state[LENGTH]
    codes, cost = growth.columns[column], growth.cost
    if model.kind[column] == NUMBER and new_nulls == 0:
        null = full_loss(model, column) if high < 0 else np.int64(0)
        for i in range(length):
            x = np.int64(codes[i])
            wider = max(new_high, x) - min(new_low, x) - max(high, x) + min(low, x)
            cost[i] += null if x == NULL else wider
        return length
    leaves = np.int64(model.null[column]) if model.kind[column] == TREE else length
    if leaves < length:  # what each leaf costs, instead of each row
        delta = growth.delta
        for code in range(leaves + 1):
            value = np.int64(code) if code < leaves else np.int64(NULL)
            delta[code] = joined(model, column, new_low, new_high, new_nulls, value)
            delta[code] -= joined(model, column, low, high, nulls, value)
        for i in range(length):
            cost[i] += delta[min(np.int64(codes[i]), leaves)]
        return length
    for i in range(length):
        cost[i] += joined(model, column, new_low, new_high, new_nulls, codes[i])
        cost[i] -= joined(model, column, low, high, nulls, codes[i])
    return length


@kernel
def enter(growth, model, codes, row, fresh):
    """Add a row to the class; return the number of cells visited.

    growth: ``Growth``, changed.
    model: ``LossModel``, the meaning of the points.
    codes: int32[n, d], from ``coded``.
    row: int, the row.
    fresh: bool, whether the class is emptied first.
    """
    visited = 0
    if fresh:
        for i in range(growth.state[LENGTH]):
            growth.cost[i] = TAKEN if growth.cost[i] > TAKEN // 2 else 0
    for column in range(model.kind.size):
        if fresh:
            growth.low[column], growth.high[column] = NULL, -1
            growth.nulls[column] = growth.distinct[column] = 0
            for code in range(growth.members.shape[1]):
                growth.members[column, code] = False
        if model.kind[column] == SET:
            visited += enter_set(growth, model, column, codes[row, column])
        else:
            visited += enter_range(growth, model, column, codes[row, column])
    return visited


@kernel
def take(growth, farthest):
    """Return the position of the waiting row of least or largest cost; ties to the first.

    growth: ``Growth``.
    farthest: bool, whether the row of largest cost is taken.
    """
    cost = growth.cost[: growth.state[LENGTH]]
    best = np.int64(-1) if farthest else TAKEN
    for i in range(cost.size):
        if farthest:
            best = max(best, cost[i] if cost[i] < TAKEN // 2 else np.int64(-1))
        else:
            best = min(best, cost[i])
    for i in range(cost.size):
        if cost[i] == best:
            return i
    return -1


@kernel
def close_ranks(growth):
    """Move the rows that still wait to the front.

    growth: ``Growth``, changed.
    """
    kept = 0
    for i in range(growth.state[LENGTH]):
        if growth.cost[i] < TAKEN // 2:
            growth.rows[kept], growth.cost[kept] = growth.rows[i], growth.cost[i]
            for column in range(growth.columns.shape[0]):
                growth.columns[column, kept] = growth.columns[column, i]
            kept += 1
    growth.state[LENGTH] = kept


@kernel
def grow(growth, model, codes, k, budget, classes):
    """Grow classes until the budget is used up; return the number of waiting rows.

    Ends if fewer than k rows wait; then it returns 0.

    growth: ``Growth``, changed.
    model: ``LossModel``, the meaning of the points.
    codes: int32[n, d], from ``coded``.
    k: int, rows of a class.
    budget: int, cells to visit.
    classes: int32[n], written: the class of each row.
    """
    state, visited = growth.state, 0
    while visited < budget:
        fresh = state[SIZE] == 0
        if fresh and state[LEFT] < k:
            return 0
        if fresh:
            visited += enter(growth, model, codes, state[LAST], True)
        if state[LEFT] * 8 < state[LENGTH] * 7:
            close_ranks(growth)
        position = take(growth, fresh)
        row = growth.rows[position]
        growth.cost[position] = TAKEN
        state[LEFT] -= 1
        visited += enter(growth, model, codes, row, fresh) + state[LENGTH]
        classes[row] = state[CLASS]
        state[LAST] = row
        state[SIZE] += 1
        if state[SIZE] == k:
            state[SIZE] = 0
            state[CLASS] += 1
    return state[LEFT]


def k_member(
    points: npt.NDArray[np.float64], model: LossModel, k: int, *, seed: int, workers: Runner
) -> npt.NDArray[np.int32]:
    """Return class ids int32[n] of exactly k rows each; -1 for the fewer than k rows that remain.

    A class begins with the row farthest from the last one taken, the first class with the row
    farthest from a random one. Time grows with the square of n and hardly depends on k from about
    10.

    points: float64[n, d], rows in canonical order; the lower position wins a tie.
    model: ``LossModel``, the meaning of the points.
    k: rows of a class.
    seed: decides the first row.
    workers: runs the kernel.
    """
    n, width = points.shape
    codes = np.empty((n, width), np.int32)
    coded(np.ascontiguousarray(points, dtype=np.float64), model, codes)
    codes_per_column = int(model.null[model.kind == SET].max(initial=0)) + 1
    first = int(draw_below(np.uint64(seed % 2**64), np.uint64(0), n))
    low, high, nulls, distinct = np.zeros((4, width), np.int64)
    growth = Growth(
        rows=np.arange(n, dtype=np.int32),
        columns=codes.T.copy(order="C"),  # never a view: its rows move
        cost=np.zeros(n, np.int64),
        low=low,
        high=high,
        nulls=nulls,
        distinct=distinct,
        members=np.zeros((width, codes_per_column), np.bool_),
        delta=np.zeros(int(model.null.max(initial=0)) + 1, np.int64),
        state=np.array([n, n, 0, 0, first]),
    )
    classes = np.full(n, -1, np.int32)
    workers.repeat(grow, (growth, model, codes, k, CALL_CELLS, classes), n)
    return classes


FARTHER = 1.25  # times the distance of the farthest row kept: the first radius for the next row
NEAR_ROWS = 12  # kept for each row; 40 gain nothing
SAMPLE_ROWS = 1 << 12  # compared with each row, at most; fewer in very large groups
GROUP_PAIRS = 1 << 24  # of rows compared in a group, at most


@kernel
def near_rows(columns, weights, sample, near):
    """Return the sampled rows nearest to each row, itself excluded, int32[m, near].

    The distance is the weighted sum of min(|a - b|, 1); ties to the first of the sample. If there
    are too few, the rest is the row itself.

    columns: float32[d, m], the points column by column.
    weights: float32[d].
    sample: int32[s], the rows that are compared.
    near: int, rows kept for each row.
    """
    d, m = columns.shape
    others = np.empty((d, sample.size), np.float32)
    for c in range(d):
        for j in range(sample.size):
            others[c, j] = columns[c, sample[j]]
    nearest = np.empty((m, near), np.int32)
    distances, keys = np.empty(sample.size, np.float32), np.empty(near, np.float32)
    close_rows, radius = np.empty(sample.size + 1, np.int32), np.float32(np.inf)
    one = np.float32(1)
    for row in range(m):
        distances[:] = np.float32(0)
        for c in range(d):
            value, weight, line = columns[c, row], weights[c], others[c]
            for j in range(sample.size):
                gap = abs(line[j] - value)
                distances[j] += weight * (gap if gap < one else one)
        keys[:] = np.inf
        nearest[row] = row
        count = 0  # of rows that are close enough if the row resembles the one before
        for j in range(sample.size):
            close_rows[count] = j
            count += distances[j] <= radius
        if count <= near:
            count = sample.size
            for j in range(count):
                close_rows[j] = j
        for j in close_rows[:count]:
            if distances[j] >= keys[near - 1] or sample[j] == row:
                continue
            i = near - 1
            while i > 0 and keys[i - 1] > distances[j]:
                keys[i], nearest[row, i] = keys[i - 1], nearest[row, i - 1]
                i -= 1
            keys[i], nearest[row, i] = distances[j], sample[j]
        radius = keys[near - 1] * np.float32(FARTHER)
    return nearest


def near_in_group(
    points: npt.NDArray[np.float64],
    model: LossModel,
    rng: np.random.Generator,
    compared: int | None = None,
) -> npt.NDArray[np.int32]:
    """Return the rows near each row, int32[m, NEAR_ROWS].

    points: float64[m, d].
    model: ``LossModel``, the meaning of the points.
    rng: draws the sample.
    compared: most rows with which each row is compared; None for SAMPLE_ROWS.
    """
    m = len(points)
    columns = np.ascontiguousarray(points.T, dtype=np.float32)
    shared = np.maximum(model.values, 1)
    weights = (model.weight * np.where(model.kind == SET, 2 / shared, 1)).astype(np.float32)
    for c in np.flatnonzero((model.kind == NUMBER) & (model.weight > 0)):
        columns[c] /= model.weight[c]
    for c in np.flatnonzero(model.kind == TREE):
        columns[c] /= max(float(model.null[c]), 1.0)
    sample_size = min(compared or SAMPLE_ROWS, max(2 * NEAR_ROWS, GROUP_PAIRS // m))
    sample = (
        np.arange(m) if m <= sample_size else np.sort(rng.choice(m, sample_size, replace=False))
    )
    return near_rows(columns, weights, sample.astype(np.int32), NEAR_ROWS)  # type: ignore[no-any-return]


@kernel
def write_row_costs(state, costs):
    """Write the decrease of |E| * NCP(E) by the removal of each row into ``costs``.

    state: ``ClassState``.
    costs: float64[m], written.
    """
    for row in range(state.home.size):
        class_id = state.home[row]
        rest = (state.size[class_id] - 1) * ncp_with(state, class_id, row, -1)
        costs[row] = state.size[class_id] * state.ncp[class_id] - rest


def row_costs(
    points: npt.NDArray[np.float64], model: LossModel, classes: npt.NDArray[np.int32]
) -> npt.NDArray[np.float64]:
    """Return what each row costs its class, float64[m], its own loss included.

    points: float64[m, d].
    model: ``LossModel``, the meaning of the points.
    classes: int32[m], from 0 without gaps.
    """
    state = class_state(points, model, classes, int(np.bincount(classes).max()))
    fill(state)
    costs = np.empty(len(classes))
    write_row_costs(state, costs)
    return costs
