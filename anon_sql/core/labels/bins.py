"""The labels of columns without a hierarchy whose values a method recodes alike in all rows.

In such a column the nodes that a method chose are: ``AS_CLASS`` where the label is made of the
values of the class; ``STARRED`` where it is ``*``, as of suppressed rows; and numbers from 0, the
bins of a column of numbers, whose label is the range of all released values in the bin.
"""

import numpy as np
import numpy.typing as npt

AS_CLASS, STARRED = -1, -2
Codes = npt.NDArray[np.int32]


def of_classes(nodes: Codes | None, order: Codes, starts: npt.NDArray[np.int64]) -> Codes:
    """Return the node of each of m classes, int32[m]; AS_CLASS where the method chose none.

    nodes: int32[n], of the rows. order, starts: as in ``labels.make.Classes``.
    """
    if nodes is None:
        return np.full(len(starts) - 1, AS_CLASS, dtype=np.int32)
    found: Codes = nodes[order[starts[:-1]]].astype(np.int32)
    return found


def shared_ends(
    bins: Codes, keys: npt.NDArray[np.int64], low: Codes, high: Codes
) -> tuple[Codes, Codes]:
    """Return the rows with the least and greatest key of each class, int32[m], widened to its bin.

    bins: int32[m], see ``of_classes``. keys: int64[n] of the rows. low, high: int32[m], the rows
    with the least and greatest key of each class itself, -1 where every row is NULL.
    """
    binned = np.flatnonzero((bins >= 0) & (low >= 0))
    if len(binned) == 0:
        return low, high
    found = []
    for end, sign in ((low, 1), (high, -1)):
        first = np.lexsort((keys[end[binned]] * sign, bins[binned]))
        held, at = np.unique(bins[binned][first], return_index=True)
        widest = end.copy()
        widest[binned] = end[binned][first][at][np.searchsorted(held, bins[binned])]
        found.append(widest)
    return found[0], found[1]
