"""RAYDEN: VP-tree classes under Gower distance, COF outliers taken out and classed anew.

Source: Haruna et al. 2026, "Data Privacy and Utility Trade-Off", algorithms 1 to 3. Departures,
each because the paper's own promise needs it:

- The VP-tree cuts only where both sides keep k rows (the pseudo-code goes on below k).
- A class that outliers would leave below k keeps its least outlying ones (``repair := 'cap'``)
  or is merged into the nearest class (``'merge'``); the paper lets k - 1 rows stand.
- Outliers that make no class of their own return to the class they came from. The paper stars
  them (``unrecovered := 'suppress'``); fewer than k starred rows may not be shown, so they
  return all the same unless ``suppressed := 'drop'``.
"""

import numpy as np
import numpy.typing as npt

from anon_sql.joining import dense, join_nearest
from anon_sql.methods import Call, Partition, method
from anon_sql.options import Choice, Number, Whole
from anon_sql.table import QuasiTable


@method(
    "rayden",
    alpha=Number(0),
    vantage=Choice(("random", "max_spread", "farthest")),
    cut=Choice(("balanced", "median", "aligned")),
    tries=Whole(1),
    repair=Choice(("cap", "merge")),
    variant=Choice(("rayden", "tang", "pyod")),
    unrecovered=Choice(("return", "suppress")),
)
def rayden(table: QuasiTable, call: Call) -> Partition:
    """Classes of at least k rows; stats: partitions, detected, recovered, returned, suppressed."""
    from anon_sql.kernels.cof import cof_score, outliers
    from anon_sql.kernels.leaves import Leaves
    from anon_sql.kernels.vp_tree import vp_partition

    k, chosen, points = call.constraint.k, call.options, table.points
    tree = {name: chosen[name] for name in ("vantage", "cut", "tries")}
    leaves: Leaves = vp_partition(
        points, k, metric="gower", seed=call.seed, workers=call.workers, **tree
    )
    scores = cof_score(
        points, leaves, k, metric="gower", variant=chosen["variant"], workers=call.workers
    )
    detected = outliers(scores, leaves, chosen["alpha"])
    classes = leaves.classes()
    leaving = detected if chosen["repair"] == "merge" else cap(classes, detected, scores, k)
    taken = np.flatnonzero(leaving)
    home = classes[taken]
    classes[taken] = -1
    recovered = len(taken) >= k
    if recovered:
        pool = vp_partition(
            points[taken], k, metric="gower", seed=call.seed + 1, workers=call.workers, **tree
        )
        classes[taken] = len(leaves.starts) - 1 + pool.classes()
    elif chosen["unrecovered"] == "return":
        classes[taken] = home
    classes = _merge_short(table, dense(classes), call)
    stats = {
        "partitions": len(leaves.starts) - 1,
        "detected": int(detected.sum()),
        "recovered": len(taken) if recovered else 0,
        "returned": int(detected.sum()) - (len(taken) if recovered else 0),
    }
    return Partition(classes, stats)


def cap(
    classes: npt.NDArray[np.int32],
    detected: npt.NDArray[np.bool_],
    scores: npt.NDArray[np.float64],
    k: int,
) -> npt.NDArray[np.bool_]:
    """Which detected rows may leave: the most outlying first, while k rows stay; bool[n]."""
    spare = np.bincount(classes) - k
    rows = np.flatnonzero(detected)
    rows = rows[np.lexsort((rows, -scores[rows], classes[rows]))]
    own = classes[rows]
    rank = np.arange(len(rows)) - np.searchsorted(own, own)
    leaving = np.zeros(len(classes), dtype=np.bool_)
    leaving[rows[rank < spare[own]]] = True
    return leaving


def _merge_short(
    table: QuasiTable, classes: npt.NDArray[np.int32], call: Call
) -> npt.NDArray[np.int32]:
    """Classes that gave up too much join the nearest; suppressed rows take no part."""
    kept = classes >= 0
    sizes = np.bincount(classes[kept])
    short = ~call.constraint.legal(sizes)
    if not short.any():
        return classes
    merged = classes.copy()
    merged[kept] = join_nearest(table.only(kept), classes[kept], short, call.workers)
    return dense(merged)
