"""M-COF: Mondrian's classes, whose COF outliers are taken out and partitioned by Mondrian again.

Source: Kara and Eyüpoğlu 2023, "A new privacy-preserving data publishing algorithm utilizing
connectivity-based outlier factor and Mondrian techniques", algorithm 1. Departures:

- The paper gives neither threshold nor number of neighbours: both are RAYDEN's, and so is the
  factor, so that the two methods detect by one rule (or ``threshold``, one COF for all classes).
- Outliers are partitioned once (line 24), not repeatedly (steps 15 and 16).
- The paper measures distances between digitized codes (``distance := 'codes'``), which makes
  categories with close codes similar; the default is Gower's distance.
- A class that outliers would leave below k, and outliers too few for a class, are treated as in
  RAYDEN (``outliers``); the paper releases the one and drops the other.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.columns import NULL_POINT, Numbers
from anon_sql.core.parameters import Choice, param
from anon_sql.core.table import QuasiTable
from anon_sql.errors import Argument
from anon_sql.methods.method import BY_NODES, NO_CHOICE, Call, Partition, method
from anon_sql.methods.mondrian import Partitioning
from anon_sql.methods.outliers import Recovery, is_outlier, recover


@dataclass(frozen=True)
class MondrianCof(Recovery, Partitioning):
    """The parameters of ``mondrian_cof``."""

    distance: str = param(
        "gower",
        Choice(("gower", "codes")),
        "'gower', or 'codes' for the Euclidean distance of the paper between scaled codes",
    )


@method(
    "mondrian_cof",
    takes=MondrianCof,
    what="Mondrian's classes, their outliers given classes of their own.",
    paper="Kara and Eyüpoğlu 2023",
    doi="10.32604/cmc.2023.040274",
    cost="n log n + n k",
    notes={
        "suppressed": "Rows are suppressed only by "
        + Argument("unrecovered", "suppress")
        + ": 'drop' is refused if a class is * in every quasi-identifier for another "
        "reason.",
        "seed": NO_CHOICE,
        "hierarchy": BY_NODES,
    },
)
def mondrian_cof(table: QuasiTable, call: Call[MondrianCof]) -> Partition:
    """Return classes of at least k rows (algorithm 1, with one pass over the outliers).

    stats: partitions, detected, recovered, returned, suppressed.
    """
    k, options, points = call.constraint.smallest, call.options, table.points

    def grow(part: npt.NDArray[np.float64]) -> kernels.sides.Leaves:
        return kernels.mondrian.mondrian_partition(
            part, table.model, k, partitioning=options.partitioning, workers=call.workers
        )

    leaves = grow(points)
    digitized = options.distance == "codes"
    scores = kernels.cof.cof_score(
        scaled_codes(table) if digitized else points,
        leaves,
        k,
        metric="euclid" if digitized else "gower",
        variant="rayden",
        weights=table.model.weight,
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
        again=lambda rows: grow(points[rows]),
        workers=call.workers,
    )
    return Partition(classes, stats)


def scaled_codes(table: QuasiTable) -> npt.NDArray[np.float64]:
    """Return the points with codes scaled like numbers, float64[n, d]; NULL stays farthest from all
    else.
    """
    points = table.points.copy()
    for i, column in enumerate(table.columns):
        if not isinstance(column, Numbers):
            null = points[:, i] == table.model.null[i]
            largest = points[~null, i].max(initial=0.0)
            scaled = points[:, i] / max(largest, 1.0) * table.model.weight[i]
            points[:, i] = np.where(null, NULL_POINT, scaled)
    return points
