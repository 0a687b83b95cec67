"""Code points as whole numbers, so that losses add up exactly in any order."""

from typing import Any

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss.distance import UNIT
from anon_sql.kernels.loss.ncp import NUMBER, SET, range_loss, set_loss

WHOLE = 1_000_000_000  # a loss of 1 in one column; losses count billionths, as distances do
NULL = 2**31 - 1  # NULL in a NUMBER or TREE column; in a SET column it is the last code


@kernel
def coded(points: Any, model: Any, codes: Any) -> None:
    """Write points float64[n, d] into codes, int32[n, d or wider], numbers in billionths."""
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


@kernel
def whole_loss(model: Any, column: Any) -> Any:
    """Return the most that a column can lose, in billionths: that of NULL beside values."""
    return np.int64(np.rint(model.weight[column] * UNIT))


@kernel
def span_loss(model: Any, column: Any, low: Any, high: Any) -> Any:
    """Return the loss of codes from low to high in a NUMBER or TREE column, in billionths.

    NULL is not among the codes.
    """
    if model.kind[column] == NUMBER:
        return np.int64(high) - np.int64(low)
    return np.int64(np.rint(range_loss(model, column, float(low), float(high)) * UNIT))


@kernel
def count_loss(model: Any, column: Any, distinct: Any, null: Any) -> Any:
    """Return the loss of ``distinct`` codes in a SET column, in billionths.

    null: whether NULL is among them; it is counted in ``distinct``.
    """
    if null:
        return whole_loss(model, column) if distinct > 1 else np.int64(0)
    return np.int64(np.rint(set_loss(model, column, distinct) * UNIT))
