"""Improve the classes of a small table by simulated annealing, with little to compile.

Source: Kirkpatrick, Gelatt and Vecchi 1983. The steps are those of ``annealing``; the loss of a
class is counted from its rows, instead of being kept up with each exchange.
"""

import numpy as np

from anon_sql.kernels.distance import draw
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import SET, range_loss

COOLING = 64  # proposals between two changes of temperature
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


@kernel(inline="always")
def ncp_of(columns, model, members, at, size, out, inn, seen):
    """Return the NCP of class ``at`` without row ``out`` and with row ``inn`` (-1: no row).

    The NCP is summed over the columns, float64[d, n]. members: int32[C, …], the rows of each class,
    the first ``size`` of them. seen: int64[…], scratch: a mark for each code of a SET column; the
    last mark that was made is at its end.
    """
    total, last = 0.0, seen.size - 1
    for c in range(columns.shape[0]):
        null, nulls, known, distinct = model.null[c], 0, 0, 0
        low, high = np.inf, -np.inf
        is_set = model.kind[c] == SET
        mark = seen[last] + 1
        seen[last] = mark
        for place in range(size + (inn >= 0)):
            row = members[at, place] if place < size else inn
            if row == out:
                continue
            value = columns[c, row]
            if value == null:
                nulls += 1
                continue
            known += 1
            if is_set:
                code = np.int64(value)
                distinct += seen[code] != mark
                seen[code] = mark
            else:
                low, high = min(low, value), max(high, value)
        if nulls > 0:
            total += model.weight[c] if known > 0 else 0.0
        elif is_set:
            total += model.weight[c] * distinct / model.values[c] if distinct > 1 else 0.0
        elif low < high:
            total += range_loss(model, c, low, high)
    return total


@kernel
def warmth_few(columns, model, members, sizes, position, ncp, seen):
    """Write the place of each row in its class and the NCP of each class; return the warmth.

    position: int64[n]; ncp: float64[C]. The warmth is the mean of what a row saves its class by
    leaving it, over rows that save something; 0.0 where none does.
    """
    total, count = 0.0, 0
    for at in range(sizes.size):
        for place in range(-1, sizes[at]):
            row = np.int64(members[at, place]) if place >= 0 else np.int64(-1)
            found = ncp_of(columns, model, members, at, sizes[at], row, -1, seen)
            if place < 0:
                ncp[at] = found
                continue
            position[row] = place
            if ncp[at] - found > 1e-12:
                total += sizes[at] * (ncp[at] - found)
                count += 1
    return total / max(count, 1)


@kernel
def exchange_rows(home, members, sizes, position, row, there, back):
    """Move a row to class ``there``, in exchange for row ``back`` of it unless that is -1."""
    here, place = home[row], position[row]
    if back >= 0:
        members[there, position[back]], position[row] = row, position[back]
        members[here, place], position[back] = back, place
        home[back] = here
    else:
        sizes[here] -= 1
        last = members[here, sizes[here]]
        members[here, place], position[last] = last, place
        members[there, sizes[there]], position[row] = row, sizes[there]
        sizes[there] += 1
    home[row] = there


@kernel
def anneal_few(columns, model, near, state, k, proposals, hot, cold, seed):
    """Exchange rows between classes in place; return the sum of |E| * NCP(E) before and after.

    columns: float64[d, n]. near: int32[n, …], rows near each row. state: home, int32[n], the class
    of each row; members, int32[C, 2k], the rows of each class; sizes, int64[C], which stay in
    k … 2k - 1; seen, as in ``ncp_of``. hot, cold: the first and the last temperature, in units of
    the warmth.
    """
    home, members, sizes, seen = state
    n, most = home.size, 2 * k - 1
    ncp, position, tried = np.zeros(sizes.size), np.empty(n, np.int64), np.empty(2)
    heat = hot * warmth_few(columns, model, members, sizes, position, ncp, seen)
    before, cooling = total_loss(sizes, ncp), (cold / hot) ** (COOLING / proposals)
    for step in range(proposals if heat > 0.0 else 0):
        if step % COOLING == COOLING - 1:
            heat *= cooling
        bits, more = draw(seed, np.uint64(2 * step)), draw(seed, np.uint64(2 * step + 1))
        row = np.int64(((bits & LOW) * np.uint64(n)) >> HALF)
        like = near[row, np.int64((bits >> HALF) % np.uint64(near.shape[1]))]
        here, there = home[row], home[like]
        p, q = sizes[here], sizes[there]
        moves = p > k and q < most
        back = np.int64(members[there, np.int64(((more & LOW) * np.uint64(q)) >> HALF)])
        back = np.int64(-1) if moves else back
        if here == there or back == like:
            continue
        increase = -p * ncp[here] - q * ncp[there]
        for side in range(2):
            at, out, inn = (here, row, back) if side == 0 else (there, back, row)
            found = ncp_of(columns, model, members, at, sizes[at], out, inn, seen)
            increase += (sizes[at] + (2 * side - 1 if moves else 0)) * found
            tried[side] = found
        if increase < -heat * np.log((np.float64(more >> HALF) + 0.5) / 4294967296.0):
            ncp[here], ncp[there] = tried[0], tried[1]
            exchange_rows(home, members, sizes, position, row, there, back)
    return before, total_loss(sizes, ncp)


@kernel
def total_loss(sizes, ncp):
    """Return the sum of |E| * NCP(E)."""
    total = 0.0
    for at in range(sizes.size):
        total += sizes[at] * ncp[at]
    return total
