"""Follow the loss of two classes while rows join one or the other."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import SET, range_loss, set_loss


class Sides(NamedTuple):
    """Content of two classes, by side and column.

    low, high: float64[2, d], without values if high is below 0.
    nulls: bool[2, d], whether there is a NULL.
    loss: float64[2, d].
    distinct: int64[2, d], of SET columns.
    last_split: int64[2, codes], codes of column c from first[c] on, NULL last: the number of the
        split, now[0], in which the class last received that code.
    first: int64[d + 1], see ``last_split``.
    now: int64[1], number of the split.
    """

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    nulls: npt.NDArray[np.bool_]
    loss: npt.NDArray[np.float64]
    distinct: npt.NDArray[np.int64]
    last_split: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    now: npt.NDArray[np.int64]


@kernel
def no_sides(model):
    """Return two empty classes, a ``Sides``.

    model: ``LossModel``, the meaning of the points.
    """
    d = model.kind.size
    first = np.zeros(d + 1, np.int64)
    for c in range(d):
        first[c + 1] = first[c] + (np.int64(model.null[c]) + 1 if model.kind[c] == SET else 0)
    low, high, loss = np.full((2, d), np.inf), np.full((2, d), -np.inf), np.zeros((2, d))
    nulls, distinct = np.zeros((2, d), np.bool_), np.zeros((2, d), np.int64)
    last_split, now = np.zeros((2, first[d]), np.int64), np.zeros(1, np.int64)
    return Sides(low, high, nulls, loss, distinct, last_split, first, now)


@kernel
def empty(sides):
    """Empty both classes.

    sides: ``Sides``, changed.
    """
    sides.low[:], sides.high[:] = np.inf, -np.inf
    sides.nulls[:], sides.loss[:], sides.distinct[:] = False, 0.0, 0
    sides.now[0] += 1


@kernel
def loss_with(sides, side, model, row):
    """Return the loss of a non-empty class with a row added.

    sides: ``Sides``.
    side: int, 0 or 1.
    model: ``LossModel``, the meaning of the points.
    row: float64[d], the points of the row.
    """
    low, high, loss = sides.low[side], sides.high[side], sides.loss[side]
    total = 0.0
    for c in range(row.size):
        value = row[c]
        if low[c] <= value <= high[c]:
            total += loss[c]
        elif model.kind[c] == SET:
            if sides.last_split[side, sides.first[c] + np.int64(value)] == sides.now[0]:
                total += loss[c]
            elif sides.nulls[side, c] or value == model.null[c]:
                total += model.weight[c]
            else:
                total += set_loss(model, c, sides.distinct[side, c] + 1)
        elif value == model.null[c]:
            total += model.weight[c] if high[c] >= 0 else 0.0
        elif sides.nulls[side, c]:
            total += model.weight[c]
        else:
            total += range_loss(model, c, min(low[c], value), max(high[c], value))
    return total


@kernel
def join_side(sides, side, model, row):
    """Add a row to a class.

    sides: ``Sides``, changed.
    side: int, 0 or 1.
    model: ``LossModel``, the meaning of the points.
    row: float64[d], the points of the row.
    """
    for c in range(row.size):
        value, place = row[c], sides.first[c] + np.int64(row[c])
        if sides.low[side, c] <= value <= sides.high[side, c]:
            continue
        null = value == model.null[c]
        if model.kind[c] == SET:
            if sides.last_split[side, place] == sides.now[0]:
                continue
            sides.last_split[side, place] = sides.now[0]
            sides.distinct[side, c] += 1
            sides.nulls[side, c] |= null
            mixed = sides.nulls[side, c] and sides.distinct[side, c] > 1
            loss = set_loss(model, c, sides.distinct[side, c])
            sides.loss[side, c] = model.weight[c] if mixed else loss
            continue
        sides.nulls[side, c] |= null
        if not null:
            sides.low[side, c] = min(sides.low[side, c], value)
            sides.high[side, c] = max(sides.high[side, c], value)
        low, high = sides.low[side, c], sides.high[side, c]
        if high >= 0:
            mixed = sides.nulls[side, c]
            loss = range_loss(model, c, low, high)
            sides.loss[side, c] = model.weight[c] if mixed else loss
