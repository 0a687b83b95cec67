"""Improve the classes of a small table by exchanging rows between near ones.

Annealings as in ``searching``, but of all rows at once, with a kernel that is compiled in little
time, and with other numbers of classes too: short ones determine the number that loses least, long
ones follow. Source: this project.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.running import Workers
from anon_sql.core.table import QuasiTable

NEAR_ROWS, RANDOM_ROWS = 10, 2  # with which each row is compared
SHORT_TRIALS, LONG_TRIALS = 6, 2  # short and long annealings
HOT, COLD = (3.0, 1.0), 0.02  # temperatures: the first of short and of long ones, and the last
STEP_PART = 8  # the part of the classes by which their number is first changed
MIN_PROPOSALS, CUBE_SHARE, SQUARE_SHARE = 5120, 1 / 30, 8.0  # of a long one, by n³ or n²
SHORT_FACTOR = 3  # how many times fewer a short one has
MAX_CELLS = 1 << 27  # values that are looked at in a long one, at most

Classes = npt.NDArray[np.int32]
Anneal = Callable[[Classes, int, int, float], tuple[Classes, float]]


def improve_few(table: QuasiTable, classes: Classes, k: int, workers: Workers) -> Classes:
    """Return classes of k to 2k - 1 rows that lose at most what the initial ones lose, int32[n].

    No clock and no seed of the call decides the result.

    classes: int32[n], of k to 2k - 1 rows each, from 0 without gaps.
    """
    n, d = table.points.shape
    if n < 2 * k:
        return classes
    proposals = max(MIN_PROPOSALS, int(min(CUBE_SHARE * n**3, SQUARE_SHARE * n**2)))
    long_proposals = max(min(proposals, MAX_CELLS // (4 * k * d)), SHORT_FACTOR)
    anneal, limits = annealing(table, k, workers), (-(-n // (2 * k - 1)), n // k)
    best, loss = anneal(classes, 0, long_proposals // SHORT_FACTOR, HOT[1])
    step, tried = max(number(best) // STEP_PART, 1), {number(best)}
    for trial in range(1, SHORT_TRIALS + LONG_TRIALS):
        if loss <= 0:
            break
        if trial < SHORT_TRIALS:
            count, step = untried(number(best), step, tried, limits)
            annealed, annealed_loss = anneal(
                evenly(best, count), trial, long_proposals // SHORT_FACTOR, HOT[0]
            )
        else:
            annealed, annealed_loss = anneal(best, trial, long_proposals, HOT[1])
        best, loss = (annealed, annealed_loss) if annealed_loss < loss - 1e-9 else (best, loss)
    return best


def number(classes: Classes) -> int:
    """Return the number of classes."""
    return int(classes.max()) + 1


def untried(count: int, step: int, tried: set[int], limits: tuple[int, int]) -> tuple[int, int]:
    """Return a number of classes that was not tried, which ``tried`` then has, and its distance.

    The distances from ``count`` are ``step``, half of it and so on, then the least.

    limits: least and largest number of classes; once all were tried, they are tried again.
    """
    low, high = limits
    if len(tried) > high - low:
        tried.clear()
    halves = [step >> times for times in range(step.bit_length())]
    chosen = next(
        (candidate, distance)
        for distance in [*halves, *range(high - low + 1)]
        for candidate in (count + distance, count - distance)
        if low <= candidate <= high and candidate not in tried
    )
    tried.add(chosen[0])
    return chosen


def evenly(classes: Classes, count: int) -> Classes:
    """Return ``count`` classes of almost equal size, of rows in the order of their classes."""
    n = len(classes)
    even = np.empty(n, np.int32)
    even[np.argsort(classes, kind="stable")] = np.arange(n) * count // n
    return even


def annealing(table: QuasiTable, k: int, workers: Workers) -> Anneal:
    """Return a function that anneals classes and returns better ones, or the same, and their loss.

    It takes classes, a seed, a number of proposals and the first temperature.
    """
    codes = int(table.model.null[table.model.kind == kernels.loss.SET].max(initial=0)) + 1
    near, seen = near_rows(table), np.zeros(codes + 1, np.int64)
    columns = np.ascontiguousarray(table.points.T)

    def anneal(classes: Classes, seed: int, proposals: int, hot: float) -> tuple[Classes, float]:
        home, sizes = classes.astype(np.int32), np.bincount(classes)
        members = np.full((len(sizes), 2 * k), -1, np.int32)
        members[np.arange(2 * k) < sizes[:, None]] = np.argsort(classes, kind="stable")
        state = home, members, sizes, seen
        job = columns, table.model, near, state, k, proposals, hot, COLD, np.uint64(seed)
        ((before, after),) = workers.map(kernels.annealing_few.anneal_few, [job], [table.rows])
        return (home, after) if after < before - 1e-9 else (classes, before)

    return anneal


def near_rows(table: QuasiTable) -> npt.NDArray[np.int32]:
    """Return the rows nearest to each row by what a class of both loses, int32[n, …].

    Among equally near rows the first are taken. Some rows at random follow, since the nearest ones
    may all be equal. Leaves of a hierarchy are compared by their places.
    """
    n, model = table.rows, table.model
    distances = np.zeros((n, n), np.float32)
    for values, kind, weight, null, distinct in zip(
        table.points.T, model.kind, model.weight, model.null, model.values, strict=True
    ):
        points = values.astype(np.float32)
        if kind == kernels.loss.SET:
            distance = (points[:, None] != points) * np.float32(2 * weight / max(distinct, 1))
        else:
            points *= np.float32(weight / max(null, 1) if kind == kernels.loss.TREE else 1)
            distance = np.abs(points[:, None] - points)
        missing = values == null
        if missing.any():
            distance[missing[:, None] != missing] = weight
        distances += np.minimum(distance, np.float32(weight), out=distance)
    np.fill_diagonal(distances, np.inf)
    count = min(NEAR_ROWS, n - 1)
    # distance and row in one number, since which of equal ones NumPy takes depends on the processor
    keys = distances.view(np.uint32).astype(np.uint64) << np.uint64(32)
    keys |= np.arange(n, dtype=np.uint64)
    nearest = np.sort(np.partition(keys, count - 1, axis=1)[:, :count]) & np.uint64(0xFFFFFFFF)
    random_rows = np.random.default_rng(0).integers(0, n, (n, RANDOM_ROWS))
    return np.hstack([nearest, random_rows]).astype(np.int32)
