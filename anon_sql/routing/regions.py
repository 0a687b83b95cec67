"""Define the regions of a table: leaves of the routing tree together, or parts of them by hash."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql.routing.route_tree import Tree


@dataclass(frozen=True)
class Group:
    """Leaves whose rows are one region, or several regions of parts chosen by hash."""

    leaves: tuple[int, ...]
    parts: int = 1


@dataclass(frozen=True)
class Regions:
    """The regions of a table, numbered from 0.

    tree: the routing tree. groups: its leaves by region, each leaf in one group. rows: exact number
    of rows of each region once they are counted, else empty.
    """

    tree: Tree
    groups: tuple[Group, ...]
    rows: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        return sum(group.parts for group in self.groups)

    @property
    def of_leaf(self) -> dict[int, tuple[int, int]]:
        """Return the first region of each leaf and the number of parts it is spread over."""
        found, first = {}, 0
        for group in self.groups:
            found.update(dict.fromkeys(group.leaves, (first, group.parts)))
            first += group.parts
        return found

    @property
    def spread(self) -> bool:
        """Return whether a group has several parts."""
        return any(group.parts > 1 for group in self.groups)

    def numbers(
        self, leaf: npt.NDArray[np.int32], hashes: Callable[[], npt.NDArray[np.uint64]]
    ) -> npt.NDArray[np.int64]:
        """Return the region of each row, int64[n].

        leaf: int32[n]. hashes: returns the hash of each row, which spreads rows over parts.
        """
        first, parts = (np.zeros(self.tree.leaves, np.int64) for _ in range(2))
        for at, place in self.of_leaf.items():
            first[at], parts[at] = place
        region = first[leaf]
        if self.spread:
            region += (hashes() % parts[leaf].astype(np.uint64)).astype(np.int64)
        return region


def each_leaf(tree: Tree) -> Regions:
    """Return the regions of a tree whose leaves are not merged."""
    return Regions(tree, tuple(Group((leaf,)) for leaf in range(tree.leaves)))


def together(groups: Sequence[Group]) -> Group:
    """Return the leaves of several groups as one."""
    return Group(tuple(sorted(leaf for group in groups for leaf in group.leaves)))
