"""Mixed-radix reflected Gray key: neighbours in the order differ in one column by one cell.

As with an odometer whose wheels turn back at their ends: the first column changes least often.
"""

import numpy as np
from numba import njit

from anon_sql.kernels.hilbert import cell


@njit(cache=True, nogil=True)
def gray_key(points, order, null, scale, top, radix):
    """Place of each row in reflected order, uint64[n].

    points float64[n, d]; order int64[…], columns from the slowest to the fastest; null, scale
    float64[d], top int64[d]: see ``cell``; radix int64[d], cells of a column, whose product over
    ``order`` is at most 2 ** 63.
    """
    n = len(points)
    keys = np.empty(n, np.uint64)
    for row in range(n):
        key = np.uint64(0)
        odd = False
        for c in order:
            digit = cell(points[row, c], null[c], scale[c], top[c])
            if odd:
                digit = radix[c] - 1 - digit
            key = key * np.uint64(radix[c]) + np.uint64(digit)
            odd = (key & np.uint64(1)) == 1
        keys[row] = key
    return keys
