"""Rows and classes that cannot stand alone join the class whose loss grows least by them."""

import numpy as np
import numpy.typing as npt

from anon_sql.constraints import Constraint
from anon_sql.table import QuasiTable
from anon_sql.workers import Workers

JOB = 1 << 24  # comparisons of two classes in a job


def join_nearest(
    table: QuasiTable,
    classes: npt.NDArray[np.int32],
    short: npt.NDArray[np.bool_],
    workers: Workers,
) -> npt.NDArray[np.int32]:
    """Class ids int32[n] after every class marked in ``short`` (bool[m]) joined a legal one.

    Each looks at the legal classes as they were before any joined, so the order is of no
    matter; where there is none, all rows become one class.
    """
    from anon_sql.kernels import grouping, nearness

    if not short.any():
        return classes
    targets = np.flatnonzero(~short)
    if len(targets) == 0:
        return np.zeros_like(classes)
    order, starts = grouping.group(classes, len(short))
    known = nearness.profiles(table.points, table.model, order, starts)
    wanted = np.flatnonzero(short)
    step = max(1, JOB // len(targets))
    parts = [wanted[at : at + step] for at in range(0, len(wanted), step)]
    found = workers.map(
        nearness.nearest,
        [(part, targets, table.model, starts, *known) for part in parts],
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
    mode: str,
    workers: Workers,
) -> npt.NDArray[np.int32]:
    """Suppressed rows (-1) stay so where they may be shown together, else each joins a class.

    mode 'drop' leaves them out of the release, where they need no company.
    """
    suppressed = classes < 0
    count = int(suppressed.sum())
    if count == 0 or mode == "drop" or constraint.allows(np.flatnonzero(suppressed)):
        return classes
    first = int(classes.max()) + 1
    alone = classes.copy()
    alone[suppressed] = first + np.arange(count, dtype=np.int32)
    short = np.arange(first + count) >= first
    return dense(join_nearest(table, alone, short, workers))


def accompany_suppressed(
    classes: npt.NDArray[np.int32], constraint: Constraint, mode: str
) -> npt.NDArray[np.int32]:
    """Suppressed rows (-1) stay so, and where they may not be shown together, the rows of the
    smallest classes join them (ties: lower id): for a method whose labels no row may change.

    mode 'drop' leaves them out of the release, where they need no company.
    """
    suppressed = classes < 0
    if not suppressed.any() or mode == "drop":
        return dense(classes)
    joined = dense(classes)
    sizes = np.bincount(joined[joined >= 0])
    for smallest in np.argsort(sizes, kind="stable"):
        if constraint.allows(np.flatnonzero(joined < 0)):
            break
        joined[joined == smallest] = -1
    return dense(joined)


def dense(classes: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """The same classes with ids that run from 0 without gaps; -1 stays."""
    used = np.zeros(int(classes.max(initial=-1)) + 2, dtype=np.bool_)
    used[classes] = True  # -1 marks the last place, which is no class
    ids = np.cumsum(used[:-1], dtype=np.int32) - np.int32(1)
    result: npt.NDArray[np.int32] = np.where(classes >= 0, np.append(ids, -1)[classes], -1)
    return result.astype(np.int32)
