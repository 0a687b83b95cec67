"""Split legal classes by cuts that preserve the distribution of sensitive values.

Rows are grouped into buckets of like sensitive values, and each bucket is cut at its own median of
one column, so that both sides hold nearly the same values as their node. A plain cut is tried as
well; of all cuts whose sides are legal the one of least loss is made. Source: this project, after
LeFevre et al. 2006 (Mondrian) and the buckets of Cao et al. 2011 (SABRE).
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import SET, range_loss, set_loss
from anon_sql.kernels.sides import legal_within, rows_scratch
from anon_sql.kernels.sorting import RUN, sort_within

POOLS = (0, 16, 2)  # least rows of a bucket; 0: the node is one bucket, a plain cut


class Scratch(NamedTuple):
    """Scratch for nodes of up to m rows.

    side, best: bool[m], the rows of one side of a cut. values, own: int32[m], the ranks in a column
    and the buckets of the rows. parted, buffer: int32[m]. seen: int64[d, codes], the last stamp of
    each code. rows: ``RowsScratch``.
    """

    side: npt.NDArray[np.bool_]
    best: npt.NDArray[np.bool_]
    values: npt.NDArray[np.int32]
    own: npt.NDArray[np.int32]
    parted: npt.NDArray[np.int32]
    buffer: npt.NDArray[np.int32]
    seen: npt.NDArray[np.int64]
    rows: Any


@kernel
def split_scratch(m, columns, codes):
    """Return scratch for nodes of up to m rows."""
    side, best = np.empty(m, np.bool_), np.empty(m, np.bool_)
    values, own = np.empty(m, np.int32), np.empty(m, np.int32)
    parted, buffer = np.empty(m, np.int32), np.empty(m, np.int32)
    seen = np.full((columns, codes), -1, np.int64)
    return Scratch(side, best, values, own, parted, buffer, seen, rows_scratch(m))


@kernel
def split(points, model, rules, rank, buckets, order, starts, k):
    """Split legal classes into legal ones of at least k rows; return where each begins in order.

    order: int32[m], starts: int64[…], the rows class by class; rows are moved within their class.
    rank: int32[n, d], the order of each column's values. buckets: int32[n], equal for rows of equal
    sensitive values, near for near ones. Returns int64[classes + 1].
    """
    widest = 0
    for own in range(starts.size - 1):
        widest = max(widest, starts[own + 1] - starts[own])
    scratch = split_scratch(widest, points.shape[1], int(model.null.max()) + 2)
    stack = np.empty((2, widest // k + 2), np.int64)
    begins = np.empty(order.size // k + 2, np.int64)
    count = split_within(
        points, model, rules, rank, buckets, order, starts, k, scratch, stack, begins
    )
    begins[count] = order.size
    return begins[: count + 1]


@kernel(borrows=True)
def split_within(points, model, rules, rank, buckets, order, starts, k, scratch, stack, begins):
    """Split as ``split`` does into ``begins``; return the number of classes."""
    first, end = stack[0], stack[1]
    count, stamp = 0, np.int64(0)
    for own in range(starts.size - 1):
        rows = order[starts[own] : starts[own + 1]]
        keys = scratch.rows.keys[: rows.size]
        for at in range(rows.size):
            keys[at] = np.uint64(buckets[rows[at]])
        sort_within(keys, rows, scratch.rows.next_keys, scratch.rows.next_ids)
        first[0], end[0], depth = starts[own], starts[own + 1], 1
        while depth > 0:
            depth -= 1
            a, b = first[depth], end[depth]
            node = order[a:b]
            found = False
            if b - a >= 2 * k:
                found, stamp = best_cut(
                    points, model, rules, rank, buckets, node, k, scratch, stamp
                )
            if not found:
                begins[count] = a
                count += 1
                continue
            near = a + part_rows(node, scratch.best, scratch.buffer)
            first[depth], end[depth] = near, b
            first[depth + 1], end[depth + 1] = a, near
            depth += 2
    return count


@kernel(borrows=True, inlined=True)
def best_cut(points, model, rules, rank, buckets, rows, k, scratch, stamp):
    """Mark one side of the legal cut of least loss in ``best``; return whether there is one.

    Returns the last stamp too.
    """
    values, parted = scratch.values[: rows.size], scratch.parted[: rows.size]
    own, seen = scratch.own[: rows.size], scratch.seen
    for at in range(rows.size):
        own[at] = buckets[rows[at]]
    pools = different_pools(own)
    least, found = np.inf, False
    for column in range(points.shape[1]):
        varied = False
        for at in range(rows.size):
            values[at] = rank[rows[at], column]
            varied |= values[at] != values[0]
        if not varied:
            continue
        for pool in range(pools):
            near = mark(values, own, POOLS[pool], scratch)
            if near < k or rows.size - near < k:
                continue
            for at in range(rows.size):
                parted[at] = rows[at]
            part_rows(parted, scratch.side, scratch.buffer)
            left, right = parted[:near], parted[near:]
            stamp += 1
            loss = left.size * ncp_below(points, model, left, least / near, seen, stamp)
            if loss >= least - 1e-9:
                continue
            stamp += 1
            most = (least - loss) / right.size
            loss += right.size * ncp_below(points, model, right, most, seen, stamp)
            if loss >= least - 1e-9:
                continue
            if legal_within(rules, left, scratch.rows) and legal_within(rules, right, scratch.rows):
                least, found = loss, True
                for at in range(rows.size):
                    scratch.best[at] = scratch.side[at]
    return found, stamp


@kernel(borrows=True)
def different_pools(buckets):
    """Return how many of POOLS, the first ones, group buckets, int32[m] ascending, differently."""
    fewest, begin = buckets.size, 0  # rows of a bucket, but of the last
    for at in range(buckets.size):
        if buckets[at] != buckets[begin]:
            fewest, begin = min(fewest, at - begin), at
    if begin == 0:
        return 1
    return 2 if fewest >= POOLS[1] else 3


@kernel(borrows=True, inlined=True)
def part_rows(rows, side, buffer):
    """Bring the rows marked in ``side`` to the front, order preserved; return their number."""
    near = far = 0
    for at in range(rows.size):
        if side[at]:
            rows[near] = rows[at]
            near += 1
        else:
            buffer[far] = rows[at]
            far += 1
    for at in range(far):
        rows[near + at] = buffer[at]
    return near


@kernel(borrows=True, inlined=True)
def mark(values, buckets, pool, scratch):
    """Mark the lower half of each bucket of at least ``pool`` rows; return how many are marked.

    values, buckets: int32[m], buckets ascending. The extra row of odd buckets goes to the sides in
    turn.
    """
    m, a, carry, near = values.size, 0, 0, 0
    keys, ranked, side = scratch.rows.keys, scratch.rows.ids, scratch.side
    while a < m:
        b = a + 1
        while b < m and (pool == 0 or buckets[b] == buckets[a] or b - a < pool):
            b += 1
        half = (b - a + carry) // 2
        carry = (b - a + carry) % 2
        low, high = values[a], values[a]
        for i in range(a, b):
            low, high = min(low, values[i]), max(high, values[i])
        if b - a > RUN and high - low < b - a:
            mark_counted(values[a:b], low, high, half, scratch.rows.next_ids, side[a:b])
        else:
            for i in range(a, b):
                keys[i], ranked[i] = np.uint64(values[i]), i
            sort_within(keys[a:b], ranked[a:b], scratch.rows.next_keys, scratch.rows.next_ids)
            for i in range(a, b):
                side[ranked[i]] = i < a + half
        near += half
        a = b
    return near


@kernel(borrows=True)
def mark_counted(values, low, high, half, counts, side):
    """Mark the lower ``half`` of values int32[m] from low to high; of equal ones the first.

    half: less than m. counts: scratch, int32[high - low + 1] or longer.
    """
    for value in range(high - low + 1):
        counts[value] = 0
    for value in values:
        counts[value - low] += 1
    middle, rest = low, half  # the first value of which not all are marked, and how many are
    while counts[middle - low] <= rest:
        rest -= counts[middle - low]
        middle += 1
    for at in range(values.size):
        side[at] = values[at] < middle
        if values[at] == middle and rest > 0:
            side[at], rest = True, rest - 1


@kernel(borrows=True, inlined=True)
def ncp_below(points, model, rows, most, seen, stamp):
    """Return the NCP of rows, summed over the columns.

    Returns any number of at least ``most`` where the NCP is that.
    """
    total = 0.0
    for column in range(points.shape[1]):
        low, high, nulls, distinct = np.inf, -np.inf, 0, 0
        null, is_set = model.null[column], model.kind[column] == SET
        for row in rows:
            value = points[row, column]
            if value == null:
                nulls += 1
            elif is_set:
                code = int(value)
                distinct += seen[column, code] != stamp
                seen[column, code] = stamp
            else:
                low, high = min(low, value), max(high, value)
        if nulls > 0:
            total += model.weight[column] if nulls < rows.size else 0.0
        elif is_set:
            total += set_loss(model, column, distinct)
        else:
            total += range_loss(model, column, low, high)
        if total >= most:
            break
    return total
