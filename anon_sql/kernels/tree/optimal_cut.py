"""Find the cut of least loss of a node among every boundary between two values of every column.

Source: Sharma, Kumar and Reddy (DOP), section IV-B. The loss of a side is followed row by row from
either end of a column's order. A column in which a side loses as much as the whole node cannot lose
more and is followed no further; after the first rows few columns remain.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss.coded import NULL, count_loss, span_loss, whole_loss
from anon_sql.kernels.loss.ncp import SET
from anon_sql.kernels.tree.sides import hold, legal_at, rewind


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
                own[column] = whole_loss(model, column) if high[column] >= 0 else 0
            elif value < low[column] or value > high[column]:
                low[column], high[column] = min(low[column], value), max(high[column], value)
                if nulls[column]:
                    own[column] = whole_loss(model, column)
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
    wanted, seen, mark, before, after, held = scratch
    m, width = b - a, orders.shape[0]
    full = np.full(width, np.int64(2**62), np.int64)
    mark[0] += 1
    full = follow(codes, model, orders[0, a:b], wanted, full, m, seen, mark[0], before)
    hold(rules, held, orders[0, a:b])
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
        rewind(rules, held)
        for at in range(k, m - k + 1):
            near, far = before[at - 1], after[m - at - 1]
            cost = at * near + (m - at) * far if weighted else near + far
            if (
                cost < least
                and codes[rows[at - 1], column] != codes[rows[at], column]
                and legal_at(rules, held, rows, at)
            ):
                least, found, place = cost, column, np.int64(at)
    return found, place
