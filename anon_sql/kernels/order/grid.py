"""Place rows on a grid: the cell of each column, from which the keys of an order are made."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss.ncp import NUMBER, SET, LossModel


class Grid(NamedTuple):
    """Cells of g columns.

    column: int64[g], which ones. null, scale: float64[g]; top: int64[g]. A point lies in cell
    min(point * scale, top), NULL in the cell above. The point of a SET column is replaced by
    place[at[g] + code], and that of a column of few values by its rank among the ranked[g] values
    from place[at[g]] on. at, ranked: int64[g], -1 and 0 for other columns; place: float64[…].
    """

    column: npt.NDArray[np.int64]
    null: npt.NDArray[np.float64]
    scale: npt.NDArray[np.float64]
    top: npt.NDArray[np.int64]
    at: npt.NDArray[np.int64]
    ranked: npt.NDArray[np.int64]
    place: npt.NDArray[np.float64]


@kernel
def cell(points: Any, row: int, grid: Any, g: int) -> int:
    """Return the cell of a row in the g-th column of the grid."""
    value = points[row, grid.column[g]]
    if value == grid.null[g]:
        return grid.top[g] + 1  # type: ignore[no-any-return]
    if grid.ranked[g] > 0:
        rank = 0
        while rank < grid.top[g] and grid.place[grid.at[g] + rank] < value:
            rank += 1
        return rank
    if grid.at[g] >= 0:
        value = grid.place[grid.at[g] + np.int64(value)]
    return min(np.int64(value * grid.scale[g]), grid.top[g])  # type: ignore[no-any-return]


@kernel
def counts_of(points: Any, column: int, codes: int) -> Any:
    """Return the number of rows of each code of a column, int64[codes]."""
    counts = np.zeros(codes, np.int64)
    for row in range(len(points)):
        counts[np.int64(points[row, column])] += 1
    return counts


@kernel
def few_values(points: Any, column: int, null: float, most: int) -> Any:
    """Return the values of a column, ascending, float64[…], without NULL; none if over ``most``."""
    found, count = np.empty(most + 1), 0
    for row in range(len(points)):
        value = points[row, column]
        known = value == null
        for at in range(count):
            known |= found[at] == value
        if known:
            continue
        at = count
        while at > 0 and found[at - 1] > value:
            found[at] = found[at - 1]
            at -= 1
        found[at] = value
        count += 1
        if count > most:
            return found[:0]
    return found[:count]


def grid_of(
    points: npt.NDArray[np.float64],
    model: LossModel,
    columns: list[int],
    cells: list[int],
    counts: dict[int, npt.NDArray[np.int64]],
    few: dict[int, npt.NDArray[np.float64]],
) -> Grid:
    """Return a grid with ``cells`` cells in each of the columns.

    counts: rows of each code of a SET column, NULL last. The values of a set are ordered by
    descending frequency, so that frequent values are neighbours. few: the values of columns that
    have few, each of which gets a cell.
    """
    null = model.null[columns]
    scale, top, at = np.ones(len(columns)), np.zeros(len(columns), np.int64), []
    place: list[npt.NDArray[np.float64]] = [np.zeros(0)]
    ranked = np.zeros(len(columns), np.int64)
    for g, (column, size) in enumerate(zip(columns, cells, strict=True)):
        at.append(-1)
        if column in few:
            at[-1], ranked[g] = sum(len(part) for part in place), len(few[column])
            place.append(few[column])
            top[g] = ranked[g] - 1
            continue
        if model.kind[column] == NUMBER:
            holes = bool((points[:, column] == null[g]).any())
            width = float(model.weight[column]) or 1.0
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
    starts = np.array(at, np.int64)
    return Grid(
        np.array(columns, np.int64), null, scale, top, starts, ranked, np.concatenate(place)
    )
