"""Merge classes until each satisfies k, l and t."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anon_sql.core.constraints import Constraint
from anon_sql.core.table import QuasiTable
from anon_sql.core.workers import Workers
from anon_sql.methods.parts.improving import total_loss
from anon_sql.methods.parts.joining import dense
from anon_sql.methods.parts.ordering import curve_order

STEPS = 1000  # merges between two tests for Ctrl-C


def merge_until_legal(
    table: QuasiTable,
    classes: npt.NDArray[np.int32],
    constraint: Constraint,
    workers: Workers,
) -> npt.NDArray[np.int32]:
    """Return class ids int32[n], merged until each class is legal; -1 (suppressed) stays.

    At worst one class is left; it is legal if the rows that are not suppressed are.
    """
    from anon_sql.kernels.hash.grouping import group
    from anon_sql.kernels.legal.merging import classes_of, merge

    kept = classes >= 0
    if constraint.rules is None or not kept.any():
        return classes
    own, rules = table.only(kept), constraint.only(kept).rules
    numbered = along(dense(classes[kept]), curve_order(own, workers))
    state = classes_of(own.points, own.model, rules, *group(numbered, int(numbered.max()) + 1))
    workers.repeat(merge, (state, own.model, rules, STEPS), len(state.size))
    last = state.becomes
    while (last[last] != last).any():
        last = last[last]
    merged = classes.copy()
    merged[kept] = last[numbered]
    return dense(merged)


def cheapest(table: QuasiTable, found: Sequence[npt.NDArray[np.int32]], workers: Workers) -> int:
    """Return which of several partitions loses least, the first of equals.

    All must suppress (-1) the same rows.
    """
    kept = found[0] >= 0
    own = table.only(kept)
    lost = [total_loss(own, dense(classes[kept]), workers) for classes in found]
    return int(np.argmin(np.round(lost, 9)))


def along(classes: npt.NDArray[np.int32], order: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return the classes, numbered from 0 by the place of their middle rows in an order of rows."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    by_class = np.lexsort((place, classes))
    starts = np.searchsorted(classes[by_class], np.arange(int(classes.max()) + 2))
    middle = place[by_class[(starts[:-1] + starts[1:]) // 2]]
    rank = np.empty(len(middle), np.int32)
    rank[np.argsort(middle)] = np.arange(len(middle), dtype=np.int32)
    return rank[classes]
