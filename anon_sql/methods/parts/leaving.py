"""Let rows leave their classes that cost them more than a suppressed row loses."""

import numpy as np
import numpy.typing as npt

from anon_sql.core.table import QuasiTable
from anon_sql.core.workers import Workers
from anon_sql.methods import Call
from anon_sql.methods.parts.joining import dense

BLOCK = 1 << 13  # rows whose costs are computed in one job
EXACT = 9  # decimals of a cost that decide

Classes = npt.NDArray[np.int32]
Costs = npt.NDArray[np.float64]


def peel(
    table: QuasiTable,
    classes: Classes,
    call: Call,
    most: int,
    costs: Costs,
) -> Classes:
    """Return the classes without rows that cost more than they lose and are not needed there.

    One row of a class leaves at a time, the one of most cost.
    """
    whole, peeled, costs = float(table.model.weight.sum()), classes.copy(), costs.copy()
    room = most - int((peeled < 0).sum())
    while room > 0:
        waiting = np.flatnonzero(dearest(costs, whole, len(costs)))
        waiting = waiting[np.argsort(-costs[waiting], kind="stable")]
        _, first = np.unique(peeled[waiting], return_index=True)
        left = []
        for row in waiting[np.sort(first)][:room]:
            others = np.flatnonzero(peeled == peeled[row])
            others = others[others != row]
            if call.constraint.allows(others):
                left.append(row)
            else:
                costs[others] = costs[row] = 0.0  # this class keeps its rows
        if not left:
            break
        changed = np.isin(peeled, peeled[left]) & (peeled >= 0)
        peeled[left], costs[left], changed[left] = -1, 0.0, False
        room -= len(left)
        costs[changed] = costs_of(table.only(changed), peeled[changed], call.workers)
    return peeled


def dearest(costs: Costs, whole: float, room: int, least: int = 0) -> npt.NDArray[np.bool_]:
    """Return the rows that cost more than ``whole``, bool[n], at most ``room``, those of most cost.

    least: how many are returned even if they cost less.
    """
    chosen = np.zeros(len(costs), np.bool_)
    order = np.argsort(-costs, kind="stable")[:room]
    chosen[order[(costs[order] > whole) | (np.arange(len(order)) < least)]] = True
    return chosen


def costs_of(table: QuasiTable, classes: Classes, workers: Workers) -> Costs:
    """Return what each row costs its class, float64[n]; 0 for suppressed rows."""
    from anon_sql.kernels.cluster.row_costs import row_costs
    from anon_sql.kernels.hash.grouping import group

    costs, kept = np.zeros(len(classes)), np.flatnonzero(classes >= 0)
    own = dense(classes[kept])
    order, starts = group(own, int(own.max(initial=-1)) + 1)
    sizes = np.diff(starts)
    jobs, rows = [], []
    by_size = np.argsort(sizes, kind="stable")  # a large class needs much room beside small ones
    edges = np.flatnonzero(np.diff(np.cumsum(sizes[by_size]) // BLOCK)) + 1
    for part in np.split(by_size, edges) if len(sizes) else []:
        places = np.concatenate([order[starts[at] : starts[at + 1]] for at in part])
        ids = np.repeat(np.arange(len(part), dtype=np.int32), sizes[part])
        rows.append(kept[places])
        jobs.append((table.points[rows[-1]], table.model, ids))
    for part, found in zip(rows, workers.map(row_costs, jobs, [0] * len(jobs)), strict=True):
        costs[part] = np.round(found, EXACT)
    return costs
