"""Hilbert key: rows that are near one another in the order are near one another in every column.

Source: J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004).
"""

import numpy as np
from numba import njit

BITS = 63  # of a key


@njit(cache=True, nogil=True)
def cell(value, null, scale, top):
    """Which cell of a column a point lies in: 0 … top, and top + 1 for NULL."""
    if value == null:
        return top + 1
    return min(np.int64(value * scale), top)


@njit(cache=True, nogil=True)
def hilbert_key(points, null, scale, top, bits):
    """Place of each row on the Hilbert curve, uint64[n].

    points float64[n, d], d * bits <= 63; null, scale float64[d], top int64[d]: see ``cell``;
    cells are below 2 ** bits.
    """
    n, columns = points.shape
    keys = np.empty(n, np.uint64)
    x = np.empty(columns, np.int64)
    for row in range(n):
        for c in range(columns):
            x[c] = cell(points[row, c], null[c], scale[c], top[c])
        turn = np.int64(1) << (bits - 1)
        while turn > 1:
            low = turn - 1
            for c in range(columns):
                if x[c] & turn:
                    x[0] ^= low
                else:
                    swap = (x[0] ^ x[c]) & low
                    x[0] ^= swap
                    x[c] ^= swap
            turn >>= 1
        for c in range(1, columns):
            x[c] ^= x[c - 1]
        flips = np.int64(0)
        turn = np.int64(1) << (bits - 1)
        while turn > 1:
            if x[columns - 1] & turn:
                flips ^= turn - 1
            turn >>= 1
        key = np.uint64(0)
        for bit in range(bits - 1, -1, -1):
            for c in range(columns):
                digit = ((x[c] ^ flips) >> bit) & 1
                key = (key << np.uint64(1)) | np.uint64(digit)
        keys[row] = key
    return keys
