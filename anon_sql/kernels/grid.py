"""Rows on a grid: which cell of each column a point lies in, as keys of an order need it."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from anon_sql.kernels.ncp import NUMBER, SET, LossModel


class Grid(NamedTuple):
    """Cells of some columns. column: int64[g], which ones; null, scale: float64[g], top: int64[g].

    A point lies in cell min(point * scale, top), NULL in the cell above. Where a column has a
    ``place`` (of its code: place[at[g] + code], a whole number), that stands for the point.
    at: int64[g], -1 without places; place: float64[…].
    """

    column: npt.NDArray[np.int64]
    null: npt.NDArray[np.float64]
    scale: npt.NDArray[np.float64]
    top: npt.NDArray[np.int64]
    at: npt.NDArray[np.int64]
    place: npt.NDArray[np.float64]


@njit(cache=True, nogil=True)
def cell(points: Any, row: int, grid: Any, g: int) -> int:
    """Which cell of the g-th column of the grid a row lies in."""
    value = points[row, grid.column[g]]
    if value == grid.null[g]:
        return grid.top[g] + 1  # type: ignore[no-any-return]
    if grid.at[g] >= 0:
        value = grid.place[grid.at[g] + np.int64(value)]
    return min(np.int64(value * grid.scale[g]), grid.top[g])  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def counts_of(points: Any, column: int, codes: int) -> Any:
    """How many rows hold each code of a column, int64[codes]."""
    counts = np.zeros(codes, np.int64)
    for row in range(len(points)):
        counts[np.int64(points[row, column])] += 1
    return counts


def grid_of(
    points: npt.NDArray[np.float64],
    model: LossModel,
    columns: list[int],
    cells: list[int],
    counts: dict[int, npt.NDArray[np.int64]],
) -> Grid:
    """A grid with so many cells in each of the columns.

    counts: rows of each code of a SET column, NULL last. Sets stand by frequency, the most
    frequent value first: neighbours on the grid then are values that many rows hold.
    """
    null = model.null[columns]
    scale, top, at = np.ones(len(columns)), np.zeros(len(columns), np.int64), []
    place: list[npt.NDArray[np.float64]] = [np.zeros(0)]
    for g, (column, size) in enumerate(zip(columns, cells, strict=True)):
        at.append(-1)
        if model.kind[column] == NUMBER:
            holes, width = bool((points[:, column] == null[g]).any()), 1.0
        else:
            holes, width = True, max(float(model.null[column]), 1.0)
        if model.kind[column] == SET:
            known = counts[column]
            holes = bool(known[-1])
            at[-1] = sum(len(part) for part in place)
            place.append(np.empty(len(known)))
            place[-1][np.argsort(-known[:-1], kind="stable")] = np.arange(len(known) - 1)
        scale[g] = max(size - holes, 1) / width
        top[g] = max(size - holes, 1) - 1
    return Grid(
        np.array(columns, np.int64), null, scale, top, np.array(at, np.int64), np.concatenate(place)
    )
