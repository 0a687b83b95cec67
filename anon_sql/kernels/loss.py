"""Compute the normalized certainty penalty (NCP) of a class in one column, for all kernels.

A class is described by its points in a column: lowest and highest (numbers, leaves of a hierarchy)
or the number of distinct values (sets). NULL beside values loses the column's weight, NULL alone
loses nothing; callers recognize it by ``model.null``. Sources: Xu et al. 2006 for numbers and sets;
Kara and Eyüpoğlu 2023 (M-COF), equation 5, for hierarchies.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel

NUMBER, SET, TREE = 0, 1, 2


class LossModel(NamedTuple):
    """Meaning of the points, one entry per column; the hierarchies' nodes one tree after another.

    kind: int64[d], NUMBER, SET or TREE.
    values: int64[d], distinct values of the table in a SET column, NULL included.
    null: float64[d], the point of NULL; in a TREE column the number of its leaves.
    base: int64[d], the first node of a TREE column; its leaves come first, numbered from left to
        right, and are its points.
    last: int64[nodes], the rightmost leaf below a node.
    parent: int64[nodes], the node above it, counted from the column's base.
    share: float64[nodes], leaves below it / all leaves, 0 for a leaf.
    weight: float64[d], the most that each column can lose, 0…1; points of a NUMBER column are in
        0…weight.
    """

    kind: npt.NDArray[np.int64]
    values: npt.NDArray[np.int64]
    null: npt.NDArray[np.float64]
    base: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    parent: npt.NDArray[np.int64]
    share: npt.NDArray[np.float64]
    weight: npt.NDArray[np.float64]


@kernel(borrows=True, inlined=True)
def range_loss(model: Any, column: int, low: float, high: float) -> float:
    """Return the NCP of points in a NUMBER or TREE column.

    model: ``LossModel``, the meaning of the points.
    column: int, the column, 0 … d - 1.
    low, high: float64, the lowest and highest point; NULL is not among the points.
    """
    if model.kind[column] == NUMBER:
        return high - low
    base, node = model.base[column], np.int64(low)
    while model.last[base + node] < high:
        node = model.parent[base + node]
    return model.weight[column] * model.share[base + node]  # type: ignore[no-any-return]


@kernel(borrows=True, inlined=True)
def set_loss(model: Any, column: int, distinct: int) -> float:
    """Return the NCP of distinct values in a SET column.

    model: ``LossModel``, the meaning of the points.
    column: int, the column, 0 … d - 1.
    distinct: int, how many; NULL only if it is alone.
    """
    return model.weight[column] * distinct / model.values[column] if distinct > 1 else 0.0


@kernel
def scaled(keys, present, null):
    """Return points float64[n], least key 0 and largest key 1, and the distance of these keys.

    A difference of keys is exact before it is rounded; if all keys are equal, points are 0.

    keys: int64[n], keys that order the values.
    present: bool[n], whether the value is not NULL.
    null: float64, the point of NULL.
    """
    lowest, highest = np.int64(2**63 - 1), np.int64(-(2**63))
    for row in range(keys.size):
        if present[row]:
            lowest, highest = min(lowest, keys[row]), max(highest, keys[row])
    width = np.float64(np.uint64(highest - lowest)) if lowest <= highest else 0.0
    points = np.full(keys.size, null)
    for row in range(keys.size):
        if present[row]:
            above = np.float64(np.uint64(keys[row] - lowest))
            points[row] = above / width if width > 0 else 0.0
    return points, width


BITS = 64


@kernel
def masks_of(classes, count, codes):
    """Return the codes of each class, uint64[count]: bit i is set if a row has code i.

    Goes row by row in memory order; no class is gathered.

    classes: int32[n], class of each row; those of ``count`` and above are left out.
    count: int, number of classes.
    codes: int32[n], below BITS.
    """
    masks = np.zeros(count + 1, dtype=np.uint64)
    for row in range(len(classes)):
        masks[min(classes[row], count)] |= np.uint64(1) << np.uint64(codes[row])
    return masks[:count]


def codes_in(mask: int) -> list[int]:
    """Return the codes of a mask, ascending.

    mask: bit i is set if the class has code i.
    """
    return [code for code in range(BITS) if mask >> code & 1]


@kernel
def outside_set(classes, label_of, codes, ends, flat):
    """Return how many rows have a code that is not in the set of their class's label.

    If every code is below BITS, sets are masks, else they are searched by bisection.

    classes: int32[n], class of each row; those of m and above do not count.
    label_of: int32[m], the label of each class.
    codes: int32[n], code of each row.
    ends, flat: int64[labels + 1], int32[…]: the codes of label i are flat[ends[i]] … flat[ends[i +
        1] - 1], ascending.
    """
    wrong, fit_masks = 0, True
    for row in range(codes.size):
        fit_masks &= codes[row] < BITS
    masks = np.zeros(ends.size, np.uint64)
    for label in range(ends.size - 1):
        for i in range(ends[label], ends[label + 1]):
            if flat[i] < BITS:
                masks[label] |= np.uint64(1) << np.uint64(flat[i])
    for row in range(codes.size):
        if classes[row] >= label_of.size:
            continue
        label, code = label_of[classes[row]], codes[row]
        if fit_masks:
            wrong += (masks[label] >> np.uint64(code)) & np.uint64(1) == 0
            continue
        i, end = ends[label], ends[label + 1]
        while i < end:
            middle = (i + end) // 2
            if flat[middle] < code:
                i = middle + 1
            else:
                end = middle
        wrong += i == ends[label + 1] or flat[i] != code
    return wrong


@kernel
def outside_range(classes, star, present, keys, labelled, low, high):
    """Return how many rows have a value that is not between the ends of their class's label.

    A label without ends covers NULL only.

    classes: int32[n], class of each row.
    star: bool[m], whether a class's label covers every value.
    present: bool[n], whether the row's value is not NULL.
    keys: int64[n], keys that order the values.
    labelled: bool[m], whether the label has ends.
    low, high: int64[m], the ends, in keys that compare with the values'.
    """
    wrong = 0
    for row in range(len(classes)):
        class_id = classes[row]
        if star[class_id]:
            continue
        if present[row] and labelled[class_id]:
            wrong += keys[row] < low[class_id] or high[class_id] < keys[row]
        else:
            wrong += present[row] or labelled[class_id]
    return wrong
