"""Whole numbers as points between 0 and 1."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def scaled(keys, present, null):
    """Points float64[n], the least key at 0 and the largest at 1, and how far apart those are.

    keys int64[n]; present bool[n]; null: the point of a NULL. A difference is rounded only when it
    is known; all keys equal are all 0.
    """
    least, most = np.int64(2**63 - 1), np.int64(-(2**63))
    for row in range(keys.size):
        if present[row]:
            least, most = min(least, keys[row]), max(most, keys[row])
    width = np.float64(np.uint64(most - least)) if least <= most else 0.0
    points = np.full(keys.size, null)
    for row in range(keys.size):
        if present[row]:
            above = np.float64(np.uint64(keys[row] - least))
            points[row] = above / width if width > 0 else 0.0
    return points, width
