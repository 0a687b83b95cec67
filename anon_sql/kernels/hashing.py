"""Hash, number and group rows."""

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.sorting import merge_sort, sort_codes


@kernel
def group(classes, count):
    """Return the rows class by class: order int32[n] and starts int64[count + 1].

    Rows ascend within a class.

    classes: int32[n], class of each row, in 0 … count - 1.
    count: int, number of classes.
    """
    starts = np.zeros(count + 1, dtype=np.int64)
    for row in range(len(classes)):
        starts[classes[row] + 1] += 1
    for class_id in range(count):
        starts[class_id + 1] += starts[class_id]
    next_position = starts[:-1].copy()
    order = np.empty(len(classes), dtype=np.int32)
    for row in range(len(classes)):
        order[next_position[classes[row]]] = row
        next_position[classes[row]] += 1
    return order, starts


@kernel
def extremes(order, starts, keys, present):
    """Return the rows with each class's smallest and largest key, and its number of NULLs.

    Returns low, high int32[m], -1 if every row is NULL, and nulls int64[m].

    order: int32[n], rows class by class, from ``group``.
    starts: int64[m + 1], where each class begins in ``order``.
    keys: int64[n], keys that order the values.
    present: bool[n], whether a value is not NULL.
    """
    count = len(starts) - 1
    low = np.full(count, -1, dtype=np.int32)
    high = np.full(count, -1, dtype=np.int32)
    nulls = np.zeros(count, dtype=np.int64)
    for class_id in range(count):
        lowest_row, highest_row = np.int32(-1), np.int32(-1)
        for position in range(starts[class_id], starts[class_id + 1]):
            row = order[position]
            if not present[row]:
                nulls[class_id] += 1
                continue
            if lowest_row < 0 or keys[row] < keys[lowest_row]:
                lowest_row = row
            if highest_row < 0 or keys[row] > keys[highest_row]:
                highest_row = row
        low[class_id], high[class_id] = lowest_row, highest_row
    return low, high, nulls


@kernel
def distinct(order, starts, codes):
    """Return the distinct codes of each class, ascending: ends int64[m + 1] into flat int32[…].

    order: int32[n], rows class by class, from ``group``.
    starts: int64[m + 1], where each class begins in ``order``.
    codes: int32[n], code of each row.
    """
    count = len(starts) - 1
    flat = np.empty(len(order), dtype=np.int32)
    ends = np.zeros(count + 1, dtype=np.int64)
    used = 0
    for class_id in range(count):
        first = used
        size = starts[class_id + 1] - starts[class_id]
        if size > 64:
            class_codes = np.empty(size, dtype=np.int32)
            for i in range(size):
                class_codes[i] = codes[order[starts[class_id] + i]]
            sort_codes(class_codes)
            for i in range(size):
                if i == 0 or class_codes[i] != class_codes[i - 1]:
                    flat[used] = class_codes[i]
                    used += 1
        else:
            for position in range(starts[class_id], starts[class_id + 1]):
                code = codes[order[position]]
                i = used
                while i > first and flat[i - 1] > code:
                    i -= 1
                if i > first and flat[i - 1] == code:
                    continue
                for j in range(used, i, -1):
                    flat[j] = flat[j - 1]
                flat[i] = code
                used += 1
        ends[class_id + 1] = used
    return ends, flat[:used].copy()


@kernel
def set_hashes(ends, flat):
    """Return a 64-bit hash of each set, uint64[m].

    ends, flat: int64[m + 1], int32[…], the sets, from ``distinct``.
    """
    count = len(ends) - 1
    hashes = np.empty(count, dtype=np.uint64)
    for class_id in range(count):
        value = np.uint64(0x9E3779B97F4A7C15)
        for i in range(ends[class_id], ends[class_id + 1]):
            value = (value ^ np.uint64(flat[i] + 1)) * np.uint64(0xBF58476D1CE4E5B9)
            value ^= value >> np.uint64(29)
        hashes[class_id] = value
    return hashes


@kernel
def arrange(order, starts, hashes):
    """Return ``order`` with the rows of each class sorted by hash, int32[n].

    order: int32[n], rows class by class, from ``group``.
    starts: int64[m + 1], where each class begins in ``order``.
    hashes: uint64[n], by row.
    """
    arranged = order.copy()
    keys = np.empty(64, dtype=np.uint64)
    for class_id in range(len(starts) - 1):
        first, size = starts[class_id], starts[class_id + 1] - starts[class_id]
        if size > len(keys):
            class_hashes = np.empty(size, dtype=np.uint64)
            for offset in range(size):
                class_hashes[offset] = hashes[order[first + offset]]
            merge_sort(class_hashes, arranged[first : first + size])
            continue
        for offset in range(size):
            row = order[first + offset]
            key = hashes[row]
            i = offset
            while i > 0 and keys[i - 1] > key:
                keys[i], arranged[first + i] = keys[i - 1], arranged[first + i - 1]
                i -= 1
            keys[i], arranged[first + i] = key, row
    return arranged


@kernel
def _scramble(value: np.uint64) -> np.uint64:
    """Return the finalizer of MurmurHash3 of a number, uint64.

    value: uint64.
    """
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xFF51AFD7ED558CCD)
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    value ^= value >> np.uint64(33)
    return value


@kernel
def mix(hashes: npt.NDArray[np.uint64], values: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Return the hashes of rows, extended by the next column's values, uint64[n].

    hashes: uint64[n], of the columns before.
    values: int64[n], of the column.
    """
    mixed = np.empty(len(hashes), dtype=np.uint64)
    for row in range(len(hashes)):
        turned = (hashes[row] << np.uint64(7)) | (hashes[row] >> np.uint64(57))
        mixed[row] = _scramble(turned ^ np.uint64(values[row]))
    return mixed


@kernel
def mix_in(
    hashes: npt.NDArray[np.uint64], values: npt.NDArray[np.int64], present: npt.NDArray[np.bool_]
) -> None:
    """Extend row hashes in place by a column's values and by whether each is present.

    hashes: uint64[n], changed.
    values: int64[n], counted as -1 if not present.
    present: bool[n], whether a value is not NULL.
    """
    for row in range(len(hashes)):
        hashed = hashes[row]
        turned = (hashed << np.uint64(7)) | (hashed >> np.uint64(57))
        hashed = _scramble(turned ^ np.uint64(values[row] if present[row] else -1))
        turned = (hashed << np.uint64(7)) | (hashed >> np.uint64(57))
        hashes[row] = _scramble(turned ^ np.uint64(present[row]))


@kernel
def number(hashes):
    """Return the first position of each distinct hash, int32[u], and each hash's number, int32[m].

    hashes: uint64[m], well mixed, since their lowest bits choose the slot of an open hash table.
    """
    size = 16
    while size < 2 * len(hashes):
        size *= 2
    mask = np.uint64(size - 1)
    slots = np.full(size, -1, dtype=np.int32)
    first = np.empty(len(hashes), dtype=np.int32)
    number_of = np.empty(len(hashes), dtype=np.int32)
    count = 0
    for i in range(len(hashes)):
        slot = hashes[i] & mask
        while slots[slot] >= 0 and hashes[first[slots[slot]]] != hashes[i]:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = count
            first[count] = i
            count += 1
        number_of[i] = slots[slot]
    return first[:count].copy(), number_of


@kernel
def number_more(hashes, numbered, counts, slots, count):
    """Return each hash's number, int32[m], and the positions of hashes that are new, int32[u].

    The upper 32 bits of a hash choose its slot, since the hashes of a part of a table's rows may
    end in the same bits.

    hashes: uint64[m].
    numbered: uint64[count + m or more], the hashes that have numbers, in order; new ones are added.
    counts: int64[like numbered], how often each came; changed.
    slots: int32[a power of two, more than count + m], an open hash table, -1 for a free slot;
        changed.
    count: int, hashes that have numbers.
    """
    mask = np.uint64(len(slots) - 1)
    number_of = np.empty(len(hashes), dtype=np.int32)
    new = np.empty(len(hashes), dtype=np.int32)
    first = count
    for i in range(len(hashes)):
        slot = (hashes[i] >> np.uint64(32)) & mask
        while slots[slot] >= 0 and numbered[slots[slot]] != hashes[i]:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = count
            numbered[count], counts[count] = hashes[i], 0
            new[count - first] = i
            count += 1
        counts[slots[slot]] += 1
        number_of[i] = slots[slot]
    return number_of, new[: count - first].copy()


@kernel
def recode(codes, present, rank, null):
    """Return the rank of each code, or ``null`` if it is not present, int32[n].

    codes: int32[n].
    present: bool[n], or empty if no row is NULL.
    rank: int32[m], by code.
    null: int32, the rank of NULL.
    """
    ranked = np.empty(len(codes), dtype=np.int32)
    for row in range(len(codes)):
        ranked[row] = null if len(present) and not present[row] else rank[codes[row]]
    return ranked


@kernel
def number_groups(numbers, classes, weights, latest, values, owners, sizes, count):
    """Return the group of each row, int32[m], new ones numbered from ``count``, and the new count.

    A group has the rows of a class with the same kept values. All arrays after ``weights`` are
    changed.

    numbers: int32[m], numbers of kept values, below v.
    classes: int32[m], ascending over all calls.
    weights: int32[m], how many rows each stands for.
    latest: int32[v], the last group of each number, -1 for none.
    values: int32[count + m or more], number of each group.
    owners: int32[count + m or more], class of each group.
    sizes: int64[count + m or more], rows of each group.
    count: int, groups before the call.
    """
    group_of = np.empty(len(numbers), dtype=np.int32)
    for row in range(len(numbers)):
        group = latest[numbers[row]]
        if group < 0 or owners[group] != classes[row]:
            group = count
            latest[numbers[row]] = group
            values[group], owners[group], sizes[group] = numbers[row], classes[row], 0
            count += 1
        sizes[group] += weights[row]
        group_of[row] = group
    return group_of, count
