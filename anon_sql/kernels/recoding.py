"""Codes by the order of what they stand for."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def recode(codes, present, rank, null):
    """rank[codes], and ``null`` where present is false: int32[n].

    codes int32[n]; present bool[n], or empty where no row is NULL; rank int32[m].
    """
    ranked = np.empty(len(codes), dtype=np.int32)
    for row in range(len(codes)):
        ranked[row] = null if len(present) and not present[row] else rank[codes[row]]
    return ranked
