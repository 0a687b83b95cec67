"""Cut clusters where the cut loses least, until no cut is allowed: the second phase of DOP.

Source: Sharma, Kumar and Reddy, "A Density-Driven Anonymization Framework" (DOP), section IV-B
("optimal Mondrian"). The cut of least loss of a node is found among every boundary between two
values of every column. No cut is refused for losing more than the node does. The paper leaves the
encoding of text open; values are ordered by frequency, as in ``mondrian``. On Adult (k = 10, 'ncp')
order by code loses 18 % more.

The loss of a side is followed row by row from either end of a column's order. A column in which a
side loses as much as the whole node cannot lose more and is followed no further; after the first
rows few columns remain. Cuts separate few rows at a time, so that a node may lie n / k deep:
waiting nodes are on a stack, and rows stay sorted by every column, which makes the cost of a node
proportional to its rows.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.distance import NULL, coded, count_loss, full_loss, span_loss
from anon_sql.kernels.kernel import Runner, kernel
from anon_sql.kernels.legality import Rules
from anon_sql.kernels.loss import NUMBER, SET, LossModel
from anon_sql.kernels.mondrian import order_sets
from anon_sql.kernels.sides import Leaves, SideCounts, empty_side_counts, hold, legal_at, rewind


@kernel
def follow(codes, model, rows, counted, full, steps, seen, mark, losses):
    """Follow the loss of rows[: step + 1] for each step; return each column's loss, int64[d].

    codes: int32[n, d], from ``coded``.
    model: ``LossModel``, the meaning of the points.
    rows: int32[m], rows of the node, in the order in which they are followed.
    counted: int64[…], the columns that count.
    full: int64[d], the loss of the whole node in each column.
    steps: int, rows that are followed.
    seen: int32[d, codes], by code, the last ``mark`` of a SET column that held it; changed.
    mark: int32, differs for each call.
    losses: int64[m], written, in billionths.
    """
    width = full.size
    low, high = np.full(width, np.int32(NULL), np.int32), np.full(width, np.int32(-1), np.int32)
    nulls, distinct = np.zeros(width, np.bool_), np.zeros(width, np.int64)
    loss = np.zeros(width, np.int64)
    followed, count = counted.copy(), 0
    for column in counted:
        if full[column] > 0:
            followed[count] = column
            count += 1
    total = np.int64(0)
    for step in range(steps):
        row, kept = rows[step], 0
        for i in range(count):
            column = followed[i]
            value, before = codes[row, column], loss[column]
            if model.kind[column] == SET:
                if seen[column, value] != mark:
                    seen[column, value] = mark
                    nulls[column] |= value == np.int64(model.null[column])
                    distinct[column] += 1
                    loss[column] = count_loss(model, column, distinct[column], nulls[column])
            elif value == NULL:
                nulls[column] = True
                loss[column] = full_loss(model, column) if high[column] >= 0 else 0
            elif value < low[column] or value > high[column]:
                low[column], high[column] = min(low[column], value), max(high[column], value)
                if nulls[column]:
                    loss[column] = full_loss(model, column)
                else:
                    loss[column] = span_loss(model, column, low[column], high[column])
            total += loss[column] - before
            followed[kept] = column
            kept += loss[column] < full[column]
        count = kept
        losses[step] = total
        if count == 0:
            losses[step:steps] = total
            break
    return loss


@kernel
def best_cut(codes, model, orders, begin, end, k, weighted, rules, scratch):
    """Return the column and the position of the cut of least loss; (-1, 0) for none.

    The position is counted from ``begin``. Ties: the first column, the lowest value.

    codes: int32[n, d], from ``coded``.
    model: ``LossModel``, the meaning of the points.
    orders: int32[d, n], orders[column, begin:end] are the node's rows, ascending in that column.
    begin, end: int, the node.
    k: int, least rows of a side.
    weighted: bool, weight the sides by their rows and count every column; else add the sides'
        ranges of numbers alone (equation 3).
    rules: None, or ``Rules``, what each side must satisfy besides k.
    scratch: (counted, seen, mark, before, after, side_counts), of ``Cutting``.
    """
    counted, seen, mark, before, after, side_counts = scratch
    m, width = end - begin, orders.shape[0]
    full = np.full(width, np.int64(2**62), np.int64)
    mark[0] += 1
    full = follow(codes, model, orders[0, begin:end], counted, full, m, seen, mark[0], before)
    hold(rules, side_counts, orders[0, begin:end])
    least_loss, best_column, best_position = np.int64(2**62), -1, np.int64(0)
    for column in range(width):
        rows = orders[column, begin:end]
        if codes[rows[0], column] == codes[rows[m - 1], column]:
            continue
        steps = m - k
        mark[0] += 1
        follow(codes, model, rows, counted, full, steps, seen, mark[0], before)
        mark[0] += 1
        follow(codes, model, rows[::-1], counted, full, steps, seen, mark[0], after)
        rewind(rules, side_counts)
        for position in range(k, m - k + 1):
            near, far = before[position - 1], after[m - position - 1]
            cost = position * near + (m - position) * far if weighted else near + far
            if (
                cost < least_loss
                and codes[rows[position - 1], column] != codes[rows[position], column]
                and legal_at(rules, side_counts, rows, position)
            ):
                least_loss, best_column, best_position = cost, column, np.int64(position)
    return best_column, best_position


LOSSES = ("lil", "ncp")
CALL_ROWS = 2_000_000  # between two tests for Ctrl-C, some .2 s


class Cutting(NamedTuple):
    """State of a partition of n rows while it is cut.

    codes: int32[n, d].
    orders: int32[d, n], rows node by node, ascending in each column.
    first, end: int64[n + 1], the waiting nodes, depth[0] of them.
    depth: int64[1].
    starts: int64[n + 1], where the finished nodes begin, made[0] of them.
    made: int64[1].
    waiting: int64[1], rows in waiting nodes.
    counted: int64[…], the columns that count.
    seen, mark, before, after, side, side_counts: scratch of ``best_cut``.
    """

    codes: npt.NDArray[np.int32]
    orders: npt.NDArray[np.int32]
    first: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    depth: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    made: npt.NDArray[np.int64]
    waiting: npt.NDArray[np.int64]
    counted: npt.NDArray[np.int64]
    seen: npt.NDArray[np.int32]
    mark: npt.NDArray[np.int32]
    before: npt.NDArray[np.int64]
    after: npt.NDArray[np.int64]
    side: npt.NDArray[np.bool_]
    side_counts: SideCounts


@kernel
def part(orders, begin, end, side, buffer):
    """Bring marked rows of a node to the front in every column, order preserved.

    orders: int32[d, n], rows node by node; changed.
    begin, end: int, the node.
    side: bool[n], by row, the marked rows.
    buffer: int32[n], scratch.
    """
    for column in range(orders.shape[0]):
        near = far = 0
        for i in range(begin, end):
            row = orders[column, i]
            orders[column, begin + near] = row
            buffer[far] = row
            near += side[row]
            far += not side[row]
        orders[column, begin + near : end] = buffer[:far]


@kernel
def cut_on(state, model, k, weighted, rules, budget):
    """Cut waiting nodes until the budget is used up; return how many rows still wait.

    state: ``Cutting``, changed.
    model: ``LossModel``, the meaning of the points.
    k: int, least rows of a side.
    weighted: bool, weight the sides by their rows and count every column; else add the sides'
        ranges of numbers alone (equation 3).
    rules: None, or ``Rules``, what each side must satisfy besides k.
    budget: int, rows to visit.
    """
    scratch = state.counted, state.seen, state.mark, state.before, state.after, state.side_counts
    buffer = np.empty(state.side.size, np.int32)
    while state.depth[0] > 0 and budget > 0:
        state.depth[0] -= 1
        begin, end = state.first[state.depth[0]], state.end[state.depth[0]]
        budget -= end - begin
        column, position = -1, np.int64(0)
        if end - begin >= 2 * k:
            column, position = best_cut(
                state.codes, model, state.orders, begin, end, k, weighted, rules, scratch
            )
        if column < 0:
            state.starts[state.made[0]] = begin
            state.made[0] += 1
            state.waiting[0] -= end - begin
            continue
        for i in range(begin, end):
            state.side[state.orders[column, i]] = i < begin + position
        part(state.orders, begin, end, state.side, buffer)
        for first, last in ((begin + position, end), (begin, begin + position)):
            state.first[state.depth[0]], state.end[state.depth[0]] = first, last
            state.depth[0] += 1
    return state.waiting[0]


def optimal_mondrian(
    points: npt.NDArray[np.float64],
    model: LossModel,
    clusters: Leaves,
    k: int,
    rules: Rules | None = None,
    *,
    loss: str,
    workers: Runner,
) -> Leaves:
    """Return each cluster cut as finely as both sides of every cut may be classes.

    Time grows with the square of the rows if cuts separate few rows at a time.

    points: float64[n, d], rows in canonical order.
    model: ``LossModel``, the meaning of the points.
    clusters: the first phase's.
    k: least rows of a side.
    rules: what else each side must satisfy.
    loss: 'lil', the paper's, sums the ranges of the numeric columns; 'ncp' counts every column,
        weighted by rows.
    workers: runs the kernel.
    """
    n, width = points.shape
    codes = np.zeros((n, width), np.int32)
    coded(np.ascontiguousarray(points, dtype=np.float64), model, codes)
    order_sets(codes, model)
    cluster = clusters.classes()
    orders = np.stack([np.lexsort((codes[:, c], cluster)) for c in range(width)])
    weighted = loss == LOSSES[1]
    counted = np.flatnonzero((model.kind == NUMBER) | weighted)
    sets = [int(model.null[c]) + 1 for c in np.flatnonzero(model.kind == SET)]
    ends = clusters.starts
    waiting, zero = len(ends) - 1, np.zeros(1, np.int64)
    first, end = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    first[:waiting], end[:waiting] = ends[:-1][::-1], ends[1:][::-1]
    state = Cutting(
        codes=codes,
        orders=orders.astype(np.int32),
        first=first,
        end=end,
        depth=zero + waiting,
        starts=np.empty(n + 1, np.int64),
        made=zero.copy(),
        waiting=zero + n,
        counted=counted,
        seen=np.zeros((width, max(sets, default=0)), np.int32),
        mark=np.zeros(1, np.int32),
        before=np.empty(n, np.int64),
        after=np.empty(n, np.int64),
        side=np.empty(n, np.bool_),
        side_counts=empty_side_counts(rules, n),
    )
    job = (state, model, k, weighted, rules, CALL_ROWS)
    workers.repeat(cut_on, job, n)
    finished = int(state.made[0])
    return Leaves(state.orders[0], np.append(state.starts[:finished], n).astype(np.int64))
