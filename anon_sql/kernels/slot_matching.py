"""Match the rows of several owners with slots, so that each slot has one row of every owner.

The first owner's rows, which are fewest, begin the slots; the rows of each other owner are assigned
to them by least added loss: exactly (Kuhn 1955, in the O(s² n) form of Jonker and Volgenant 1987)
up to MAX_EXACT_ROWS rows, and above it by an alignment that keeps the order of the rows.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import SET, range_loss, set_loss

MAX_EXACT_ROWS = 200  # of an owner
INFINITE_COST = 1e300


@kernel
def added_range(model, column, value, ends):
    """Return what a point adds to the loss of a NUMBER or TREE column.

    model: ``LossModel``, the meaning of the points.
    column: int, the column, 0 … d - 1.
    value: float64, the point.
    ends: float64[3], lowest and highest point and whether NULL is there, 0 or 1.
    """
    low, high, has_null = ends[0], ends[1], ends[2] > 0
    has_values = low <= high
    if has_null and has_values:
        return 0.0  # it has lost everything
    if value == model.null[column]:
        return model.weight[column] - range_loss(model, column, low, high) if has_values else 0.0
    if has_null:
        return model.weight[column]
    if not has_values:
        return 0.0
    wider = range_loss(model, column, min(low, value), max(high, value))
    return wider - range_loss(model, column, low, high)


@kernel
def added_loss(points, model, row, slot, ends, sets, sizes):
    """Return what a row adds to the loss of a slot.

    points: float64[n, d], the rows of each owner one after another, owners group by group.
    model: ``LossModel``, the meaning of the points.
    row: int, the row.
    slot: int, the slot.
    ends: float64[s, d, 3], lowest and highest point and whether NULL is there, 0 or 1.
    sets: float64[s, d, owners], distinct points of a SET column.
    sizes: int64[s, d], how many.
    """
    total = 0.0
    for column in range(points.shape[1]):
        value = points[row, column]
        if model.kind[column] == SET:
            size, is_present = sizes[slot, column], False
            for i in range(size):
                is_present |= sets[slot, column, i] == value
            if not is_present:
                total += set_loss(model, column, size + 1) - set_loss(model, column, size)
            continue
        total += added_range(model, column, value, ends[slot, column])
    return total


@kernel
def put(points, model, row, slot, ends, sets, sizes):
    """Add a row to a slot.

    points: float64[n, d], the rows of each owner one after another, owners group by group.
    model: ``LossModel``, the meaning of the points.
    row: int, the row.
    slot: int, the slot.
    ends, sets, sizes: the slots' content, as in ``added_loss``; changed.
    """
    for column in range(points.shape[1]):
        value = points[row, column]
        if model.kind[column] == SET:
            is_present = False
            for i in range(sizes[slot, column]):
                is_present |= sets[slot, column, i] == value
            if not is_present:
                sets[slot, column, sizes[slot, column]] = value
                sizes[slot, column] += 1
        elif value == model.null[column]:
            ends[slot, column, 2] = 1.0
        else:
            ends[slot, column, 0] = min(ends[slot, column, 0], value)
            ends[slot, column, 1] = max(ends[slot, column, 1], value)


@kernel
def _turn(owner, previous, column):
    """Move owners along the path that ends at a column.

    owner: int64[n + 1], the row of each column, changed.
    previous: int64[n + 1], the column before each column on its path.
    column: int, the column.
    """
    while column != 0:
        previous_column = previous[column]
        owner[column] = owner[previous_column]
        column = previous_column


@kernel
def assign(cost):
    """Return the column of each row, int64[s], of least total cost.

    u and v are the dual variables of rows and columns, as in the literature.

    cost: float64[s, n], s <= n.
    """
    rows, columns = cost.shape
    u, v = np.zeros(rows + 1), np.zeros(columns + 1)
    owner = np.zeros(columns + 1, dtype=np.int64)
    previous = np.zeros(columns + 1, dtype=np.int64)
    for row in range(1, rows + 1):
        owner[0] = row
        slack = np.full(columns + 1, INFINITE_COST)
        used = np.zeros(columns + 1, dtype=np.bool_)
        last_column = 0
        while True:
            used[last_column] = True
            current, delta, following = owner[last_column], INFINITE_COST, 0
            for column in range(1, columns + 1):
                if used[column]:
                    continue
                reduced = cost[current - 1, column - 1] - u[current] - v[column]
                if reduced < slack[column]:
                    slack[column], previous[column] = reduced, last_column
                if slack[column] < delta:
                    delta, following = slack[column], column
            for column in range(columns + 1):
                if used[column]:
                    u[owner[column]] += delta
                    v[column] -= delta
                else:
                    slack[column] -= delta
            last_column = following
            if owner[last_column] == 0:
                break
        _turn(owner, previous, last_column)
    column_of = np.full(rows, -1, dtype=np.int64)
    for column in range(1, columns + 1):
        if owner[column] > 0:
            column_of[owner[column] - 1] = column - 1
    return column_of


@kernel
def align(points, model, first, count, slots, ends, sets, sizes):
    """Return the row of each slot, counted from ``first``, int64[s]: an ordered alignment.

    Slots and the owner's rows keep their order. Costs O(s (count - s + 1)).

    points: float64[n, d], the rows of each owner one after another, owners group by group.
    model: ``LossModel``, the meaning of the points.
    first: int, the owner's first row.
    count: int, rows of the owner.
    slots: int, number of slots.
    ends, sets, sizes: the slots' content, as in ``added_loss``.
    """
    spare = count - slots
    least_costs = np.zeros(spare + 1)
    taken = np.zeros((slots, spare + 1), dtype=np.bool_)
    for slot in range(slots):
        for offset in range(spare + 1):
            cost = least_costs[offset] + added_loss(
                points, model, first + slot + offset, slot, ends, sets, sizes
            )
            if offset > 0 and least_costs[offset - 1] <= cost:
                least_costs[offset] = least_costs[offset - 1]
            else:
                least_costs[offset] = cost
                taken[slot, offset] = True
    row_of, offset = np.empty(slots, dtype=np.int64), spare
    for i in range(slots):
        slot = slots - 1 - i
        while not taken[slot, offset]:
            offset -= 1
        row_of[slot] = slot + offset
    return row_of


@kernel
def rows_of_slots(points, model, first, count, slots, ends, sets, sizes):
    """Return the row of each slot among the owner's, counted from ``first``, int64[s].

    points: float64[n, d], the rows of each owner one after another, owners group by group.
    model: ``LossModel``, the meaning of the points.
    first: int, the owner's first row.
    count: int, rows of the owner.
    slots: int, number of slots.
    ends, sets, sizes: the slots' content, as in ``added_loss``.
    """
    if count > MAX_EXACT_ROWS:
        return align(points, model, first, count, slots, ends, sets, sizes)
    cost = np.empty((slots, count))
    for slot in range(slots):
        for i in range(count):
            cost[slot, i] = added_loss(points, model, first + i, slot, ends, sets, sizes)
    return assign(cost)


@kernel
def match_group(points, model, owners, first, last, slot_of):
    """Match the rows of some owners, and return the number of slots.

    points: float64[n, d], the rows of each owner one after another, owners group by group.
    model: ``LossModel``, the meaning of the points.
    owners: int64[p + 1], where the rows of each owner begin.
    first, last: int, the owners first … last - 1.
    slot_of: int32[n], written: the slot of each row.
    """
    slots, shortest = owners[first + 1] - owners[first], first
    for owner in range(first, last):
        count = owners[owner + 1] - owners[owner]
        if count < slots:
            slots, shortest = count, owner
    if slots == 0:
        return 0
    columns = points.shape[1]
    ends = np.zeros((slots, columns, 3))
    for slot in range(slots):
        for column in range(columns):
            ends[slot, column, 0], ends[slot, column, 1] = np.inf, -np.inf
    sets = np.zeros((slots, columns, last - first))
    sizes = np.zeros((slots, columns), dtype=np.int64)
    for slot in range(slots):
        row = owners[shortest] + slot
        put(points, model, row, slot, ends, sets, sizes)
        slot_of[row] = slot
    for owner in range(first, last):
        if owner == shortest:
            continue
        begin, count = owners[owner], owners[owner + 1] - owners[owner]
        row_of = rows_of_slots(points, model, begin, count, slots, ends, sets, sizes)
        for slot in range(slots):
            put(points, model, begin + row_of[slot], slot, ends, sets, sizes)
            slot_of[begin + row_of[slot]] = slot
    return slots


@kernel
def match_groups(points, model, owners, groups, first, last, slot_of, counts):
    """Match some groups, one after another.

    points: float64[n, d], the rows of each owner one after another, owners group by group.
    model: ``LossModel``, the meaning of the points.
    owners: int64[p + 1], where the rows of each owner begin.
    groups: int64[g + 1], where the owners of each group begin.
    first, last: int, the groups first … last - 1.
    slot_of: int32[n], written: the slot of each row within its group, -1 for rows without a slot.
    counts: int64[g], written: the number of slots of each group.
    """
    for group in range(first, last):
        counts[group] = match_group(
            points, model, owners, groups[group], groups[group + 1], slot_of
        )


@kernel
def least_surplus(counts, k):
    """Return where to cut sorted counts into groups of k … 2k - 1 with the least surplus.

    The surplus of a group is the sum of what its counts exceed the first one by. Returns the first
    place of each place's group, int64[n], and the surplus.

    counts: int64[n], ascending, n >= k.
    k: int, least counts of a group.
    """
    total = np.zeros(counts.size + 1, dtype=np.int64)
    for i in range(counts.size):
        total[i + 1] = total[i] + counts[i]
    none = np.int64(2**62)
    least_surplus_to = np.full(counts.size + 1, none)
    start = np.zeros(counts.size + 1, dtype=np.int64)
    least_surplus_to[0] = 0
    for end in range(k, counts.size + 1):
        for size in range(k, min(2 * k - 1, end) + 1):
            begin = end - size
            if least_surplus_to[begin] == none:
                continue
            cost = least_surplus_to[begin] + total[end] - total[begin] - size * counts[begin]
            if cost <= least_surplus_to[end]:
                least_surplus_to[end], start[end] = cost, begin
    first_of = np.empty(counts.size, dtype=np.int64)
    end = counts.size
    while end > 0:
        for i in range(start[end], end):
            first_of[i] = start[end]
        end = start[end]
    return first_of, least_surplus_to[counts.size]
