"""t-closeness: the sensitive values of a class are distributed nearly as those of the raw table.

Li et al. 2007 (t-Closeness: Privacy beyond k-anonymity and l-diversity), section 4: the earth
mover's distance. With m rows in the class and n in the table a share is a count times n or m, so
that all sums are of whole numbers, and one division at the end gives the distance.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

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


_WIDE = 2**60  # sums of larger numbers are of Python's own


def with_ground(
    function: str,
    name: str,
    sql_type: str,
    table: TableValues,
    values: pa.Array | None,
    listed: pa.StructArray | None,
) -> TableValues:
    """Return the values of a sensitive column with their ground distance.

    values: what each key stands for, which a hierarchy alone asks for; listed: its rows of the
    hierarchy, see ``rows_of``. Raises AnonError where these are no tree or lack a value.
    """
    ordered = ranked(function, name, sql_type) and not table.nulls
    if listed is None or values is None or values.null_count == len(values):
        return replace(table, ground=Ground(ordered))
    found = hierarchical(function, name, sql_type, values, listed, hidden=True)
    leaf_of = np.where(found.codes == found.null_code, -1, found.codes).astype(np.int64)
    return replace(table, ground=Ground(ordered, found.tree, leaf_of))


def require_in_table(
    function: str, values: Mapping[str, ClassValues], tables: Mapping[str, TableValues]
) -> None:
    """Raise AnonError where a class has a value that the raw table lacks, in any column."""
    missing = sum(
        int(each.counts[each.places(tables[name]) < 0].sum()) for name, each in values.items()
    )
    if missing:
        raise AnonError(
            function,
            "every sensitive value of the release must stand in the raw table",
            f"{missing} rows with one that does not",
            "the raw table comes first and its release second",
        )


def equal_distance(values: ClassValues, table: TableValues) -> Floats:
    """Return the distance of each class where any move costs 1, float64[m]."""
    m, n, often = values.sizes, table.rows, table.counts[values.places(table)]
    due = often * m[values.class_of]
    # values that a class lacks add their share to the sum, which is 1 in all
    over = np.abs(values.counts * n - due) - due
    return _share(_sums(over, values.starts) + m * n, 2 * m * n)


def ordered_distance(values: ClassValues, table: TableValues) -> Floats:
    """Return the distance of each class where a move to the next value costs 1 / (v - 1).

    Between two values of a class its running share stays and the table's rises, so that it is
    passed at one rank at most, and running sums say what lies on either side.
    """
    v, n, sizes, starts = len(table.keys), table.rows, values.sizes, values.starts
    wide = 4 * v * n * int(sizes.max(initial=0)) >= _WIDE
    kind = object if wide else np.int64
    below = np.append(0, np.cumsum(table.counts)).astype(kind)  # rows up to each rank
    area = np.cumsum(below)  # and their sums
    m = sizes[values.class_of].astype(kind)
    running = np.cumsum(values.counts)
    within = running - np.append(0, running)[starts][values.class_of]  # rows up to each group
    reached = within.astype(kind) * n
    at = values.places(table)  # ranks from 0
    last = np.append(starts[1:], len(at)) - 1
    to = np.append(at[1:], v)
    to[last] = v
    passed = (within * n - 1) // sizes[values.class_of]
    passing = np.clip(np.searchsorted(np.cumsum(table.counts), passed, side="right"), at, to)
    left, right = (passing - at).astype(kind), (to - passing).astype(kind)
    moved = reached * (left - right) + m * (area[at] + area[to] - 2 * area[passing])
    moved[starts] += m[starts] * area[at[starts]]
    largest = np.maximum(v - 1, 1) * sizes.astype(kind) * n
    return _share(_sums(moved, starts), largest)


def tree_distance(
    values: ClassValues, table: TableValues, tree: HierarchyTree, leaf_of: Ints
) -> Floats:
    """Return the distance of each class where a move costs the height of the lowest node above both
    values / that of the tree.

    leaf_of: int64[v], the leaf of each value of ``table``; NULL is -1, a child of the root.
    """
    sizes, n, height = values.sizes, table.rows, tree.heights
    parent = np.append(tree.parent, tree.root)  # the last node is NULL
    at = np.where(leaf_of < 0, len(tree.names), leaf_of)
    _, nodes, counts = _climb(parent, tree.root, at, np.zeros(len(at), np.int64), table.counts)
    total = np.zeros(len(parent), dtype=np.int64)
    total[nodes], total[tree.root] = counts, n
    leaves = at[values.places(table)]
    classes, nodes, counts = _climb(parent, tree.root, leaves, values.class_of, values.counts)
    m = sizes[classes]
    excess = counts * n - total[nodes] * m
    above = classes * len(parent) + parent[nodes]
    order = np.argsort(above, kind="stable")
    starts = np.flatnonzero(np.diff(above[order], prepend=-1))
    once = above[order][starts]
    node, of_class = once % len(parent), once // len(parent)
    # what a node's children have too much, less what it has too much itself, is what they lack
    over = _sums(np.maximum(excess, 0)[order], starts)
    extra = _sums((counts * n)[order], starts) - total[node] * sizes[of_class]
    moved = height[node] * np.minimum(over, over - extra)
    begins = np.flatnonzero(np.diff(of_class, prepend=-1))
    return _share(_sums(moved, begins), np.maximum(height[tree.root], 1) * sizes * n)


def _climb(
    parent: Ints, root: int, nodes: Ints, classes: Ints, counts: Ints
) -> tuple[Ints, Ints, Ints]:
    """Return the counts of each class at every node below the root: classes, nodes, counts."""
    found = []
    while len(nodes):
        found.append((classes, nodes, counts))
        nodes = parent[nodes]
        inner = nodes != root
        nodes, classes, counts = nodes[inner], classes[inner], counts[inner]
    classes, nodes, counts = (np.concatenate(each) for each in zip(*found, strict=True))
    both = classes * len(parent) + nodes
    order = np.argsort(both, kind="stable")
    starts = np.flatnonzero(np.diff(both[order], prepend=-1))
    once = both[order][starts]
    return once // len(parent), once % len(parent), _sums(counts[order], starts)


def _sums(values: npt.NDArray[Any], starts: Ints) -> npt.NDArray[Any]:
    """Return the sum of each run of values; starts: where they start."""
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
