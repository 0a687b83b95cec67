"""Sort whole numbers within a kernel: numba compiles this much faster than numpy's sort."""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.order.merge_sort import merge_sort

LEAST = np.int64(1) << np.int64(31)  # added, so that negative codes come first


@kernel
def sort_codes(codes):
    """Sort codes, int32[m], ascending, in place."""
    keys = np.empty(codes.size, np.uint64)
    for at in range(codes.size):
        keys[at] = np.uint64(codes[at] + LEAST)
    merge_sort(keys, codes)
