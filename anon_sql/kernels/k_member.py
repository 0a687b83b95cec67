"""Cluster by k-member: a class grows by the row of least increase of loss, until it has k rows.

Source: Byun et al. 2007. The loss of the class with each waiting row is kept and updated column by
column. A row that joins seldom widens more than one column, so that it costs one or two passes over
the waiting rows instead of one for each column.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.annealing import class_state, fill, ncp_with
from anon_sql.kernels.distance import NULL, coded, count_loss, draw_below, full_loss, span_loss
from anon_sql.kernels.kernel import Runner, kernel
from anon_sql.kernels.loss import NUMBER, SET, TREE, LossModel

WORK = 1 << 28  # cells visited in a call, some .2 s
GONE = np.int64(1) << 60  # a cost of at least half of it marks a row that no longer waits
LENGTH, LEFT, CLASS, SIZE, LAST = range(5)  # places in Growth.state


class Growth(NamedTuple):
    """State between two calls: waiting rows, their costs, and the class that grows.

    rows: int32[n], columns: int32[d, n], cost: int64[n], in the same order, up to state[LENGTH];
    state[LEFT] of them still wait. low, high, nulls, distinct: int64[d], members: bool[d, codes],
    the content of the class. delta: int64[codes or leaves], scratch.
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

    low, high: ends of the class, none where high is below 0; nulls: its NULLs.
    """
    if value == NULL:
        return full_loss(model, column) if high >= 0 else np.int64(0)
    if nulls:
        return full_loss(model, column)
    return span_loss(model, column, min(low, np.int64(value)), max(high, np.int64(value)))


@kernel
def enter_set(growth, model, column, value):
    """Add a code to a SET column of the class; return the number of cells visited."""
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
    waiting = growth.state[LENGTH]
    codes, cost = growth.columns[column], growth.cost
    for at in range(waiting):
        cost[at] += delta[codes[at]]
    return waiting


@kernel
def enter_range(growth, model, column, value):
    """Add a value to a NUMBER or TREE column of the class; return the cells visited."""
    low, high, nulls = growth.low[column], growth.high[column], growth.nulls[column]
    least, most, more = low, high, nulls
    if value == NULL:
        more += 1
    else:
        least, most = min(low, np.int64(value)), max(high, np.int64(value))
    growth.low[column], growth.high[column], growth.nulls[column] = least, most, more
    if least == low and most == high and (more > 0) == (nulls > 0):
        return 0
    waiting = growth.state[LENGTH]
    codes, cost = growth.columns[column], growth.cost
    if model.kind[column] == NUMBER and more == 0:
        null = full_loss(model, column) if high < 0 else np.int64(0)
        for at in range(waiting):
            x = np.int64(codes[at])
            wider = max(most, x) - min(least, x) - max(high, x) + min(low, x)
            cost[at] += null if x == NULL else wider
        return waiting
    known = np.int64(model.null[column]) if model.kind[column] == TREE else waiting
    if known < waiting:  # what each leaf costs, instead of each row
        delta = growth.delta
        for code in range(known + 1):
            value = np.int64(code) if code < known else np.int64(NULL)
            delta[code] = joined(model, column, least, most, more, value)
            delta[code] -= joined(model, column, low, high, nulls, value)
        for at in range(waiting):
            cost[at] += delta[min(np.int64(codes[at]), known)]
        return waiting
    for at in range(waiting):
        cost[at] += joined(model, column, least, most, more, codes[at])
        cost[at] -= joined(model, column, low, high, nulls, codes[at])
    return waiting


@kernel
def enter(growth, model, codes, row, fresh):
    """Add a row to the class, emptied first if ``fresh``; return the number of cells visited."""
    looked = 0
    if fresh:
        for at in range(growth.state[LENGTH]):
            growth.cost[at] = GONE if growth.cost[at] > GONE // 2 else 0
    for column in range(model.kind.size):
        if fresh:
            growth.low[column], growth.high[column] = NULL, -1
            growth.nulls[column] = growth.distinct[column] = 0
            for code in range(growth.members.shape[1]):
                growth.members[column, code] = False
        if model.kind[column] == SET:
            looked += enter_set(growth, model, column, codes[row, column])
        else:
            looked += enter_range(growth, model, column, codes[row, column])
    return looked


@kernel
def take(growth, farthest):
    """Return the position of the waiting row of least cost, or of most; ties to the first."""
    cost = growth.cost[: growth.state[LENGTH]]
    best = np.int64(-1) if farthest else GONE
    for at in range(cost.size):
        if farthest:
            best = max(best, cost[at] if cost[at] < GONE // 2 else np.int64(-1))
        else:
            best = min(best, cost[at])
    for at in range(cost.size):
        if cost[at] == best:
            return at
    return -1


@kernel
def close_ranks(growth):
    """Compact the waiting rows."""
    kept = 0
    for at in range(growth.state[LENGTH]):
        if growth.cost[at] < GONE // 2:
            growth.rows[kept], growth.cost[kept] = growth.rows[at], growth.cost[at]
            for column in range(growth.columns.shape[0]):
                growth.columns[column, kept] = growth.columns[column, at]
            kept += 1
    growth.state[LENGTH] = kept


@kernel
def grow(growth, model, codes, k, work, classes):
    """Grow classes until ``work`` cells are visited; return the number of waiting rows.

    Ends where fewer than k rows wait. codes: int32[n, d]; classes: int32[n], written. Returns 0 at
    the end.
    """
    state, looked = growth.state, 0
    while looked < work:
        fresh = state[SIZE] == 0
        if fresh and state[LEFT] < k:
            return 0
        if fresh:
            looked += enter(growth, model, codes, state[LAST], True)
        if state[LEFT] * 8 < state[LENGTH] * 7:
            close_ranks(growth)
        at = take(growth, fresh)
        row = growth.rows[at]
        growth.cost[at] = GONE
        state[LEFT] -= 1
        looked += enter(growth, model, codes, row, fresh) + state[LENGTH]
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
    """Return class ids int32[n] of exactly k rows each; -1 for the fewer than k rows left.

    points: float64[n, d], rows in canonical order; the lower position wins a tie. A class begins
    with the row farthest from the last one taken, the first class with the row farthest from a
    random one. Time grows with the square of n and hardly depends on k from about 10.
    """
    n, width = points.shape
    codes = np.empty((n, width), np.int32)
    coded(np.ascontiguousarray(points, dtype=np.float64), model, codes)
    most = int(model.null[model.kind == SET].max(initial=0)) + 1
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
        members=np.zeros((width, most), np.bool_),
        delta=np.zeros(int(model.null.max(initial=0)) + 1, np.int64),
        state=np.array([n, n, 0, 0, first]),
    )
    classes = np.full(n, -1, np.int32)
    workers.repeat(grow, (growth, model, codes, k, WORK, classes), n)
    return classes


FARTHER = 1.25  # times the farthest row that is kept: where those of the next row are looked for
NEAR = 12  # rows kept for each row; 40 gain nothing
SAMPLE = 1 << 12  # most rows compared with each row; fewer in very large groups
PAIRS = 1 << 24  # most comparisons in a group


@kernel
def near_rows(columns, weights, sample, near):
    """Return the sampled rows nearest to each row, itself excluded, int32[m, near].

    columns: float32[d, m], weights: float32[d], sample: int32[…]. The distance is the weighted sum
    of min(|a - b|, 1); ties to the first of the sample. Where there are too few, the row itself is
    given.
    """
    d, m = columns.shape
    others = np.empty((d, sample.size), np.float32)
    for c in range(d):
        for at in range(sample.size):
            others[c, at] = columns[c, sample[at]]
    found = np.empty((m, near), np.int32)
    far, keys = np.empty(sample.size, np.float32), np.empty(near, np.float32)
    close, guess = np.empty(sample.size + 1, np.int32), np.float32(np.inf)
    one = np.float32(1)
    for row in range(m):
        far[:] = np.float32(0)
        for c in range(d):
            value, weight, line = columns[c, row], weights[c], others[c]
            for at in range(sample.size):
                gap = abs(line[at] - value)
                far[at] += weight * (gap if gap < one else one)
        keys[:] = np.inf
        found[row] = row
        count = 0  # of those that are close enough if the row is like the one before
        for at in range(sample.size):
            close[count] = at
            count += far[at] <= guess
        if count <= near:
            count = sample.size
            for at in range(count):
                close[at] = at
        for at in close[:count]:
            if far[at] >= keys[near - 1] or sample[at] == row:
                continue
            i = near - 1
            while i > 0 and keys[i - 1] > far[at]:
                keys[i], found[row, i] = keys[i - 1], found[row, i - 1]
                i -= 1
            keys[i], found[row, i] = far[at], sample[at]
        guess = keys[near - 1] * np.float32(FARTHER)
    return found


def near_in_group(
    points: npt.NDArray[np.float64],
    model: LossModel,
    rng: np.random.Generator,
    compared: int | None = None,
) -> npt.NDArray[np.int32]:
    """Return the rows near each row of float64[m, d], int32[m, NEAR].

    compared: most rows with which each row is compared; None for SAMPLE.
    """
    m = len(points)
    columns = np.ascontiguousarray(points.T, dtype=np.float32)
    shared = np.maximum(model.values, 1)
    weights = (model.weight * np.where(model.kind == SET, 2 / shared, 1)).astype(np.float32)
    for c in np.flatnonzero((model.kind == NUMBER) & (model.weight > 0)):
        columns[c] /= model.weight[c]
    for c in np.flatnonzero(model.kind == TREE):
        columns[c] /= max(float(model.null[c]), 1.0)
    most = min(compared or SAMPLE, max(2 * NEAR, PAIRS // m))
    sample = np.arange(m) if m <= most else np.sort(rng.choice(m, most, replace=False))
    return near_rows(columns, weights, sample.astype(np.int32), NEAR)  # type: ignore[no-any-return]


@kernel
def write_row_costs(s, costs):
    """Write the decrease of |E| * NCP(E) by the removal of each row into costs, float64[m]."""
    for row in range(s.home.size):
        at = s.home[row]
        rest = (s.size[at] - 1) * ncp_with(s, at, row, -1)
        costs[row] = s.size[at] * s.ncp[at] - rest


def row_costs(
    points: npt.NDArray[np.float64], model: LossModel, classes: npt.NDArray[np.int32]
) -> npt.NDArray[np.float64]:
    """Return what each row of float64[m, d] costs its class, float64[m], its own loss included.

    classes: int32[m], from 0 without gaps.
    """
    state = class_state(points, model, classes, int(np.bincount(classes).max()))
    fill(state)
    costs = np.empty(len(classes))
    write_row_costs(state, costs)
    return costs
