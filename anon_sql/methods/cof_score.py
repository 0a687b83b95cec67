"""Score rows by COF within given classes, the step between RAYDEN's tree and its recovery."""

from typing import Any

import numpy as np

from anon_sql.core.options import Choice
from anon_sql.core.table import QuasiTable
from anon_sql.methods import Call, method
from anon_sql.methods.parts.outlying import ALPHA, THRESHOLD, outlying


@method(
    "cof_score",
    given=True,
    adds=("cof", "outlier"),
    alpha=ALPHA,
    variant=Choice(("rayden", "tang", "pyod")),
    threshold=THRESHOLD,
)
def cof_score(table: QuasiTable, call: Call) -> tuple[Any, Any]:
    """Return cof float64[n], NaN for a row without a class, and outlier bool[n]."""
    from anon_sql.kernels.loss import cof
    from anon_sql.kernels.tree.leaf_order import Leaves

    assert call.classes is not None
    rows = np.flatnonzero(call.classes >= 0)
    leaves, points = Leaves.of(call.classes[rows]), table.points[rows]
    scores, outlier = np.full(table.rows, np.nan), np.zeros(table.rows, dtype=np.bool_)
    scores[rows] = cof.cof_score(
        points,
        leaves,
        call.constraint.smallest,
        metric="gower",
        variant=call.options["variant"],
        workers=call.workers,
    )
    outlier[rows] = outlying(scores[rows], leaves, call.options)
    return scores, outlier
