"""Merge classes with equal labels further if their union is not legal."""

import numpy as np
import numpy.typing as npt

from anon_sql.core.hierarchy.hierarchical import Hierarchical
from anon_sql.core.table import QuasiTable
from anon_sql.methods import Call
from anon_sql.methods.parts.merging import merge_until_legal
from anon_sql.pipeline.partition import Prepared, as_came
from anon_sql.pipeline.strata import each_stratum

Ids = npt.NDArray[np.int32]


def merge_alike(
    prepared: Prepared, groups: Ids, dropped: npt.NDArray[np.bool_], nodes: Ids | None
) -> tuple[Ids, Ids | None] | None:
    """Return new classes int32[n] and nodes int32[n, d], or None if every group is legal.

    groups: int32[n], the group of each row; rows with equal labels form a group. dropped: bool[m],
    groups that are left out of the release. nodes: int32[n, d] that the method chose, or None. Rows
    are in source order.

    The union of legal classes can be illegal only if persons are counted instead of rows. Groups
    are then merged, within their strata, until each is legal. If that is impossible without the
    dropped rows, a whole stratum becomes one class.
    """
    table, call = prepared.table, prepared.call
    limits = call.constraint
    if limits.rules is None or not limits.rules.persons:
        return None
    kept = np.where(dropped[groups], np.int32(-1), groups)[table.order]
    if (limits.legal(kept if call.real is None else kept[call.real], len(dropped)) | dropped).all():
        return None
    classes = np.full(table.rows, -1, np.int32)
    for rows, part in each_stratum(call, table.rows):
        own = _merged(table.only(rows), part, kept[rows], len(dropped))
        classes[rows] = np.where(own < 0, np.int32(-1), own + classes.max() + 1)
    found = as_came(table, classes)
    return found, None if nodes is None else common_nodes(table, found, nodes)


def _merged(table: QuasiTable, call: Call, kept: Ids, groups: int) -> Ids:
    """Return classes int32[n] of the groups int32[n] merged until legal, or one class of all rows.

    Both are in canonical order; -1 stays.
    """
    real = np.ones(table.rows, np.bool_) if call.real is None else call.real
    own = kept[real]
    merged = merge_until_legal(table.only(real), own, call.constraint, call.workers)
    if not call.constraint.legal(merged, int(merged.max()) + 1).all():
        return np.zeros(table.rows, np.int32)
    becomes = np.full(groups, -1, np.int32)
    becomes[own[own >= 0]] = merged[own >= 0]
    return np.where(kept < 0, np.int32(-1), becomes[kept])


def common_nodes(table: QuasiTable, classes: Ids, nodes: Ids) -> Ids:
    """Return for each row the lowest common ancestor of the nodes in its class, int32[n, d].

    The root is returned if a class has NULL (-1) and other nodes. classes: int32[n], from 0 without
    gaps, -1 for suppressed rows; nodes: int32[n, d], -1 also in columns without a hierarchy.
    """
    from anon_sql.kernels.hash.grouping import group

    result, kept = nodes.copy(), np.flatnonzero(classes >= 0)
    order, starts = group(classes[kept], int(classes.max()) + 1)
    rows, first = kept[order], starts[:-1]
    for at, column in enumerate(table.columns):
        if not isinstance(column, Hierarchical) or len(rows) == 0:
            continue
        tree, held = column.tree, nodes[rows, at]
        low = np.minimum.reduceat(np.where(held < 0, tree.leaves, tree.first[held]), first)
        high = np.maximum.reduceat(np.where(held < 0, -1, tree.last[held]), first)
        node = np.maximum.reduceat(held, first).astype(np.int64)
        while (below := (node >= 0) & ((tree.first[node] > low) | (tree.last[node] < high))).any():
            node[below] = tree.parent[node[below]]
        node[(node >= 0) & (np.minimum.reduceat(held, first) < 0)] = tree.root
        result[rows, at] = np.repeat(node, np.diff(starts))
    return result
