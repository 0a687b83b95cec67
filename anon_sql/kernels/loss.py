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


@kernel(borrows=True, inlined=True)
def range_loss(model: Any, column: int, low: float, high: float) -> float:
    """Return the NCP of points from low to high, without NULL, in a NUMBER or TREE column."""
    if model.kind[column] == NUMBER:
        return high - low
    base, node = model.base[column], np.int64(low)
    while model.last[base + node] < high:
        node = model.parent[base + node]
    return model.weight[column] * model.share[base + node]  # type: ignore[no-any-return]


@kernel(borrows=True, inlined=True)
def set_loss(model: Any, column: int, distinct: int) -> float:
    """Return the NCP of ``distinct`` values in a SET column; NULL only if it is alone."""
    return model.weight[column] * distinct / model.values[column] if distinct > 1 else 0.0


@kernel
def scaled(keys, present, null):
    """Return points float64[n], least key 0 and largest key 1, and the distance of these keys.

    keys: int64[n]; present: bool[n]; null: the point of NULL. A difference of keys is exact before
    it is rounded; where all keys are equal, points are 0.
    """
    least, most = np.int64(2**63 - 1), np.int64(-(2**63))
    for row in range(keys.size):
        if present[row]:
            least, most = min(least, keys[row]), max(most, keys[row])
    width = np.float64(np.uint64(most - least)) if least <= most else 0.0
    points = np.full(keys.size, null)
    for row in range(keys.size):
        if present[row]:
            above = np.float64(np.uint64(keys[row] - least))
            points[row] = above / width if width > 0 else 0.0
    return points, width


BITS = 64


@kernel
def masks_of(classes, count, codes):
    """Return the codes of each class, uint64[count]: bit i is set where a row has code i.

    classes: int32[n], those of ``count`` and above are left out; codes: int32[n], below BITS. Goes
    row by row in memory order; no class is gathered.
    """
    masks = np.zeros(count + 1, dtype=np.uint64)
    for row in range(len(classes)):
        masks[min(classes[row], count)] |= np.uint64(1) << np.uint64(codes[row])
    return masks[:count]


def codes_in(mask: int) -> list[int]:
    """Return the codes of a mask, ascending."""
    return [code for code in range(BITS) if mask >> code & 1]


@kernel
def outside_set(classes, label_of, codes, ends, flat):
    """Return how many rows have a code that is not in the set of their class's label.

    classes: int32[n], those of m and above do not count. label_of: int32[m], the label of each
    class. codes: int32[n]. ends, flat: the codes of label i are flat[ends[i]] … flat[ends[i + 1] -
    1], ascending. Where every code is below BITS, sets are masks, else they are searched by
    bisection.
    """
    wrong, few = 0, True
    for row in range(codes.size):
        few &= codes[row] < BITS
    masks = np.zeros(ends.size, np.uint64)
    for label in range(ends.size - 1):
        for at in range(ends[label], ends[label + 1]):
            if flat[at] < BITS:
                masks[label] |= np.uint64(1) << np.uint64(flat[at])
    for row in range(codes.size):
        if classes[row] >= label_of.size:
            continue
        label, code = label_of[classes[row]], codes[row]
        if few:
            wrong += (masks[label] >> np.uint64(code)) & np.uint64(1) == 0
            continue
        at, end = ends[label], ends[label + 1]
        while at < end:
            middle = (at + end) // 2
            if flat[middle] < code:
                at = middle + 1
            else:
                end = middle
        wrong += at == ends[label + 1] or flat[at] != code
    return wrong


@kernel
def outside_range(classes, star, present, keys, labelled, low, high):
    """Return how many rows have a value that is not between the ends of their class's label.

    classes: int32[n]. star: bool[m], labels that cover every value. present: bool[n], keys:
    int64[n], the values. labelled: bool[m], low, high: int64[m], the ends, in keys that compare
    with the values'. A label without ends covers NULL only.
    """
    wrong = 0
    for row in range(len(classes)):
        at = classes[row]
        if star[at]:
            continue
        if present[row] and labelled[at]:
            wrong += keys[row] < low[at] or high[at] < keys[row]
        else:
            wrong += present[row] or labelled[at]
    return wrong
