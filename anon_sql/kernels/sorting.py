"""Sort whole numbers within a kernel, which numba compiles faster than numpy's sorts.

Sort keys and what belongs to them, where other kernels need more than an insertion sort. A sort by
numpy within a kernel takes numba several seconds to compile, for each type.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel

RUN = 16  # keys that an insertion sort puts in order


@kernel
def merge_sort(keys, rows):
    """Sort keys uint64[m] ascending, in place, and rows int32[m] alike; equal keys keep order."""
    length = keys.size if keys.size > RUN else 0
    sort_within(keys, rows, np.empty(length, np.uint64), np.empty(length, np.int32))


@kernel(borrows=True)
def sort_within(keys, rows, next_keys, next_rows):
    """Sort as ``merge_sort`` does; next_keys, next_rows: scratch of m, where m exceeds RUN."""
    m, width = keys.size, RUN
    for low in range(0, m, RUN):
        for at in range(low + 1, min(low + RUN, m)):
            key, row, to = keys[at], rows[at], at
            while to > low and keys[to - 1] > key:
                keys[to], rows[to] = keys[to - 1], rows[to - 1]
                to -= 1
            keys[to], rows[to] = key, row
    while width < m:
        for low in range(0, m, 2 * width):
            left, middle = low, min(low + width, m)
            right, high = middle, min(low + 2 * width, m)
            for at in range(low, high):
                if right == high or (left < middle and keys[left] <= keys[right]):
                    next_keys[at], next_rows[at] = keys[left], rows[left]
                    left += 1
                else:
                    next_keys[at], next_rows[at] = keys[right], rows[right]
                    right += 1
        for at in range(m):
            keys[at], rows[at] = next_keys[at], next_rows[at]
        width *= 2


LEAST = np.int64(1) << np.int64(31)  # added, so that negative codes come first


@kernel
def sort_codes(codes):
    """Sort codes, int32[m], ascending, in place."""
    keys = np.empty(codes.size, np.uint64)
    for at in range(codes.size):
        keys[at] = np.uint64(codes[at] + LEAST)
    merge_sort(keys, codes)
