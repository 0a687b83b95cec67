"""Classes that lose less: rows change places between near classes, round after round.

Each round puts near classes into groups anew, anneals every group by itself, and keeps what
lost less. Source: this project; simulated annealing in place of dissolving and rebuilding
classes (k-member), which at equal time gained half as much.
"""

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anon_sql.progress import Progress
from anon_sql.table import QuasiTable
from anon_sql.workers import Workers

if TYPE_CHECKING:
    from anon_sql.kernels.bags import Rules
    from anon_sql.kernels.ncp import LossModel

EFFORT = (64, 128, 256)  # proposals a row in the first rounds, and in all that follow
JOB = 6_000_000  # proposals a job, times columns: some .1 s
ROWS = 1500  # in a group, where classes are small
LEAST, MOST = 8, 96  # classes in a group: LEAST to twice MOST - 1
HOT, COLD = 0.5, 0.02  # temperatures, in units of what a row that leaves saves
BLOCK = 1 << 18  # rows whose loss is counted in one job
IDLE = 3  # rounds without gain, one after another, end the search


@dataclass(frozen=True)
class Improved:
    """classes: int32[n]. rounds: how many were finished. loss, start: GCP after and before."""

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
    rules: "Rules | None" = None,
    price: float = 0.0,
) -> Improved:
    """Classes of k to 2k - 1 rows with less |E| * NCP(E), never more, than int32[n] classes.

    Class ids run from 0 without gaps, in canonical order of rows. Ends after ``rounds``, after
    ``seconds``, or when no gain is left. The result depends on the seed and the rounds, never
    on the threads; what a round cut short by the clock has finished is kept. Without
    ``seconds`` no clock decides anything. Classes of 2k rows or more are left as they are.

    rules: what else classes should satisfy, and ``price`` what each lack of it costs, in units of
    what a row saves that leaves its class; the gain then counts both, and loss may grow.
    """
    from anon_sql.kernels.bags import nothing_asked

    rules = rules or nothing_asked(len(classes))
    until = None if seconds is None else time.monotonic() + seconds
    n, d = table.points.shape
    cells = max(n * d, 1)
    total = rounds * n if rounds is not None else None
    with Progress(workers.function, total, seconds) as progress:
        workers = Workers(workers.function, workers.threads, progress)
        start = loss = total_loss(table, classes, workers)
        done = idle = 0
        sizes = np.bincount(classes)
        while (rounds is None or done < rounds) and loss > 1e-9 and idle < IDLE:
            if late(until) or ((sizes >= k) & (sizes < 2 * k)).sum() < 2:
                break
            progress.done = done * n
            progress.note = f"round {done + 1}, loss {loss / cells:.5f}"
            classes, gain, whole = one_round(
                table, classes, k, (seed % 2**64, done), until, workers, rules, price
            )
            loss += gain
            done += whole
            idle = 0 if gain < 0 else idle + 1
    return Improved(classes, done, loss / cells, start / cells)


def late(until: float | None) -> bool:
    return until is not None and time.monotonic() >= until


def one_round(
    table: QuasiTable,
    classes: npt.NDArray[np.int32],
    k: int,
    stream: tuple[int, int],
    until: float | None,
    workers: Workers,
    rules: "Rules",
    price: float,
) -> tuple[npt.NDArray[np.int32], float, bool]:
    """The classes after every group had its turn, the change of loss, and whether all had it."""
    from anon_sql.kernels.grouping import group
    from anon_sql.kernels.vp_tree import vp_partition

    order, starts = group(classes, int(classes.max()) + 1)
    sizes = np.diff(starts)
    taking = np.flatnonzero((sizes >= k) & (sizes < 2 * k))
    rng = np.random.default_rng(stream)
    one = order[starts[taking] + rng.integers(0, sizes[taking])]
    per = int(np.clip(ROWS // sizes[taking].mean(), LEAST, MOST))
    tree = vp_partition(
        table.points[one],
        per,
        metric="gower",
        vantage="max_spread",
        seed=int(rng.integers(2**62)),
        workers=workers,
    )
    effort = EFFORT[min(stream[1], len(EFFORT) - 1)]

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
            effort,
            np.random.default_rng((*stream, at)),
            rules,
            rows,
            price,
        )
        return None if found is None else (rows, ids[found[0]].astype(np.int32), found[1])

    jobs = rng.permutation(len(tree.starts) - 1)  # a round cut short has been everywhere
    weights = [int(sizes[taking[tree.order[tree.starts[at]]]]) * per for at in jobs]
    results = workers.map(turn, [(int(at),) for at in jobs], weights)
    whole, gain, better = not late(until), 0.0, classes.copy()
    for result in results:
        if result is not None:
            better[result[0]] = result[1]
            gain += result[2]
    return better, gain, whole


def improve_group(
    points: npt.NDArray[np.float64],
    model: "LossModel",
    classes: npt.NDArray[np.int32],
    k: int,
    effort: int,
    rng: np.random.Generator,
    rules: "Rules",
    rows: npt.NDArray[np.int32],
    price: float,
) -> tuple[npt.NDArray[np.int32], float] | None:
    """Better classes of a group's rows and the change of loss; None where none were found."""
    from anon_sql.kernels.annealing import anneal, warmth
    from anon_sql.kernels.class_state import class_state, fill
    from anon_sql.kernels.exchange import guard_of, survey
    from anon_sql.kernels.near_rows import near_in_group

    m, d = points.shape
    state = class_state(points, model, classes, 2 * k)
    fill(state)
    unit = warmth(state)
    guard = guard_of(rules, rows, len(state.size), 2 * k, price * unit)
    before = float(state.size @ state.ncp) + guard.price * survey(state, guard)
    if len(state.size) < 2 or unit <= 0:
        return None
    proposals = min(effort * m, JOB // max(d, 8))
    hot = HOT * unit * min(1.0, proposals / m / EFFORT[-1])
    near = near_in_group(points, model, rng)
    own = np.uint64(rng.integers(2**63))
    anneal(state, guard, near, k, 2 * k - 1, proposals, hot, min(COLD * unit, hot), own)
    fill(state)
    change = float(state.size @ state.ncp) + guard.price * survey(state, guard) - before
    return (state.home, change) if change < -1e-9 else None


def total_loss(table: QuasiTable, classes: npt.NDArray[np.int32], workers: Workers) -> float:
    """Sum of |E| * NCP(E), in blocks of classes."""
    from anon_sql.kernels.class_loss import class_loss
    from anon_sql.kernels.grouping import group

    order, starts = group(classes, int(classes.max(initial=-1)) + 1)
    edges = np.unique(np.searchsorted(starts, np.arange(0, len(classes) + BLOCK, BLOCK)))
    edges[-1] = len(starts) - 1
    jobs = [
        (table.points, table.model, order[starts[a] : starts[b]], starts[a : b + 1] - starts[a])
        for a, b in pairwise(edges)
    ]
    return float(sum(workers.map(class_loss, jobs, [0] * len(jobs))))
