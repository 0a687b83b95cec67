"""Build the generalization hierarchy of an attribute as a tree over its values.

The rows of one attribute's hierarchy are read as paths from leaf to root, and faults in them are
reported. A row states that ``value`` is generalized to ``label`` at a level; level 1 is the first
above the value. A node is identified by its label: equal labels on two paths, or on successive
levels of one path, are the same node.

Leaves are numbered from left to right, so that the lowest common ancestor of a set of leaves is
that of the smallest and the largest number in it. The root and the other inner nodes follow, each
before its descendants.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.labels.grammar import quoted, text
from anon_sql.core.printing import cast, printed
from anon_sql.core.roles import fold
from anon_sql.core.stopping import watched
from anon_sql.errors import AnonError

STAR = "*"


@dataclass(frozen=True)
class Row:
    """A row of a hierarchy.

    leaf: the value as the column prints it; value: the value as written in the hierarchy.
    """

    leaf: str
    value: str
    level: int
    label: str


@dataclass(frozen=True)
class Fault:
    """A violation of a rule.

    fault: a key of ``RULES``. name: the value or label concerned. actual: what the hierarchy has
    instead. counted: ``actual`` without labels, if it contains any.
    """

    fault: str
    name: str
    actual: str
    counted: str = ""


TWICE, PARENTS, LEAF, ABOVE, BELOW = (
    *("listed twice", "two parents", "also a leaf", "above itself"),
    "* below a label",
)
RULES = {  # rule that each fault violates
    TWICE: "a hierarchy must list a value once",
    PARENTS: "a label of a hierarchy must have one parent",
    LEAF: "a label of a hierarchy must not be a value of another branch",
    ABOVE: "a label of a hierarchy must not be above itself",
    BELOW: "the label * of a hierarchy must be its root",
}


@dataclass(frozen=True)
class Paths:
    """The paths of a hierarchy.

    labels: of each leaf, from the lowest level to the highest. parents: the distinct parents of
    each node, in the order of the rows. twice: leaves with two labels at one level.
    """

    labels: dict[str, list[str]]
    parents: dict[str, list[str]]
    twice: list[str]

    def faults(self) -> Iterator[Fault]:
        """Yield every reason why the paths do not form a tree."""
        for leaf in self.twice:
            yield Fault(TWICE, leaf, "two labels at a level")
        inner: dict[str, int] = {}  # number of other leaves below each label
        for leaf, path in watched(self.labels.items()):
            for label in set(path):
                inner[label] = inner.get(label, 0) + (label != leaf)
        for label, above in watched(self.parents.items()):
            if len(above) > 1:
                yield Fault(PARENTS, label, ", ".join(sorted(above)), f"{len(above)} parents")
        for label in sorted(inner & self.labels.keys()):
            if inner[label]:
                yield Fault(LEAF, label, f"the label of {inner[label]:,} other values")
        for label in self._circular():
            yield Fault(ABOVE, label, "a path that comes back to it")
        if STAR in inner and self.parents.get(STAR):
            yield Fault(BELOW, STAR, ", ".join(sorted(self.parents[STAR])), "labels above it")

    def _circular(self) -> list[str]:
        """Return one label of each cycle, following nodes that have exactly one parent."""
        cycle_labels, seen = [], set[str]()
        for start in watched(self.parents):
            trail: dict[str, None] = {}
            node = start
            while node not in seen and node not in trail and len(self.parents.get(node, ())) == 1:
                trail[node] = None
                node = self.parents[node][0]
            if node in trail:
                cycle_labels.append(node)
            seen.update(trail)
        return cycle_labels


def read_paths(rows: Iterable[Row]) -> Paths:
    """Return the paths of rows given in any order."""
    levels_of: dict[str, dict[int, str]] = {}
    twice: dict[str, None] = {}
    for row in watched(rows):
        levels = levels_of.setdefault(row.leaf, {})
        if row.level in levels:
            twice[row.leaf] = None
        levels[row.level] = row.leaf if row.label == row.value else row.label
    labels = {
        leaf: [levels[level] for level in sorted(levels)] for leaf, levels in levels_of.items()
    }
    parents: dict[str, list[str]] = {}
    for leaf, path in watched(labels.items()):
        child = leaf
        for label in path:
            if label != child:
                parents_of_label = parents.setdefault(child, [])
                if label not in parents_of_label:
                    parents_of_label.append(label)
                child = label
    return Paths(labels, parents, sorted(twice))


_ROOT = "\0root"  # a root added above several roots; assumed to be no label of a hierarchy


@dataclass(frozen=True)
class HierarchyTree:
    """A tree of m nodes.

    names: of the nodes, first the leaves, then the root, then the other inner nodes.
    texts: the printed label of each node.
    parent: int64[m], the root is its own parent.
    first, last: int64[m], the leftmost and rightmost leaf below each node.
    levels: int32[height + 1, leaves], the ancestor of each leaf at each level, from the leaf itself
        at level 0 to the root; a path shorter than the height repeats its leaf at the lowest
        levels.
    intervals: whether the leaves are numbers in ascending order, so that every node is a range.
    """

    names: tuple[str, ...]
    texts: tuple[str, ...]
    parent: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    levels: npt.NDArray[np.int32]
    intervals: bool

    @property
    def leaves(self) -> int:
        return int(self.levels.shape[1])

    @property
    def root(self) -> int:
        return self.leaves

    @cached_property
    def share(self) -> npt.NDArray[np.float64]:
        """Return the share of the leaves below each node, float64[m]; 0 for a single leaf.

        Source: M-COF, equation 5.
        """
        below = self.last - self.first + 1
        return np.where(below > 1, below / self.leaves, 0.0)

    @cached_property
    def heights(self) -> npt.NDArray[np.int64]:
        """Return of each node the edges to the deepest leaf below it, int64[m]."""
        height = np.zeros(len(self.names), dtype=np.int64)
        inner = range(len(self.names) - 1, self.root, -1)  # children stand after their parents
        for node in (*range(self.leaves), *inner):
            above = self.parent[node]
            height[above] = max(height[above], height[node] + 1)
        return height

    @cached_property
    def node_of(self) -> Mapping[str, int]:
        """Return the node of each printed label."""
        return {label: node for node, label in enumerate(self.texts)}

    def ancestor(
        self, low: npt.NDArray[np.integer[Any]], high: npt.NDArray[np.integer[Any]]
    ) -> npt.NDArray[np.int64]:
        """Return the lowest common ancestor of each set of leaves, int64[s].

        low, high: the smallest and the largest leaf of each of s sets.
        """
        node = low.astype(np.int64)
        while (short := self.last[node] < high).any():
            node[short] = self.parent[node[short]]
        return node

    @cached_property
    def leaf_of(self) -> Mapping[str, int]:
        """Return the number of each leaf by its name."""
        return {name: leaf for leaf, name in enumerate(self.names[: self.leaves])}

    def above(self, names: Iterable[str | None]) -> int:
        """Return the lowest common ancestor of named leaves; -1 for no names or an unknown one."""
        leaves = [-1 if name is None else self.leaf_of.get(name, -1) for name in names]
        if min(leaves, default=-1) < 0:
            return -1
        return int(self.ancestor(np.array([min(leaves)]), np.array([max(leaves)]))[0])

    def exact_node(self, names: Sequence[str | None]) -> int:
        """Return the node whose leaves are exactly those named; -1 if there is none."""
        node = self.above(names)
        below = int(self.last[node] - self.first[node]) + 1
        return node if node >= 0 and below == len(set(names)) else -1

    def members(self, node: int) -> list[str]:
        """Return the names of the leaves below a node: numbers ascending, text sorted by bytes."""
        leaf_names = list(self.names[self.first[node] : self.last[node] + 1])
        return leaf_names if self.intervals else sorted(leaf_names, key=str.encode)


def grow(
    function: str,
    column: str,
    rows: Iterable[Row],
    rank: Mapping[str, int] | None = None,
    values: frozenset[str] = frozenset(),
    *,
    hidden: bool = False,
) -> HierarchyTree:
    """Return the tree of the rows of one column.

    Raises AnonError if the rows do not form a tree.

    rank: position of each leaf among the sorted leaves of a column of numbers, None for text.
    values: labels that can be cast to the column's type, which are printed in quotes.
    hidden: whether error messages must not contain labels, because the column is sensitive.
    """
    paths = read_paths(rows)
    fault = next(paths.faults(), None)
    if fault:
        hint = f"check_hierarchy() lists all that is wrong with {column}"
        got = _described(fault, column, hidden or fault.name in paths.labels)
        raise AnonError(function, RULES[fault.fault], got, hint)
    root, parent_of = _above(paths)
    order = _preorder(root, parent_of, paths.labels, rank)
    leaves = [name for name in order if name in paths.labels]
    names = [*leaves, *(name for name in order if name not in paths.labels)]
    node_of = {name: node for node, name in enumerate(names)}
    parent = np.array([node_of[parent_of.get(name, name)] for name in names], dtype=np.int64)
    first, last = np.full((2, len(names)), -1, dtype=np.int64)
    for leaf in range(len(leaves)):
        node, child = leaf, -1
        while node != child:
            first[node] = leaf if first[node] < 0 else first[node]
            last[node] = leaf
            node, child = parent[node], node
    return HierarchyTree(
        tuple(STAR if name == _ROOT else name for name in names),
        (*_leaf_texts(leaves, rank), STAR, *_node_texts(names[len(leaves) + 1 :], values)),
        parent,
        first,
        last,
        _levels(leaves, paths, parent_of, node_of),
        rank is not None and [rank.get(leaf) for leaf in leaves] == sorted(rank[x] for x in rank),
    )


def _described(fault: Fault, column: str, hidden: bool) -> str:
    """Describe a fault without values of the data and, if hidden, without labels."""
    if fault.fault == TWICE:
        return f"a value of {column} with {fault.actual}"
    if hidden:
        return f"a label of {column} with {fault.counted or fault.actual}"
    return f"'{fault.name}' of {column} with {fault.actual}"


def _above(paths: Paths) -> tuple[str, dict[str, str]]:
    """Return the root and the parent of every other node.

    If several nodes have no parent, they become children of ``*``, or of an added root.
    """
    parent_of = {name: parents[0] for name, parents in paths.parents.items()}
    names = {*paths.labels, *(label for path in paths.labels.values() for label in path)}
    tops = sorted(names - parent_of.keys(), key=str.encode)
    inner = [top for top in tops if top not in paths.labels]
    root = tops[0] if tops == inner[:1] else STAR if STAR in inner else _ROOT
    return root, {**parent_of, **{top: root for top in tops if top != root}}


def _preorder(
    root: str, parent_of: Mapping[str, str], leaves: Iterable[str], rank: Mapping[str, int] | None
) -> list[str]:
    """Return all nodes in preorder, siblings sorted by bytes or by their smallest number."""
    rank_of = rank or {}
    children: dict[str, list[str]] = {}
    placed = {root}
    for leaf in watched(
        sorted(leaves, key=lambda leaf: (rank_of.get(leaf, len(rank_of)), leaf.encode()))
    ):
        node = leaf
        while node not in placed:
            placed.add(node)
            children.setdefault(parent_of[node], []).append(node)
            node = parent_of[node]
    order, stack = [], [root]
    while stack:
        node = stack.pop()
        order.append(node)
        unsorted = children.get(node, [])
        by_bytes = sorted(unsorted, key=str.encode, reverse=True)
        stack.extend(by_bytes if rank is None else reversed(unsorted))
    return order


def _levels(
    leaves: Sequence[str], paths: Paths, parent_of: Mapping[str, str], node_of: Mapping[str, int]
) -> npt.NDArray[np.int32]:
    """Return the ancestor of each leaf at each level, see ``HierarchyTree.levels``."""
    full = []
    for leaf in leaves:
        path = list(paths.labels[leaf]) or [leaf]
        while path[-1] in parent_of:
            path.append(parent_of[path[-1]])
        full.append([node_of[label] for label in path])
    height = max(map(len, full), default=0)
    table = [
        [node_of[leaf]] * (1 + height - len(nodes)) + nodes
        for leaf, nodes in zip(leaves, full, strict=True)
    ]
    return np.array(table, dtype=np.int32).reshape(len(leaves), height + 1).T.copy()


def _leaf_texts(leaves: Sequence[str], rank: Mapping[str, int] | None) -> list[str]:
    return [leaf if rank and leaf in rank else text(leaf) for leaf in leaves]


def _node_texts(names: Sequence[str], values: frozenset[str]) -> list[str]:
    return [quoted(name) if name in values else text(name) for name in names]


_TEXT = ("VARCHAR", "ENUM")


def rows_of(
    paths: pa.StructArray | None, types: Mapping[str, str], time_zone: str
) -> dict[str, pa.StructArray]:
    """Return the hierarchy rows of each column, by the name of the column.

    Columns that the hierarchy does not name are missing from the result. paths: structs of
    attribute, value and label (string) and level (int32), without NULL in value and label; None if
    there is no hierarchy. types: SQL type of each column, by name. time_zone: time zone of
    timestamps that the hierarchy writes without one.

    Each result has the fields value, level and label as given; ``leaf``, the value cast to the
    column's type (NULL if the cast fails); ``shown``, the leaf as DuckDB prints it; and
    ``castable``, whether the label can be cast to the column's type.
    """
    if paths is None or len(paths) == 0:
        return {}
    coded = paths.field("attribute").dictionary_encode()
    folded = pa.array([fold(name) for name in coded.dictionary.to_pylist()]).take(coded.indices)
    rows_by_name = {name: paths.filter(pc.equal(folded, fold(name))) for name in types}
    named = {name: rows for name, rows in rows_by_name.items() if len(rows)}
    kinds = [types[name] for name in named]
    leaves = cast([rows.field("value") for rows in named.values()], kinds, time_zone)
    texts = printed(leaves, ["VARCHAR" if k.startswith(_TEXT) else k for k in kinds])
    labels = cast([rows.field("label") for rows in named.values()], kinds, time_zone)
    return {
        name: pa.StructArray.from_arrays(
            [
                *(rows.field(field) for field in ("value", "level", "label")),
                leaf,
                text,
                label.is_valid(),
            ],
            names=["value", "level", "label", "leaf", "shown", "castable"],
        )
        for (name, rows), leaf, text, label in zip(
            named.items(), leaves, texts, labels, strict=True
        )
    }
