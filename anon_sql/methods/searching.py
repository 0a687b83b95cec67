"""Search for orders and classes of less loss, for ``anonymize`` with more effort.

Improve classes by exchanging rows between near ones, round after round. Each round groups near
classes anew, anneals every group by itself, and keeps the results of less loss. Source: this
project; simulated annealing in place of dissolving and rebuilding classes (k-member), which gained
half as much in equal time.

Find better orders than the curve, for ``anonymize`` with more effort. Jobs are divided at fixed
positions, so that the result does not depend on the number of threads.
"""

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.running import Progress, Workers
from anon_sql.core.table import QuasiTable
from anon_sql.methods.ordering import JOB, Order, pieces, window_order

EFFORT = (64, 128, 256)  # proposals a row in the first rounds, the last in all that follow
PROPOSALS = 6_000_000  # proposals a job, times columns: some .1 s
ROWS = 1500  # in a group, where classes are small
LEAST, MOST = 8, 96  # classes in a group: LEAST to twice MOST - 1
HOT, COLD = 0.5, 0.02  # temperatures, in units of ``warmth``
BLOCK = 1 << 18  # rows whose loss is computed in one job
IDLE = 3  # consecutive rounds without gain that end the search


@dataclass(frozen=True)
class Improved:
    """Result of the search.

    classes: int32[n]. rounds: number of completed rounds. loss, start: GCP after and before.
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
    most: int | None = None,
    lost: float | None = None,
    effort: tuple[int, ...] = EFFORT,
    compared: int | None = None,
) -> Improved:
    """Return classes of at most the |E| * NCP(E) of the given ones, int32[n].

    Class ids run from 0 without gaps, in canonical order of rows. The search ends after ``rounds``,
    after ``seconds``, or when nothing is gained. The result depends on the seed and the rounds, not
    on the number of threads. What a round interrupted by the clock has completed is kept; without
    ``seconds`` no clock decides anything. Only classes of k to ``most`` rows, 2k - 1 unless given,
    are changed, and keep such sizes.

    rules: what else classes should satisfy; price: cost of a shortfall of 1, in units of what a row
    saves by leaving its class. The gain then counts both, and the loss may grow. lost: what the
    given classes lose, where it is known. effort: proposals a row in the first rounds, the last in
    all that follow. compared: most rows with which a row is
    compared to find those near it; None for as many as gain something.
    """
    rules, most = rules or kernels.legality.no_rules(len(classes)), most or 2 * k - 1
    until = None if seconds is None else working_time() + seconds
    n = table.rows
    cells = max(n, 1) * table.model.weight.sum()
    total = rounds * n if rounds is not None else None
    with Progress(workers.function, total, seconds) as progress:
        workers = Workers(workers.function, workers.threads, progress)
        start = loss = total_loss(table, classes, workers) if lost is None else lost
        done = idle = 0
        sizes = np.bincount(classes)
        while (rounds is None or done < rounds) and loss > 1e-9 and idle < IDLE:
            if late(until) or ((sizes >= k) & (sizes <= most)).sum() < 2:
                break
            progress.done = done * n
            progress.note = f"round {done + 1}, loss {loss / cells:.5f}"
            proposals = effort[min(done, len(effort) - 1)]
            stream = (seed % 2**64, done)
            classes, gain, complete = one_round(
                table, classes, k, most, (proposals, compared), stream, until, workers, rules, price
            )
            loss += gain
            done += complete
            idle = 0 if gain < 0 else idle + 1
    return Improved(classes, done, loss / cells, start / cells)


def late(until: float | None) -> bool:
    """Return whether the time limit has passed."""
    return until is not None and working_time() >= until


def working_time() -> float:
    """Return the seconds of a clock that stands still while kernels are compiled."""
    return time.monotonic() - kernels.kernel.compile_seconds()


def one_round(
    table: QuasiTable,
    classes: npt.NDArray[np.int32],
    k: int,
    most: int,
    effort: tuple[int, int | None],
    stream: tuple[int, int],
    until: float | None,
    workers: Workers,
    rules: "kernels.legality.Rules",
    price: float,
) -> tuple[npt.NDArray[np.int32], float, bool]:
    """Return the classes after a round, the change of loss, and whether it was complete."""
    order, starts = kernels.hashing.group(classes, int(classes.max()) + 1)
    sizes = np.diff(starts)
    taking = np.flatnonzero((sizes >= k) & (sizes <= most))
    rng = np.random.default_rng(stream)
    one = order[starts[taking] + rng.integers(0, sizes[taking])]
    per = int(np.clip(ROWS // sizes[taking].mean(), LEAST, MOST))
    tree = kernels.vp_tree.vp_partition(
        table.points[one],
        per,
        metric="gower",
        vantage="max_spread",
        seed=int(rng.integers(2**62)),
        weights=table.model.weight,
        workers=workers,
    )

    def turn(at: int) -> Any:
        if late(until):
            return None
        ids = taking[tree.order[tree.starts[at] : tree.starts[at + 1]]]
        rows = np.concatenate([order[starts[own] : starts[own + 1]] for own in ids])
        local = np.repeat(np.arange(len(ids), dtype=np.int32), sizes[ids])
        found = improve_group(
            table.points[rows],
            table.model,
            local,
            k,
            most,
            effort,
            np.random.default_rng((*stream, at)),
            rules,
            rows,
            price,
        )
        return None if found is None else (rows, ids[found[0]].astype(np.int32), found[1])

    jobs = rng.permutation(
        len(tree.starts) - 1
    )  # so that an interrupted round has covered all of the table
    weights = [int(sizes[taking[tree.order[tree.starts[at]]]]) * per for at in jobs]
    results = workers.map(turn, [(int(at),) for at in jobs], weights)
    complete, gain, better = not late(until), 0.0, classes.copy()
    for result in results:
        if result is not None:
            better[result[0]] = result[1]
            gain += result[2]
    return better, gain, complete


def improve_group(
    points: npt.NDArray[np.float64],
    model: "kernels.loss.LossModel",
    classes: npt.NDArray[np.int32],
    k: int,
    most: int,
    effort: tuple[int, int | None],
    rng: np.random.Generator,
    rules: "kernels.legality.Rules",
    rows: npt.NDArray[np.int32],
    price: float,
) -> tuple[npt.NDArray[np.int32], float] | None:
    """Return better classes of a group's rows and the change of loss; None without gain.

    effort: proposals a row, and rows with which it is compared.
    """
    m, d = points.shape
    state = kernels.annealing.class_state(points, model, classes, most + 1)
    kernels.annealing.fill(state)
    unit = kernels.annealing.warmth(state)
    guard = kernels.guard.guard_of(rules, rows, len(state.size), most + 1, price * unit)
    before = float(state.size @ state.ncp) + guard.price * kernels.guard.survey(state, guard)
    if len(state.size) < 2 or unit <= 0:
        return None
    proposals = min(effort[0] * m, PROPOSALS // max(d, 8))
    hot = HOT * unit * min(1.0, proposals / m / EFFORT[-1])
    near = kernels.k_member.near_in_group(points, model, rng, effort[1])
    own = np.uint64(rng.integers(2**63))
    kernels.annealing.anneal(
        state, guard, near, k, most, proposals, hot, min(COLD * unit, hot), own
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
        (table.points, table.model, order[starts[a] : starts[b]], starts[a : b + 1] - starts[a])
        for a, b in blocks_of(starts, BLOCK)
    ]
    found = workers.map(kernels.distance.class_losses, jobs, [0] * len(jobs))
    return np.concatenate([np.zeros(0), *found])


def blocks_of(starts: npt.NDArray[np.int64], rows: int) -> list[tuple[int, int]]:
    """Return ranges of classes of some ``rows`` rows each; starts: int64[m + 1] of ``group``."""
    edges = np.unique(np.searchsorted(starts, np.arange(0, int(starts[-1]) + rows, rows)))
    edges[-1] = len(starts) - 1
    return list(pairwise(edges.tolist()))


PART = 1 << 14  # rows that are split by themselves
TRIES = 8  # most splits of which the best is taken
TRIALS = 1 << 18  # rows times tries that 'good' aims at
GROWTH = 1 << 28  # rows times those from which a group grows that 'good' aims at
WAITING = (1 << 10, 1 << 13)  # least and most rows from which a group grows; fewer gain nothing


def better_orders(
    table: QuasiTable, order: Order, k: int, workers: Workers, piece: int = JOB
) -> list[Order]:
    """Return the orders that 'good' tries besides the curve; in a table of many rows only one.

    piece: rows within which a window moves.

    The loss of a column with a hierarchy goes by common ancestors, of which a range says little:
    where such columns prevail the rows are halved repeatedly, and in smaller tables groups are
    grown.
    """
    width = min(GROWTH // max(len(order), 1), WAITING[1])
    trees, many = int((table.model.kind == kernels.loss.TREE).sum()), width < WAITING[0]
    mostly = 2 * trees >= len(table.model.kind)
    found = []
    if not (many and mostly):
        found.append(window_order(table, order, k, workers, piece))
    if mostly or (trees and not many):
        found.append(halved_order(table, order, workers))
        if max(WAITING[0], most_codes(table)) <= width:
            found.append(grown_groups(table, found[-1], width, k, workers))
    return found


def most_codes(table: QuasiTable) -> int:
    """Return the largest number of codes of a text or hierarchy column, NULL included."""
    return int(table.model.null[table.model.kind != kernels.loss.NUMBER].max(initial=0)) + 1


def halved_order(table: QuasiTable, order: Order, workers: Workers) -> Order:
    """Return the order by repeated halving at the least loss, within pieces of PART rows."""
    tries = int(np.clip(TRIALS // max(len(order), 1), 1, TRIES))
    parts = pieces(len(order), PART)
    jobs = [(table.points, order[a:b], table.model, tries) for a, b in parts]
    halved: Order = np.concatenate(
        workers.map(kernels.greedy_orders.split_order, jobs, [b - a for a, b in parts])
    )
    return halved


def grown_groups(table: QuasiTable, order: Order, width: int, k: int, workers: Workers) -> Order:
    """Return the order in groups of k, grown from ``width`` rows, within pieces of JOB rows."""
    parts = pieces(len(order), JOB)
    jobs = [(table.points, order[a:b], table.model, width, k) for a, b in parts]
    grown: Order = np.concatenate(
        workers.map(kernels.greedy_orders.grown_order, jobs, [b - a for a, b in parts])
    )
    return grown
