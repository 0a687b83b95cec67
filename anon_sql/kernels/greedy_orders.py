"""Order rows greedily: by growing groups, and by repeated halving.

Order rows by growing groups of k within a window, each by the row of least increase of loss.
Source: k-member (Byun et al. 2007; ``kernels.k_member``). Departures: a group begins with the first
waiting row, not the farthest, and only the next rows of a given order are tried, so that time grows
linearly with the rows. The groups are cut anew afterwards.

Order rows by repeated halving: rows are split between two far apart, and so are both sides. Source:
top-down greedy splitting (Xu et al. 2006; ``kernels.top_down``), of which only the order is kept,
to be cut afterwards. Departures: the best of several splits is taken, and the side nearer to the
rows before goes first, if that leaves the other nearer to the rows behind.
"""

import numpy as np

from anon_sql.kernels.distance import coded, count_loss, draw_below
from anon_sql.kernels.k_member import LENGTH, Growth, enter, joined
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import SET, range_loss, set_loss
from anon_sql.kernels.microaggregation import empty, join_side, loss_with, no_sides


@kernel
def grown_order(points, rows, model, width, k):
    """Return rows int32[m] in a better order, int32[m].

    points: float64[n, d]. width: number of waiting rows, one of which is taken at a time; ties go
    to the row that comes first.
    """
    m, order = rows.size, np.empty(rows.size, np.int32)
    codes = np.empty((m, model.kind.size), np.int32)
    coded(points[rows], model, codes)
    growth = window_of(codes, model, min(width, m))
    positions = np.arange(m)
    coming, first = min(width, m), 0
    for at in range(m):
        fresh = at % k == 0
        if fresh:
            while positions[first] < 0:
                first += 1
        row = first if fresh else cheapest(growth)
        position = positions[row]
        positions[row] = -1
        order[at] = rows[row]
        enter(growth, model, codes, row, fresh)
        if coming < m:
            wait(growth, model, codes, coming, position)
            positions[coming] = position
            coming += 1
        else:
            last = growth.state[LENGTH] - 1
            growth.state[LENGTH] = last
            growth.columns[:, position] = growth.columns[:, last]
            growth.rows[position], growth.cost[position] = growth.rows[last], growth.cost[last]
            if position < last:
                positions[growth.rows[position]] = position
    return order


@kernel
def window_of(codes, model, width):
    """Return an empty class and the first waiting rows."""
    d, null_codes = model.kind.size, np.append(model.null[model.kind == SET], 0.0)
    most, leaves = np.int64(null_codes.max()) + 1, np.int64(model.null.max()) + 1
    per_column = np.zeros((4, d), np.int64)
    state = np.zeros(5, np.int64)
    state[LENGTH] = width
    return Growth(
        np.arange(width).astype(np.int32),
        codes[:width].T.copy(),
        np.zeros(width, np.int64),
        per_column[0],
        per_column[1],
        per_column[2],
        per_column[3],
        np.zeros((d, most), np.bool_),
        np.zeros(leaves, np.int64),
        state,
    )


@kernel
def cheapest(growth):
    """Return the waiting row of least cost, ties to the first."""
    length = growth.state[LENGTH]
    cost, rows = growth.cost[:length], growth.rows[:length]
    least, first = cost[0], np.int32(2**31 - 1)
    for at in range(length):
        least = cost[at] if cost[at] < least else least
    for at in range(length):
        first = rows[at] if cost[at] == least and rows[at] < first else first
    return np.int64(first)


@kernel
def wait(growth, model, codes, row, position):
    """Put a row at a position of the window, with its cost for the current class."""
    growth.rows[position] = row
    total = np.int64(0)
    for c in range(model.kind.size):
        code = codes[row, c]
        growth.columns[c, position] = code
        if model.kind[c] == SET:
            members, null = growth.members[c], np.int64(model.null[c])
            grown = growth.distinct[c] + (not members[code])
            total += count_loss(model, c, grown, members[null] or code == null)
        else:
            total += joined(model, c, growth.low[c], growth.high[c], growth.nulls[c], code)
    growth.cost[position] = total


FEW = 256  # rows on which two rows far apart are tried
EQUAL = 1e-9  # losses that differ by less are the same
STREAM = 0  # of random numbers, the same for every seed of a call


@kernel
def farthest(values, rows, model, row):
    """Return the row of largest loss together with another, and the loss of the two."""
    most, found, one = -1.0, row, values[row]
    for at in range(rows.size):
        other, total = values[rows[at]], 0.0
        for c in range(one.size):
            if one[c] == other[c]:
                continue
            if one[c] == model.null[c] or other[c] == model.null[c]:
                total += model.weight[c]
            elif model.kind[c] == SET:
                total += set_loss(model, c, 2)
            else:
                total += range_loss(model, c, min(one[c], other[c]), max(one[c], other[c]))
        if total > most:
            most, found = total, rows[at]
    return found, most


@kernel
def split(values, rows, sides, model, u, v, near):
    """Mark the rows that join row u, not row v, in ``near``; return the loss of both classes.

    near: bool, one for each of ``rows``. The loss is the sum of |E| * NCP. A row goes where the
    loss grows less; ties go to the smaller side, then to the first.
    """
    empty(sides)
    join_side(sides, 0, model, values[u])
    join_side(sides, 1, model, values[v])
    size, other_size, loss, other_loss = 1, 1, 0.0, 0.0
    for at in range(rows.size):
        if rows[at] in (u, v):
            near[at] = rows[at] == u
            continue
        row = values[rows[at]]
        here, there = loss_with(sides, 0, model, row), loss_with(sides, 1, model, row)
        grown = (size + 1) * here - size * loss
        other = (other_size + 1) * there - other_size * other_loss
        near[at] = grown < other + (EQUAL if size <= other_size else -EQUAL)
        if near[at]:
            if here > loss:
                join_side(sides, 0, model, row)
            size, loss = size + 1, here
        else:
            if there > other_loss:
                join_side(sides, 1, model, row)
            other_size, other_loss = other_size + 1, there
    return size * loss + other_size * other_loss


@kernel
def best_split(values, rows, sides, model, tries, near):
    """Mark the best of several splits in ``near``; return its two rows far apart, or -1 for both.

    Splits are tried on FEW rows. Returns -1 where all rows are equal.
    """
    few, least, best_u, best_v = rows[:FEW], np.inf, np.int64(-1), np.int64(-1)
    _, apart = farthest(values, few, model, few[0])
    among = few if apart > 0.0 else rows
    for start in range(min(tries, few.size)):
        v, _ = farthest(values, among, model, few[start])
        u, apart = farthest(values, among, model, v)
        if apart == 0.0:
            break
        loss = split(values, few, sides, model, u, v, near) if tries > 1 else 0.0
        if loss < least - EQUAL:
            least, best_u, best_v = loss, np.int64(u), np.int64(v)
    if best_u >= 0:
        split(values, rows, sides, model, best_u, best_v, near)
    return best_u, best_v


@kernel
def second_first(sides, model, values, before, behind):
    """Return whether the second class should go first between two rows, -1 for no row."""
    total, grown = 0.0, sides.own[1].sum() - sides.own[0].sum()
    for row, way in ((before, 1.0), (behind, -1.0)):
        if row >= 0:
            one = loss_with(sides, 0, model, values[row])
            other = loss_with(sides, 1, model, values[row])
            total += way * (one - other + grown)
    return total > EQUAL


@kernel
def split_order(points, rows, model, tries):
    """Return rows int32[m] in a better order, int32[m].

    points: float64[n, d]; tries: number of splits of which the best is taken.
    """
    m, sides = rows.size, no_sides(model)
    values, own = points[rows], np.arange(m).astype(np.int32)
    for left in range(m, 1, -1):  # shuffled, so that splits do not depend on the given order
        at = draw_below(np.uint64(STREAM), np.uint64(left), left)
        own[left - 1], own[at] = own[at], own[left - 1]
    near, moved = np.empty(m, np.bool_), np.empty(m, np.int32)
    ends, beside = np.empty((m + 2, 2), np.int64), np.empty((m + 2, 2), np.int64)
    ends[0, 0], ends[0, 1], beside[0, 0], beside[0, 1] = 0, m, -1, -1
    depth = 1
    while depth:
        depth -= 1
        a, b = ends[depth]
        before, behind = beside[depth]
        part = own[a:b]
        if part.size < 2:
            continue
        u, v = best_split(values, part, sides, model, tries, near)
        if u < 0:
            continue
        swap = second_first(sides, model, values, before, behind)
        first, last = (v, u) if swap else (u, v)
        kept, rest = 0, 0
        for at in range(part.size):
            if near[at] != swap:
                part[kept] = part[at]
                kept += 1
            else:
                moved[rest] = part[at]
                rest += 1
        part[kept:] = moved[:rest]
        ends[depth, 0], ends[depth, 1] = a + kept, b
        beside[depth, 0], beside[depth, 1] = first, behind
        ends[depth + 1, 0], ends[depth + 1, 1] = a, a + kept
        beside[depth + 1, 0], beside[depth + 1, 1] = before, last
        depth += 2
    return rows[own]
