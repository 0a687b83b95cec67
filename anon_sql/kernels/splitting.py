"""Split legal classes by cuts that preserve the distribution of sensitive values.

Rows are grouped into buckets of like sensitive values, and each bucket is cut at its own median of
one column, so that both sides hold nearly the same values as their node. Plain cuts are tried as
well, where asked; of all cuts whose sides are legal the one of least loss is made. Source: this
project, after LeFevre et al. 2006 (Mondrian) and the buckets of Cao et al. 2011 (SABRE).
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
    and the buckets of the rows. parted, buffer: int32[m]. low, high: float64[d], the least and the
    largest point of the node. nulls, distinct: int64[d], its NULLs and codes. seen: int64[d,
    codes], the last stamp of each code. rows: ``RowsScratch``.
    """

    side: npt.NDArray[np.bool_]
    best: npt.NDArray[np.bool_]
    values: npt.NDArray[np.int32]
    own: npt.NDArray[np.int32]
    parted: npt.NDArray[np.int32]
    buffer: npt.NDArray[np.int32]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    nulls: npt.NDArray[np.int64]
    distinct: npt.NDArray[np.int64]
    seen: npt.NDArray[np.int64]
    rows: Any


@kernel
def split_scratch(m, columns, codes):
    """Return scratch for nodes of up to m rows."""
    side, best = np.empty(m, np.bool_), np.empty(m, np.bool_)
    values, own = np.empty(m, np.int32), np.empty(m, np.int32)
    parted, buffer = np.empty(m, np.int32), np.empty(m, np.int32)
    low, high = np.empty(columns), np.empty(columns)
    nulls, distinct = np.empty(columns, np.int64), np.empty(columns, np.int64)
    seen = np.full((columns, codes), -1, np.int64)
    return Scratch(
        side, best, values, own, parted, buffer, low, high, nulls, distinct, seen, rows_scratch(m)
    )


@kernel
def split(columns, model, rules, rank, buckets, order, starts, k, until, plain):
    """Split legal classes into legal ones of at least k rows; return where each begins in order.

    order: int32[m], starts: int64[…], the rows class by class; rows are moved within their class.
    columns: float64[d, n], the points column by column. rank: int32[d, n], the order of each
    column's values. buckets: int32[n], equal for rows of equal sensitive values, near for near
    ones. until: rows of a part that is not split further, at most. plain: whether plain cuts are
    tried. Returns int64[classes + 1].
    """
    widest = 0
    for own in range(starts.size - 1):
        widest = max(widest, starts[own + 1] - starts[own])
    scratch = split_scratch(widest, columns.shape[0], int(model.null.max()) + 2)
    stack = np.empty((2, widest // k + 2), np.int64)
    begins = np.empty(order.size // k + 2, np.int64)
    count = split_within(
        columns, model, rules, rank, buckets, order, starts, k, until, plain, scratch, stack, begins
    )
    begins[count] = order.size
    return begins[: count + 1]


@kernel(borrows=True)
def split_within(
    columns, model, rules, rank, buckets, order, starts, k, until, plain, scratch, stack, begins
):
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
            if b - a >= 2 * k and b - a > until:
                found, stamp = best_cut(
                    columns, model, rules, rank, buckets, node, k, plain, scratch, stamp
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
def best_cut(columns, model, rules, rank, buckets, rows, k, plain, scratch, stamp):
    """Mark one side of the legal cut of least loss in ``best``; return whether there is one.

    Returns the last stamp too.
    """
    values, parted = scratch.values[: rows.size], scratch.parted[: rows.size]
    own = scratch.own[: rows.size]
    for at in range(rows.size):
        own[at] = buckets[rows[at]]
    pools = different_pools(own)
    stamp += 1
    outline(columns, model, rows, scratch, stamp)
    least, found = np.inf, False
    for column in range(columns.shape[0]):
        varied = False
        for at in range(rows.size):
            values[at] = rank[column, rows[at]]
            varied |= values[at] != values[0]
        if not varied:
            continue
        for pool in range(0 if plain else 1, pools):
            near = mark(values, own, POOLS[pool], scratch)
            if near < k or rows.size - near < k:
                continue
            part_into(rows, scratch.side, near, parted)
            left, right = parted[:near], parted[near:]
            stamp += 1
            loss = left.size * ncp_below(columns, model, left, least / near, scratch, stamp)
            if loss >= least - 1e-9:
                continue
            stamp += 1
            most = (least - loss) / right.size
            loss += right.size * ncp_below(columns, model, right, most, scratch, stamp)
            if loss >= least - 1e-9:
                continue
            if legal_within(rules, left, scratch.rows) and legal_within(rules, right, scratch.rows):
                least, found = loss, True
                for at in range(rows.size):
                    scratch.best[at] = scratch.side[at]
    return found, stamp


@kernel(borrows=True, inlined=True)
def part_into(rows, side, near, parted):
    """Write the ``near`` rows marked in ``side``, then the others, order preserved."""
    left, right = 0, near
    for at in range(rows.size):
        parted[left if side[at] else right] = rows[at]
        left, right = left + side[at], right + 1 - side[at]


@kernel(borrows=True)
def outline(columns, model, rows, scratch, stamp):
    """Write the ends, the NULLs and the number of codes of a node's rows in each column."""
    for column in range(columns.shape[0]):
        found = look(columns, model, column, rows, (np.inf, -np.inf, 0, 0), scratch.seen, stamp)
        scratch.low[column], scratch.high[column] = found[0], found[1]
        scratch.nulls[column], scratch.distinct[column] = found[2], found[3]


@kernel(borrows=True, inlined=True)
def look(columns, model, column, rows, before, seen, stamp):
    """Return the ends, the NULLs and the number of codes with those of more rows of a column.

    before: the same of the rows before them, whose codes have the stamp.
    """
    low, high, nulls, distinct = before
    null, is_set = model.null[column], model.kind[column] == SET
    for row in rows:
        value = columns[column, row]
        if value == null:
            nulls += 1
        elif is_set:
            code = int(value)
            distinct += seen[column, code] != stamp
            seen[column, code] = stamp
        else:
            low, high = min(low, value), max(high, value)
    return low, high, nulls, distinct


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


STRIDE = 64  # rows between two tests whether all that the node has is seen


@kernel(borrows=True, inlined=True)
def ncp_below(columns, model, rows, most, scratch, stamp):
    """Return the NCP of rows of a node that ``outline`` described, summed over the columns.

    Returns any number of at least ``most`` where the NCP is that.
    """
    total = 0.0
    for column in range(columns.shape[0]):
        is_set, end = model.kind[column] == SET, 0
        low, high, nulls, distinct = np.inf, -np.inf, 0, 0
        while end < rows.size:
            some = rows[end : end + STRIDE]
            low, high, nulls, distinct = look(
                columns, model, column, some, (low, high, nulls, distinct), scratch.seen, stamp
            )
            end += some.size
            if 0 < nulls < end:
                break
            if scratch.nulls[column] == 0 and (
                distinct == scratch.distinct[column]
                if is_set
                else low == scratch.low[column] and high == scratch.high[column]
            ):
                break
        if nulls > 0:
            total += model.weight[column] if nulls < rows.size else 0.0
        elif is_set:
            total += set_loss(model, column, distinct)
        else:
            total += range_loss(model, column, low, high)
        if total >= most:
            break
    return total
