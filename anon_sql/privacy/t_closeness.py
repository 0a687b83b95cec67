"""t-closeness: the sensitive values of a class are distributed nearly as those of the raw table.

Li et al. 2007 (t-Closeness: Privacy beyond k-anonymity and l-diversity), section 4: the earth
mover's distance. With m rows in the class and n in the table a share is a count times n or m, so
that all sums are of whole numbers, and one division at the end gives the distance.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.columns import is_number
from anon_sql.core.hierarchy.column import hierarchical
from anon_sql.core.hierarchy.tree import HierarchyTree
from anon_sql.core.parameters import Number, param
from anon_sql.errors import AnonError
from anon_sql.privacy.class_values import ClassValues, Floats, Ground, Ints, TableValues
from anon_sql.privacy.model import ValueModel


@dataclass(frozen=True)
class TCloseness(ValueModel):
    """The values of each sensitive column are distributed in a class nearly as in the table.

    Its kernel is ``kernels.legality.short_of_t``, by the ordered or the equal distance: the latter
    is an upper bound of that by a hierarchy.
    """

    name = "t"
    title = "t-closeness"
    reference = "Li et al. 2007"
    broken = "A person's group says more about the sensitive value than allowed."
    named_with = ("l", "t")
    worst = "The largest distance of a class's sensitive values from those of the table"
    compares = True
    mixes = True
    by_distance = True
    measured = True

    t: float = param(
        1.0,
        Number(0, 1),
        "largest allowed distance of a sensitive column's distribution in a class from that in "
        "the table, 0…1",
        bound=True,
    )

    @property
    def rules(self) -> Mapping[str, Any]:
        return {"t": float(self.t)}

    def measure(self, values: ClassValues, table: TableValues) -> Floats:
        """Return the distance of each class from the raw table, by its ground distance."""
        by = table.ground
        if by.tree is not None and by.leaf_of is not None:
            return tree_distance(values, table, by.tree, by.leaf_of)
        return ordered_distance(values, table) if by.ordered else equal_distance(values, table)


_MAX_INT64_SUM = 2**60  # larger numbers are summed as Python's


def with_ground(
    function: str,
    name: str,
    sql_type: str,
    table: TableValues,
    values: pa.Array | None,
    listed: pa.StructArray | None,
    is_ordered: bool = False,
) -> TableValues:
    """Return the values of a sensitive column with their ground distance.

    Raises AnonError if the rows of the hierarchy are not a tree or lack a value.

    values: what each key stands for, needed for a hierarchy alone; None without.
    listed: its rows of the hierarchy, see ``rows_of``.
    is_ordered: whether it is declared as ordered.
    """
    ordered = (is_ordered or ranked(function, name, sql_type)) and not table.nulls
    if listed is None or values is None or values.null_count == len(values):
        return replace(table, ground=Ground(ordered))
    column = hierarchical(function, name, sql_type, values, listed, hidden=True)
    leaf_of = np.where(column.codes == column.null_code, -1, column.codes).astype(np.int64)
    return replace(table, ground=Ground(ordered, column.tree, leaf_of))


def require_in_table(
    function: str, values: Mapping[str, ClassValues], tables: Mapping[str, TableValues]
) -> None:
    """Raise AnonError if a class has a value that the raw table lacks, in any column."""
    missing = sum(
        int(column_values.counts[column_values.places(tables[name]) < 0].sum())
        for name, column_values in values.items()
    )
    if missing:
        raise AnonError(
            function,
            "every sensitive value of the release must stand in the raw table",
            f"{missing} rows with one that does not",
            "the raw table comes first and its release second",
        )


def equal_distance(values: ClassValues, table: TableValues) -> Floats:
    """Return the distance of each class if any move costs 1, float64[m]."""
    m, n, table_counts = values.sizes, table.rows, table.counts[values.places(table)]
    expected = table_counts * m[values.class_of]
    # values that a class lacks add their share to the sum, which is 1 in all
    over = np.abs(values.counts * n - expected) - expected
    return _share(_sums(over, values.starts) + m * n, 2 * m * n)


def ordered_distance(values: ClassValues, table: TableValues) -> Floats:
    """Return the distance of each class if a move to the next value costs 1 / (v - 1), float64[m].

    Between two values of a class its running share stays and the table's rises, so that it is
    passed at one rank at most, and running sums have the costs on either side.
    """
    v, n, sizes, starts = len(table.keys), table.rows, values.sizes, values.starts
    wide = 4 * v * n * int(sizes.max(initial=0)) >= _MAX_INT64_SUM
    kind = object if wide else np.int64
    below = np.append(0, np.cumsum(table.counts)).astype(kind)  # rows up to each rank
    area = np.cumsum(below)  # and their sums
    m = sizes[values.class_of].astype(kind)
    running = np.cumsum(values.counts)
    cumulated = running - np.append(0, running)[starts][values.class_of]  # rows up to each group
    scaled = cumulated.astype(kind) * n
    rank = values.places(table)  # ranks from 0
    last = np.append(starts[1:], len(rank)) - 1
    next_rank = np.append(rank[1:], v)
    next_rank[last] = v
    crossed = (cumulated * n - 1) // sizes[values.class_of]
    crossing = np.clip(
        np.searchsorted(np.cumsum(table.counts), crossed, side="right"), rank, next_rank
    )
    ranks_before, ranks_after = (crossing - rank).astype(kind), (next_rank - crossing).astype(kind)
    costs = scaled * (ranks_before - ranks_after) + m * (
        area[rank] + area[next_rank] - 2 * area[crossing]
    )
    costs[starts] += m[starts] * area[rank[starts]]
    largest = np.maximum(v - 1, 1) * sizes.astype(kind) * n
    return _share(_sums(costs, starts), largest)


def tree_distance(
    values: ClassValues, table: TableValues, tree: HierarchyTree, leaf_of: Ints
) -> Floats:
    """Return the distance of each class by a hierarchy, float64[m].

    A move costs the height of the lowest node above both values / the height of the tree.

    leaf_of: int64[v], the leaf of each value of ``table``; NULL is -1, a child of the root.
    """
    sizes, n, height = values.sizes, table.rows, tree.heights
    parent = np.append(tree.parent, tree.root)  # the last node is NULL
    node_of = np.where(leaf_of < 0, len(tree.names), leaf_of)
    _, nodes, counts = _climb(
        parent, tree.root, node_of, np.zeros(len(node_of), np.int64), table.counts
    )
    total = np.zeros(len(parent), dtype=np.int64)
    total[nodes], total[tree.root] = counts, n
    leaves = node_of[values.places(table)]
    classes, nodes, counts = _climb(parent, tree.root, leaves, values.class_of, values.counts)
    m = sizes[classes]
    excess = counts * n - total[nodes] * m
    parents = classes * len(parent) + parent[nodes]
    order = np.argsort(parents, kind="stable")
    starts = np.flatnonzero(np.diff(parents[order], prepend=-1))
    firsts = parents[order][starts]
    node, of_class = firsts % len(parent), firsts // len(parent)
    # what a node's children have too much, less what the node has too much, is what they lack
    surplus = _sums(np.maximum(excess, 0)[order], starts)
    own_surplus = _sums((counts * n)[order], starts) - total[node] * sizes[of_class]
    costs = height[node] * np.minimum(surplus, surplus - own_surplus)
    begins = np.flatnonzero(np.diff(of_class, prepend=-1))
    return _share(_sums(costs, begins), np.maximum(height[tree.root], 1) * sizes * n)


class _NodeCounts(NamedTuple):
    """Counts of each class at nodes below the root: classes, nodes, counts: int64[e]."""

    classes: Ints
    nodes: Ints
    counts: Ints


def _climb(parent: Ints, root: int, nodes: Ints, classes: Ints, counts: Ints) -> _NodeCounts:
    """Return the counts of each class at every node below the root: classes, nodes, counts."""
    levels = []
    while len(nodes):
        levels.append((classes, nodes, counts))
        nodes = parent[nodes]
        inner = nodes != root
        nodes, classes, counts = nodes[inner], classes[inner], counts[inner]
    classes, nodes, counts = (np.concatenate(parts) for parts in zip(*levels, strict=True))
    pairs = classes * len(parent) + nodes
    order = np.argsort(pairs, kind="stable")
    starts = np.flatnonzero(np.diff(pairs[order], prepend=-1))
    firsts = pairs[order][starts]
    return _NodeCounts(firsts // len(parent), firsts % len(parent), _sums(counts[order], starts))


def _sums(values: npt.NDArray[Any], starts: Ints) -> npt.NDArray[Any]:
    """Return the sum of each run of values.

    starts: where the runs start.
    """
    return np.add.reduceat(values, starts)


def _share(part: npt.NDArray[Any], total: npt.NDArray[Any]) -> Floats:
    """Return quotients of whole numbers."""
    return part.astype(np.float64) / total.astype(np.float64)


def ranked(function: str, name: str, sql_type: str) -> bool:
    """Return whether t uses the ordered distance for a column: numbers, dates and times."""
    try:
        return is_number(function, name, sql_type)
    except AnonError:
        return False
