"""Split legal classes by cuts that preserve the distribution of sensitive values.

Rows are grouped into buckets of like sensitive values, and each bucket is cut at its own median of
one column, so that both sides hold nearly the same values as their node. A plain cut, of the node
as one bucket, is tried as well if the caller asks for it. Of all cuts whose sides are legal, the
one of least loss is made. Source: this project, after LeFevre et al. 2006 (Mondrian) and the
buckets of Cao et al. 2011 (SABRE).
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import SET, range_loss, set_loss
from anon_sql.kernels.sides import legal_within, rows_scratch
from anon_sql.kernels.sorting import RUN_KEYS, sort_within

BUCKET_ROWS = (0, 16, 2)  # of a bucket, at least; 0: the node is one bucket, a plain cut


class Scratch(NamedTuple):
    """Scratch for nodes of up to m rows.

    side, best: bool[m], the rows of one side of a cut, and of the best one.
    values, node_buckets: int32[m], the ranks in a column and the buckets of the rows.
    parted, buffer: int32[m], rows.
    low, high: float64[d], the least and the largest point of the node.
    nulls, distinct: int64[d], its NULLs and codes.
    seen: int64[d, codes], the last stamp of each code.
    rows: ``RowsScratch``.
    """

    side: npt.NDArray[np.bool_]
    best: npt.NDArray[np.bool_]
    values: npt.NDArray[np.int32]
    node_buckets: npt.NDArray[np.int32]
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
    """Return scratch for nodes.

    m: int, most rows of a node.
    columns: int, d.
    codes: int, codes of a column, at most.
    """
    side, best = np.empty(m, np.bool_), np.empty(m, np.bool_)
    values, node_buckets = np.empty(m, np.int32), np.empty(m, np.int32)
    parted, buffer = np.empty(m, np.int32), np.empty(m, np.int32)
    low, high = np.empty(columns), np.empty(columns)
    nulls, distinct = np.empty(columns, np.int64), np.empty(columns, np.int64)
    seen = np.full((columns, codes), -1, np.int64)
    return Scratch(
        side,
        best,
        values,
        node_buckets,
        parted,
        buffer,
        low,
        high,
        nulls,
        distinct,
        seen,
        rows_scratch(m),
    )


@kernel
def split(columns, model, rules, rank, buckets, order, starts, k, until, plain):
    """Split legal classes into legal ones of at least k rows; return where each begins.

    columns: float64[d, n], the points column by column.
    model: ``LossModel``, the meaning of the points.
    rules: ``Rules``, what a class must satisfy besides its number of rows.
    rank: int32[d, n], the order of each column's values.
    buckets: int32[n], equal for rows of equal sensitive values, near for near ones.
    order: int32[m], rows class by class; they are moved within their class.
    starts: int64[…], where each class begins in ``order``.
    k: int, least rows of a class.
    until: int, rows of a part that is not split further, at most.
    plain: bool, whether plain cuts are tried.
    """
    widest = 0
    for class_id in range(starts.size - 1):
        widest = max(widest, starts[class_id + 1] - starts[class_id])
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
    """Split as ``split`` does, without making an array; return the number of classes.

    columns: float64[d, n], the points column by column.
    model: ``LossModel``, the meaning of the points.
    rules: ``Rules``, what a class must satisfy besides its number of rows.
    rank: int32[d, n], the order of each column's values.
    buckets: int32[n], equal for rows of equal sensitive values, near for near ones.
    order: int32[m], rows class by class; they are moved within their class.
    starts: int64[…], where each class begins in ``order``.
    k: int, least rows of a class.
    until: int, rows of a part that is not split further, at most.
    plain: bool, whether plain cuts are tried.
    scratch: ``Scratch`` for the largest node.
    stack: int64[2, …], scratch for the ends of nodes.
    begins: int64[…], written: where each class begins in ``order``.
    """
    first, end = stack[0], stack[1]
    count, stamp = 0, np.int64(0)
    for class_id in range(starts.size - 1):
        rows = order[starts[class_id] : starts[class_id + 1]]
        keys = scratch.rows.keys[: rows.size]
        for i in range(rows.size):
            keys[i] = np.uint64(buckets[rows[i]])
        sort_within(keys, rows, scratch.rows.next_keys, scratch.rows.next_ids)
        first[0], end[0], depth = starts[class_id], starts[class_id + 1], 1
        while depth > 0:
            depth -= 1
            begin, stop = first[depth], end[depth]
            node = order[begin:stop]
            divided = False
            if stop - begin >= 2 * k and stop - begin > until:
                divided, stamp = best_cut(
                    columns, model, rules, rank, buckets, node, k, plain, scratch, stamp
                )
            if not divided:
                begins[count] = begin
                count += 1
                continue
            near = begin + part_rows(node, scratch.best, scratch.buffer)
            first[depth], end[depth] = near, stop
            first[depth + 1], end[depth + 1] = begin, near
            depth += 2
    return count


@kernel(borrows=True, inlined=True)
def best_cut(columns, model, rules, rank, buckets, rows, k, plain, scratch, stamp):
    """Mark one side of the legal cut of least loss; return (whether there is one, last stamp).

    columns: float64[d, n], the points column by column.
    model: ``LossModel``, the meaning of the points.
    rules: ``Rules``, what a class must satisfy besides its number of rows.
    rank: int32[d, n], the order of each column's values.
    buckets: int32[n], equal for rows of equal sensitive values, near for near ones.
    rows: int32[m], rows of the node.
    k: int, least rows of a class.
    plain: bool, whether plain cuts are tried.
    scratch: ``Scratch``, whose ``best`` is marked.
    stamp: int64, differs for each set of rows that is looked at.
    """
    values, parted = scratch.values[: rows.size], scratch.parted[: rows.size]
    node_buckets = scratch.node_buckets[: rows.size]
    for i in range(rows.size):
        node_buckets[i] = buckets[rows[i]]
    groupings = different_pools(node_buckets)
    stamp += 1
    outline(columns, model, rows, scratch, stamp)
    least_loss, divided = np.inf, False
    for column in range(columns.shape[0]):
        varied = False
        for i in range(rows.size):
            values[i] = rank[column, rows[i]]
            varied |= values[i] != values[0]
        if not varied:
            continue
        for grouping in range(0 if plain else 1, groupings):
            near = mark(values, node_buckets, BUCKET_ROWS[grouping], scratch)
            if near < k or rows.size - near < k:
                continue
            part_into(rows, scratch.side, near, parted)
            left, right = parted[:near], parted[near:]
            stamp += 1
            loss = left.size * ncp_below(columns, model, left, least_loss / near, scratch, stamp)
            if loss >= least_loss - 1e-9:
                continue
            stamp += 1
            ncp_limit = (least_loss - loss) / right.size
            loss += right.size * ncp_below(columns, model, right, ncp_limit, scratch, stamp)
            if loss >= least_loss - 1e-9:
                continue
            if legal_within(rules, left, scratch.rows) and legal_within(rules, right, scratch.rows):
                least_loss, divided = loss, True
                for i in range(rows.size):
                    scratch.best[i] = scratch.side[i]
    return divided, stamp


@kernel(borrows=True, inlined=True)
def part_into(rows, side, near, parted):
    """Write the rows marked in ``side``, then the others, order preserved.

    rows: int32[m], rows of the node.
    side: bool[m], the rows of one side.
    near: int, how many are marked.
    parted: int32[m], written.
    """
    left, right = 0, near
    for i in range(rows.size):
        parted[left if side[i] else right] = rows[i]
        left, right = left + side[i], right + 1 - side[i]


@kernel(borrows=True)
def outline(columns, model, rows, scratch, stamp):
    """Write the ends, the NULLs and the number of codes of a node's rows in each column.

    columns: float64[d, n], the points column by column.
    model: ``LossModel``, the meaning of the points.
    rows: int32[m], rows of the node.
    scratch: ``Scratch``, whose low, high, nulls and distinct are written.
    stamp: int64, differs for each set of rows that is looked at.
    """
    for column in range(columns.shape[0]):
        described = look(columns, model, column, rows, (np.inf, -np.inf, 0, 0), scratch.seen, stamp)
        scratch.low[column], scratch.high[column] = described[0], described[1]
        scratch.nulls[column], scratch.distinct[column] = described[2], described[3]


@kernel(borrows=True, inlined=True)
def look(columns, model, column, rows, before, seen, stamp):
    """Return the ends, the number of NULLs and of codes of rows in a column, added to those before.

    columns: float64[d, n], the points column by column.
    model: ``LossModel``, the meaning of the points.
    column: int, the column, 0 … d - 1.
    rows: int32[m], the rows that are added.
    before: (low, high, nulls, distinct) of the rows before them, whose codes have the stamp.
    seen: int64[d, codes], the last stamp of each code.
    stamp: int64, differs for each set of rows that is looked at.
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
    """Return how many of BUCKET_ROWS, the first ones, group the rows of a node differently.

    buckets: int32[m], ascending.
    """
    fewest, begin = buckets.size, 0  # rows of a bucket, but of the last
    for i in range(buckets.size):
        if buckets[i] != buckets[begin]:
            fewest, begin = min(fewest, i - begin), i
    if begin == 0:
        return 1
    return 2 if fewest >= BUCKET_ROWS[1] else 3


@kernel(borrows=True, inlined=True)
def part_rows(rows, side, buffer):
    """Bring the rows marked in ``side`` to the front, order preserved; return their number.

    rows: int32[m], rows of the node.
    side: bool[m].
    buffer: int32[m], scratch.
    """
    near = far = 0
    for i in range(rows.size):
        if side[i]:
            rows[near] = rows[i]
            near += 1
        else:
            buffer[far] = rows[i]
            far += 1
    for i in range(far):
        rows[near + i] = buffer[i]
    return near


@kernel(borrows=True, inlined=True)
def mark(values, buckets, least, scratch):
    """Mark the lower half of each bucket; return how many rows are marked.

    The extra row of odd buckets goes to the sides in turn.

    values: int32[m], ranks of the rows in a column.
    buckets: int32[m], ascending; neighbours are joined until a bucket has ``least`` rows.
    least: int, of BUCKET_ROWS.
    scratch: ``Scratch``, whose ``side`` is marked.
    """
    m, begin, carry, near = values.size, 0, 0, 0
    keys, ranked, side = scratch.rows.keys, scratch.rows.ids, scratch.side
    while begin < m:
        end = begin + 1
        while end < m and (least == 0 or buckets[end] == buckets[begin] or end - begin < least):
            end += 1
        half = (end - begin + carry) // 2
        carry = (end - begin + carry) % 2
        low, high = values[begin], values[begin]
        for i in range(begin, end):
            low, high = min(low, values[i]), max(high, values[i])
        if end - begin > RUN_KEYS and high - low < end - begin:
            mark_counted(values[begin:end], low, high, half, scratch.rows.next_ids, side[begin:end])
        else:
            for i in range(begin, end):
                keys[i], ranked[i] = np.uint64(values[i]), i
            sort_within(
                keys[begin:end], ranked[begin:end], scratch.rows.next_keys, scratch.rows.next_ids
            )
            for i in range(begin, end):
                side[ranked[i]] = i < begin + half
        near += half
        begin = end
    return near


@kernel(borrows=True)
def mark_counted(values, low, high, half, counts, side):
    """Mark the lower half of values by counting them; of equal ones the first.

    values: int32[m].
    low, high: int32, the least and the largest value.
    half: int, how many are marked, less than m.
    counts: int32[high - low + 1 or more], scratch.
    side: bool[m], written.
    """
    for value in range(high - low + 1):
        counts[value] = 0
    for value in values:
        counts[value - low] += 1
    middle, remaining = low, half  # the first value of which not all are marked, and how many are
    while counts[middle - low] <= remaining:
        remaining -= counts[middle - low]
        middle += 1
    for i in range(values.size):
        side[i] = values[i] < middle
        if values[i] == middle and remaining > 0:
            side[i], remaining = True, remaining - 1


STRIDE_ROWS = 64  # between two tests whether all that the node has is seen


@kernel(borrows=True, inlined=True)
def ncp_below(columns, model, rows, limit, scratch, stamp):
    """Return the NCP of rows of a node that ``outline`` described, summed over the columns.

    Returns any number of at least ``limit`` if the NCP is that.

    columns: float64[d, n], the points column by column.
    model: ``LossModel``, the meaning of the points.
    rows: int32[m], some rows of the node.
    limit: float64, the NCP from which the exact one does not matter.
    scratch: ``Scratch`` for the largest node.
    stamp: int64, differs for each set of rows that is looked at.
    """
    total = 0.0
    for column in range(columns.shape[0]):
        is_set, end = model.kind[column] == SET, 0
        low, high, nulls, distinct = np.inf, -np.inf, 0, 0
        while end < rows.size:
            stretch = rows[end : end + STRIDE_ROWS]
            low, high, nulls, distinct = look(
                columns, model, column, stretch, (low, high, nulls, distinct), scratch.seen, stamp
            )
            end += stretch.size
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
        if total >= limit:
            break
    return total
