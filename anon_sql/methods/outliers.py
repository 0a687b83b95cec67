"""Find outliers by their COF, take them out of their classes, and partition them anew.

Sources: Haruna et al. 2026 (RAYDEN, algorithms 2 and 3); Kara and Eyüpoğlu 2023 (M-COF, algorithm
1, lines 19 to 27). A row r is an outlier if COF(r) > τ, and RAYDEN's τ is mean + α standard
deviations of its class; M-COF gives no threshold. Departure: both papers may leave a class below k;
see ``cap`` and ``_merge_short``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.parameters import Choice, Number, OrNull, declare, param
from anon_sql.core.running import Workers
from anon_sql.core.table import QuasiTable
from anon_sql.methods.method import COMMON, Call, GivenClasses
from anon_sql.methods.suppressed_rows import dense, join_nearest
from anon_sql.privacy.constraint import Constraint


@dataclass(frozen=True)
class Outliers:
    """When a row is an outlier."""

    alpha: float = param(
        2.0,
        Number(0),
        "a row is an outlier if its COF exceeds the mean of its class by more than alpha standard "
        "deviations",
    )
    threshold: float | None = param(
        None,
        OrNull(Number(0)),
        "a row is an outlier if its COF exceeds this number; alpha then has no effect",
        null="the limit that alpha sets",
    )


@dataclass(frozen=True)
class Recovery(Outliers):
    """What becomes of outliers."""

    repair: str = param(
        "cap",
        Choice(("cap", "merge")),
        "what to do if a class without its outliers has fewer than k rows: 'cap' keeps as many of "
        "them as needed, 'merge' merges the class into the nearest one",
    )
    unrecovered: str = param(
        "return",
        Choice(("return", "suppress")),
        "what to do with outliers that form no class of their own: 'return' them to their class, "
        "or 'suppress' them",
    )


@dataclass(frozen=True)
class Variant:
    """How COF is defined."""

    variant: str = param(
        "rayden",
        Choice(("rayden", "tang", "pyod")),
        "definition of COF: 'rayden', 'tang' (the original) or 'pyod'",
    )


def is_outlier(
    scores: npt.NDArray[np.float64], leaves: "kernels.sides.Leaves", options: Outliers
) -> npt.NDArray[np.bool_]:
    """Return which rows are outliers, bool[n] (RAYDEN, algorithm 2, lines 10 and 11).

    scores: float64[n], COF of each row within its leaf.
    leaves: the partition.
    options: ``threshold`` is the COF above which a row is an outlier. If it is None, ``alpha``
        gives each leaf its own, and a row of infinite COF is an outlier. Scores are compared with
        ``threshold`` as they are, without the tolerance of the other rule, so that a user can
        repeat the comparison in SQL.
    """
    threshold = options.threshold
    if threshold is None:
        return kernels.cof.outliers(scores, leaves, options.alpha)
    return np.asarray(scores > threshold, dtype=np.bool_)


Again = Callable[[npt.NDArray[np.int64]], "kernels.sides.Leaves"]


def recover(
    table: QuasiTable,
    leaves: "kernels.sides.Leaves",
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

    RAYDEN, algorithm 2, lines 12 to 21: the removed rows are OD, their new classes P_rec.

    scores: float64[n], COF of each row within its leaf.
    detected: bool[n], the outliers.
    repair: 'cap' lets a class give up its worst outliers while it keeps k rows; 'merge' takes all
        of them, and joins a class left below k to the nearest.
    unrecovered: 'return' or 'suppress' outliers that are too few for a class.
    again: returns the leaves of some rows, int64[m] ascending, as the method partitions.
    """
    classes = leaves.classes()
    removed = detected if repair == "merge" else cap(classes, detected, scores, constraint.smallest)
    rows = np.flatnonzero(removed)
    origin = classes[rows]
    classes[rows] = -1
    recovered = len(rows) >= constraint.smallest
    if recovered:
        classes[rows] = len(leaves.starts) - 1 + again(rows).classes()
    elif unrecovered == "return":
        classes[rows] = origin
    stats = {
        "partitions": len(leaves.starts) - 1,
        "detected": int(detected.sum()),
        "recovered": len(rows) if recovered else 0,
        "returned": int(detected.sum()) - (len(rows) if recovered else 0),
    }
    return _merge_short(table, dense(classes), constraint, workers), stats


def cap(
    classes: npt.NDArray[np.int32],
    detected: npt.NDArray[np.bool_],
    scores: npt.NDArray[np.float64],
    k: int,
) -> npt.NDArray[np.bool_]:
    """Return which detected rows may leave, bool[n]: largest scores first, while k rows stay.

    classes: int32[n], class of each row.
    detected: bool[n], the outliers.
    scores: float64[n], COF of each row.
    k: rows that stay, at least.
    """
    surplus = np.bincount(classes) - k
    rows = np.flatnonzero(detected)
    rows = rows[np.lexsort((rows, -scores[rows], classes[rows]))]
    class_of = classes[rows]
    rank = np.arange(len(rows)) - np.searchsorted(class_of, class_of)
    removed = np.zeros(len(classes), dtype=np.bool_)
    removed[rows[rank < surplus[class_of]]] = True
    return removed


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


@dataclass(frozen=True)
class Score(Variant, Outliers):
    """The parameters of ``cof_score``."""


declare(
    "cof_score",
    *COMMON,
    GivenClasses,
    Score,
    only=("k", "quasi", "classes", "hierarchy", "alpha", "threshold", "variant"),
    adds=("cof", "outlier"),
    notes={
        "k": "Here it is also the number of neighbours.",
        "classes": "Such a row has no score.",
    },
)


def cof_score(table: QuasiTable, call: Call[Score]) -> tuple[Any, Any]:
    """Return cof float64[n], NaN for a row without a class, and outlier bool[n]."""
    assert call.classes is not None
    rows = np.flatnonzero(call.classes >= 0)
    leaves, points = kernels.sides.Leaves.of(call.classes[rows]), table.points[rows]
    scores, outlier = np.full(table.rows, np.nan), np.zeros(table.rows, dtype=np.bool_)
    scores[rows] = kernels.cof.cof_score(
        points,
        leaves,
        call.constraint.smallest,
        metric="gower",
        variant=call.options.variant,
        workers=call.workers,
    )
    outlier[rows] = is_outlier(scores[rows], leaves, call.options)
    return scores, outlier
