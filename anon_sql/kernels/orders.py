"""Order rows along space-filling curves, and sort their keys.

Compute mixed-radix reflected Gray keys: neighbours in order differ in one column by one cell. The
first column changes least often.

Compute Hilbert keys: rows that are near in the order are near in every column. Source: J. Skilling,
"Programming the Hilbert curve", AIP Conference Proceedings 707 (2004). BLOCK rows are computed at a
time, each step a loop over adjacent rows.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import NUMBER, SET, LossModel
from anon_sql.kernels.sorting import merge_sort


class Grid(NamedTuple):
    """Cells of g columns.

    column: int64[g], which ones. null, scale: float64[g]; top: int64[g]. A point lies in cell
    min(point * scale, top), NULL in the cell above. The point of a SET column is replaced by
    place[at[g] + code], and that of a column of few values by its rank among the ranked[g] values
    from place[at[g]] on. at, ranked: int64[g], -1 and 0 for other columns; place: float64[…].
    """

    column: npt.NDArray[np.int64]
    null: npt.NDArray[np.float64]
    scale: npt.NDArray[np.float64]
    top: npt.NDArray[np.int64]
    at: npt.NDArray[np.int64]
    ranked: npt.NDArray[np.int64]
    place: npt.NDArray[np.float64]


@kernel
def cell(points: Any, row: int, grid: Any, g: int) -> int:
    """Return the cell of a row in the g-th column of the grid."""
    value = points[row, grid.column[g]]
    if value == grid.null[g]:
        return grid.top[g] + 1  # type: ignore[no-any-return]
    if grid.ranked[g] > 0:
        rank = 0
        while rank < grid.top[g] and grid.place[grid.at[g] + rank] < value:
            rank += 1
        return rank
    if grid.at[g] >= 0:
        value = grid.place[grid.at[g] + np.int64(value)]
    return min(np.int64(value * grid.scale[g]), grid.top[g])  # type: ignore[no-any-return]


@kernel
def counts_of(points: Any, column: int, codes: int) -> Any:
    """Return the number of rows of each code of a column, int64[codes]."""
    counts = np.zeros(codes, np.int64)
    for row in range(len(points)):
        counts[np.int64(points[row, column])] += 1
    return counts


@kernel
def few_values(points: Any, column: int, null: float, most: int) -> Any:
    """Return the values of a column, ascending, float64[…], without NULL; none if over ``most``."""
    found, count = np.empty(most + 1), 0
    for row in range(len(points)):
        value = points[row, column]
        known = value == null
        for at in range(count):
            known |= found[at] == value
        if known:
            continue
        at = count
        while at > 0 and found[at - 1] > value:
            found[at] = found[at - 1]
            at -= 1
        found[at] = value
        count += 1
        if count > most:
            return found[:0]
    return found[:count]


def grid_of(
    points: npt.NDArray[np.float64],
    model: LossModel,
    columns: list[int],
    cells: list[int],
    counts: dict[int, npt.NDArray[np.int64]],
    few: dict[int, npt.NDArray[np.float64]],
) -> Grid:
    """Return a grid with ``cells`` cells in each of the columns.

    counts: rows of each code of a SET column, NULL last. The values of a set are ordered by
    descending frequency, so that frequent values are neighbours. few: the values of columns that
    have few, each of which gets a cell.
    """
    null = model.null[columns]
    scale, top, at = np.ones(len(columns)), np.zeros(len(columns), np.int64), []
    place: list[npt.NDArray[np.float64]] = [np.zeros(0)]
    ranked = np.zeros(len(columns), np.int64)
    for g, (column, size) in enumerate(zip(columns, cells, strict=True)):
        at.append(-1)
        if column in few:
            at[-1], ranked[g] = sum(len(part) for part in place), len(few[column])
            place.append(few[column])
            top[g] = ranked[g] - 1
            continue
        if model.kind[column] == NUMBER:
            holes = bool((points[:, column] == null[g]).any())
            width = float(model.weight[column]) or 1.0
        else:
            holes, width = True, max(float(model.null[column]), 1.0)
        if model.kind[column] == SET:
            known = counts[column]
            holes = bool(known[-1])
            at[-1] = sum(len(part) for part in place)
            place.append(np.empty(len(known)))
            place[-1][np.argsort(-known[:-1], kind="stable")] = np.arange(len(known) - 1)
        scale[g] = max(size - holes, 1) / width
        top[g] = max(size - holes, 1) - 1
    starts = np.array(at, np.int64)
    return Grid(
        np.array(columns, np.int64), null, scale, top, starts, ranked, np.concatenate(place)
    )


@kernel
def gray_key(points, first, end, grid, radix):
    """Return the place of rows first … end - 1 in reflected order, uint64[end - first].

    points: float64[n, d]. grid: its columns from the slowest to the fastest. radix: int64[g], cells
    of each, whose product is at most 2 ** 63. Where the key is odd, the order of the following
    columns is reversed.
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


BLOCK = 256  # rows that stay in the L1 cache


@kernel
def hilbert_key(points, first, end, grid, bits):
    """Return the place of rows first … end - 1 on the Hilbert curve, uint64[end - first].

    points: float64[n, d]. grid: g columns of at most 2 ** bits cells; bits at most 31, g * bits at
    most 63.
    """
    columns = grid.column.size
    keys = np.zeros(end - first, np.uint64)
    x = np.zeros((columns, BLOCK), np.uint32)
    for a in range(0, end - first, BLOCK):
        count = min(BLOCK, end - first - a)
        for i in range(count):
            for c in range(columns):
                x[c, i] = cell(points, first + a + i, grid, c)
        transpose(x, bits)
        key = np.zeros(BLOCK, np.uint64)
        for bit in range(bits - 1, -1, -1):
            shift = np.uint32(bit)
            for c in range(columns):
                line = x[c]
                for i in range(BLOCK):
                    key[i] = (key[i] << np.uint64(1)) | np.uint64((line[i] >> shift) & np.uint32(1))
        for i in range(count):
            keys[a + i] = key[i]
    return keys


@kernel
def transpose(x, bits):
    """Turn cells, uint32[columns, BLOCK], into the transposed Hilbert index, in place."""
    columns, zero, one = x.shape[0], np.uint32(0), np.uint32(1)
    first = x[0]
    for bit in range(bits - 1, 0, -1):
        turn, low = np.uint32(1 << bit), np.uint32((1 << bit) - 1)
        for c in range(columns):
            line = x[c]
            if c == 0:
                for i in range(BLOCK):
                    first[i] ^= low if first[i] & turn else zero
                continue
            for i in range(BLOCK):
                swap = (first[i] ^ line[i]) & low
                above = (line[i] & turn) != zero
                first[i] ^= low if above else swap
                line[i] ^= zero if above else swap
    for c in range(1, columns):
        line, before = x[c], x[c - 1]
        for i in range(BLOCK):
            line[i] ^= before[i]
    flips, last = np.zeros(BLOCK, np.uint32), x[columns - 1]
    for bit in range(bits - 1, 0, -1):
        turn = np.uint32(1 << bit)
        for i in range(BLOCK):
            flips[i] ^= turn - one if last[i] & turn else zero
    for c in range(columns):
        line = x[c]
        for i in range(BLOCK):
            line[i] ^= flips[i]


@kernel
def by_hash(hashes):
    """Return the stable argsort of uint64[n], as int32[n].

    One counting pass over the leading bits leaves about one hash in a bucket, equal ones together;
    an insertion sort within each bucket does the rest.
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
    place = ends[:-1].copy()
    for row in range(n):
        leading = np.int64(hashes[row] >> shift)
        at = place[leading]
        place[leading] += 1
        order[at], keys[at] = row, hashes[row]
    for bucket in range(1 << bits):
        first, end = ends[bucket], ends[bucket + 1]
        if end - first > 64:
            merge_sort(keys[first:end], order[first:end])
            continue
        for at in range(first + 1, end):
            key, row, to = keys[at], order[at], at
            while to > first and keys[to - 1] > key:
                keys[to], order[to] = keys[to - 1], order[to - 1]
                to -= 1
            keys[to], order[to] = key, row
    return order


DIGIT = 11  # bits of a digit


@kernel
def order_between(keys, low, high, last):
    """Return the positions of keys with low <= key < high, ascending by key, int32[…].

    keys: uint64[n]. The upper bound is inclusive where ``last`` is true.
    """
    count = 0
    for at in range(keys.size):
        count += low <= keys[at] and (keys[at] < high or (last and keys[at] == high))
    own, order = np.empty(count, np.uint64), np.empty(count, np.int32)
    count = 0
    for at in range(keys.size):
        if low <= keys[at] and (keys[at] < high or (last and keys[at] == high)):
            own[count], order[count] = keys[at], at
            count += 1
    other, next_order = np.empty(count, np.uint64), np.empty(count, np.int32)
    buckets = 1 << DIGIT
    digits = -(-64 // DIGIT)
    places = np.zeros((digits, buckets), np.int64)
    for at in range(count):
        for digit in range(digits):
            places[digit, (own[at] >> np.uint64(digit * DIGIT)) & np.uint64(buckets - 1)] += 1
    for digit in range(digits if count > 0 else 0):
        place, total, shift = places[digit], 0, np.uint64(digit * DIGIT)
        if place[(own[0] >> shift) & np.uint64(buckets - 1)] == count:
            continue  # the same digit in all
        for bucket in range(buckets):
            here = place[bucket]
            place[bucket] = total
            total += here
        for at in range(count):
            bucket = (own[at] >> shift) & np.uint64(buckets - 1)
            to = place[bucket]
            place[bucket] = to + 1
            other[to], next_order[to] = own[at], order[at]
        own, other, order, next_order = other, own, next_order, order
    return order
