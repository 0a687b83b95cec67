"""Compute the normalized certainty penalty (NCP) of a class in one column, for all kernels.

A class is described by its points in a column: lowest and highest (numbers, leaves of a hierarchy)
or the number of distinct values (sets). NULL beside values loses 1, NULL alone loses nothing;
callers recognize it by ``model.null``.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel

NUMBER, SET, TREE = 0, 1, 2


class LossModel(NamedTuple):
    """Meaning of the points, one entry a column; the hierarchies' nodes one tree after another.

    kind: int64[d], NUMBER, SET or TREE. values: int64[d], distinct values of the table in a SET
    column, NULL included. null: float64[d], the point of NULL; in a TREE column the number of its
    leaves. base: int64[d], the first node of a TREE column; its leaves come first, numbered from
    left to right, and are its points. last: int64[…], the rightmost leaf below a node. parent:
    int64[…], the node above it, counted from the column's base. share: float64[…], leaves below it
    / all leaves, 0 for a leaf. weight: float64[d], the most that each column can lose, 0…1; points
    of a NUMBER column are in 0…weight.
    """

    kind: npt.NDArray[np.int64]
    values: npt.NDArray[np.int64]
    null: npt.NDArray[np.float64]
    base: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    parent: npt.NDArray[np.int64]
    share: npt.NDArray[np.float64]
    weight: npt.NDArray[np.float64]


@kernel
def range_loss(model: Any, column: int, low: float, high: float) -> float:
    """Return the NCP of points from low to high, without NULL, in a NUMBER or TREE column."""
    if model.kind[column] == NUMBER:
        return high - low
    base, node = model.base[column], np.int64(low)
    while model.last[base + node] < high:
        node = model.parent[base + node]
    return model.weight[column] * model.share[base + node]  # type: ignore[no-any-return]


@kernel
def set_loss(model: Any, column: int, distinct: int) -> float:
    """Return the NCP of ``distinct`` values in a SET column; NULL only if it is alone."""
    return model.weight[column] * distinct / model.values[column] if distinct > 1 else 0.0
