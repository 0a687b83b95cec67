"""Decide which rows to suppress, and where suppressed rows and small classes go."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.running import Workers
from anon_sql.core.table import QuasiTable
from anon_sql.methods.method import Call
from anon_sql.methods.ordering import Order
from anon_sql.methods.searching import losses_of, total_loss
from anon_sql.privacy.constraint import Constraint

JOB_PAIRS = 1 << 24  # of classes, compared in a job


def join_nearest(
    table: QuasiTable,
    classes: npt.NDArray[np.int32],
    short: npt.NDArray[np.bool_],
    workers: Workers,
) -> npt.NDArray[np.int32]:
    """Return class ids int32[n] after every class marked in ``short`` joined another.

    Each compares the unmarked classes as they were before any joined, so that the result does not
    depend on the order. If every class is marked, all rows become one class.

    classes: int32[n], class of each row.
    short: bool[m], the classes that join another.
    """
    if not short.any():
        return classes
    candidates = np.flatnonzero(~short)
    if len(candidates) == 0:
        return np.zeros_like(classes)
    order, starts = kernels.hashing.group(classes, len(short))
    profiles = kernels.distance.profiles(table.points, table.model, order, starts)
    short_ids = np.flatnonzero(short)
    step = max(1, JOB_PAIRS // len(candidates))
    parts = [short_ids[first : first + step] for first in range(0, len(short_ids), step)]
    nearest = workers.map(
        kernels.distance.nearest,
        [(part, candidates, table.model, starts, *profiles) for part in parts],
        [len(part) for part in parts],
    )
    becomes = np.arange(len(short), dtype=np.int32)
    becomes[short_ids] = np.concatenate(nearest)
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

    Suppressed rows stay so if they satisfy the constraint together, or are not shown in the
    release. In both cases the other rows must satisfy it too: if they are too few or lack values
    without the suppressed rows, every suppressed row joins the class of least increase of loss.

    released: whether suppressed rows are shown.
    """
    suppressed = classes < 0
    count = int(suppressed.sum())
    if count == 0:
        return classes
    legal = not released or constraint.allows(np.flatnonzero(suppressed))
    if legal and _can_release_rest(classes, constraint):
        return classes
    first = int(classes.max()) + 1
    separate = classes.copy()
    separate[suppressed] = first + np.arange(count, dtype=np.int32)
    short = np.arange(first + count) >= first
    return dense(join_nearest(table, separate, short, workers))


def _can_release_rest(classes: npt.NDArray[np.int32], constraint: Constraint) -> bool:
    """Return whether the rows that are not suppressed can be released in legal classes.

    They can if their union is legal, since merging ends there at the latest. The union of legal
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
    suppressed too (ties: lower id) until the suppressed rows are legal.

    released: whether suppressed rows are shown; else they need not be legal.
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
    """Return the number of rows of a share, rounded down, with a tolerance for rounding errors."""
    return int(share * rows + 1e-9)


JOB_ROWS = 1 << 13  # whose costs are computed in one job
DEAR_SHARE = 0.5  # of what a row can lose: least loss of a class whose rows are judged alone
COST_DECIMALS = 9  # that decide

Classes = npt.NDArray[np.int32]
Costs = npt.NDArray[np.float64]


def peel(
    table: QuasiTable,
    classes: Classes,
    call: Call[Any],
    max_suppressed: int,
    costs: Costs,
) -> Classes:
    """Return the classes without rows that cost more than they lose, as long as they stay legal.

    One row of a class leaves at a time, the one of most cost.

    max_suppressed: rows that are suppressed at the end, at most.
    costs: float64[n], what each row costs its class.
    """
    full_loss, peeled, costs = float(table.model.weight.sum()), classes.copy(), costs.copy()
    quota = max_suppressed - int((peeled < 0).sum())
    if quota <= 0 or not (costs > full_loss).any():
        return peeled
    count = int(peeled.max()) + 1
    rows, starts = kernels.hashing.group(np.where(peeled < 0, np.int32(count), peeled), count + 1)
    while quota > 0:
        waiting = np.flatnonzero(costs > full_loss)
        waiting = waiting[np.argsort(-costs[waiting], kind="stable")]
        _, first = np.unique(peeled[waiting], return_index=True)
        leaving, changed = [], []
        for row in waiting[np.sort(first)][:quota]:
            class_id = peeled[row]
            others = rows[starts[class_id] : starts[class_id + 1]]
            others = others[(peeled[others] >= 0) & (others != row)]
            if call.constraint.allows(others):
                leaving.append(row)
                changed.append(others)
            else:
                costs[others] = costs[row] = 0.0  # this class keeps its rows
        if not leaving:
            break
        peeled[leaving], costs[leaving] = -1, 0.0
        quota -= len(leaving)
        recomputed = np.concatenate(changed)
        costs[recomputed] = costs_of(table.only(recomputed), peeled[recomputed], call.workers)
    return peeled


def dearest(
    costs: Costs, full_loss: float, max_rows: int, min_rows: int = 0
) -> npt.NDArray[np.bool_]:
    """Return the rows that cost more than ``full_loss``, bool[n], those of most cost.

    max_rows: how many at most.
    min_rows: how many are returned even if they cost less.
    """
    chosen, positive = np.zeros(len(costs), np.bool_), np.flatnonzero(costs > 0)
    order = positive[np.argsort(-costs[positive], kind="stable")][:max_rows]
    chosen[order[(costs[order] > full_loss) | (np.arange(len(order)) < min_rows)]] = True
    return chosen


def costs_of(table: QuasiTable, classes: Classes, workers: Workers) -> Costs:
    """Return what each row costs its class, float64[n].

    0 for suppressed rows, and for those of classes that lose less than DEAR_SHARE of a row.
    """
    costs, kept = np.zeros(len(classes)), np.flatnonzero(classes >= 0)
    kept_classes = dense(classes[kept])
    lost = losses_of(
        table if len(kept) == len(classes) else table.only(kept), kept_classes, workers
    )
    dear = (lost > DEAR_SHARE * float(table.model.weight.sum()))[kept_classes]
    kept, kept_classes = kept[dear], dense(kept_classes[dear])
    order, starts = kernels.hashing.group(kept_classes, int(kept_classes.max(initial=-1)) + 1)
    sizes = np.diff(starts)
    jobs, rows = [], []
    by_size = np.argsort(sizes, kind="stable")  # a large class needs much room beside small ones
    edges = np.flatnonzero(np.diff(np.cumsum(sizes[by_size]) // JOB_ROWS)) + 1
    for part in np.split(by_size, edges) if len(sizes) else []:
        positions = np.concatenate(
            [order[starts[class_id] : starts[class_id + 1]] for class_id in part]
        )
        ids = np.repeat(np.arange(len(part), dtype=np.int32), sizes[part])
        rows.append(kept[positions])
        jobs.append((table.points[rows[-1]], table.model, ids))
    for part, part_costs in zip(
        rows, workers.map(kernels.k_member.row_costs, jobs, [0] * len(jobs)), strict=True
    ):
        costs[part] = np.round(part_costs, COST_DECIMALS)
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


MAX_TURNS = 4  # partitions besides the first; more gain nothing on Adult
TIE_LOSS = 1e-6  # losses that differ by less are the same
Again = Callable[[QuasiTable, Call[Any], Order | None], tuple[Classes, Order]]


@dataclass(frozen=True)
class Suppression:
    """The best partition, and the loss that it saved.

    classes: int32[n], -1 for suppressed.
    lost: the sum of |E| * NCP(E), suppressed rows included.
    before: that of the partition without suppression.
    costly: rows that cost their class more than they would lose.
    refused: partitions that lost less, but whose suppressed rows could not be shown or whose other
        rows not be released.
    """

    classes: Classes
    lost: float
    before: float
    costly: int
    refused: int


def suppress(
    table: QuasiTable, call: Call[Any], max_suppressed: int, partition_anew: Again
) -> Suppression:
    """Return the partition of least loss of which at most ``max_suppressed`` rows are suppressed.

    Rows are chosen with the effort 'good'; 'best' then searches without and with suppressed rows,
    in half of the time each.

    max_suppressed: rows.
    partition_anew: partitions some rows into legal classes, see ``partitioned``.
    """
    if call.options.effort != "best":
        return _turns(table, call, max_suppressed, partition_anew)
    suppression = _turns(table, _with(call, effort="good"), max_suppressed, partition_anew)
    kept = suppression.classes >= 0
    final_call = call if kept.all() else _with(call, time_limit=call.options.time_limit / 2)
    unsuppressed, _ = partition_anew(table, final_call, None)
    before = total_loss(table, unsuppressed, call.workers)
    if kept.all():
        return replace(suppression, classes=unsuppressed, lost=before, before=before)
    classes = suppression.classes.copy()
    kept_call = replace(final_call, constraint=call.constraint.only(kept))
    classes[kept], _ = partition_anew(table.only(kept), kept_call, None)
    lost = loss_of(table, classes, call.workers)
    better = classes if lost < before else unsuppressed
    return replace(suppression, classes=better, lost=min(lost, before), before=before)


def _with(call: Call[Any], **options: Any) -> Call[Any]:
    return replace(call, options=replace(call.options, **options))


def _turns(
    table: QuasiTable, call: Call[Any], max_suppressed: int, partition_anew: Again
) -> Suppression:
    """Return the best of some partitions of which more and more rows are suppressed.

    The first partition determines the order that the others cut, without the rows that they
    suppress. Ends if a turn gains nothing, or if rows cost less than they would lose.
    """
    full_loss, limits = float(table.model.weight.sum()), call.constraint
    classes, order = partition_anew(table, call, None)
    lost = before = total_loss(table, classes, call.workers)
    costs = costs_of(table, classes, call.workers)
    best, refused, costly = classes, 0, int((costs > full_loss).sum())
    for turn in range(MAX_TURNS + 1):
        peeled = peel(table, classes, call, max_suppressed, costs)
        suppresses = bool((peeled < 0).any())
        peeled_loss = loss_of(table, peeled, call.workers) if suppresses else before
        gains = peeled_loss < lost - TIE_LOSS
        if gains:
            releasable = fits(peeled, call)
            refused += not releasable
            best, lost = (peeled, peeled_loss) if releasable else (best, lost)
        suppressed = int((classes < 0).sum())
        fewest = 0 if suppressed else limits.smallest  # fewer are no class
        quota = min(max(-(-max_suppressed // MAX_TURNS), fewest), max_suppressed - suppressed)
        removed = dearest(costs, full_loss, quota, fewest) & (classes >= 0)
        kept = (classes >= 0) & ~removed
        saved = float(costs[removed].sum()) - full_loss * max(int(removed.sum()), fewest)
        if turn == MAX_TURNS or (turn and not gains) or saved <= 0:
            break
        if not limits.allows(np.flatnonzero(kept)):
            break
        kept_call = replace(call, constraint=limits.only(kept))
        position = np.cumsum(kept, dtype=np.int32) - np.int32(1)
        classes = np.full(table.rows, -1, np.int32)
        classes[kept], _ = partition_anew(table.only(kept), kept_call, position[order[kept[order]]])
        costs = costs_of(table, classes, call.workers)
    return Suppression(best, lost, before, costly, refused)
