"""Group rows so that the squared distances from the means of their classes are least (SSE).

Source: MDAV (Domingo-Ferrer and Torra 2005), from starts with more or fewer classes, each improved
by simulated annealing. The steps are applied to pieces of an order of the rows, so that time grows
with n; in small tables there is one piece.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.columns import NULL_POINT, Numbers, distinct_rows
from anon_sql.core.running import Progress, Workers
from anon_sql.core.table import QuasiTable
from anon_sql.errors import not_installed
from anon_sql.methods.method import Call
from anon_sql.methods.ordering import Order, pieces
from anon_sql.methods.searching import is_late

MAX_AXES = 256  # more text than that is not compared row by row


def points_of(table: QuasiTable, k: int) -> "kernels.microaggregation.Points | None":
    """Return standardized columns in canonical order.

    None for more than MAX_AXES axes, and for a table without a column of numbers, dates or times.
    There is one axis per number and one per value of a category; those of a category together have
    variance 1. A further axis marks NULL of a number, so far away that a class that mixes NULL and
    numbers costs more than a class of any numbers.
    """
    numbers = [isinstance(column, Numbers) for column in table.columns]
    parts: list[npt.NDArray[np.float64]] = []
    codes: list[npt.NDArray[np.int32]] = []
    square: list[float] = []
    if not any(numbers):
        return None
    for i, number in enumerate(numbers):
        points = table.points[:, i]
        weight = 1.0 if table.weights is None else float(table.weights[i])
        if number:
            null = points == NULL_POINT
            values = points[~null]
            spread = values.std() if len(values) else 0.0
            centred = np.where(null, 0.0, points - (values.mean() if len(values) else 0.0))
            parts.append(np.sqrt(weight) * centred / (spread or 1.0))
            parts += [np.sqrt(weight) * null * (2.0 * k)] * bool(null.any())
            continue
        value_codes = points.astype(np.int64)
        counts = np.bincount(value_codes)
        used = counts > 0
        distinct = int(used.sum())
        if distinct > MAX_AXES:
            return None
        codes.append(((np.cumsum(used) - 1)[value_codes] + len(square)).astype(np.int32))
        shares = counts[used] / len(value_codes)
        square += [weight / (float((shares * (1 - shares)).sum()) or 1.0)] * distinct
    if len(parts) + len(square) > MAX_AXES:
        return None
    none = np.zeros((table.rows, 0), np.int32)
    return kernels.microaggregation.points_of(
        np.column_stack(parts), np.column_stack([none, *codes]), np.array(square)
    )


def sum_of_squares(x: "kernels.microaggregation.Points", classes: npt.NDArray[np.int32]) -> float:
    """Return the sum of squared distances of rows from the means of their classes."""
    order, starts = kernels.hashing.group(classes, int(classes.max()) + 1)
    return float(kernels.microaggregation.squares_of(x, order, starts))


PIECE_ROWS = (1 << 8, 1 << 12)  # of a piece, least and most
AIMED_PAIRS = 1 << 27  # rows times rows of a piece
EXTRA_ROWS = (0, 1, 2)  # of every second class above k, in the starts of which the best is taken
ROW_PROPOSALS = (28, 32, 256)  # per row and start: at least, and at most of 'fast' and 'good'
AIMED_PROPOSALS = 1 << 22  # of all rows
MAX_RESTART_AXES = 1 << 18  # of all rows, up to which several starts are tried
NEAR_ROWS = 24  # of each row
HOT, AGAIN, COLD = 0.5, 0.1, 0.005  # temperatures, in units of the mean square of a row
IDLE_ROUNDS = 5  # without gain, one after another, that end the search

Classes = npt.NDArray[np.int32]


def microaggregate(
    x: "kernels.microaggregation.Points",
    order: Order,
    k: int,
    call: Call[Any],
    until: float | None = None,
) -> Classes:
    """Return classes of k to 2k - 1 rows, int32[n].

    The option ``effort`` sets the number of starts; 'best' searches on until ``until`` or for
    the option ``rounds``.

    x: the points.
    order: int32[n], rows with near ones together.
    k: least rows of a class.
    until: time at which the search ends, see ``working_time``.
    """
    effort, n = call.options.effort, len(x.length)
    size = max(int(np.clip(AIMED_PAIRS // n, *PIECE_ROWS)), 8 * k)
    fewest, fast, good = ROW_PROPOSALS
    proposals = int(np.clip(AIMED_PROPOSALS // n, fewest, fast if effort == "fast" else good))
    extra_rows = EXTRA_ROWS[:1] if effort == "fast" or n * x.axes > MAX_RESTART_AXES else EXTRA_ROWS
    parts = pieces(n, size)
    jobs = [
        (x.only(order[begin:end]), k, extra_rows, proposals, (call.seed % 2**64, i))
        for i, (begin, end) in enumerate(parts)
    ]
    piece_classes = call.workers.map(_start, jobs, [end - begin for begin, end in parts])
    first_ids = np.cumsum([0, *(int(local_classes.max()) + 1 for local_classes in piece_classes)])
    classes = np.empty(n, np.int32)
    for (begin, end), local_classes, first_id in zip(parts, piece_classes, first_ids, strict=False):
        classes[order[begin:end]] = local_classes + np.int32(first_id)
    return _search(x, order, classes, k, size, call, until) if effort == "best" else classes


def _start(
    x: "kernels.microaggregation.Points",
    k: int,
    extra_rows: tuple[int, ...],
    proposals: int,
    stream: tuple[int, int],
) -> Classes:
    """Return the best classes of a piece's rows, from several starts; never worse than MDAV."""
    near = _near(x)
    starts = [kernels.microaggregation.mdav(x, k, extra) for extra in extra_rows]
    tried = [
        _annealed(x, start, near, k, proposals, HOT, (*stream, i)) for i, start in enumerate(starts)
    ]
    return min([starts[0], *tried], key=lambda classes: sum_of_squares(x, classes))


def _annealed(
    x: "kernels.microaggregation.Points",
    classes: Classes,
    near: npt.NDArray[np.int32],
    k: int,
    proposals: int,
    hot: float,
    stream: tuple[int, ...],
) -> Classes:
    """Return classes after annealing, from 0 without gaps; the SSE may be greater."""
    max_rows, seeds = 2 * k - 1, np.random.default_rng(stream).integers(2**63, size=2)
    for heat, share, seed in ((hot, 1, seeds[0]), (min(hot, AGAIN), 2, seeds[1])):
        state = kernels.microaggregation.means_of(x, classes, 2 * k)
        unit = kernels.microaggregation.squares(state) / len(classes)
        if unit <= 1e-12 or len(state.size) < 2:
            break
        steps = proposals * len(classes) // share
        kernels.microaggregation.anneal(
            state, near, k, max_rows, steps, heat * unit, COLD * unit, np.uint64(seed)
        )
        kernels.microaggregation.dissolve(state, near, max_rows)
        classes = np.unique(state.home, return_inverse=True)[1].reshape(-1).astype(np.int32)
    return classes


def _near(x: "kernels.microaggregation.Points") -> npt.NDArray[np.int32]:
    """Return the rows near each row of a piece, int32[m, NEAR_ROWS]."""
    width = np.sqrt(x.square)
    reach = 2 * max(np.abs(x.numbers).max(initial=0.0), width.max(initial=0.0)) or 1.0
    columns = np.column_stack([x.numbers / reach, x.codes]).astype(np.float32)
    weights = np.ones(columns.shape[1], np.float32)  # distances of columns are capped at 1
    weights[x.numbers.shape[1] :] = 2 * width[x.codes[0]] / reach
    rows = np.arange(len(columns), dtype=np.int32)
    near: npt.NDArray[np.int32] = kernels.k_member.near_rows(
        np.ascontiguousarray(columns.T), weights, rows, NEAR_ROWS
    )
    return near


def _search(
    x: "kernels.microaggregation.Points",
    order: Order,
    classes: Classes,
    k: int,
    size: int,
    call: Call[Any],
    until: float | None,
) -> Classes:
    """Return classes of less SSE: round after round other neighbouring classes are annealed."""

    rounds, position = call.options.rounds, np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    done_rounds = idle_rounds = 0
    while (
        (rounds is None or done_rounds < rounds)
        and idle_rounds < IDLE_ROUNDS
        and not is_late(until)
    ):
        rows, starts = kernels.hashing.group(classes, int(classes.max()) + 1)
        line = np.argsort(np.minimum.reduceat(position[rows], starts[:-1]), kind="stable")
        ends = np.cumsum(np.diff(starts)[line])
        offset = size // 2 * (done_rounds % 2)
        inner = np.searchsorted(ends, np.arange(offset, len(order) - size // 2, size)).tolist()
        cuts = sorted({0, *inner, len(line)})
        groups = [
            [rows[starts[c] : starts[c + 1]] for c in line[begin:end]]
            for begin, end in pairwise(cuts)
        ]
        jobs = [
            (x, group_classes, k, (call.seed % 2**64, done_rounds, i), until)
            for i, group_classes in enumerate(groups)
        ]
        better: list[Any] = call.workers.map(
            _again, jobs, [sum(map(len, group_classes)) for group_classes in groups]
        )
        gained = False
        for group_classes, new_classes in zip(groups, better, strict=True):
            if new_classes is not None:
                classes[np.concatenate(group_classes)] = classes.max() + 1 + new_classes
                gained = True
        classes = np.unique(classes, return_inverse=True)[1].reshape(-1).astype(np.int32)
        done_rounds, idle_rounds = done_rounds + 1, 0 if gained else idle_rounds + 1
    return classes


def _again(
    x: "kernels.microaggregation.Points",
    group_classes: list[Any],
    k: int,
    stream: tuple[int, ...],
    until: float | None,
) -> Classes | None:
    """Return classes of less SSE of the rows of some classes; None without gain."""
    if is_late(until):
        return None
    rows = x.only(np.concatenate(group_classes))
    classes = np.repeat(
        np.arange(len(group_classes), dtype=np.int32),
        [len(class_rows) for class_rows in group_classes],
    )
    hot = HOT * 0.5 ** (stream[1] % 4)
    annealed = _annealed(rows, classes, _near(rows), k, 4 * ROW_PROPOSALS[2], hot, stream)
    saved = sum_of_squares(rows, classes) - sum_of_squares(rows, annealed)
    return annealed if saved > 1e-9 else None


Standardized = npt.NDArray[np.float32]


def standardized(table: QuasiTable) -> Standardized:
    """Return features float32[n, D] in canonical order: one a number, one each value of a category.

    Each quasi-identifier has total variance 1, so that a rare category weighs no more than another.
    NULL is a value of a category; of a number it is replaced by the mean, and a further feature
    marks it.
    """
    parts = []
    for i, column in enumerate(table.columns):
        points = table.points[:, i]
        if isinstance(column, Numbers):
            null = points == NULL_POINT
            mean = points[~null].mean() if not null.all() else 0.0
            numbers = np.where(null, mean, points)
            parts += [_scaled(numbers[:, None])] + [_scaled(null[:, None])] * bool(null.any())
        else:
            _, code = np.unique(points, return_inverse=True)
            parts.append(_scaled(code.reshape(-1, 1) == np.arange(int(code.max(initial=0)) + 1)))
    return np.concatenate(parts, axis=1)


def _scaled(columns: npt.NDArray[np.float64] | npt.NDArray[np.bool_]) -> Standardized:
    spread = np.sqrt(columns.var(axis=0).sum())
    centred = columns - columns.mean(axis=0)
    return np.asarray(centred / (spread or 1.0), np.float32)


MAX_STEPS = 10  # at most; the sum of squares decreases little after the first four
CHECK_CELLS = 1 << 24  # distances computed between two tests for Ctrl-C, some .05 s


def k_means(
    features: Standardized, count: int, seed: int, workers: Workers
) -> npt.NDArray[np.int32]:
    """Return the cluster of each row, int32[n], from 0 without gaps, at most ``count`` of them.

    Lloyd's algorithm from random distinct rows. A block of rows is one thread's work, since sums of
    floats in BLAS depend on the number of threads. If a centre is nearest to no row, it stays.
    Raises AnonError if the extra ml is not installed.
    """
    threadpool_limits = limits(workers.function)
    distinct, _ = distinct_rows(workers.function, features)
    chosen = distinct[np.random.default_rng(seed).permutation(len(distinct))[:count]]
    centres, clusters = features[chosen], np.full(len(features), -1, dtype=np.int32)
    rows = max(CHECK_CELLS // len(centres), 1)
    blocks = [features[first_row : first_row + rows] for first_row in range(0, len(features), rows)]
    cells = [len(block) * len(centres) for block in blocks]
    with threadpool_limits(1), Progress(workers.function, MAX_STEPS * sum(cells)) as progress:
        progress.note = "k-means"
        shared = Workers(workers.function, workers.threads, progress)
        for _ in range(MAX_STEPS):
            halves = (centres * centres).sum(axis=1) / 2
            jobs = [(block, centres, halves) for block in blocks]
            nearest = np.concatenate(shared.map(_nearest, jobs, cells))
            if np.array_equal(nearest, clusters):
                break
            centres, clusters = _means(features, nearest, centres), nearest
    _, dense = np.unique(clusters, return_inverse=True)
    return np.asarray(dense, np.int32).reshape(-1)


def _nearest(
    block: Standardized, centres: Standardized, halves: npt.NDArray[np.float32]
) -> npt.NDArray[np.int32]:
    """Return the nearest centre of each row, the first of equal ones; halves: its square / 2."""
    return np.asarray((halves - block @ centres.T).argmin(axis=1), np.int32)


def _means(
    features: Standardized, clusters: npt.NDArray[np.int32], centres: Standardized
) -> Standardized:
    """Return the mean of each cluster, and the centre of a cluster without rows."""
    size = np.bincount(clusters, minlength=len(centres))
    sums = [np.bincount(clusters, column, len(centres)) for column in features.T]
    means = np.stack(sums, axis=1) / np.maximum(size, 1)[:, None]
    return np.where(size[:, None] > 0, means, centres).astype(np.float32)


def limits(function: str) -> Any:
    """Return what limits BLAS to some threads. Raises AnonError if it is not installed."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        rule = "k-means needs the extra ml"
        raise not_installed(function, rule, "no package threadpoolctl", "ml") from None
    return threadpool_limits
