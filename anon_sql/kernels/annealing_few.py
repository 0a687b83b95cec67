"""Improve the classes of a small table by simulated annealing, with little to compile.

Source: Kirkpatrick, Gelatt and Vecchi 1983. The steps are those of ``annealing``; the loss of a
class is counted from its rows, instead of being kept up with each exchange.
"""

import numpy as np

from anon_sql.kernels.distance import draw
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import SET, range_loss

COOLING_PROPOSALS = 64  # between two changes of temperature
LOW_MASK = np.uint64(0xFFFFFFFF)
HALF_BITS = np.uint64(32)


@kernel(inline="always")
def ncp_of(columns, model, members, class_id, size, row_out, row_in, seen):
    """Return the NCP of a class, summed over columns, without one row and with another.

    columns: float64[d, n], the points column by column.
    model: ``LossModel``, the meaning of the points.
    members: int32[C, …], the rows of each class.
    class_id: int, the class.
    size: int, rows of the class.
    row_out, row_in: int, the row that leaves and the one that enters; -1 for none.
    seen: int64[codes + 1], scratch: a mark for each code of a SET column, the last mark at its end.
    """
    total, last = 0.0, seen.size - 1
    for c in range(columns.shape[0]):
        null, nulls, values, distinct = model.null[c], 0, 0, 0
        low, high = np.inf, -np.inf
        is_set = model.kind[c] == SET
        mark = seen[last] + 1
        seen[last] = mark
        for position in range(size + (row_in >= 0)):
            row = members[class_id, position] if position < size else row_in
            if row == row_out:
                continue
            value = columns[c, row]
            if value == null:
                nulls += 1
                continue
            values += 1
            if is_set:
                code = np.int64(value)
                distinct += seen[code] != mark
                seen[code] = mark
            else:
                low, high = min(low, value), max(high, value)
        if nulls > 0:
            total += model.weight[c] if values > 0 else 0.0
        elif is_set:
            total += model.weight[c] * distinct / model.values[c] if distinct > 1 else 0.0
        elif low < high:
            total += range_loss(model, c, low, high)
    return total


@kernel
def warmth_few(columns, model, members, sizes, position, ncp, seen):
    """Write the position of each row and the NCP of each class; return the warmth.

    The warmth is the mean of what a row saves its class by leaving it, over rows that save
    something; 0.0 if no row does.

    columns: float64[d, n], the points column by column.
    model: ``LossModel``, the meaning of the points.
    members: int32[C, …], the rows of each class.
    sizes: int64[C], how many of these rows are in the class.
    position: int64[n], written: of each row in its class.
    ncp: float64[C], written.
    seen: int64[codes + 1], scratch: a mark for each code of a SET column, the last mark at its end.
    """
    total, count = 0.0, 0
    for class_id in range(sizes.size):
        for i in range(-1, sizes[class_id]):
            row = np.int64(members[class_id, i]) if i >= 0 else np.int64(-1)
            ncp_without = ncp_of(columns, model, members, class_id, sizes[class_id], row, -1, seen)
            if i < 0:
                ncp[class_id] = ncp_without
                continue
            position[row] = i
            if ncp[class_id] - ncp_without > 1e-12:
                total += sizes[class_id] * (ncp[class_id] - ncp_without)
                count += 1
    return total / max(count, 1)


@kernel
def exchange_rows(home, members, sizes, position, row, target, row_back):
    """Move a row to another class, or exchange it with a row of that class.

    home: int32[n], the class of each row, changed.
    members: int32[C, …], the rows of each class, changed.
    sizes: int64[C], changed.
    position: int64[n], of each row in its class, changed.
    row: int, the row.
    target: int, the other class.
    row_back: int, the row of the other class that moves back; -1 for none.
    """
    origin, row_position = home[row], position[row]
    if row_back >= 0:
        members[target, position[row_back]], position[row] = row, position[row_back]
        members[origin, row_position], position[row_back] = row_back, row_position
        home[row_back] = origin
    else:
        sizes[origin] -= 1
        last = members[origin, sizes[origin]]
        members[origin, row_position], position[last] = last, row_position
        members[target, sizes[target]], position[row] = row, sizes[target]
        sizes[target] += 1
    home[row] = target


@kernel
def anneal_few(columns, model, near, state, k, proposals, hot, cold, seed):
    """Exchange rows between classes in place; return the sum of |E| * NCP(E) before and after.

    columns: float64[d, n], the points column by column.
    model: ``LossModel``, the meaning of the points.
    near: int32[n, …], rows near each row.
    state: (home, members, sizes, seen), changed: int32[n], the class of each row; int32[C, 2k], the
        rows of each class; int64[C], how many, which stay in k … 2k - 1; scratch, as in ``ncp_of``.
    k: int, least rows of a class.
    proposals: int, how many.
    hot, cold: float64, the first and the last temperature, in units of the warmth.
    seed: uint64.
    """
    home, members, sizes, seen = state
    n, capacity = home.size, 2 * k - 1
    ncp, position, new_ncp = np.zeros(sizes.size), np.empty(n, np.int64), np.empty(2)
    heat = hot * warmth_few(columns, model, members, sizes, position, ncp, seen)
    before, cooling = total_loss(sizes, ncp), (cold / hot) ** (COOLING_PROPOSALS / proposals)
    for step in range(proposals if heat > 0.0 else 0):
        if step % COOLING_PROPOSALS == COOLING_PROPOSALS - 1:
            heat *= cooling
        bits, more_bits = draw(seed, np.uint64(2 * step)), draw(seed, np.uint64(2 * step + 1))
        row = np.int64(((bits & LOW_MASK) * np.uint64(n)) >> HALF_BITS)
        near_row = near[row, np.int64((bits >> HALF_BITS) % np.uint64(near.shape[1]))]
        origin, target = home[row], home[near_row]
        p, q = sizes[origin], sizes[target]
        moves = p > k and q < capacity
        row_back = np.int64(
            members[target, np.int64(((more_bits & LOW_MASK) * np.uint64(q)) >> HALF_BITS)]
        )
        row_back = np.int64(-1) if moves else row_back
        if origin == target or row_back == near_row:
            continue
        increase = -p * ncp[origin] - q * ncp[target]
        for side in range(2):
            class_id, row_out, row_in = (
                (origin, row, row_back) if side == 0 else (target, row_back, row)
            )
            ncp_after = ncp_of(
                columns, model, members, class_id, sizes[class_id], row_out, row_in, seen
            )
            increase += (sizes[class_id] + (2 * side - 1 if moves else 0)) * ncp_after
            new_ncp[side] = ncp_after
        if increase < -heat * np.log((np.float64(more_bits >> HALF_BITS) + 0.5) / 4294967296.0):
            ncp[origin], ncp[target] = new_ncp[0], new_ncp[1]
            exchange_rows(home, members, sizes, position, row, target, row_back)
    return before, total_loss(sizes, ncp)


@kernel
def total_loss(sizes, ncp):
    """Return the sum of |E| * NCP(E).

    sizes: int64[C], rows of each class.
    ncp: float64[C], NCP of each class.
    """
    total = 0.0
    for class_id in range(sizes.size):
        total += sizes[class_id] * ncp[class_id]
    return total
