"""Order rows along space-filling curves, and sort their keys.

- Mixed-radix reflected Gray keys: neighbours in order differ in one column by one cell. The first
  column changes least often.
- Hilbert keys: rows that are near in the order are near in every column. Source: J. Skilling,
  "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004). BLOCK_ROWS rows are
  computed at a time, each step a loop over adjacent rows.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import NUMBER, SET, LossModel
from anon_sql.kernels.sorting import merge_sort


class Grid(NamedTuple):
    """Cells of g columns.

    A point lies in cell min(point * scale, top), NULL in the cell above. The point of a SET column
    is replaced by place[offset[g] + code], and that of a column of few values by its rank among the
    ranked[g] values from place[offset[g]] on.

    column: int64[g], which ones.
    null: float64[g], the point of NULL.
    scale: float64[g], cells per unit.
    top: int64[g], the last cell of a value.
    offset: int64[g], where the places of a column begin; -1 for a column without.
    ranked: int64[g], number of values of a column of few values; 0 for others.
    place: float64[…], places of codes, and few values.
    """

    column: npt.NDArray[np.int64]
    null: npt.NDArray[np.float64]
    scale: npt.NDArray[np.float64]
    top: npt.NDArray[np.int64]
    offset: npt.NDArray[np.int64]
    ranked: npt.NDArray[np.int64]
    place: npt.NDArray[np.float64]


@kernel
def cell(points: Any, row: int, grid: Any, g: int) -> int:
    """Return the cell of a row in a column of the grid.

    points: float64[n, d], the points of the rows in each column.
    row: int, the row.
    grid: ``Grid``, the cells of g columns.
    g: int, the column of the grid.
    """
    value = points[row, grid.column[g]]
    if value == grid.null[g]:
        return grid.top[g] + 1  # type: ignore[no-any-return]
    if grid.ranked[g] > 0:
        rank = 0
        while rank < grid.top[g] and grid.place[grid.offset[g] + rank] < value:
            rank += 1
        return rank
    if grid.offset[g] >= 0:
        value = grid.place[grid.offset[g] + np.int64(value)]
    return min(np.int64(value * grid.scale[g]), grid.top[g])  # type: ignore[no-any-return]


@kernel
def counts_of(points: Any, column: int, codes: int) -> Any:
    """Return the number of rows of each code of a column, int64[codes].

    points: float64[n, d], the points of the rows in each column.
    column: int, the column, 0 … d - 1.
    codes: int, number of codes.
    """
    counts = np.zeros(codes, np.int64)
    for row in range(len(points)):
        counts[np.int64(points[row, column])] += 1
    return counts


@kernel
def few_values(points: Any, column: int, null: float, limit: int) -> Any:
    """Return the values of a column, ascending, without NULL; none if more than the limit.

    points: float64[n, d], the points of the rows in each column.
    column: int, the column, 0 … d - 1.
    null: float64, the point of NULL.
    limit: int, values at most.
    """
    distinct, count = np.empty(limit + 1), 0
    for row in range(len(points)):
        value = points[row, column]
        is_present = value == null
        for i in range(count):
            is_present |= distinct[i] == value
        if is_present:
            continue
        i = count
        while i > 0 and distinct[i - 1] > value:
            distinct[i] = distinct[i - 1]
            i -= 1
        distinct[i] = value
        count += 1
        if count > limit:
            return distinct[:0]
    return distinct[:count]


def grid_of(
    points: npt.NDArray[np.float64],
    model: LossModel,
    columns: list[int],
    cells: list[int],
    counts: dict[int, npt.NDArray[np.int64]],
    few_points: dict[int, npt.NDArray[np.float64]],
) -> Grid:
    """Return a grid over some columns.

    The values of a set are ordered by descending frequency, so that frequent values are neighbours.

    points: float64[n, d], the points of the rows in each column.
    model: ``LossModel``, the meaning of the points.
    columns: the columns of the grid.
    cells: cells of each.
    counts: rows of each code of a SET column, NULL last.
    few_points: the values of columns that have few, each of which gets a cell.
    """
    null = model.null[columns]
    scale, top, offset = np.ones(len(columns)), np.zeros(len(columns), np.int64), []
    place: list[npt.NDArray[np.float64]] = [np.zeros(0)]
    ranked = np.zeros(len(columns), np.int64)
    for g, (column, size) in enumerate(zip(columns, cells, strict=True)):
        offset.append(-1)
        if column in few_points:
            offset[-1], ranked[g] = sum(len(part) for part in place), len(few_points[column])
            place.append(few_points[column])
            top[g] = ranked[g] - 1
            continue
        if model.kind[column] == NUMBER:
            holes = bool((points[:, column] == null[g]).any())
            width = float(model.weight[column]) or 1.0
        else:
            holes, width = True, max(float(model.null[column]), 1.0)
        if model.kind[column] == SET:
            code_counts = counts[column]
            holes = bool(code_counts[-1])
            offset[-1] = sum(len(part) for part in place)
            place.append(np.empty(len(code_counts)))
            place[-1][np.argsort(-code_counts[:-1], kind="stable")] = np.arange(
                len(code_counts) - 1
            )
        scale[g] = max(size - holes, 1) / width
        top[g] = max(size - holes, 1) - 1
    starts = np.array(offset, np.int64)
    return Grid(
        np.array(columns, np.int64), null, scale, top, starts, ranked, np.concatenate(place)
    )


@kernel
def gray_key(points, first, end, grid, radix):
    """Return the place of rows first … end - 1 in reflected order, uint64[end - first].

    If the key is odd, the order of the following columns is reversed.

    points: float64[n, d], the points of the rows in each column.
    first, end: int, the rows.
    grid: ``Grid``, its columns from the slowest to the fastest.
    radix: int64[g], cells of each, whose product is at most 2 ** 63.
    """
    keys = np.zeros(end - first, np.uint64)
    for i in range(end - first):
        key = np.uint64(0)
        for g in range(radix.size):
            digit = cell(points, first + i, grid, g)
            if key & np.uint64(1):
                digit = radix[g] - 1 - digit
            key = key * np.uint64(radix[g]) + np.uint64(digit)
        keys[i] = key
    return keys


BLOCK_ROWS = 256  # that stay in the L1 cache


@kernel
def hilbert_key(points, first, end, grid, bits):
    """Return the place of rows first … end - 1 on the Hilbert curve, uint64[end - first].

    points: float64[n, d], the points of the rows in each column.
    first, end: int, the rows.
    grid: ``Grid``, g columns of at most 2 ** bits cells.
    bits: int, at most 31, and g * bits at most 63.
    """
    columns = grid.column.size
    keys = np.zeros(end - first, np.uint64)
    x = np.zeros((columns, BLOCK_ROWS), np.uint32)
    for a in range(0, end - first, BLOCK_ROWS):
        count = min(BLOCK_ROWS, end - first - a)
        for i in range(count):
            for c in range(columns):
                x[c, i] = cell(points, first + a + i, grid, c)
        transpose(x, bits)
        key = np.zeros(BLOCK_ROWS, np.uint64)
        for bit in range(bits - 1, -1, -1):
            shift = np.uint32(bit)
            for c in range(columns):
                line = x[c]
                for i in range(BLOCK_ROWS):
                    key[i] = (key[i] << np.uint64(1)) | np.uint64((line[i] >> shift) & np.uint32(1))
        for i in range(count):
            keys[a + i] = key[i]
    return keys


@kernel
def transpose(x, bits):
    """Turn cells into the transposed Hilbert index, in place.

    x: uint32[g, BLOCK_ROWS], cells; the X of Skilling's AxestoTranspose.
    bits: int, bits of a cell; Skilling's b.
    """
    columns, zero, one = x.shape[0], np.uint32(0), np.uint32(1)
    first = x[0]
    for bit in range(bits - 1, 0, -1):
        turn, low = np.uint32(1 << bit), np.uint32((1 << bit) - 1)
        for c in range(columns):
            line = x[c]
            if c == 0:
                for i in range(BLOCK_ROWS):
                    first[i] ^= low if first[i] & turn else zero
                continue
            for i in range(BLOCK_ROWS):
                swap = (first[i] ^ line[i]) & low
                above = (line[i] & turn) != zero
                first[i] ^= low if above else swap
                line[i] ^= zero if above else swap
    for c in range(1, columns):
        line, before = x[c], x[c - 1]
        for i in range(BLOCK_ROWS):
            line[i] ^= before[i]
    flips, last = np.zeros(BLOCK_ROWS, np.uint32), x[columns - 1]
    for bit in range(bits - 1, 0, -1):
        turn = np.uint32(1 << bit)
        for i in range(BLOCK_ROWS):
            flips[i] ^= turn - one if last[i] & turn else zero
    for c in range(columns):
        line = x[c]
        for i in range(BLOCK_ROWS):
            line[i] ^= flips[i]


@kernel
def by_hash(hashes):
    """Return the stable argsort of hashes, int32[n].

    One counting pass over the leading bits leaves about one hash in a bucket, equal ones together;
    an insertion sort within each bucket does the rest.

    hashes: uint64[n].
    """
    n = len(hashes)
    bits = 1
    while (1 << bits) < n and bits < 22:
        bits += 1
    shift = np.uint64(64 - bits)
    ends = np.zeros((1 << bits) + 1, dtype=np.int64)
    for row in range(n):
        ends[np.int64(hashes[row] >> shift) + 1] += 1
    for bucket in range(1 << bits):
        ends[bucket + 1] += ends[bucket]
    order, keys = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.uint64)
    next_place = ends[:-1].copy()
    for row in range(n):
        leading = np.int64(hashes[row] >> shift)
        position = next_place[leading]
        next_place[leading] += 1
        order[position], keys[position] = row, hashes[row]
    for bucket in range(1 << bits):
        first, end = ends[bucket], ends[bucket + 1]
        if end - first > 64:
            merge_sort(keys[first:end], order[first:end])
            continue
        for position in range(first + 1, end):
            key, row, slot = keys[position], order[position], position
            while slot > first and keys[slot - 1] > key:
                keys[slot], order[slot] = keys[slot - 1], order[slot - 1]
                slot -= 1
            keys[slot], order[slot] = key, row
    return order


DIGIT_BITS = 11  # of a digit of the radix sort


@kernel
def order_between(keys, low, high, last):
    """Return the positions of keys with low <= key < high, ascending by key, int32[…].

    keys: uint64[n].
    low, high: uint64, the ends.
    last: bool, whether the upper end is inclusive.
    """
    count = 0
    for i in range(keys.size):
        count += low <= keys[i] and (keys[i] < high or (last and keys[i] == high))
    range_keys, order = np.empty(count, np.uint64), np.empty(count, np.int32)
    count = 0
    for i in range(keys.size):
        if low <= keys[i] and (keys[i] < high or (last and keys[i] == high)):
            range_keys[count], order[count] = keys[i], i
            count += 1
    next_keys, next_order = np.empty(count, np.uint64), np.empty(count, np.int32)
    buckets = 1 << DIGIT_BITS
    digits = -(-64 // DIGIT_BITS)
    places = np.zeros((digits, buckets), np.int64)
    for i in range(count):
        for digit in range(digits):
            places[
                digit, (range_keys[i] >> np.uint64(digit * DIGIT_BITS)) & np.uint64(buckets - 1)
            ] += 1
    for digit in range(digits if count > 0 else 0):
        place, total, shift = places[digit], 0, np.uint64(digit * DIGIT_BITS)
        if place[(range_keys[0] >> shift) & np.uint64(buckets - 1)] == count:
            continue  # the same digit in all
        for bucket in range(buckets):
            count_here = place[bucket]
            place[bucket] = total
            total += count_here
        for i in range(count):
            bucket = (range_keys[i] >> shift) & np.uint64(buckets - 1)
            slot = place[bucket]
            place[bucket] = slot + 1
            next_keys[slot], next_order[slot] = range_keys[i], order[i]
        range_keys, next_keys, order, next_order = next_keys, range_keys, next_order, order
    return order
