"""Hash, number and group rows."""

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.sorting import merge_sort, sort_codes


@kernel
def group(classes, count):
    """Return the rows class by class: order int32[n] and starts int64[count + 1].

    classes: int32[n] in 0 … count - 1. Rows ascend within a class.
    """
    starts = np.zeros(count + 1, dtype=np.int64)
    for row in range(len(classes)):
        starts[classes[row] + 1] += 1
    for at in range(count):
        starts[at + 1] += starts[at]
    place = starts[:-1].copy()
    order = np.empty(len(classes), dtype=np.int32)
    for row in range(len(classes)):
        order[place[classes[row]]] = row
        place[classes[row]] += 1
    return order, starts


@kernel
def extremes(order, starts, keys, present):
    """Return the rows with each class's smallest and largest key, and its number of NULLs.

    order, starts: from ``group``, m classes. keys: int64[n]; present: bool[n]. Returns low, high
    int32[m], -1 where every row is NULL, and nulls int64[m].
    """
    count = len(starts) - 1
    low = np.full(count, -1, dtype=np.int32)
    high = np.full(count, -1, dtype=np.int32)
    nulls = np.zeros(count, dtype=np.int64)
    for at in range(count):
        least, most = np.int32(-1), np.int32(-1)
        for place in range(starts[at], starts[at + 1]):
            row = order[place]
            if not present[row]:
                nulls[at] += 1
                continue
            if least < 0 or keys[row] < keys[least]:
                least = row
            if most < 0 or keys[row] > keys[most]:
                most = row
        low[at], high[at] = least, most
    return low, high, nulls


@kernel
def distinct(order, starts, codes):
    """Return the distinct codes of each class, ascending: ends int64[m + 1] into flat int32[…].

    order, starts: from ``group``, m classes. codes: int32[n].
    """
    count = len(starts) - 1
    flat = np.empty(len(order), dtype=np.int32)
    ends = np.zeros(count + 1, dtype=np.int64)
    used = 0
    for at in range(count):
        first = used
        size = starts[at + 1] - starts[at]
        if size > 64:
            many = np.empty(size, dtype=np.int32)
            for i in range(size):
                many[i] = codes[order[starts[at] + i]]
            sort_codes(many)
            for i in range(size):
                if i == 0 or many[i] != many[i - 1]:
                    flat[used] = many[i]
                    used += 1
        else:
            for place in range(starts[at], starts[at + 1]):
                code = codes[order[place]]
                i = used
                while i > first and flat[i - 1] > code:
                    i -= 1
                if i > first and flat[i - 1] == code:
                    continue
                for j in range(used, i, -1):
                    flat[j] = flat[j - 1]
                flat[i] = code
                used += 1
        ends[at + 1] = used
    return ends, flat[:used].copy()


@kernel
def set_hashes(ends, flat):
    """Return a 64-bit hash of each set of ``distinct``, uint64[m]."""
    count = len(ends) - 1
    hashes = np.empty(count, dtype=np.uint64)
    for at in range(count):
        value = np.uint64(0x9E3779B97F4A7C15)
        for i in range(ends[at], ends[at + 1]):
            value = (value ^ np.uint64(flat[i] + 1)) * np.uint64(0xBF58476D1CE4E5B9)
            value ^= value >> np.uint64(29)
        hashes[at] = value
    return hashes


@kernel
def arrange(order, starts, hashes):
    """Return ``order`` with the rows of each class sorted by hash; hashes: uint64[n] by row."""
    arranged = order.copy()
    keys = np.empty(64, dtype=np.uint64)
    for at in range(len(starts) - 1):
        first, size = starts[at], starts[at + 1] - starts[at]
        if size > len(keys):
            many = np.empty(size, dtype=np.uint64)
            for place in range(size):
                many[place] = hashes[order[first + place]]
            merge_sort(many, arranged[first : first + size])
            continue
        for place in range(size):
            row = order[first + place]
            key = hashes[row]
            i = place
            while i > 0 and keys[i - 1] > key:
                keys[i], arranged[first + i] = keys[i - 1], arranged[first + i - 1]
                i -= 1
            keys[i], arranged[first + i] = key, row
    return arranged


@kernel
def _scramble(value: np.uint64) -> np.uint64:
    """Return the finalizer of MurmurHash3 of a uint64."""
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xFF51AFD7ED558CCD)
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    value ^= value >> np.uint64(33)
    return value


@kernel
def mix(hashes: npt.NDArray[np.uint64], values: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Return hashes uint64[n] of rows, extended by the next column's values int64[n]."""
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

    hashes: uint64[n]; values: int64[n], counted as -1 where present, bool[n], is false.
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
    for at in range(len(hashes)):
        slot = hashes[at] & mask
        while slots[slot] >= 0 and hashes[first[slots[slot]]] != hashes[at]:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = count
            first[count] = at
            count += 1
        number_of[at] = slots[slot]
    return first[:count].copy(), number_of


@kernel
def number_more(hashes, known, often, slots, count):
    """Return each hash's number, int32[m], and the positions of hashes that are new, int32[u].

    known: uint64[count + m or more], the ``count`` hashes that have numbers; often: int64[…], how
    often each came; slots: int32[a power of two, more than count + m], an open hash table, -1 where
    it is free. All three are changed in place. The upper 32 bits of a hash choose its slot, since
    the hashes of a part of a table's rows may end alike.
    """
    mask = np.uint64(len(slots) - 1)
    number_of = np.empty(len(hashes), dtype=np.int32)
    new = np.empty(len(hashes), dtype=np.int32)
    first = count
    for at in range(len(hashes)):
        slot = (hashes[at] >> np.uint64(32)) & mask
        while slots[slot] >= 0 and known[slots[slot]] != hashes[at]:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = count
            known[count], often[count] = hashes[at], 0
            new[count - first] = at
            count += 1
        often[slots[slot]] += 1
        number_of[at] = slots[slot]
    return number_of, new[: count - first].copy()


@kernel
def recode(codes, present, rank, null):
    """Return int32[n]: rank[codes], or ``null`` where present is false.

    codes: int32[n]; present: bool[n], or empty where no row is NULL; rank: int32[m].
    """
    ranked = np.empty(len(codes), dtype=np.int32)
    for row in range(len(codes)):
        ranked[row] = null if len(present) and not present[row] else rank[codes[row]]
    return ranked
