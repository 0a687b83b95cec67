"""Take outliers out of their classes and partition them anew, as RAYDEN and M-COF do.

Sources: Haruna et al. 2026 (RAYDEN, algorithms 2 and 3); Kara and Eyüpoğlu 2023 (M-COF, algorithm
1, lines 19 to 27). Departure: both papers may leave a class below k; see ``cap`` and
``_merge_short``.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from anon_sql.core.constraints import Constraint
from anon_sql.core.table import QuasiTable
from anon_sql.core.workers import Workers
from anon_sql.methods.parts.joining import dense, join_nearest

if TYPE_CHECKING:
    from anon_sql.kernels.tree.leaf_order import Leaves

Again = Callable[[npt.NDArray[np.int64]], "Leaves"]


def recover(
    table: QuasiTable,
    leaves: "Leaves",
    scores: npt.NDArray[np.float64],
    constraint: Constraint,
    *,
    detected: npt.NDArray[np.bool_],
    repair: str,
    unrecovered: str,
    again: Again,
    workers: Workers,
) -> tuple[npt.NDArray[np.int32], dict[str, int]]:
    """Return class ids int32[n], -1 for suppressed, and counts of detected rows and others.

    scores: float64[n], COF of each row within its leaf. detected: bool[n], the outliers. again:
    returns the leaves of some rows, int64[m] ascending, as the method partitions. repair: 'cap'
    lets a class give up its worst outliers while it keeps k rows; 'merge' takes all of them, and
    joins a class left below k to the nearest. unrecovered: 'return' or 'suppress' outliers that are
    too few for a class.
    """
    classes = leaves.classes()
    leaving = detected if repair == "merge" else cap(classes, detected, scores, constraint.smallest)
    taken = np.flatnonzero(leaving)
    home = classes[taken]
    classes[taken] = -1
    recovered = len(taken) >= constraint.smallest
    if recovered:
        classes[taken] = len(leaves.starts) - 1 + again(taken).classes()
    elif unrecovered == "return":
        classes[taken] = home
    stats = {
        "partitions": len(leaves.starts) - 1,
        "detected": int(detected.sum()),
        "recovered": len(taken) if recovered else 0,
        "returned": int(detected.sum()) - (len(taken) if recovered else 0),
    }
    return _merge_short(table, dense(classes), constraint, workers), stats


def cap(
    classes: npt.NDArray[np.int32],
    detected: npt.NDArray[np.bool_],
    scores: npt.NDArray[np.float64],
    k: int,
) -> npt.NDArray[np.bool_]:
    """Return which detected rows may leave, bool[n]: largest scores first, while k rows stay."""
    spare = np.bincount(classes) - k
    rows = np.flatnonzero(detected)
    rows = rows[np.lexsort((rows, -scores[rows], classes[rows]))]
    own = classes[rows]
    rank = np.arange(len(rows)) - np.searchsorted(own, own)
    leaving = np.zeros(len(classes), dtype=np.bool_)
    leaving[rows[rank < spare[own]]] = True
    return leaving


def _merge_short(
    table: QuasiTable,
    classes: npt.NDArray[np.int32],
    constraint: Constraint,
    workers: Workers,
) -> npt.NDArray[np.int32]:
    """Join classes below k to the nearest; suppressed rows take no part."""
    kept = classes >= 0
    short = np.bincount(classes[kept]) < constraint.smallest
    if not short.any():
        return classes
    merged = classes.copy()
    merged[kept] = join_nearest(table.only(kept), classes[kept], short, workers)
    return dense(merged)
