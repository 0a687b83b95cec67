"""RAYDEN: VP-tree classes under Gower's distance, whose COF outliers are classed anew.

Source: Haruna et al. 2026, "Data Privacy and Utility Trade-Off", algorithms 1 to 3. Departures,
each needed to keep the paper's own guarantee:

- The VP-tree cuts only where both sides keep k rows (the pseudo-code continues below k).
- A class that outliers would leave below k keeps its least outlying ones (``repair := 'cap'``) or
  is merged into the nearest class (``'merge'``); the paper releases k - 1 rows.
- Outliers too few for a class of their own return to the class they came from. The paper suppresses
  them (``unrecovered := 'suppress'``); fewer than k suppressed rows may not be shown, so that they
  return all the same unless ``suppressed := 'drop'``.
"""

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.parameters import Choice, Whole
from anon_sql.core.table import QuasiTable
from anon_sql.methods.method import Call, Facts, Partition, method
from anon_sql.methods.outliers import ALPHA, THRESHOLD, outlying, recover


@method(
    "rayden",
    facts=Facts(
        what="A tree of balls under Gower's distance, outliers given classes of their own.",
        paper="Haruna et al. 2026",
        cost="n log n + n k",
    ),
    alpha=ALPHA,
    vantage=Choice(("random", "max_spread", "farthest")),
    cut=Choice(("balanced", "median", "aligned")),
    tries=Whole(1),
    repair=Choice(("cap", "merge")),
    variant=Choice(("rayden", "tang", "pyod")),
    unrecovered=Choice(("return", "suppress")),
    threshold=THRESHOLD,
)
def rayden(table: QuasiTable, call: Call) -> Partition:
    """Return classes of at least k rows.

    stats: partitions, detected, recovered, returned, suppressed.
    """
    k, chosen, points = call.constraint.smallest, call.options, table.points
    weights = table.model.weight
    tree = {name: chosen[name] for name in ("vantage", "cut", "tries")}

    def grow(part: npt.NDArray[np.float64], seed: int) -> kernels.sides.Leaves:
        return kernels.vp_tree.vp_partition(
            part, k, metric="gower", seed=seed, weights=weights, workers=call.workers, **tree
        )

    leaves = grow(points, call.seed)
    scores = kernels.cof.cof_score(
        points,
        leaves,
        k,
        metric="gower",
        variant=chosen["variant"],
        weights=weights,
        workers=call.workers,
    )
    classes, stats = recover(
        table,
        leaves,
        scores,
        call.constraint,
        detected=outlying(scores, leaves, chosen),
        repair=chosen["repair"],
        unrecovered=chosen["unrecovered"],
        again=lambda taken: grow(points[taken], call.seed + 1),
        workers=call.workers,
    )
    return Partition(classes, stats)
