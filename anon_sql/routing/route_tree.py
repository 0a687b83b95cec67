"""Define the tree that assigns each row to a leaf by tests on its quasi-identifiers."""

from dataclasses import dataclass
from enum import Enum


class Test(Enum):
    """What a cut asks of a value: at most a point, among some points, or NULL."""

    __test__ = False  # not a test of pytest

    AT_MOST = "at most"
    AMONG = "among"
    MISSING = "missing"


@dataclass(frozen=True)
class Leaf:
    """A leaf, by its number from left to right."""

    number: int


@dataclass(frozen=True)
class Cut:
    """An inner node. A row that passes the test goes to ``yes``, any other to ``no``.

    points: numbers of the cut points that the test compares with, consecutive. null: whether NULL
    passes. A value that the sample lacked, NaN included, passes only if the comparison is true.
    """

    column: str
    test: Test
    points: tuple[int, ...]
    null: bool
    yes: "Cut | Leaf"
    no: "Cut | Leaf"


@dataclass(frozen=True)
class Point:
    """A cut point: the column, and the value as DuckDB prints it."""

    column: str
    text: str


@dataclass(frozen=True)
class Tree:
    """A routing tree.

    leaves: their number. pools: the subtrees within which leaves may be merged to regions that must
    be legal: the root, or with strata one subtree for each stratum that is cut. Every leaf outside
    holds all rows of some strata.
    """

    root: Cut | Leaf
    points: tuple[Point, ...]
    leaves: int
    pools: tuple[Cut | Leaf, ...]


def leaves_below(node: Cut | Leaf) -> range:
    """Return the numbers of the leaves of a subtree, which are consecutive."""
    first = last = node
    while isinstance(first, Cut):
        first = first.yes
    while isinstance(last, Cut):
        last = last.no
    return range(first.number, last.number + 1)
