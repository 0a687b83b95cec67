"""Decide which rows to suppress, and where suppressed rows and small classes go."""

from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.running import Workers
from anon_sql.core.table import QuasiTable
from anon_sql.methods.method import Call
from anon_sql.methods.searching import losses_of, total_loss
from anon_sql.privacy.constraint import Constraint

JOB = 1 << 24  # comparisons of two classes in a job


def join_nearest(
    table: QuasiTable,
    classes: npt.NDArray[np.int32],
    short: npt.NDArray[np.bool_],
    workers: Workers,
) -> npt.NDArray[np.int32]:
    """Return class ids int32[n] after every class marked in ``short``, bool[m], joined another.

    Each compares the unmarked classes as they were before any joined, so that the result does not
    depend on the order. Where every class is marked, all rows become one class.
    """
    if not short.any():
        return classes
    candidates = np.flatnonzero(~short)
    if len(candidates) == 0:
        return np.zeros_like(classes)
    order, starts = kernels.hashing.group(classes, len(short))
    known = kernels.distance.profiles(table.points, table.model, order, starts)
    wanted = np.flatnonzero(short)
    step = max(1, JOB // len(candidates))
    parts = [wanted[at : at + step] for at in range(0, len(wanted), step)]
    found = workers.map(
        kernels.distance.nearest,
        [(part, candidates, table.model, starts, *known) for part in parts],
        [len(part) for part in parts],
    )
    becomes = np.arange(len(short), dtype=np.int32)
    becomes[wanted] = np.concatenate(found)
    joined: npt.NDArray[np.int32] = becomes[classes]
    return joined


def place_suppressed(
    table: QuasiTable,
    classes: npt.NDArray[np.int32],
    constraint: Constraint,
    workers: Workers,
    *,
    released: bool,
) -> npt.NDArray[np.int32]:
    """Return class ids int32[n] where suppressed rows (-1) stay so or have joined a class.

    Suppressed rows stay so where they satisfy the constraint together, or are not shown in the
    release. In both cases the other rows must satisfy it too: where they are too few or lack values
    without the suppressed rows, every suppressed row joins the class of least increase of loss.
    """
    suppressed = classes < 0
    count = int(suppressed.sum())
    if count == 0:
        return classes
    legal = not released or constraint.allows(np.flatnonzero(suppressed))
    if legal and _enough_left(classes, constraint):
        return classes
    first = int(classes.max()) + 1
    alone = classes.copy()
    alone[suppressed] = first + np.arange(count, dtype=np.int32)
    short = np.arange(first + count) >= first
    return dense(join_nearest(table, alone, short, workers))


def _enough_left(classes: npt.NDArray[np.int32], constraint: Constraint) -> bool:
    """Return whether the rows that are not suppressed can be released in legal classes.

    They can where their union is legal, since merging ends there at the latest. The union of legal
    classes of persons may be illegal, so the classes themselves are tried too.
    """
    kept = np.flatnonzero(classes >= 0)
    if len(kept) == 0 or constraint.allows(kept):
        return True
    return bool(constraint.legal(classes, int(classes.max()) + 1).all())


def accompany_suppressed(
    classes: npt.NDArray[np.int32], constraint: Constraint, released: bool
) -> npt.NDArray[np.int32]:
    """Return class ids int32[n] where suppressed rows (-1) satisfy the constraint together.

    For methods whose labels no further row may change: the rows of the smallest classes are
    suppressed too (ties: lower id) until the suppressed rows are legal. released: whether
    suppressed rows are released; else they need not be legal.
    """
    suppressed = classes < 0
    if not suppressed.any() or not released:
        return dense(classes)
    joined = dense(classes)
    sizes = np.bincount(joined[joined >= 0])
    for smallest in np.argsort(sizes, kind="stable"):
        if constraint.allows(np.flatnonzero(joined < 0)):
            break
        joined[joined == smallest] = -1
    return dense(joined)


def dense(classes: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return the same classes with ids from 0 without gaps; -1 stays."""
    used = np.zeros(int(classes.max(initial=-1)) + 2, dtype=np.bool_)
    used[classes] = True  # -1 marks the last place, which is no class
    ids = np.cumsum(used[:-1], dtype=np.int32) - np.int32(1)
    result: npt.NDArray[np.int32] = np.where(classes >= 0, np.append(ids, -1)[classes], -1)
    return result.astype(np.int32)


def rows_of_share(share: float, rows: int) -> int:
    """Return how many rows a share of them is, rounded down but for errors of rounding."""
    return int(share * rows + 1e-9)


BLOCK = 1 << 13  # rows whose costs are computed in one job
DEAR = 0.5  # of what a row can lose: least loss of a class whose rows are looked at one by one
EXACT = 9  # decimals of a cost that decide

Classes = npt.NDArray[np.int32]
Costs = npt.NDArray[np.float64]


def peel(
    table: QuasiTable,
    classes: Classes,
    call: Call[Any],
    most: int,
    costs: Costs,
) -> Classes:
    """Return the classes without rows that cost more than they lose and are not needed there.

    One row of a class leaves at a time, the one of most cost.
    """
    full_loss, peeled, costs = float(table.model.weight.sum()), classes.copy(), costs.copy()
    quota = most - int((peeled < 0).sum())
    if quota <= 0 or not (costs > full_loss).any():
        return peeled
    count = int(peeled.max()) + 1
    rows, starts = kernels.hashing.group(np.where(peeled < 0, np.int32(count), peeled), count + 1)
    while quota > 0:
        waiting = np.flatnonzero(costs > full_loss)
        waiting = waiting[np.argsort(-costs[waiting], kind="stable")]
        _, first = np.unique(peeled[waiting], return_index=True)
        left, changed = [], []
        for row in waiting[np.sort(first)][:quota]:
            at = peeled[row]
            others = rows[starts[at] : starts[at + 1]]
            others = others[(peeled[others] >= 0) & (others != row)]
            if call.constraint.allows(others):
                left.append(row)
                changed.append(others)
            else:
                costs[others] = costs[row] = 0.0  # this class keeps its rows
        if not left:
            break
        peeled[left], costs[left] = -1, 0.0
        quota -= len(left)
        again = np.concatenate(changed)
        costs[again] = costs_of(table.only(again), peeled[again], call.workers)
    return peeled


def dearest(costs: Costs, full_loss: float, most: int, least: int = 0) -> npt.NDArray[np.bool_]:
    """Return the rows that cost more than ``full_loss``, bool[n], those of most cost.

    most: how many at most; least: how many are returned even if they cost less.
    """
    chosen, some = np.zeros(len(costs), np.bool_), np.flatnonzero(costs > 0)
    order = some[np.argsort(-costs[some], kind="stable")][:most]
    chosen[order[(costs[order] > full_loss) | (np.arange(len(order)) < least)]] = True
    return chosen


def costs_of(table: QuasiTable, classes: Classes, workers: Workers) -> Costs:
    """Return what each row costs its class, float64[n].

    0 for suppressed rows, and for those of classes that lose less than DEAR of a row.
    """
    costs, kept = np.zeros(len(classes)), np.flatnonzero(classes >= 0)
    own = dense(classes[kept])
    lost = losses_of(table if len(kept) == len(classes) else table.only(kept), own, workers)
    dear = (lost > DEAR * float(table.model.weight.sum()))[own]
    kept, own = kept[dear], dense(own[dear])
    order, starts = kernels.hashing.group(own, int(own.max(initial=-1)) + 1)
    sizes = np.diff(starts)
    jobs, rows = [], []
    by_size = np.argsort(sizes, kind="stable")  # a large class needs much room beside small ones
    edges = np.flatnonzero(np.diff(np.cumsum(sizes[by_size]) // BLOCK)) + 1
    for part in np.split(by_size, edges) if len(sizes) else []:
        places = np.concatenate([order[starts[at] : starts[at + 1]] for at in part])
        ids = np.repeat(np.arange(len(part), dtype=np.int32), sizes[part])
        rows.append(kept[places])
        jobs.append((table.points[rows[-1]], table.model, ids))
    for part, found in zip(
        rows, workers.map(kernels.k_member.row_costs, jobs, [0] * len(jobs)), strict=True
    ):
        costs[part] = np.round(found, EXACT)
    return costs


def loss_of(table: QuasiTable, classes: Classes, workers: Workers) -> float:
    """Return the sum of |E| * NCP(E); a suppressed row loses every column."""
    kept = classes >= 0
    suppressed_loss = int((~kept).sum()) * float(table.model.weight.sum())
    return total_loss(table.only(kept), dense(classes[kept]), workers) + suppressed_loss


def fits(classes: Classes, call: Call[Any]) -> bool:
    """Return whether the suppressed rows may be a class, and the others be released.

    Rows that are left out of the release must be k, since ``audit`` counts them as a class.
    """
    suppressed, limits = np.flatnonzero(classes < 0), call.constraint
    if not limits.allows(np.flatnonzero(classes >= 0)):
        return False
    if call.suppressed_released:
        return limits.allows(suppressed)
    rules = limits.rules
    counted = suppressed if rules is None or not rules.persons else rules.keys[-1][suppressed]
    return len(np.unique(counted)) >= limits.k
