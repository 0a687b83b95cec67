"""Compute mixed-radix reflected Gray keys: neighbours in order differ in one column by one cell.

The first column changes least often.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.order.grid import cell


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
