"""Split legal classes into smaller legal ones, which together never lose more."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from anon_sql.core.constraints import Constraint
from anon_sql.core.table import QuasiTable
from anon_sql.core.workers import Workers

JOB = 1 << 16  # rows in a job


def split_classes(
    table: QuasiTable,
    classes: npt.NDArray[np.int32],
    constraint: Constraint,
    workers: Workers,
) -> npt.NDArray[np.int32]:
    """Return class ids int32[n] of smaller legal classes.

    classes: int32[n], legal, from 0 without gaps.
    """
    from anon_sql.kernels.hash.grouping import group
    from anon_sql.kernels.tree.stratified import split

    rules = constraint.rules
    assert rules is not None
    order, starts = group(classes, int(classes.max()) + 1)
    rank, strata = ranks(table), strata_of(constraint)
    edges = np.unique(np.searchsorted(starts, np.arange(0, len(order) + JOB, JOB)))
    edges[-1] = len(starts) - 1
    parts = [(starts[a], starts[b], starts[a : b + 1] - starts[a]) for a, b in pairwise(edges)]
    found = workers.map(
        split,
        [
            (table.points, table.model, rules, rank, strata, order[a:b], inner, constraint.smallest)
            for a, b, inner in parts
        ],
        [int(b - a) for a, b, _ in parts],
    )
    sizes = np.concatenate([np.diff(begins) for begins in found])
    smaller = np.empty_like(classes)
    smaller[order] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return smaller


def ranks(table: QuasiTable) -> npt.NDArray[np.int32]:
    """Return the rank of each value in its column, int32[n, d].

    Sets are ranked by frequency, NULL behind all values.
    """
    from anon_sql.kernels.loss.ncp import SET
    from anon_sql.kernels.tree.mondrian import order_sets

    rank = np.empty(table.points.shape, np.int32)
    for column, kind in enumerate(table.model.kind):
        values = table.points[:, column]
        if kind == SET:
            rank[:, column] = values
        else:
            rank[:, column] = np.unique(values, return_inverse=True)[1].reshape(-1)
    order_sets(rank, table.model)
    return rank


def strata_of(constraint: Constraint) -> npt.NDArray[np.int32]:
    """Return the stratum of each row, int32[n]: rows of equal sensitive values share one.

    Strata are numbered as the first column's values sort.
    """
    rules = constraint.rules
    assert rules is not None
    bags = range(len(constraint.names))
    values = [rules.value[bag][rules.keys[bag]] for bag in bags]
    if not values:
        return np.zeros(rules.keys.shape[1], np.int32)
    _, strata = np.unique(np.column_stack(values), axis=0, return_inverse=True)
    return np.asarray(strata.reshape(-1), np.int32)
