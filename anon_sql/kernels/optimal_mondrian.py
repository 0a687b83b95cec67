"""Cut clusters where the cut loses least, until no cut is allowed: the second phase of DOP.

Find the cut of least loss of a node among every boundary between two values of every column.
Source: Sharma, Kumar and Reddy (DOP), section IV-B. The loss of a side is followed row by row from
either end of a column's order. A column in which a side loses as much as the whole node cannot lose
more and is followed no further; after the first rows few columns remain.

Source: Sharma, Kumar and Reddy, "A Density-Driven Anonymization Framework", section IV-B ("optimal
Mondrian"). No cut is refused for losing more than the node does. Cuts separate few rows at a time,
so that a node may lie n / k deep: waiting nodes are on a stack, and rows stay sorted by every
column, which makes the cost of a node proportional to its rows. The paper leaves the encoding of
text open; values are ordered by frequency, as in ``mondrian``. On Adult (k = 10, 'ncp') order by
code loses 18 % more.
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
def follow(codes, model, rows, wanted, full, steps, seen, mark, lost):
    """Write in lost[at] the loss of rows[: at + 1], for the first ``steps`` rows, in billionths.

    wanted: int32[…], the columns that count. full: int64[d], the loss of the whole node in each
    column. seen: int32[d, …], by code, the last ``mark`` of a SET column. Returns each column's
    loss at the end, int64[d].
    """
    width = full.size
    low, high = np.full(width, np.int32(NULL), np.int32), np.full(width, np.int32(-1), np.int32)
    nulls, distinct = np.zeros(width, np.bool_), np.zeros(width, np.int64)
    own = np.zeros(width, np.int64)
    open_, count = wanted.copy(), 0
    for column in wanted:
        if full[column] > 0:
            open_[count] = column
            count += 1
    total = np.int64(0)
    for at in range(steps):
        row, left = rows[at], 0
        for i in range(count):
            column = open_[i]
            value, before = codes[row, column], own[column]
            if model.kind[column] == SET:
                if seen[column, value] != mark:
                    seen[column, value] = mark
                    nulls[column] |= value == np.int64(model.null[column])
                    distinct[column] += 1
                    own[column] = count_loss(model, column, distinct[column], nulls[column])
            elif value == NULL:
                nulls[column] = True
                own[column] = full_loss(model, column) if high[column] >= 0 else 0
            elif value < low[column] or value > high[column]:
                low[column], high[column] = min(low[column], value), max(high[column], value)
                if nulls[column]:
                    own[column] = full_loss(model, column)
                else:
                    own[column] = span_loss(model, column, low[column], high[column])
            total += own[column] - before
            open_[left] = column
            left += own[column] < full[column]
        count = left
        lost[at] = total
        if count == 0:
            lost[at:steps] = total
            break
    return own


@kernel
def best_cut(codes, model, orders, a, b, k, weighted, rules, scratch):
    """Return the column and the position, counted from a, of the cut of least loss; (-1, 0): none.

    orders: int32[d, n]; orders[column, a:b] are the node's rows, ascending in that column.
    weighted: weight the sides by their rows and count every column, else add the sides' ranges of
    numbers alone (equation 3). k: least number of rows of a side; rules: what else a side must
    satisfy. Ties: the first column, the lowest value.
    """
    wanted, seen, mark, before, after, side_counts = scratch
    m, width = b - a, orders.shape[0]
    full = np.full(width, np.int64(2**62), np.int64)
    mark[0] += 1
    full = follow(codes, model, orders[0, a:b], wanted, full, m, seen, mark[0], before)
    hold(rules, side_counts, orders[0, a:b])
    least, found, place = np.int64(2**62), -1, np.int64(0)
    for column in range(width):
        rows = orders[column, a:b]
        if codes[rows[0], column] == codes[rows[m - 1], column]:
            continue
        steps = m - k
        mark[0] += 1
        follow(codes, model, rows, wanted, full, steps, seen, mark[0], before)
        mark[0] += 1
        follow(codes, model, rows[::-1], wanted, full, steps, seen, mark[0], after)
        rewind(rules, side_counts)
        for at in range(k, m - k + 1):
            near, far = before[at - 1], after[m - at - 1]
            cost = at * near + (m - at) * far if weighted else near + far
            if (
                cost < least
                and codes[rows[at - 1], column] != codes[rows[at], column]
                and legal_at(rules, side_counts, rows, at)
            ):
                least, found, place = cost, column, np.int64(at)
    return found, place


LOSSES = ("lil", "ncp")
STEPS = 2_000_000  # rows between two tests for Ctrl-C, some .2 s


class Cutting(NamedTuple):
    """State of a partition of n rows while it is cut.

    codes: int32[n, d]. orders: int32[d, n], rows node by node, ascending in each column. first,
    end: int64[n + 1], the waiting nodes, depth[0] of them. starts: int64[n + 1], where the finished
    nodes begin, made[0] of them. left: int64[1], rows in waiting nodes. The other fields are the
    scratch space of ``optimal_cut``.
    """

    codes: npt.NDArray[np.int32]
    orders: npt.NDArray[np.int32]
    first: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    depth: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    made: npt.NDArray[np.int64]
    left: npt.NDArray[np.int64]
    wanted: npt.NDArray[np.int64]
    seen: npt.NDArray[np.int32]
    mark: npt.NDArray[np.int32]
    before: npt.NDArray[np.int64]
    after: npt.NDArray[np.int64]
    side: npt.NDArray[np.bool_]
    side_counts: SideCounts


@kernel
def part(orders, a, b, side, buffer):
    """Bring the rows of orders[:, a:b] marked in ``side`` to the front, order preserved."""
    for column in range(orders.shape[0]):
        near = far = 0
        for at in range(a, b):
            row = orders[column, at]
            orders[column, a + near] = row
            buffer[far] = row
            near += side[row]
            far += not side[row]
        orders[column, a + near : b] = buffer[:far]


@kernel
def cut_on(s, model, k, weighted, rules, steps):
    """Cut waiting nodes until ``steps`` rows were visited; return how many rows still wait."""
    scratch = s.wanted, s.seen, s.mark, s.before, s.after, s.side_counts
    buffer = np.empty(s.side.size, np.int32)
    while s.depth[0] > 0 and steps > 0:
        s.depth[0] -= 1
        a, b = s.first[s.depth[0]], s.end[s.depth[0]]
        steps -= b - a
        column, place = -1, np.int64(0)
        if b - a >= 2 * k:
            column, place = best_cut(s.codes, model, s.orders, a, b, k, weighted, rules, scratch)
        if column < 0:
            s.starts[s.made[0]] = a
            s.made[0] += 1
            s.left[0] -= b - a
            continue
        for at in range(a, b):
            s.side[s.orders[column, at]] = at < a + place
        part(s.orders, a, b, s.side, buffer)
        for low, high in ((a + place, b), (a, a + place)):
            s.first[s.depth[0]], s.end[s.depth[0]] = low, high
            s.depth[0] += 1
    return s.left[0]


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

    points: float64[n, d], rows in canonical order. k: least number of rows of a side; rules: what
    else each side must satisfy. loss: 'lil', the paper's, sums the ranges of the numeric columns;
    'ncp' counts every column, weighted by rows. Time grows with the square of the rows where cuts
    separate few rows at a time.
    """
    n, width = points.shape
    codes = np.zeros((n, width), np.int32)
    coded(np.ascontiguousarray(points, dtype=np.float64), model, codes)
    order_sets(codes, model)
    cluster = clusters.classes()
    orders = np.stack([np.lexsort((codes[:, c], cluster)) for c in range(width)])
    weighted = loss == LOSSES[1]
    wanted = np.flatnonzero((model.kind == NUMBER) | weighted)
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
        left=zero + n,
        wanted=wanted,
        seen=np.zeros((width, max(sets, default=0)), np.int32),
        mark=np.zeros(1, np.int32),
        before=np.empty(n, np.int64),
        after=np.empty(n, np.int64),
        side=np.empty(n, np.bool_),
        side_counts=empty_side_counts(rules, n),
    )
    job = (state, model, k, weighted, rules, STEPS)
    workers.repeat(cut_on, job, n)
    made = int(state.made[0])
    return Leaves(state.orders[0], np.append(state.starts[:made], n).astype(np.int64))
