"""Encode quasi-identifiers for k-means: one-hot and standardized."""

import numpy as np
import numpy.typing as npt

from anon_sql.core.columns import NULL_POINT, Numbers
from anon_sql.core.table import QuasiTable

Features = npt.NDArray[np.float32]


def standardized(table: QuasiTable) -> Features:
    """Return features float32[n, D] in canonical order: one a number, one each value of a category.

    Each quasi-identifier has total variance 1, so that a rare category weighs no more than another.
    NULL is a value of a category; of a number it is replaced by the mean, and a further feature
    marks it.
    """
    parts = []
    for at, column in enumerate(table.columns):
        points = table.points[:, at]
        if isinstance(column, Numbers):
            null = points == NULL_POINT
            mean = points[~null].mean() if not null.all() else 0.0
            numbers = np.where(null, mean, points)
            parts += [_scaled(numbers[:, None])] + [_scaled(null[:, None])] * bool(null.any())
        else:
            _, code = np.unique(points, return_inverse=True)
            parts.append(_scaled(code.reshape(-1, 1) == np.arange(int(code.max(initial=0)) + 1)))
    return np.concatenate(parts, axis=1)


def _scaled(columns: npt.NDArray[np.float64] | npt.NDArray[np.bool_]) -> Features:
    spread = np.sqrt(columns.var(axis=0).sum())
    centred = columns - columns.mean(axis=0)
    return np.asarray(centred / (spread or 1.0), np.float32)
