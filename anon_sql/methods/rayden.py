"""RAYDEN: VP-tree classes under Gower's distance, whose COF outliers are classed anew.

Source: Haruna et al. 2026, "Data Privacy and Utility Trade-Off", algorithms 1 to 3.
``kernels.vp_tree`` is algorithm 1, ``kernels.cof`` is lines 2 to 9 of algorithm 2, and
``outliers.recover`` is the rest of it. Departures, each needed to keep the paper's own guarantee:

- The VP-tree cuts only if both sides keep k rows (the pseudo-code continues below k).
- A class that outliers would leave below k keeps its least outlying ones (``repair := 'cap'``) or
  is merged into the nearest class (``'merge'``); the paper releases k - 1 rows.
- Outliers too few for a class of their own return to the class they came from. The paper suppresses
  them (``unrecovered := 'suppress'``); fewer than k suppressed rows may not be shown, so that they
  return all the same unless ``suppressed := 'drop'``.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.table import QuasiTable
from anon_sql.errors import Argument
from anon_sql.methods.method import Call, Partition, method
from anon_sql.methods.outliers import Recovery, Variant, is_outlier, recover
from anon_sql.methods.vp_tree import VantagePoints


@dataclass(frozen=True)
class Rayden(Variant, Recovery, VantagePoints):
    """The parameters of ``rayden``."""


@method(
    "rayden",
    takes=Rayden,
    what="A tree of balls under Gower's distance, outliers given classes of their own.",
    paper="Haruna et al. 2026",
    doi="10.51583/IJLTEMAS.2026.150400063",
    cost="n log n + n k",
    notes={
        "suppressed": "Rows are suppressed only by "
        + Argument("unrecovered", "suppress")
        + ": 'drop' is refused if a class is * in every quasi-identifier for another "
        "reason.",
        "hierarchy": "Columns in it are labelled by its nodes and have distance 0 or 1, even "
        "numeric ones.",
    },
)
def rayden(table: QuasiTable, call: Call[Rayden]) -> Partition:
    """Return classes of at least k rows (algorithm 3).

    stats: partitions (t), detected (|OD|), recovered (|RD|), returned, suppressed (|SD|).
    """
    k, options, points = call.constraint.smallest, call.options, table.points
    weights = table.model.weight

    def grow(part: npt.NDArray[np.float64], seed: int) -> kernels.sides.Leaves:
        return kernels.vp_tree.vp_partition(
            part,
            k,
            metric="gower",
            seed=seed,
            weights=weights,
            workers=call.workers,
            vantage=options.vantage,
            cut=options.cut,
            tries=options.tries,
        )

    leaves = grow(points, call.seed)  # P, line 1 of algorithm 3
    scores = kernels.cof.cof_score(
        points,
        leaves,
        k,
        metric="gower",
        variant=options.variant,
        weights=weights,
        workers=call.workers,
    )
    classes, stats = recover(
        table,
        leaves,
        scores,
        call.constraint,
        detected=is_outlier(scores, leaves, options),
        repair=options.repair,
        unrecovered=options.unrecovered,
        again=lambda rows: grow(points[rows], call.seed + 1),
        workers=call.workers,
    )
    return Partition(classes, stats)
