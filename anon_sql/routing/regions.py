"""Define the regions of a table: leaves of the routing tree together, or parts of them by hash."""

from collections.abc import Sequence
from dataclasses import dataclass

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


def each_leaf(tree: Tree) -> Regions:
    """Return the regions of a tree whose leaves are not merged."""
    return Regions(tree, tuple(Group((leaf,)) for leaf in range(tree.leaves)))


def together(groups: Sequence[Group]) -> Group:
    """Return the leaves of several groups as one."""
    return Group(tuple(sorted(leaf for group in groups for leaf in group.leaves)))
