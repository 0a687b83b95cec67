"""Choose the cut of some rows: the column and the test that divide the fewest classes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql.core.columns import Categories, Numbers
from anon_sql.core.hierarchy.tree import Tree as Hierarchy
from anon_sql.core.table import Column
from anon_sql.routing.route_tree import Test

LEAST = 0.15  # share of the rows that each side of a cut should have
LISTED = 500  # most values that a test lists
CLOSE = 0.001  # shares of rows that differ by less than this make no difference

Codes = npt.NDArray[np.int32]
Weights = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Axis:
    """A quasi-identifier of the sample.

    codes: int32[n], distinct values in ascending order (leaves of a hierarchy from left to right),
    -1 for NULL. order: int32[n], the rows in the order of their codes. first: int32[…], a row of
    each code. number: whether it is one. tree: of a hierarchy.
    """

    name: str
    codes: Codes
    order: Codes
    first: Codes
    number: bool = False
    tree: Hierarchy | None = None


@dataclass(frozen=True)
class Chosen:
    """A cut: number of the axis, the test, the codes that it compares with, the side of NULL."""

    axis: int
    test: Test
    codes: tuple[int, ...]
    null: bool


def axis(column: Column) -> Axis:
    """Return a quasi-identifier of the sample."""
    if isinstance(column, Numbers):
        known, found = np.unique(column.keys, return_inverse=True)
        codes = np.where(column.present, found.reshape(-1), -1).astype(np.int32)
        return Axis(column.name, codes, _sorted(codes), _first(codes, len(known)), number=True)
    codes = np.where(column.codes == column.null_code, -1, column.codes).astype(np.int32)
    order, first = _sorted(codes), _first(codes, column.null_code)
    tree = None if isinstance(column, Categories) else column.tree
    return Axis(column.name, codes, order, first, tree=tree)


def best(
    axes: Sequence[Axis], orders: Sequence[Codes], weights: Weights, near: Codes
) -> Chosen | None:
    """Return the best cut of some rows, or None if they are alike in every column.

    orders: the rows as each axis sorts them. near: int32[n], the group of rows near each other that
    a row is in, as a class would be. A cut divides the classes that lie on both sides, which costs
    loss. So the best column is one in which near rows lie near each other: the one with the most
    rows on the smaller side of the cut by the distance of near rows. A cut whose smaller side has
    less than LEAST of the rows is taken only if there is no other. Ties go to the first column.
    """
    found: tuple[tuple[bool, float, float], Chosen] | None = None
    for at, (own, rows) in enumerate(zip(axes, orders, strict=True)):
        apart = _apart(own, rows, weights, near) + CLOSE
        for share, test, codes, null in _candidates(own, rows, weights):
            rank = (share >= LEAST, round(share / apart, 12), round(share, 12))
            if share > 0 and (found is None or rank > found[0]):
                found = rank, Chosen(at, test, codes, null)
    return None if found is None else found[1]


def _apart(own: Axis, rows: Codes, weights: Weights, near: Codes) -> float:
    """Return how far near rows lie apart in a column: the mean share of rows between the outermost.

    rows: in the order of the column. Equal values lie in one place, the middle of their rows.
    """
    codes, groups = own.codes[rows], near[rows]
    heavy = weights[rows] / weights[rows].sum()
    until = np.concatenate([[0.0], np.cumsum(heavy)])
    starts = np.flatnonzero(np.diff(codes, prepend=codes[0] - 1))
    ends = np.append(starts[1:], len(codes))
    place = np.repeat((until[starts] + until[ends]) / 2, ends - starts)
    first, last = np.empty(groups.max() + 1), np.empty(groups.max() + 1)
    first[groups[::-1]], last[groups] = place[::-1], place  # of equal indices the last one counts
    return float((heavy * (last - first)[groups]).sum())


def _candidates(
    own: Axis, rows: Codes, weights: Weights
) -> Iterator[tuple[float, Test, tuple[int, ...], bool]]:
    """Give the cuts of a column: share of the smaller side, test, codes, NULL's side.

    NULL goes to the lighter side.
    """
    codes, heavy = own.codes[rows], weights[rows]
    nulls = int(np.searchsorted(codes, 0))
    codes, until = codes[nulls:], np.concatenate([[0], np.cumsum(heavy[nulls:])])
    missing, known = int(heavy[:nulls].sum()), int(until[-1])
    total = missing + known
    if missing and known:
        yield min(missing, known) / total, Test.MISSING, (), True
    for test, begin, end in _ranges(own, codes, until):
        listed = codes[end - 1 : end] if test is Test.AT_MOST else np.unique(codes[begin:end])
        if end - begin in (0, len(codes)) or len(listed) > LISTED:
            continue
        yes = int(until[end] - until[begin])
        null = yes < known - yes
        smaller = min(yes + null * missing, total - yes - null * missing)
        yield smaller / total, test, tuple(listed.tolist()), null


def _ranges(own: Axis, codes: Codes, until: Weights) -> Iterator[tuple[Test, int, int]]:
    """Give the positions from begin to end, exclusive, of the rows that pass a test.

    codes: ascending, without NULL; until: weight of the rows before each position. Tests divide the
    rows near the middle of their weight; text also by its most frequent value, and a hierarchy
    between the children of the lowest common ancestor.
    """
    if len(codes) == 0 or codes[0] == codes[-1]:
        return
    middle = int(codes[min(int(np.searchsorted(until[1:], until[-1] / 2)), len(codes) - 1)])
    if own.tree is None:
        low = high = middle
    else:
        low, high = _child(own.tree, _ancestor(own.tree, int(codes[0]), int(codes[-1])), middle)
    begin, end = (int(at) for at in np.searchsorted(codes, [low, high + 1]))
    prefix = Test.AMONG if own.tree is not None and not own.tree.intervals else Test.AT_MOST
    yield prefix, 0, begin
    yield prefix, 0, end
    if own.number:
        return
    if own.tree is None:
        starts = np.flatnonzero(np.diff(codes, prepend=codes[0] - 1))
        ends = np.append(starts[1:], len(codes))
        heaviest = int(np.argmax(until[ends] - until[starts]))
        begin, end = int(starts[heaviest]), int(ends[heaviest])
    yield Test.AMONG, begin, end


def _child(tree: Hierarchy, above: int, leaf: int) -> tuple[int, int]:
    """Return the first and the last leaf of the child of a node that a leaf is below."""
    node = leaf
    while tree.parent[node] != above:
        node = int(tree.parent[node])
    return int(tree.first[node]), int(tree.last[node])


def _ancestor(tree: Hierarchy, low: int, high: int) -> int:
    """Return the lowest common ancestor of two leaves."""
    node = low
    while tree.last[node] < high:
        node = int(tree.parent[node])
    return node


def _sorted(codes: Codes) -> Codes:
    return np.argsort(codes, kind="stable").astype(np.int32)


def _first(codes: Codes, many: int) -> Codes:
    """Return a row of each code, int32[many]; -1 for a code that no row has."""
    first = np.full(many, -1, np.int32)
    present = np.flatnonzero(codes >= 0)
    first[codes[present]] = present
    return first
