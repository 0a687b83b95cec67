"""Improve the classes of a small table by exchanging rows between near ones.

Annealings as in ``searching``, but of all rows at once, with a kernel that is compiled in little
time, and with other numbers of classes too: short ones find the number that loses least, long ones
follow. Source: this project.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.running import Workers
from anon_sql.core.table import QuasiTable

NEAR, OTHERS = 10, 2  # rows near each row, and at random
TRIALS, TURNS = 6, 2  # short and long annealings
HOT, COLD = (3.0, 1.0), 0.02  # temperatures: the first of short and of long ones, and the last
STEP = 8  # the part of the classes by which their number is first changed
LEAST, CUBE, SQUARE = 5120, 1 / 30, 8.0  # proposals of a long one: by n cubed or n squared
SHORT = 3  # how many times fewer a short one has
CELLS = 1 << 27  # values that are looked at in a long one, at most

Classes = npt.NDArray[np.int32]
Anneal = Callable[[Classes, int, int, float], tuple[Classes, float]]


def improve_few(table: QuasiTable, classes: Classes, k: int, workers: Workers) -> Classes:
    """Return classes of k to 2k - 1 rows that lose at most what the given ones lose, int32[n].

    classes: int32[n], of k to 2k - 1 rows each, from 0 without gaps. No clock and no seed of the
    call decides the result.
    """
    n, d = table.points.shape
    if n < 2 * k:
        return classes
    wanted = max(LEAST, int(min(CUBE * n**3, SQUARE * n**2)))
    long = max(min(wanted, CELLS // (4 * k * d)), SHORT)
    anneal, limits = annealing(table, k, workers), (-(-n // (2 * k - 1)), n // k)
    best, loss = anneal(classes, 0, long // SHORT, HOT[1])
    step, tried = max(number(best) // STEP, 1), {number(best)}
    for turn in range(1, TRIALS + TURNS):
        if loss <= 0:
            break
        if turn < TRIALS:
            many, step = untried(number(best), step, tried, limits)
            found, less = anneal(evenly(best, many), turn, long // SHORT, HOT[0])
        else:
            found, less = anneal(best, turn, long, HOT[1])
        best, loss = (found, less) if less < loss - 1e-9 else (best, loss)
    return best


def number(classes: Classes) -> int:
    """Return the number of classes."""
    return int(classes.max()) + 1


def untried(many: int, step: int, tried: set[int], limits: tuple[int, int]) -> tuple[int, int]:
    """Return a number of classes that was not tried, which ``tried`` then has, and its distance.

    The distances from ``many`` are ``step``, half of it and so on, then the least. limits: least
    and largest number of classes; once all were tried, they are tried again.
    """
    low, high = limits
    if len(tried) > high - low:
        tried.clear()
    halves = [step >> times for times in range(step.bit_length())]
    found = next(
        (other, far)
        for far in [*halves, *range(high - low + 1)]
        for other in (many + far, many - far)
        if low <= other <= high and other not in tried
    )
    tried.add(found[0])
    return found


def evenly(classes: Classes, count: int) -> Classes:
    """Return ``count`` classes of almost equal size, of rows in the order of their classes."""
    n = len(classes)
    found = np.empty(n, np.int32)
    found[np.argsort(classes, kind="stable")] = np.arange(n) * count // n
    return found


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

    Of equally near rows the first are taken. Some rows at random follow, since the nearest ones may
    all be equal. Leaves of a hierarchy are compared by their places.
    """
    n, model = table.rows, table.model
    far = np.zeros((n, n), np.float32)
    for values, kind, weight, null, distinct in zip(
        table.points.T, model.kind, model.weight, model.null, model.values, strict=True
    ):
        points = values.astype(np.float32)
        if kind == kernels.loss.SET:
            gap = (points[:, None] != points) * np.float32(2 * weight / max(distinct, 1))
        else:
            points *= np.float32(weight / max(null, 1) if kind == kernels.loss.TREE else 1)
            gap = np.abs(points[:, None] - points)
        missing = values == null
        if missing.any():
            gap[missing[:, None] != missing] = weight
        far += np.minimum(gap, np.float32(weight), out=gap)
    np.fill_diagonal(far, np.inf)
    near = min(NEAR, n - 1)
    # distance and row in one number, since which of equal ones NumPy takes depends on the processor
    keys = far.view(np.uint32).astype(np.uint64) << np.uint64(32)
    keys |= np.arange(n, dtype=np.uint64)
    nearest = np.sort(np.partition(keys, near - 1, axis=1)[:, :near]) & np.uint64(0xFFFFFFFF)
    others = np.random.default_rng(0).integers(0, n, (n, OTHERS))
    return np.hstack([nearest, others]).astype(np.int32)
