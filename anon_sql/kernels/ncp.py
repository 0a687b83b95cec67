"""The normalized certainty penalty of a class in one column, as all kernels compute it.

A class is described by what its points hold in a column: lowest and highest (numbers, leaves of
a hierarchy) or how many values (sets). NULL beside values loses 1, alone it loses nothing; the
caller looks for it by ``model.null``.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

NUMBER, SET, TREE = 0, 1, 2


class LossModel(NamedTuple):
    """What points mean. One entry a column, then the hierarchies one after another.

    kind: int64[d], NUMBER, SET or TREE. values: int64[d], distinct values of the table in a SET
    column, NULL among them. null: float64[d], the point that stands for NULL, in a TREE column the
    number of its leaves. base: int64[d], where a TREE column's nodes begin; its leaves come first,
    numbered from left to right, and are its points. last: int64[…], the rightmost leaf below a
    node; parent: int64[…], the node above it, counted from the column's base; share: float64[…],
    leaves below it / all leaves, 0 for a leaf.
    """

    kind: npt.NDArray[np.int64]
    values: npt.NDArray[np.int64]
    null: npt.NDArray[np.float64]
    base: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    parent: npt.NDArray[np.int64]
    share: npt.NDArray[np.float64]


@njit(cache=True, nogil=True)
def range_loss(model: Any, column: int, low: float, high: float) -> float:
    """NCP of points from low to high, NULL not among them, in a NUMBER or TREE column."""
    if model.kind[column] == NUMBER:
        return high - low
    base, node = model.base[column], np.int64(low)
    while model.last[base + node] < high:
        node = model.parent[base + node]
    return model.share[base + node]  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def set_loss(model: Any, column: int, distinct: int) -> float:
    """NCP of so many distinct values, NULL not among them unless alone, in a SET column."""
    return distinct / model.values[column] if distinct > 1 else 0.0
