"""How many rows of a population each label matches."""

import numpy as np
from numba import njit

from anon_sql.kernels.covering import covers


@njit(cache=True, nogil=True)
def matching_rows(codes, weights, column, labels):
    """int64[c]: the weights of the rows that each class's label covers, summed.

    codes int64[n, d], ascending in ``column``, where labels are narrow; weights int64[n]; labels:
    as ``covering.covered`` has them.
    """
    low, high = labels[0], labels[1]
    found = np.zeros(len(low), dtype=np.int64)
    sorted_codes = codes[:, column].copy()
    for at in range(len(low)):
        first = np.searchsorted(sorted_codes, low[at, column])
        last = np.searchsorted(sorted_codes, high[at, column], side="right")
        for row in range(first, last):
            if covers(codes, row, labels, at):
                found[at] += weights[row]
    return found
