"""The generalization hierarchy of one attribute: a tree over its values.

Leaves are numbered from left to right, so that the lowest common ancestor of a set of leaves is
that of its lowest and its highest number; inner nodes follow, each before those below it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql import paths
from anon_sql.errors import AnonError
from anon_sql.labels import quoted, text
from anon_sql.paths import STAR, Paths, Row

_ROOT = "\0root"  # above several tops; no text of DuckDB's begins like this


@dataclass(frozen=True)
class Tree:
    """names: of the nodes, the leaves first, then the root. All arrays have an entry a node.

    parent, first, last: int64, the node above (of the root: itself) and the outermost leaves
    below. levels: int32[height + 1, leaves], the node of each leaf at each level, the leaf
    itself at 0 and the root at the top; a path that is shorter stays at its leaf for longer.
    texts: how a node is printed.
    """

    names: tuple[str, ...]
    texts: tuple[str, ...]
    parent: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    levels: npt.NDArray[np.int32]
    intervals: bool  # leaves are numbers and stand in their order

    @property
    def leaves(self) -> int:
        return self.levels.shape[1]

    @property
    def root(self) -> int:
        return self.leaves

    @cached_property
    def share(self) -> npt.NDArray[np.float64]:
        """Leaves below each node / all leaves; 0 where there is one (M-COF, equation 5)."""
        below = self.last - self.first + 1
        return np.where(below > 1, below / self.leaves, 0.0)

    @cached_property
    def node_of(self) -> Mapping[str, int]:
        """The node of every printed label."""
        return {label: node for node, label in enumerate(self.texts)}

    def ancestor(
        self, low: npt.NDArray[np.integer[Any]], high: npt.NDArray[np.integer[Any]]
    ) -> npt.NDArray[np.int64]:
        """The lowest common ancestors of leaves, int64[m], from each set's lowest and highest."""
        node = low.astype(np.int64)
        while (short := self.last[node] < high).any():
            node[short] = self.parent[node[short]]
        return node

    def members(self, node: int) -> list[str]:
        """The names of the leaves below a node: numbers in their order, text sorted by bytes."""
        found = list(self.names[self.first[node] : self.last[node] + 1])
        return found if self.intervals else sorted(found, key=str.encode)


def grow(
    function: str,
    column: str,
    rows: Iterable[Row],
    rank: Mapping[str, int] | None = None,
    values: frozenset[str] = frozenset(),
) -> Tree:
    """The tree of a column's rows.

    rank: the order of leaves that are numbers, None for text; values: labels that could be read
    as values of the column, which are printed in quotes. Raises AnonError for what is no tree.
    """
    found = paths.read(rows)
    fault = next(found.faults(), None)
    if fault:
        hint = f"check_hierarchy() lists all that is wrong with {column}"
        raise AnonError(
            function, paths.SAYS[fault.fault], f"{_shown(fault, column)} with {fault.found}", hint
        )
    root, above = _above(found)
    order = _preorder(root, above, found.labels, rank)
    leaves = [name for name in order if name in found.labels]
    names = [*leaves, *(name for name in order if name not in found.labels)]
    at = {name: node for node, name in enumerate(names)}
    parent = np.array([at[above.get(name, name)] for name in names], dtype=np.int64)
    first, last = np.full((2, len(names)), -1, dtype=np.int64)
    for leaf in range(len(leaves)):
        node, below = leaf, -1
        while node != below:
            first[node] = leaf if first[node] < 0 else first[node]
            last[node] = leaf
            node, below = parent[node], node
    return Tree(
        tuple(STAR if name == _ROOT else name for name in names),
        (*_leaf_texts(leaves, rank), STAR, *_node_texts(names[len(leaves) + 1 :], values)),
        parent,
        first,
        last,
        _levels(leaves, found, above, at),
        rank is not None and [rank.get(leaf) for leaf in leaves] == sorted(rank[x] for x in rank),
    )


def _shown(fault: paths.Fault, column: str) -> str:
    """A value of the data is not named, a label of the hierarchy is."""
    return f"a value of {column}" if fault.fault == paths.TWICE else f"'{fault.name}' of {column}"


def _above(found: Paths) -> tuple[str, dict[str, str]]:
    """The root and the parent of every other node; several tops get a root of their own."""
    above = {name: parents[0] for name, parents in found.parents.items()}
    names = {*found.labels, *(label for path in found.labels.values() for label in path)}
    tops = sorted(names - above.keys(), key=str.encode)
    inner = [top for top in tops if top not in found.labels]
    root = tops[0] if tops == inner[:1] else STAR if STAR in inner else _ROOT
    return root, {**above, **{top: root for top in tops if top != root}}


def _preorder(
    root: str, above: Mapping[str, str], leaves: Iterable[str], rank: Mapping[str, int] | None
) -> list[str]:
    """Every node before those below it, siblings by their bytes or by their smallest number."""
    known = rank or {}
    children: dict[str, list[str]] = {}
    placed = {root}
    for leaf in sorted(leaves, key=lambda leaf: (known.get(leaf, len(known)), leaf.encode())):
        node = leaf
        while node not in placed:
            placed.add(node)
            children.setdefault(above[node], []).append(node)
            node = above[node]
    order, stack = [], [root]
    while stack:
        node = stack.pop()
        order.append(node)
        below = children.get(node, [])
        by_bytes = sorted(below, key=str.encode, reverse=True)
        stack.extend(by_bytes if rank is None else reversed(below))
    return order


def _levels(
    leaves: Sequence[str], found: Paths, above: Mapping[str, str], at: Mapping[str, int]
) -> npt.NDArray[np.int32]:
    full = []
    for leaf in leaves:
        path = list(found.labels[leaf]) or [leaf]
        while path[-1] in above:
            path.append(above[path[-1]])
        full.append([at[label] for label in path])
    height = max(map(len, full), default=0)
    table = [[at[leaf]] * (1 + height - len(p)) + p for leaf, p in zip(leaves, full, strict=True)]
    return np.array(table, dtype=np.int32).reshape(len(leaves), height + 1).T.copy()


def _leaf_texts(leaves: Sequence[str], rank: Mapping[str, int] | None) -> list[str]:
    return [leaf if rank and leaf in rank else text(leaf) for leaf in leaves]


def _node_texts(names: Sequence[str], values: frozenset[str]) -> list[str]:
    return [quoted(name) if name in values else text(name) for name in names]
