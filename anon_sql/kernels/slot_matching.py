"""Match the rows of several owners with slots, so that each slot has one row of every owner.

The first owner's rows, which are fewest, begin the slots; the rows of each other owner are assigned
to them by least added loss: exactly (Kuhn 1955, in the O(s² n) form of Jonker and Volgenant 1987)
up to EXACT rows, and above it by an alignment that keeps the order of the rows.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import SET, range_loss, set_loss

EXACT = 200  # rows of an owner
FAR = 1e300


@kernel
def added_range(model, column, value, ends):
    """Return what a point adds to the loss of a NUMBER or TREE column; ends: as in added_loss."""
    low, high, missing = ends[0], ends[1], ends[2] > 0
    some = low <= high
    if missing and some:
        return 0.0  # it has lost everything
    if value == model.null[column]:
        return model.weight[column] - range_loss(model, column, low, high) if some else 0.0
    if missing:
        return model.weight[column]
    if not some:
        return 0.0
    wider = range_loss(model, column, min(low, value), max(high, value))
    return wider - range_loss(model, column, low, high)


@kernel
def added_loss(points, model, row, slot, ends, sets, sizes):
    """Return what a row adds to the loss of a slot.

    ends: float64[s, d, 3], lowest and highest point and whether NULL is there, 0 or 1. sets:
    float64[s, d, owners], distinct points of a SET column; sizes: int64[s, d], how many.
    """
    total = 0.0
    for column in range(points.shape[1]):
        value = points[row, column]
        if model.kind[column] == SET:
            size, known = sizes[slot, column], False
            for at in range(size):
                known |= sets[slot, column, at] == value
            if not known:
                total += set_loss(model, column, size + 1) - set_loss(model, column, size)
            continue
        total += added_range(model, column, value, ends[slot, column])
    return total


@kernel
def put(points, model, row, slot, ends, sets, sizes):
    """Add a row to a slot."""
    for column in range(points.shape[1]):
        value = points[row, column]
        if model.kind[column] == SET:
            known = False
            for at in range(sizes[slot, column]):
                known |= sets[slot, column, at] == value
            if not known:
                sets[slot, column, sizes[slot, column]] = value
                sizes[slot, column] += 1
        elif value == model.null[column]:
            ends[slot, column, 2] = 1.0
        else:
            ends[slot, column, 0] = min(ends[slot, column, 0], value)
            ends[slot, column, 1] = max(ends[slot, column, 1], value)


@kernel
def _turn(owner, way, at):
    """Move owners along the path that ends at a column."""
    while at != 0:
        before = way[at]
        owner[at] = owner[before]
        at = before


@kernel
def assign(cost):
    """Return the column of each row, int64[s], of least total cost; cost: float64[s, n], s <= n."""
    rows, columns = cost.shape
    u, v = np.zeros(rows + 1), np.zeros(columns + 1)
    owner = np.zeros(columns + 1, dtype=np.int64)
    way = np.zeros(columns + 1, dtype=np.int64)
    for row in range(1, rows + 1):
        owner[0] = row
        least = np.full(columns + 1, FAR)
        used = np.zeros(columns + 1, dtype=np.bool_)
        at = 0
        while True:
            used[at] = True
            current, delta, following = owner[at], FAR, 0
            for column in range(1, columns + 1):
                if used[column]:
                    continue
                reduced = cost[current - 1, column - 1] - u[current] - v[column]
                if reduced < least[column]:
                    least[column], way[column] = reduced, at
                if least[column] < delta:
                    delta, following = least[column], column
            for column in range(columns + 1):
                if used[column]:
                    u[owner[column]] += delta
                    v[column] -= delta
                else:
                    least[column] -= delta
            at = following
            if owner[at] == 0:
                break
        _turn(owner, way, at)
    found = np.full(rows, -1, dtype=np.int64)
    for column in range(1, columns + 1):
        if owner[column] > 0:
            found[owner[column] - 1] = column - 1
    return found


@kernel
def align(points, model, first, many, slots, ends, sets, sizes):
    """Return the row of each slot, counted from ``first``, int64[s]: an ordered alignment.

    Slots and the owner's ``many`` rows keep their order. Costs O(s (many - s + 1)).
    """
    spare = many - slots
    best = np.zeros(spare + 1)
    taken = np.zeros((slots, spare + 1), dtype=np.bool_)
    for slot in range(slots):
        for offset in range(spare + 1):
            cost = best[offset] + added_loss(
                points, model, first + slot + offset, slot, ends, sets, sizes
            )
            if offset > 0 and best[offset - 1] <= cost:
                best[offset] = best[offset - 1]
            else:
                best[offset] = cost
                taken[slot, offset] = True
    found, offset = np.empty(slots, dtype=np.int64), spare
    for back in range(slots):
        slot = slots - 1 - back
        while not taken[slot, offset]:
            offset -= 1
        found[slot] = slot + offset
    return found


@kernel
def rows_of_slots(points, model, first, many, slots, ends, sets, sizes):
    """Return the row of each slot among the owner's, counted from ``first``, int64[s]."""
    if many > EXACT:
        return align(points, model, first, many, slots, ends, sets, sizes)
    cost = np.empty((slots, many))
    for slot in range(slots):
        for at in range(many):
            cost[slot, at] = added_loss(points, model, first + at, slot, ends, sets, sizes)
    return assign(cost)


@kernel
def match_group(points, model, owners, first, last, slot_of):
    """Match the rows of the owners from ``first`` to ``last``, and return the number of slots."""
    slots, start = owners[first + 1] - owners[first], first
    for owner in range(first, last):
        many = owners[owner + 1] - owners[owner]
        if many < slots:
            slots, start = many, owner
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
        row = owners[start] + slot
        put(points, model, row, slot, ends, sets, sizes)
        slot_of[row] = slot
    for owner in range(first, last):
        if owner == start:
            continue
        begin, many = owners[owner], owners[owner + 1] - owners[owner]
        found = rows_of_slots(points, model, begin, many, slots, ends, sets, sizes)
        for slot in range(slots):
            put(points, model, begin + found[slot], slot, ends, sets, sizes)
            slot_of[begin + found[slot]] = slot
    return slots


@kernel
def match_groups(points, model, owners, groups, first, last, slot_of, counts):
    """Match the groups from ``first`` to ``last``, one after another.

    points: float64[n, d], the rows of each owner one after another in order, owners group by group.
    owners: int64[p + 1], where the rows of each owner begin. groups: int64[g + 1], where the owners
    of each group begin. Writes the slot of each row within its group, -1 for rows left over, to
    slot_of, int32[n], and the number of slots of each group to counts, int64[g].
    """
    for group in range(first, last):
        counts[group] = match_group(
            points, model, owners, groups[group], groups[group + 1], slot_of
        )


@kernel
def least_surplus(counts, k):
    """Return where to cut sorted counts into groups of k … 2k - 1 with the least surplus.

    counts: int64[n], ascending, n >= k. The surplus of a group is the sum of what its counts exceed
    the first one by. Returns the first place of each place's group, int64[n], and the surplus.
    """
    total = np.zeros(counts.size + 1, dtype=np.int64)
    for at in range(counts.size):
        total[at + 1] = total[at] + counts[at]
    none = np.int64(2**62)
    best = np.full(counts.size + 1, none)
    start = np.zeros(counts.size + 1, dtype=np.int64)
    best[0] = 0
    for end in range(k, counts.size + 1):
        for size in range(k, min(2 * k - 1, end) + 1):
            begin = end - size
            if best[begin] == none:
                continue
            cost = best[begin] + total[end] - total[begin] - size * counts[begin]
            if cost <= best[end]:
                best[end], start[end] = cost, begin
    found = np.empty(counts.size, dtype=np.int64)
    end = counts.size
    while end > 0:
        for at in range(start[end], end):
            found[at] = start[end]
        end = start[end]
    return found, best[counts.size]
