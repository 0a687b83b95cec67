"""Count the rows of a population that each label matches."""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.legal.label_cover import covers


@kernel
def matching_rows(codes, weights, column, labels):
    """Return the total weight of the rows that each class's label covers, int64[c].

    The second result is bool[n], whether any label covers a row.

    codes: int64[n, d], ascending in ``column``, the one with narrow labels. weights: int64[n].
    labels: as ``covered`` takes them.
    """
    low, high = labels[0], labels[1]
    found = np.zeros(len(low), dtype=np.int64)
    covered = np.zeros(len(codes), dtype=np.bool_)
    sorted_codes = codes[:, column].copy()
    for at in range(len(low)):
        first = np.searchsorted(sorted_codes, low[at, column])
        last = np.searchsorted(sorted_codes, high[at, column], side="right")
        for row in range(first, last):
            if covers(codes, row, labels, at):
                found[at] += weights[row]
                covered[row] = True
    return found, covered
