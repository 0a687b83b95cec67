"""Choose the cut of some rows: the column and the test that save most information loss."""

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
OUTER = 10  # one row in so many on either side does not count in the width of a number

Codes = npt.NDArray[np.int32]
Weights = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Axis:
    """A quasi-identifier of the sample.

    codes: int32[n], distinct values in ascending order (leaves of a hierarchy from left to right),
    -1 for NULL. order: int32[n], the rows in the order of their codes. first: int32[…], a row of
    each code. place: float64[…], the point of each code of a number. distinct: of the whole table,
    for text. tree: of a hierarchy. matters: the weight of its loss.
    """

    name: str
    codes: Codes
    order: Codes
    first: Codes
    place: npt.NDArray[np.float64] | None = None
    distinct: int = 1
    tree: Hierarchy | None = None
    matters: float = 1.0


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
        place = np.zeros(len(known))
        place[codes[column.present]] = column.points[column.present]
        return Axis(column.name, codes, _sorted(codes), _first(codes, len(known)), place)
    codes = np.where(column.codes == column.null_code, -1, column.codes).astype(np.int32)
    order, first = _sorted(codes), _first(codes, column.null_code)
    if isinstance(column, Categories):
        return Axis(column.name, codes, order, first, distinct=column.distinct)
    return Axis(column.name, codes, order, first, tree=column.tree)


def best(axes: Sequence[Axis], orders: Sequence[Codes], weights: Weights) -> Chosen | None:
    """Return the best cut of some rows, or None if they are alike in every column.

    orders: the rows as each axis sorts them. The best cut saves most: information loss times twice
    the share of the smaller side. A cut whose smaller side has less than LEAST of the rows is taken
    only if there is no other. Ties go to the first column.
    """
    found: tuple[tuple[bool, float, float], Chosen] | None = None
    for at, (own, rows) in enumerate(zip(axes, orders, strict=True)):
        for saved, share, test, codes, null in _candidates(own, rows, weights):
            gain = saved * own.matters * 2 * share
            rank = (share >= LEAST, round(gain, 12), round(share, 12))
            if share > 0 and (found is None or rank > found[0]):
                found = rank, Chosen(at, test, codes, null)
    return None if found is None else found[1]


def _candidates(
    own: Axis, rows: Codes, weights: Weights
) -> Iterator[tuple[float, float, Test, tuple[int, ...], bool]]:
    """Give the cuts of a column: loss saved, share of the smaller side, test, codes, NULL's side.

    NULL goes to the lighter side.
    """
    codes, heavy = own.codes[rows], weights[rows]
    nulls = int(np.searchsorted(codes, 0))
    codes, until = codes[nulls:], np.concatenate([[0], np.cumsum(heavy[nulls:])])
    missing, known = int(heavy[:nulls].sum()), int(until[-1])
    total = missing + known
    whole = _loss(own, codes) * known
    if missing and known:
        yield 1 - whole / total, min(missing, known) / total, Test.MISSING, (), True
    for test, begin, end in _ranges(own, codes, until):
        listed = codes[end - 1 : end] if test is Test.AT_MOST else np.unique(codes[begin:end])
        if end - begin in (0, len(codes)) or len(listed) > LISTED:
            continue
        yes = int(until[end] - until[begin])
        rest = np.concatenate([codes[:begin], codes[end:]])
        lost = yes * _loss(own, codes[begin:end]) + (known - yes) * _loss(own, rest)
        null = yes < known - yes
        smaller = min(yes + null * missing, total - yes - null * missing)
        yield (whole - lost) / total, smaller / total, test, tuple(listed.tolist()), null


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
    if own.place is not None:
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


def _loss(own: Axis, codes: Codes) -> float:
    """Return the NCP of sorted codes without NULL.

    Of numbers it is that of the rows in the middle: a few far values would decide many cuts, though
    they are in few classes.
    """
    if len(codes) == 0 or codes[0] == codes[-1]:
        return 0.0
    if own.place is not None:
        outer = len(codes) // OUTER
        return float(own.place[codes[-1 - outer]] - own.place[codes[outer]])
    if own.tree is not None:
        return float(own.tree.share[_ancestor(own.tree, int(codes[0]), int(codes[-1]))])
    return (1 + int(np.count_nonzero(np.diff(codes)))) / own.distinct


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
