"""Sort whole numbers within a kernel, alone or with the rows that they belong to.

A sort by numpy within a kernel takes numba several seconds to compile, for each type.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel

RUN_KEYS = 16  # that an insertion sort puts in order


@kernel
def merge_sort(keys, rows):
    """Sort keys ascending, in place, and put rows in the same order; equal keys keep their order.

    keys: uint64[m].
    rows: int32[m].
    """
    length = keys.size if keys.size > RUN_KEYS else 0
    sort_within(keys, rows, np.empty(length, np.uint64), np.empty(length, np.int32))


@kernel(borrows=True)
def sort_within(keys, rows, next_keys, next_rows):
    """Sort as ``merge_sort`` does, in scratch that the caller has.

    keys: uint64[m].
    rows: int32[m].
    next_keys: uint64[m], scratch; may be empty if m is at most RUN_KEYS.
    next_rows: int32[m], scratch, likewise.
    """
    m, width = keys.size, RUN_KEYS
    for low in range(0, m, RUN_KEYS):
        for i in range(low + 1, min(low + RUN_KEYS, m)):
            key, row, j = keys[i], rows[i], i
            while j > low and keys[j - 1] > key:
                keys[j], rows[j] = keys[j - 1], rows[j - 1]
                j -= 1
            keys[j], rows[j] = key, row
    while width < m:
        for low in range(0, m, 2 * width):
            left, middle = low, min(low + width, m)
            right, high = middle, min(low + 2 * width, m)
            for i in range(low, high):
                if right == high or (left < middle and keys[left] <= keys[right]):
                    next_keys[i], next_rows[i] = keys[left], rows[left]
                    left += 1
                else:
                    next_keys[i], next_rows[i] = keys[right], rows[right]
                    right += 1
        for i in range(m):
            keys[i], rows[i] = next_keys[i], next_rows[i]
        width *= 2


SIGN_OFFSET = np.int64(1) << np.int64(31)  # added, so that negative codes come first


@kernel
def sort_codes(codes):
    """Sort codes ascending, in place.

    codes: int32[m], negative ones too.
    """
    keys = np.empty(codes.size, np.uint64)
    for i in range(codes.size):
        keys[i] = np.uint64(codes[i] + SIGN_OFFSET)
    merge_sort(keys, codes)
