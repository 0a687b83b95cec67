"""Points as whole numbers: what a class loses is then added up exactly, in any order."""

from typing import Any

import numpy as np
from numba import njit

from anon_sql.kernels.distance import UNIT
from anon_sql.kernels.ncp import NUMBER, SET, range_loss, set_loss

WHOLE = 1_000_000_000  # the loss of 1 in one column: losses count billionths, as distances do
NULL = 2**31 - 1  # NULL in a column that is no SET; there it is the code after all others


@njit(cache=True, nogil=True)
def coded(points: Any, model: Any, codes: Any) -> None:
    """Write points float64[n, d] into codes: int32[n, d or wider], numbers in billionths."""
    n, width = points.shape
    for row in range(n):
        for c in range(width):
            value = points[row, c]
            if model.kind[c] == SET:
                codes[row, c] = np.int32(value)
            elif value == model.null[c]:
                codes[row, c] = NULL
            elif model.kind[c] == NUMBER:
                codes[row, c] = np.int32(np.rint(value * UNIT))
            else:
                codes[row, c] = np.int32(value)


@njit(cache=True, nogil=True)
def span_loss(model: Any, column: Any, low: Any, high: Any) -> Any:
    """Loss of codes from low to high, NULL not among them, in a NUMBER or TREE column."""
    if model.kind[column] == NUMBER:
        return np.int64(high) - np.int64(low)
    return np.int64(np.rint(range_loss(model, column, float(low), float(high)) * UNIT))


@njit(cache=True, nogil=True)
def count_loss(model: Any, column: Any, distinct: Any, null: Any) -> Any:
    """Loss of so many distinct codes, NULL counted among them where it is there, in a SET."""
    if null:
        return np.int64(WHOLE if distinct > 1 else 0)
    return np.int64(np.rint(set_loss(model, column, distinct) * UNIT))
