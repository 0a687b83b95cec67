"""Compute Gower's distance between pairs of rows, over the columns present in both (Gower 1971).

RAYDEN's equation divides by the number of all columns, which treats a missing value like an equal
one; here a column missing on either side does not count, as in Gower's paper.
"""

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel


@kernel
def pair(a, b, numeric, ranges):
    """Return the Gower distance of two rows float64[d]; NaN is missing."""
    total, present = 0.0, 0
    for c in range(a.size):
        if np.isnan(a[c]) or np.isnan(b[c]):
            continue
        present += 1
        if not numeric[c]:
            total += a[c] != b[c]
        elif ranges[c] > 0.0:  # a constant column tells no rows apart
            total += abs(a[c] - b[c]) / ranges[c]
    return total / present if present else np.nan


@kernel
def pairs(a, b, numeric, ranges):
    """Return the Gower distance of each row of a to the same row of b, float64[n]."""
    distance = np.empty(a.shape[0])
    for row in range(a.shape[0]):
        distance[row] = pair(a[row], b[row], numeric, ranges)
    return distance


def gower_pairs(
    a: npt.ArrayLike, b: npt.ArrayLike, numeric: npt.ArrayLike, ranges: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """Return the Gower distance of row i of a to row i of b, float64[n].

    a, b: float64[n, d], categories as codes, missing values NaN. numeric: bool[d]. ranges:
    float64[d], largest minus smallest value of each numeric column; where it is 0 or NaN the column
    contributes 0. The distance is in [0, 1] for values within the ranges, NaN where no column is
    present in both rows.
    """
    left, right = (np.ascontiguousarray(side, dtype=np.float64) for side in (a, b))
    kinds, widths = np.asarray(numeric, dtype=np.bool_), np.asarray(ranges, dtype=np.float64)
    return np.asarray(pairs(left, right, kinds, widths), dtype=np.float64)
