"""Order rows greedily: by growing groups, and by repeated halving. The order is cut afterwards.

- Groups of k grow within a window, each by the row of least increase of loss. Source: k-member
  (Byun et al. 2007; ``kernels.k_member``). Departures: a group begins with the first waiting row,
  not the farthest, and only the next rows of a given order are tried, so that time grows linearly
  with the rows.
- Rows are split between two far apart, and so are both sides. Source: top-down greedy splitting (Xu
  et al. 2006; ``kernels.top_down``), of which only the order is kept. Departures: the best of
  several splits is taken, and the side nearer to the rows before goes first, if that leaves the
  other nearer to the rows behind.
"""

import numpy as np

from anon_sql.kernels.distance import coded, count_loss, draw_below
from anon_sql.kernels.k_member import LENGTH, Growth, enter, joined
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import SET, range_loss, set_loss
from anon_sql.kernels.side_losses import empty, join_side, loss_with, no_sides


@kernel
def grown_order(points, rows, model, width, k):
    """Return rows in a better order, int32[m]; ties go to the row that comes first.

    points: float64[n, d], the points of the rows in each column.
    rows: int32[m], in the given order.
    model: ``LossModel``, the meaning of the points.
    width: int, number of waiting rows, one of which is taken at a time.
    k: int, rows of a group.
    """
    m, order = rows.size, np.empty(rows.size, np.int32)
    codes = np.empty((m, model.kind.size), np.int32)
    coded(points[rows], model, codes)
    growth = window_of(codes, model, min(width, m))
    positions = np.arange(m)
    coming, first = min(width, m), 0
    for i in range(m):
        fresh = i % k == 0
        if fresh:
            while positions[first] < 0:
                first += 1
        row = first if fresh else cheapest(growth)
        position = positions[row]
        positions[row] = -1
        order[i] = rows[row]
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
    """Return an empty class and the first waiting rows, a ``Growth``.

    codes: int32[m, d], of the rows that are ordered.
    model: ``LossModel``, the meaning of the points.
    width: int, number of waiting rows.
    """
    d, null_codes = model.kind.size, np.append(model.null[model.kind == SET], 0.0)
    code_count, leaves = np.int64(null_codes.max()) + 1, np.int64(model.null.max()) + 1
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
        np.zeros((d, code_count), np.bool_),
        np.zeros(leaves, np.int64),
        state,
    )


@kernel
def cheapest(growth):
    """Return the waiting row of least cost, ties to the first.

    growth: ``Growth``.
    """
    length = growth.state[LENGTH]
    cost, rows = growth.cost[:length], growth.rows[:length]
    least, first = cost[0], np.int32(2**31 - 1)
    for i in range(length):
        least = cost[i] if cost[i] < least else least
    for i in range(length):
        first = rows[i] if cost[i] == least and rows[i] < first else first
    return np.int64(first)


@kernel
def wait(growth, model, codes, row, position):
    """Put a row at a position of the window, with its cost for the current class.

    growth: ``Growth``, changed.
    model: ``LossModel``, the meaning of the points.
    codes: int32[m, d], of the rows that are ordered.
    row: int, the row.
    position: int, in the window.
    """
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


SAMPLE_ROWS = 256  # on which two rows far apart are tried
TIE_LOSS = 1e-9  # losses that differ by less are the same
STREAM = 0  # of random numbers, the same for every seed of a call


@kernel
def farthest(values, rows, model, row):
    """Return the row of largest loss together with another, and the loss of the two.

    values: float64[m, d], the points of the rows that are ordered.
    rows: int32[r], rows that are compared.
    model: ``LossModel``, the meaning of the points.
    row: int, the other row.
    """
    largest_loss, farthest_row, point = -1.0, row, values[row]
    for i in range(rows.size):
        other_point, total = values[rows[i]], 0.0
        for c in range(point.size):
            if point[c] == other_point[c]:
                continue
            if point[c] == model.null[c] or other_point[c] == model.null[c]:
                total += model.weight[c]
            elif model.kind[c] == SET:
                total += set_loss(model, c, 2)
            else:
                total += range_loss(
                    model, c, min(point[c], other_point[c]), max(point[c], other_point[c])
                )
        if total > largest_loss:
            largest_loss, farthest_row = total, rows[i]
    return farthest_row, largest_loss


@kernel
def split(values, rows, sides, model, u, v, near):
    """Mark the rows that join row u, not row v; return the loss of both classes, sum of |E| * NCP.

    A row goes where the loss grows less; ties go to the smaller side, then to the first.

    values: float64[m, d], the points of the rows that are ordered.
    rows: int32[r], rows of the node.
    sides: ``Sides``, scratch.
    model: ``LossModel``, the meaning of the points.
    u, v: int, two of the rows.
    near: bool[r or more], written.
    """
    empty(sides)
    join_side(sides, 0, model, values[u])
    join_side(sides, 1, model, values[v])
    size, other_size, loss, other_loss = 1, 1, 0.0, 0.0
    for i in range(rows.size):
        if rows[i] in (u, v):
            near[i] = rows[i] == u
            continue
        row = values[rows[i]]
        loss_near, loss_far = loss_with(sides, 0, model, row), loss_with(sides, 1, model, row)
        increase_near = (size + 1) * loss_near - size * loss
        increase_far = (other_size + 1) * loss_far - other_size * other_loss
        near[i] = increase_near < increase_far + (TIE_LOSS if size <= other_size else -TIE_LOSS)
        if near[i]:
            if loss_near > loss:
                join_side(sides, 0, model, row)
            size, loss = size + 1, loss_near
        else:
            if loss_far > other_loss:
                join_side(sides, 1, model, row)
            other_size, other_loss = other_size + 1, loss_far
    return size * loss + other_size * other_loss


@kernel
def best_split(values, rows, sides, model, tries, near):
    """Mark the best of several splits; return its two rows far apart, or -1 for both if rows are
    equal.

    Splits are tried on SAMPLE_ROWS rows.

    values: float64[m, d], the points of the rows that are ordered.
    rows: int32[r], rows of the node.
    sides: ``Sides``, scratch.
    model: ``LossModel``, the meaning of the points.
    tries: int, number of splits.
    near: bool[r or more], written: the rows that join the first of the two.
    """
    sample, least_loss, best_u, best_v = rows[:SAMPLE_ROWS], np.inf, np.int64(-1), np.int64(-1)
    _, distance = farthest(values, sample, model, sample[0])
    compared = sample if distance > 0.0 else rows
    for start in range(min(tries, sample.size)):
        v, _ = farthest(values, compared, model, sample[start])
        u, distance = farthest(values, compared, model, v)
        if distance == 0.0:
            break
        loss = split(values, sample, sides, model, u, v, near) if tries > 1 else 0.0
        if loss < least_loss - TIE_LOSS:
            least_loss, best_u, best_v = loss, np.int64(u), np.int64(v)
    if best_u >= 0:
        split(values, rows, sides, model, best_u, best_v, near)
    return best_u, best_v


@kernel
def second_first(sides, model, values, before, behind):
    """Return whether the second class should go first between two rows.

    sides: ``Sides``.
    model: ``LossModel``, the meaning of the points.
    values: float64[m, d], the points of the rows that are ordered.
    before, behind: int, the rows; -1 for no row.
    """
    total, difference = 0.0, sides.loss[1].sum() - sides.loss[0].sum()
    for row, sign in ((before, 1.0), (behind, -1.0)):
        if row >= 0:
            loss_first = loss_with(sides, 0, model, values[row])
            loss_second = loss_with(sides, 1, model, values[row])
            total += sign * (loss_first - loss_second + difference)
    return total > TIE_LOSS


@kernel
def split_order(points, rows, model, tries):
    """Return rows in a better order, int32[m].

    points: float64[n, d], the points of the rows in each column.
    rows: int32[m], in the given order.
    model: ``LossModel``, the meaning of the points.
    tries: int, number of splits of which the best is taken.
    """
    m, sides = rows.size, no_sides(model)
    values, arranged = points[rows], np.arange(m).astype(np.int32)
    for remaining in range(m, 1, -1):  # shuffled, so that splits do not depend on the given order
        i = draw_below(np.uint64(STREAM), np.uint64(remaining), remaining)
        arranged[remaining - 1], arranged[i] = arranged[i], arranged[remaining - 1]
    near, moved = np.empty(m, np.bool_), np.empty(m, np.int32)
    ends, beside = np.empty((m + 2, 2), np.int64), np.empty((m + 2, 2), np.int64)
    ends[0, 0], ends[0, 1], beside[0, 0], beside[0, 1] = 0, m, -1, -1
    depth = 1
    while depth:
        depth -= 1
        begin, end = ends[depth]
        before, behind = beside[depth]
        part = arranged[begin:end]
        if part.size < 2:
            continue
        u, v = best_split(values, part, sides, model, tries, near)
        if u < 0:
            continue
        swap = second_first(sides, model, values, before, behind)
        first, last = (v, u) if swap else (u, v)
        first_count, moved_count = 0, 0
        for i in range(part.size):
            if near[i] != swap:
                part[first_count] = part[i]
                first_count += 1
            else:
                moved[moved_count] = part[i]
                moved_count += 1
        part[first_count:] = moved[:moved_count]
        ends[depth, 0], ends[depth, 1] = begin + first_count, end
        beside[depth, 0], beside[depth, 1] = first, behind
        ends[depth + 1, 0], ends[depth + 1, 1] = begin, begin + first_count
        beside[depth + 1, 0], beside[depth + 1, 1] = before, last
        depth += 2
    return rows[arranged]
