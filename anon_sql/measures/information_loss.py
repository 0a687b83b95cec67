"""ILoss of Byun et al. 2007: how far classes are generalized, summed over rows and columns."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anon_sql.core.columns import NULL_POINT, Numbers
from anon_sql.core.hierarchy.hierarchical import Hierarchical
from anon_sql.core.hierarchy.tree import Tree
from anon_sql.core.labels.nodes import nodes_of
from anon_sql.core.table import Column, QuasiTable

Rows = npt.NDArray[np.int32]
Starts = npt.NDArray[np.int64]


def information_loss(table: QuasiTable, classes: Rows, nodes: Rows | None) -> float:
    """Return the ILoss of classes: the sum over rows and columns of what each class loses.

    A number loses its range in the class / in the table; a text the height of its node / of its
    hierarchy, or without one 1 where the class has several values. NULL beside values loses 1.
    classes: int32[n], from 0; nodes: int32[n, d], of hierarchies, or None; rows as they came.
    """
    from anon_sql.kernels.hash import grouping

    order, starts = grouping.group(classes, int(classes.max()) + 1)
    chosen: Sequence[Rows | None] = [None] * len(table.columns) if nodes is None else list(nodes.T)
    pairs = zip(table.columns, chosen, strict=True)
    lost = sum((_lost(column, order, starts, given) for column, given in pairs), np.zeros(1))
    return float((np.diff(starts) * lost).sum())


def _lost(
    column: Column, order: Rows, starts: Starts, given: Rows | None
) -> npt.NDArray[np.float64]:
    """Return the loss of each class in one column, float64[m], 0 to 1."""
    from anon_sql.kernels.hash import grouping

    if isinstance(column, Hierarchical):
        node = nodes_of(column, order, starts, given)
        height = heights(column.tree)
        return np.where(node < 0, node != -1, height[node] / max(height.max(), 1))
    if isinstance(column, Numbers):
        present = column.points != NULL_POINT
        low, high, nulls = grouping.extremes(order, starts, column.keys, present)
        mixed = (nulls > 0) & (low >= 0)
        return np.where(mixed, 1.0, column.points[high] - column.points[low])
    ends, _ = grouping.distinct(order, starts, column.codes)
    return np.asarray(np.diff(ends) > 1, np.float64)


def heights(tree: Tree) -> npt.NDArray[np.int64]:
    """Return the lowest level at which each node stands above a leaf, int64; 0 for leaves."""
    found = np.zeros(len(tree.names), dtype=np.int64)
    for level in range(len(tree.levels) - 1, -1, -1):
        found[tree.levels[level]] = level
    return found
