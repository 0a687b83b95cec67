"""Measure classes by squared distances from their means (SSE), on standardized columns."""

import numpy as np
import numpy.typing as npt

from anon_sql.core.columns import NULL_POINT, Numbers
from anon_sql.core.table import QuasiTable

WIDEST = 256  # features; more text than that is not compared row by row
Features = npt.NDArray[np.float64]


def features(table: QuasiTable, k: int) -> Features | None:
    """Return standardized columns, float64[n, D] in canonical order.

    None for more than WIDEST, and for a table without a column of numbers, dates or times. One a
    number and one each value of a category, together of variance 1. A further feature marks NULL of
    a number, so far away that a class that mixes NULL and numbers costs more than one of any
    numbers.
    """
    numbers = [isinstance(column, Numbers) for column in table.columns]
    parts: list[Features] = []
    if not any(numbers):
        return None
    for at, number in enumerate(numbers):
        points = table.points[:, at]
        share = 1.0 if table.weights is None else float(np.sqrt(table.weights[at]))
        if number:
            null = points == NULL_POINT
            known = points[~null]
            spread = known.std() if len(known) else 0.0
            centred = np.where(null, 0.0, points - (known.mean() if len(known) else 0.0))
            parts.append(share * centred[:, None] / (spread or 1.0))
            parts += [share * null[:, None] * (2.0 * k)] * bool(null.any())
            continue
        values, code = np.unique(points, return_inverse=True)
        if len(values) > WIDEST:
            return None
        marks = (code.reshape(-1, 1) == np.arange(len(values))).astype(np.float64)
        parts.append(share * marks / (np.sqrt(marks.var(axis=0).sum()) or 1.0))
    found: Features = np.concatenate(parts, axis=1)
    return found if found.shape[1] <= WIDEST else None


def sum_of_squares(x: Features, classes: npt.NDArray[np.int32]) -> float:
    """Return the sum of squared distances of rows from the means of their classes."""
    from anon_sql.kernels.hash.grouping import group

    order, starts = group(classes, int(classes.max()) + 1)
    rows, sizes = x[order], np.diff(starts)
    means = np.add.reduceat(rows, starts[:-1]) / sizes[:, None]
    return float(((rows - np.repeat(means, sizes, axis=0)) ** 2).sum())
