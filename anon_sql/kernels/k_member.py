"""k-member clustering: a class grows by the row that costs it least, until it has k.

Byun et al. 2007. What the class would lose with each waiting row is kept, and brought up to date
column by column: a row that joins seldom widens more than one, so that a row costs one or two
passes over those that wait instead of one for each column.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from anon_sql.kernels.coded import NULL, WHOLE, coded, count_loss, span_loss
from anon_sql.kernels.distance import draw_below
from anon_sql.kernels.ncp import NUMBER, SET, TREE, LossModel
from anon_sql.workers import Workers

WORK = 1 << 28  # cells looked at in a call: some .2 s
GONE = np.int64(1) << 60  # at least half of it: the cost of a row that waits no longer
LENGTH, LEFT, CLASS, SIZE, LAST = range(5)  # places in Growth.state


class Growth(NamedTuple):
    """Between two calls: the rows that wait, what they would cost, and the class that grows.

    rows int32[n], columns int32[d, n] and cost int64[n] hold them side by side, in their order,
    up to state[LENGTH]; state[LEFT] of them still wait. low, high, nulls, distinct int64[d] and
    members bool[d, codes]: what the class holds; delta: int64[codes or
    leaves], scratch.
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


@njit(cache=True, nogil=True)
def joined(model, column, low, high, nulls, value):
    """Loss of low … high (none where high is below 0), so many NULLs and a value; no SET."""
    if value == NULL:
        return np.int64(WHOLE if high >= 0 else 0)
    if nulls:
        return np.int64(WHOLE)
    return span_loss(model, column, min(low, np.int64(value)), max(high, np.int64(value)))


@njit(cache=True, nogil=True)
def enter_set(growth, model, column, value):
    """Take a code into a SET column of the class; how many cells were looked at."""
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


@njit(cache=True, nogil=True)
def enter_range(growth, model, column, value):
    """Take a value into a NUMBER or TREE column of the class; how many cells were looked at."""
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
        null = WHOLE if high < 0 else 0
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


@njit(cache=True, nogil=True)
def enter(growth, model, codes, row, fresh):
    """Take a row into the class, or begin one with it; how many cells were looked at."""
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


@njit(cache=True, nogil=True)
def take(growth, farthest):
    """The place of the waiting row of least cost, or of most; the first of equals."""
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


@njit(cache=True, nogil=True)
def close_ranks(growth):
    """Bring the rows that wait together."""
    kept = 0
    for at in range(growth.state[LENGTH]):
        if growth.cost[at] < GONE // 2:
            growth.rows[kept], growth.cost[kept] = growth.rows[at], growth.cost[at]
            for column in range(growth.columns.shape[0]):
                growth.columns[column, kept] = growth.columns[column, at]
            kept += 1
    growth.state[LENGTH] = kept


@njit(cache=True, nogil=True)
def grow(growth, model, codes, k, work, classes):
    """Go on until ``work`` cells are looked at or fewer than k rows are left for a new class.

    codes int32[n, d], classes int32[n]. Returns how many rows wait, 0 at the end.
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
    points: npt.NDArray[np.float64], model: LossModel, k: int, *, seed: int, workers: Workers
) -> npt.NDArray[np.int32]:
    """Class ids int32[n] of exactly k rows each; -1 for the fewer than k that are left.

    points: float64[n, d], rows in canonical order, so that the lower position wins a tie. A class
    begins with the row farthest from the last one taken, the first from a row that is drawn. Time
    grows with the square of n, and stays the same for any k from about 10.
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
