"""Find the row of each class whose number is nearest to the mean of the class."""

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int32]


def centres(
    order: Rows,
    starts: npt.NDArray[np.int64],
    points: npt.NDArray[np.float64],
    present: npt.NDArray[np.bool_],
) -> Rows:
    """Return the row of each class whose value is nearest to the mean, int32[m]; -1 for NULLs.

    Ties go to the smaller value. order, starts: the rows grouped by class; class i has the rows
    order[starts[i]:starts[i + 1]]. points, present: as in ``Numbers``.
    """
    class_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    kept = present[order]
    rows, class_of = order[kept], class_of[kept]
    count = np.bincount(class_of, minlength=len(starts) - 1)
    total = np.bincount(class_of, weights=points[rows], minlength=len(starts) - 1)
    away = np.abs(points[rows] - (total / np.maximum(count, 1))[class_of])
    ranked = np.lexsort((points[rows], away, class_of))
    found = np.full(len(starts) - 1, -1, dtype=np.int32)
    nearest, at = np.unique(class_of[ranked], return_index=True)
    found[nearest] = rows[ranked[at]]
    return found
