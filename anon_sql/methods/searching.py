"""Search for orders and classes of less loss, for ``anonymize`` with more effort.

- Classes are improved by exchanging rows between near ones, round after round. Each round groups
  near classes anew, anneals every group by itself, and keeps the results of less loss. Source: this
  project; simulated annealing in place of dissolving and rebuilding classes (k-member), which
  gained half as much in equal time.
- Orders are better than the curve if rows are near each other. Jobs are divided at fixed positions,
  so that the result does not depend on the number of threads.
"""

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.running import Progress, Workers
from anon_sql.core.table import QuasiTable
from anon_sql.methods.ordering import JOB_ROWS, Order, pieces, window_order

ROW_PROPOSALS = (64, 128, 256)  # per row in the first rounds, the last in all that follow
JOB_PROPOSALS = 6_000_000  # per job, times columns: some .1 s
GROUP_ROWS = 1500  # of a group, if classes are small
MIN_CLASSES, MAX_CLASSES = 8, 96  # of a group: MIN_CLASSES to twice MAX_CLASSES - 1
HOT, COLD = 0.5, 0.02  # temperatures, in units of ``warmth``
LOSS_JOB_ROWS = 1 << 18  # whose loss is computed in one job
IDLE_ROUNDS = 3  # without gain, one after another, that end the search


@dataclass(frozen=True)
class Improved:
    """Result of the search.

    classes: int32[n].
    rounds: number of completed rounds.
    loss, start: GCP after and before.
    """

    classes: npt.NDArray[np.int32]
    rounds: int
    loss: float
    start: float


def improve(
    table: QuasiTable,
    classes: npt.NDArray[np.int32],
    k: int,
    *,
    seed: int,
    workers: Workers,
    rounds: int | None = None,
    seconds: float | None = None,
    rules: "kernels.legality.Rules | None" = None,
    price: float = 0.0,
    max_rows: int | None = None,
    initial_loss: float | None = None,
    effort: tuple[int, ...] = ROW_PROPOSALS,
    compared: int | None = None,
) -> Improved:
    """Return classes that lose at most what the initial ones lose, by |E| * NCP(E), int32[n].

    The search ends after ``rounds``, after ``seconds``, or when nothing is gained. The result
    depends on the seed and the rounds, not on the number of threads. What a round interrupted by
    the clock has completed is kept; without ``seconds`` no clock decides anything.

    classes: int32[n], ids from 0 without gaps, in canonical order of rows.
    k: least rows of a class.
    rules: what else classes should satisfy.
    price: cost of a shortfall of 1, in units of what a row saves by leaving its class. The gain
        then counts both, and the loss may grow.
    max_rows: of classes that are changed and then have, 2k - 1 if None; smaller and larger classes
        stay.
    initial_loss: what the initial classes lose, if it is known.
    effort: proposals per row in the first rounds, the last in all that follow.
    compared: rows, at most, with which a row is compared to determine those near it; None for as
        many as gain something.
    """
    rules, max_rows = rules or kernels.legality.no_rules(len(classes)), max_rows or 2 * k - 1
    until = None if seconds is None else working_time() + seconds
    n = table.rows
    cells = max(n, 1) * table.model.weight.sum()
    total = rounds * n if rounds is not None else None
    with Progress(workers.function, total, seconds) as progress:
        workers = Workers(workers.function, workers.threads, progress)
        start = loss = total_loss(table, classes, workers) if initial_loss is None else initial_loss
        done_rounds = idle_rounds = 0
        sizes = np.bincount(classes)
        while (
            (rounds is None or done_rounds < rounds) and loss > 1e-9 and idle_rounds < IDLE_ROUNDS
        ):
            if is_late(until) or ((sizes >= k) & (sizes <= max_rows)).sum() < 2:
                break
            progress.done = done_rounds * n
            progress.note = f"round {done_rounds + 1}, loss {loss / cells:.5f}"
            proposals = effort[min(done_rounds, len(effort) - 1)]
            stream = (seed % 2**64, done_rounds)
            classes, gain, complete = one_round(
                table,
                classes,
                k,
                max_rows,
                (proposals, compared),
                stream,
                until,
                workers,
                rules,
                price,
            )
            loss += gain
            done_rounds += complete
            idle_rounds = 0 if gain < 0 else idle_rounds + 1
    return Improved(classes, done_rounds, loss / cells, start / cells)


def is_late(until: float | None) -> bool:
    """Return whether the time limit has passed."""
    return until is not None and working_time() >= until


def working_time() -> float:
    """Return the seconds of a clock that stops while kernels are compiled."""
    return time.monotonic() - kernels.kernel.compile_seconds()


class Round(NamedTuple):
    """classes: after the round. gain: the change of loss. complete: whether the clock did not end
    it."""

    classes: npt.NDArray[np.int32]
    gain: float
    complete: bool


def one_round(
    table: QuasiTable,
    classes: npt.NDArray[np.int32],
    k: int,
    max_rows: int,
    effort: tuple[int, int | None],
    stream: tuple[int, int],
    until: float | None,
    workers: Workers,
    rules: "kernels.legality.Rules",
    price: float,
) -> Round:
    """Return the classes after a round, the change of loss, and whether it was complete."""
    order, starts = kernels.hashing.group(classes, int(classes.max()) + 1)
    sizes = np.diff(starts)
    exchanging = np.flatnonzero((sizes >= k) & (sizes <= max_rows))
    rng = np.random.default_rng(stream)
    member = order[starts[exchanging] + rng.integers(0, sizes[exchanging])]
    group_classes = int(np.clip(GROUP_ROWS // sizes[exchanging].mean(), MIN_CLASSES, MAX_CLASSES))
    tree = kernels.vp_tree.vp_partition(
        table.points[member],
        group_classes,
        metric="gower",
        vantage="max_spread",
        seed=int(rng.integers(2**62)),
        weights=table.model.weight,
        workers=workers,
    )

    def turn(group: int) -> Any:
        if is_late(until):
            return None
        ids = exchanging[tree.order[tree.starts[group] : tree.starts[group + 1]]]
        rows = np.concatenate([order[starts[class_id] : starts[class_id + 1]] for class_id in ids])
        local = np.repeat(np.arange(len(ids), dtype=np.int32), sizes[ids])
        improved = improve_group(
            table.points[rows],
            table.model,
            local,
            k,
            max_rows,
            effort,
            np.random.default_rng((*stream, group)),
            rules,
            rows,
            price,
        )
        return None if improved is None else (rows, ids[improved[0]].astype(np.int32), improved[1])

    jobs = rng.permutation(
        len(tree.starts) - 1
    )  # so that an interrupted round has covered all of the table
    weights = [
        int(sizes[exchanging[tree.order[tree.starts[group]]]]) * group_classes for group in jobs
    ]
    results = workers.map(turn, [(int(group),) for group in jobs], weights)
    complete, gain, better = not is_late(until), 0.0, classes.copy()
    for result in results:
        if result is not None:
            better[result[0]] = result[1]
            gain += result[2]
    return Round(better, gain, complete)


def improve_group(
    points: npt.NDArray[np.float64],
    model: "kernels.loss.LossModel",
    classes: npt.NDArray[np.int32],
    k: int,
    max_rows: int,
    effort: tuple[int, int | None],
    rng: np.random.Generator,
    rules: "kernels.legality.Rules",
    rows: npt.NDArray[np.int32],
    price: float,
) -> tuple[npt.NDArray[np.int32], float] | None:
    """Return better classes of a group's rows and the change of loss; None without gain.

    effort: proposals per row, and rows with which it is compared.
    """
    m, d = points.shape
    state = kernels.annealing.class_state(points, model, classes, max_rows + 1)
    kernels.annealing.fill(state)
    unit = kernels.annealing.warmth(state)
    guard = kernels.guard.guard_of(rules, rows, len(state.size), max_rows + 1, price * unit)
    before = float(state.size @ state.ncp) + guard.price * kernels.guard.survey(state, guard)
    if len(state.size) < 2 or unit <= 0:
        return None
    proposals = min(effort[0] * m, JOB_PROPOSALS // max(d, 8))
    hot = HOT * unit * min(1.0, proposals / m / ROW_PROPOSALS[-1])
    near = kernels.k_member.near_in_group(points, model, rng, effort[1])
    anneal_seed = np.uint64(rng.integers(2**63))
    kernels.annealing.anneal(
        state, guard, near, k, max_rows, proposals, hot, min(COLD * unit, hot), anneal_seed
    )
    kernels.annealing.fill(state)
    change = (
        float(state.size @ state.ncp) + guard.price * kernels.guard.survey(state, guard) - before
    )
    return (state.home, change) if change < -1e-9 else None


def total_loss(table: QuasiTable, classes: npt.NDArray[np.int32], workers: Workers) -> float:
    """Return the sum of |E| * NCP(E)."""
    return float(np.cumsum(losses_of(table, classes, workers))[-1]) if len(classes) else 0.0


def losses_of(
    table: QuasiTable, classes: npt.NDArray[np.int32], workers: Workers
) -> npt.NDArray[np.float64]:
    """Return |E| * NCP(E) of each class, float64[m], computed in blocks of classes."""
    order, starts = kernels.hashing.group(classes, int(classes.max(initial=-1)) + 1)
    jobs = [
        (
            table.points,
            table.model,
            order[starts[begin] : starts[end]],
            starts[begin : end + 1] - starts[begin],
        )
        for begin, end in blocks_of(starts, LOSS_JOB_ROWS)
    ]
    losses = workers.map(kernels.distance.class_losses, jobs, [0] * len(jobs))
    return np.concatenate([np.zeros(0), *losses])


def blocks_of(starts: npt.NDArray[np.int64], rows: int) -> list[tuple[int, int]]:
    """Return ranges of classes of some ``rows`` rows each; starts: int64[m + 1] of ``group``."""
    edges = np.unique(np.searchsorted(starts, np.arange(0, int(starts[-1]) + rows, rows)))
    edges[-1] = len(starts) - 1
    return list(pairwise(edges.tolist()))


PIECE_ROWS = 1 << 14  # that are split by themselves
MAX_TRIES = 8  # splits of which the best is taken
AIMED_TRIALS = 1 << 18  # of 'good': rows times tries
AIMED_GROWTH = 1 << 28  # of 'good': rows times rows from which a group grows
WAITING_ROWS = (1 << 10, 1 << 13)  # from which a group grows, least and most; fewer gain nothing


def better_orders(
    table: QuasiTable, order: Order, k: int, workers: Workers, piece: int = JOB_ROWS
) -> list[Order]:
    """Return the orders that 'good' tries besides the curve; in a table of many rows only one.

    The loss of a column with a hierarchy depends on common ancestors, which a range hardly
    describes: if such columns prevail the rows are halved repeatedly, and in smaller tables groups
    are grown.

    piece: rows within which a window moves.
    """
    width = min(AIMED_GROWTH // max(len(order), 1), WAITING_ROWS[1])
    trees, is_large = int((table.model.kind == kernels.loss.TREE).sum()), width < WAITING_ROWS[0]
    mostly_trees = 2 * trees >= len(table.model.kind)
    better = []
    if not (is_large and mostly_trees):
        better.append(window_order(table, order, k, workers, piece))
    if mostly_trees or (trees and not is_large):
        better.append(halved_order(table, order, workers))
        if max(WAITING_ROWS[0], most_codes(table)) <= width:
            better.append(grown_groups(table, better[-1], width, k, workers))
    return better


def most_codes(table: QuasiTable) -> int:
    """Return the largest number of codes of a text or hierarchy column, NULL included."""
    return int(table.model.null[table.model.kind != kernels.loss.NUMBER].max(initial=0)) + 1


def halved_order(table: QuasiTable, order: Order, workers: Workers) -> Order:
    """Return the order by repeated halving at the least loss, within pieces of PIECE_ROWS rows."""
    tries = int(np.clip(AIMED_TRIALS // max(len(order), 1), 1, MAX_TRIES))
    parts = pieces(len(order), PIECE_ROWS)
    jobs = [(table.points, order[begin:end], table.model, tries) for begin, end in parts]
    halved: Order = np.concatenate(
        workers.map(kernels.greedy_orders.split_order, jobs, [end - begin for begin, end in parts])
    )
    return halved


def grown_groups(table: QuasiTable, order: Order, width: int, k: int, workers: Workers) -> Order:
    """Return the order in groups of k, grown from ``width`` rows, within pieces of JOB_ROWS."""
    parts = pieces(len(order), JOB_ROWS)
    jobs = [(table.points, order[begin:end], table.model, width, k) for begin, end in parts]
    grown: Order = np.concatenate(
        workers.map(kernels.greedy_orders.grown_order, jobs, [end - begin for begin, end in parts])
    )
    return grown
