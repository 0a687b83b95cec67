"""Make the tree that assigns each row to a leaf by tests on its quasi-identifiers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.columns import Categories, Numbers
from anon_sql.core.common_parameters import relative
from anon_sql.core.hierarchy.tree import HierarchyTree, rows_of
from anon_sql.core.printing import printed
from anon_sql.core.running import Workers
from anon_sql.core.table import Column, Domain, QuasiTable, read_table
from anon_sql.methods.ordering import curve_order
from anon_sql.pipeline.request import Request
from anon_sql.regions.sql import WEIGHT
from anon_sql.regions.strata import Strata


class Test(Enum):
    """The test of a cut: whether a value is at most a point, among some points, or NULL."""

    __test__ = False  # not a test of pytest

    AT_MOST = "at most"
    AMONG = "among"
    MISSING = "missing"


@dataclass(frozen=True)
class Leaf:
    """A leaf, by its number from left to right."""

    number: int


@dataclass(frozen=True)
class RoutingCut:
    """An inner node. A row that passes the test goes to ``yes``, any other to ``no``.

    points: numbers of the cut points that the test compares with, consecutive. null: whether NULL
    passes. A value that the sample lacked, NaN included, passes only if the comparison is true.
    """

    column: str
    test: Test
    points: tuple[int, ...]
    null: bool
    yes: "RoutingCut | Leaf"
    no: "RoutingCut | Leaf"


@dataclass(frozen=True)
class Point:
    """A cut point: the column, and the value as DuckDB prints it."""

    column: str
    text: str


@dataclass(frozen=True)
class RegionTree:
    """A routing tree.

    leaves: their number. pools: the subtrees within which leaves may be merged to regions that must
    be legal: the root, or with strata one subtree for each stratum that is cut. Every leaf outside
    holds all rows of some strata.
    """

    root: RoutingCut | Leaf
    points: tuple[Point, ...]
    leaves: int
    pools: tuple[RoutingCut | Leaf, ...]


def leaves_below(node: RoutingCut | Leaf) -> range:
    """Return the numbers of the leaves of a subtree, which are consecutive."""
    first = last = node
    while isinstance(first, RoutingCut):
        first = first.yes
    while isinstance(last, RoutingCut):
        last = last.no
    return range(first.number, last.number + 1)


MIN_SIDE_SHARE = 0.15  # share of the rows that each side of a cut should have
MAX_LISTED_VALUES = 500  # most values that a test lists
EQUAL_SHARES = 0.001  # shares of rows that differ by less than this make no difference

Codes = npt.NDArray[np.int32]
Weights = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SampleAxis:
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
    tree: HierarchyTree | None = None


@dataclass(frozen=True)
class Chosen:
    """A cut: number of the axis, the test, the codes that it compares with, the side of NULL."""

    axis: int
    test: Test
    codes: tuple[int, ...]
    null: bool


def axis(column: Column) -> SampleAxis:
    """Return a quasi-identifier of the sample."""
    if isinstance(column, Numbers):
        keys, codes_of_rows = np.unique(column.keys, return_inverse=True)
        codes = np.where(column.present, codes_of_rows.reshape(-1), -1).astype(np.int32)
        return SampleAxis(column.name, codes, _sorted(codes), _first(codes, len(keys)), number=True)
    codes = np.where(column.codes == column.null_code, -1, column.codes).astype(np.int32)
    order, first = _sorted(codes), _first(codes, column.null_code)
    tree = None if isinstance(column, Categories) else column.tree
    return SampleAxis(column.name, codes, order, first, tree=tree)


def best(
    axes: Sequence[SampleAxis], orders: Sequence[Codes], weights: Weights, near: Codes
) -> Chosen | None:
    """Return the best cut of some rows, or None if they are equal in every column.

    orders: the rows as each axis sorts them. near: int32[n], the group of rows near each other that
    a row is in, as a class would be. A cut divides the classes that lie on both sides, which costs
    loss. So the best column is one in which near rows lie near each other: the one with the most
    rows on the smaller side of the cut by the distance of near rows. A cut whose smaller side has
    less than ``MIN_SIDE_SHARE`` of the rows is taken only if there is no other. Ties go to the
    first column.
    """
    best_cut: tuple[tuple[bool, float, float], Chosen] | None = None
    for axis_number, (candidate, rows) in enumerate(zip(axes, orders, strict=True)):
        apart = _apart(candidate, rows, weights, near) + EQUAL_SHARES
        for share, test, codes, null in _candidates(candidate, rows, weights):
            rank = (share >= MIN_SIDE_SHARE, round(share / apart, 12), round(share, 12))
            if share > 0 and (best_cut is None or rank > best_cut[0]):
                best_cut = rank, Chosen(axis_number, test, codes, null)
    return None if best_cut is None else best_cut[1]


def _apart(column: SampleAxis, rows: Codes, weights: Weights, near: Codes) -> float:
    """Return the mean share of rows between the outermost rows of a group, in the order of a
    column.

    rows: in the order of the column. Equal values lie in one place, the middle of their rows.
    """
    codes, groups = column.codes[rows], near[rows]
    heavy = weights[rows] / weights[rows].sum()
    until = np.concatenate([[0.0], np.cumsum(heavy)])
    starts = np.flatnonzero(np.diff(codes, prepend=codes[0] - 1))
    ends = np.append(starts[1:], len(codes))
    place = np.repeat((until[starts] + until[ends]) / 2, ends - starts)
    first, last = np.zeros(groups.max() + 1), np.zeros(groups.max() + 1)
    first[groups[::-1]], last[groups] = place[::-1], place  # of equal indices the last one counts
    return float((heavy * (last - first)[groups]).sum())


class _CutCandidate(NamedTuple):
    """A cut: the share of its smaller side, the test, the codes that it compares with, the side of
    NULL."""

    share: float
    test: Test
    codes: tuple[int, ...]
    null: bool


def _candidates(column: SampleAxis, rows: Codes, weights: Weights) -> Iterator[_CutCandidate]:
    """Give the cuts of a column: share of the smaller side, test, codes, NULL's side.

    NULL goes to the lighter side.
    """
    codes, heavy = column.codes[rows], weights[rows]
    nulls = int(np.searchsorted(codes, 0))
    codes, until = codes[nulls:], np.concatenate([[0], np.cumsum(heavy[nulls:])])
    missing, non_null = int(heavy[:nulls].sum()), int(until[-1])
    total = missing + non_null
    if missing and non_null:
        yield _CutCandidate(min(missing, non_null) / total, Test.MISSING, (), True)
    for test, begin, end in _ranges(column, codes, until):
        listed = codes[end - 1 : end] if test is Test.AT_MOST else np.unique(codes[begin:end])
        if end - begin in (0, len(codes)) or len(listed) > MAX_LISTED_VALUES:
            continue
        yes = int(until[end] - until[begin])
        null = yes < non_null - yes
        smaller = min(yes + null * missing, total - yes - null * missing)
        yield _CutCandidate(smaller / total, test, tuple(listed.tolist()), null)


class _TestRange(NamedTuple):
    """A test, and the positions from begin to end, exclusive, of the rows that pass it."""

    test: Test
    begin: int
    end: int


def _ranges(column: SampleAxis, codes: Codes, until: Weights) -> Iterator[_TestRange]:
    """Give the positions from begin to end, exclusive, of the rows that pass a test.

    codes: ascending, without NULL; until: weight of the rows before each position. Tests divide the
    rows near the middle of their weight; text also by its most frequent value, and a hierarchy
    between the children of the lowest common ancestor.
    """
    if len(codes) == 0 or codes[0] == codes[-1]:
        return
    middle = int(codes[min(int(np.searchsorted(until[1:], until[-1] / 2)), len(codes) - 1)])
    if column.tree is None:
        low = high = middle
    else:
        low, high = _child(
            column.tree, _ancestor(column.tree, int(codes[0]), int(codes[-1])), middle
        )
    begin, end = (int(position) for position in np.searchsorted(codes, [low, high + 1]))
    prefix = Test.AMONG if column.tree is not None and not column.tree.intervals else Test.AT_MOST
    yield _TestRange(prefix, 0, begin)
    yield _TestRange(prefix, 0, end)
    if column.number:
        return
    if column.tree is None:
        starts = np.flatnonzero(np.diff(codes, prepend=codes[0] - 1))
        ends = np.append(starts[1:], len(codes))
        heaviest = int(np.argmax(until[ends] - until[starts]))
        begin, end = int(starts[heaviest]), int(ends[heaviest])
    yield _TestRange(Test.AMONG, begin, end)


def _child(tree: HierarchyTree, above: int, leaf: int) -> tuple[int, int]:
    """Return the first and the last leaf of the child of a node that a leaf is below."""
    node = leaf
    while tree.parent[node] != above:
        node = int(tree.parent[node])
    return int(tree.first[node]), int(tree.last[node])


def _ancestor(tree: HierarchyTree, low: int, high: int) -> int:
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


MAX_DEPTH = 40  # levels of the tree
Orders = Sequence[npt.NDArray[np.int32]]


@dataclass(frozen=True)
class SampleRows:
    """Rows to cut.

    values: of each quasi-identifier that may be cut, by name; axes: the same. weights: int64[n],
    rows of the table that each row stands for. near: int32[n], the group of near rows of each.
    """

    values: Mapping[str, pa.Array]
    axes: Sequence[SampleAxis]
    weights: npt.NDArray[np.int64]
    near: npt.NDArray[np.int32]

    @property
    def orders(self) -> Orders:
        """Return all rows as each axis sorts them."""
        return [axis.order for axis in self.axes]

    @property
    def total(self) -> int:
        return int(self.weights.sum())

    def weight(self, orders: Orders) -> int:
        """Return the weight of some rows."""
        return int(self.weights[orders[0]].sum())


@dataclass
class Growing:
    """The state of one growth.

    points: column and value, an array of one, of each cut point. leaves: number of leaves so far.
    """

    points: list[tuple[str, pa.Array]] = field(default_factory=list)
    leaves: int = 0

    def node(
        self,
        rows: SampleRows,
        orders: Orders,
        most: float,
        depth: int = 0,
        end: Callable[[Orders, int], RoutingCut | Leaf] | None = None,
    ) -> RoutingCut | Leaf:
        """Return the subtree of some rows; orders: the rows as each axis sorts them.

        most: weight of a node that is not cut. depth: of the node. end: makes the subtree of rows
        that are not cut, from their orders and depth; a leaf by default.
        """
        chosen = None
        if depth < MAX_DEPTH and rows.weight(orders) > most:
            chosen = best(rows.axes, orders, rows.weights, rows.near)
        if chosen is None:
            return self.leaf() if end is None else end(orders, depth)
        cut_axis = rows.axes[chosen.axis]
        points = tuple(self._point(rows, cut_axis, code) for code in chosen.codes)
        passes = np.zeros(len(rows.weights), np.bool_)
        passes[orders[0]] = _passing(cut_axis.codes[orders[0]], chosen)
        yes = self.node(rows, [order[passes[order]] for order in orders], most, depth + 1, end)
        no = self.node(rows, [order[~passes[order]] for order in orders], most, depth + 1, end)
        return RoutingCut(cut_axis.name, chosen.test, points, chosen.null, yes, no)

    def leaf(self) -> Leaf:
        """Return the next leaf."""
        self.leaves += 1
        return Leaf(self.leaves - 1)

    def _point(self, rows: SampleRows, cut_axis: SampleAxis, code: int) -> int:
        self.points.append(
            (cut_axis.name, rows.values[cut_axis.name].slice(int(cut_axis.first[code]), 1))
        )
        return len(self.points) - 1

    def texts(self, request: Request) -> tuple[Point, ...]:
        """Return the cut points, printed as DuckDB prints values."""
        points: dict[int, Point] = {}
        for name, kind in request.quasi.items():
            numbers = [number for number, (column, _) in enumerate(self.points) if column == name]
            if numbers:
                values = pa.concat_arrays([self.points[number][1] for number in numbers])
                (texts,) = printed([values], [kind])
                listed = zip(numbers, texts.to_pylist(), strict=True)
                points.update({number: Point(name, text) for number, text in listed})
        return tuple(points[number] for number in range(len(self.points)))


def _passing(codes: npt.NDArray[np.int32], chosen: Chosen) -> npt.NDArray[np.bool_]:
    """Return which rows pass a test, bool[m]; codes: int32[m], of the axis that it tests."""
    if chosen.test is Test.MISSING:
        return np.asarray(codes < 0)
    if chosen.test is Test.AT_MOST:
        passing = codes <= chosen.codes[0]
    else:
        passing = np.isin(codes, chosen.codes)
    return np.where(codes < 0, chosen.null, passing)


LEAVES_PER_REGION = 4  # the sizes of leaves are estimates, which merging evens out


def grow(
    request: Request,
    domain: Domain,
    sample: pa.Table,
    wanted: int,
    paths: pa.StructArray | None = None,
    strata: Strata | None = None,
) -> RegionTree:
    """Return the tree that cuts a sample into leaves for regions of ``wanted`` rows.

    sample: as ``sql.sample_select`` returns it, in any order. paths: the rows of the
    hierarchy. strata: those of the table. Their values are cut first, until a leaf holds a few
    whole strata or the rows of one; what has more rows than a region is cut further. A leaf that no
    quasi-identifier can cut stays as it is.
    """
    if sample.num_rows == 0:
        return RegionTree(Leaf(0), (), 1, (Leaf(0),))
    values = {
        name: sample.column(f"quasi_{i}").combine_chunks() for i, name in enumerate(request.quasi)
    }
    rows = _sampled(request, domain, sample, values, paths)
    growing, leaf = Growing(), max(1, wanted // LEAVES_PER_REGION)
    if strata is None:
        root = growing.node(rows, rows.orders, leaf * rows.total / max(domain.rows, 1))
        pools: tuple[RoutingCut | Leaf, ...] = (root,)
    else:
        of_row = strata.of_rows(request.function, {name: values[name] for name in strata.types})
        root, pools = _strata_first(growing, request.function, strata, rows, of_row, wanted, leaf)
    return RegionTree(root, growing.texts(request), growing.leaves, pools)


def _sampled(
    request: Request,
    domain: Domain,
    sample: pa.Table,
    values: Mapping[str, pa.Array],
    paths: pa.StructArray | None,
) -> SampleRows:
    """Return the rows of a sample; values: its quasi-identifiers by name."""
    table = read_table(
        request.function,
        request.quasi,
        values,
        pa.array(np.zeros(sample.num_rows, np.uint64)),
        Workers(request.function),
        rows_of(paths, request.quasi, request.time_zone),
        domain,
        relative(request.weights, list(request.quasi)),
    )
    weights = sample.column(WEIGHT).to_numpy().astype(np.int64)
    near = _near(
        request.function, table, max(2, round(request.k * table.rows / max(domain.rows, 1)))
    )
    return SampleRows(values, [axis(column) for column in table.columns], weights, near)


def _near(function: str, table: QuasiTable, size: int) -> npt.NDArray[np.int32]:
    """Return groups of ``size`` near rows each, numbered, int32[n] as the rows came.

    They resemble the classes of a release of the table: as many of them lie apart as far.
    """
    group = np.empty(table.rows, np.int32)
    along = table.order[curve_order(table, Workers(function))]
    group[along] = np.arange(table.rows) // size
    return group


def _strata_first(
    growing: Growing,
    function: str,
    strata: Strata,
    sample: SampleRows,
    of_row: npt.NDArray[np.int64],
    wanted: int,
    leaf: int,
) -> tuple[RoutingCut | Leaf, tuple[RoutingCut | Leaf, ...]]:
    """Return the root, and the subtree of each stratum of more than ``wanted`` rows.

    of_row: int64[n], the stratum of each row of the sample. leaf: rows of a leaf, at most.
    """
    hashes = pa.array(np.zeros(len(strata.rows), np.uint64))
    table = read_table(function, strata.types, strata.values, hashes, Workers(function))
    near = np.arange(table.rows, dtype=np.int32)  # no class lies in two strata
    all_strata = SampleRows(
        strata.values, [axis(column) for column in table.columns], strata.rows, near
    )
    by = [order[np.argsort(of_row[order], kind="stable")] for order in sample.orders]
    starts = np.searchsorted(of_row[by[0]], np.arange(len(strata.rows) + 1))
    pools: list[RoutingCut | Leaf] = []

    def end(orders: Orders, depth: int) -> RoutingCut | Leaf:
        members = orders[0]
        if len(members) > 1 or strata.rows[members[0]] <= wanted:
            return growing.leaf()
        number = int(members[0])
        orders_of_stratum = [order[starts[number] : starts[number + 1]] for order in by]
        share = sample.weight(orders_of_stratum) / int(strata.rows[number])
        pools.append(growing.node(sample, orders_of_stratum, leaf * share, depth))
        return pools[-1]

    return growing.node(all_strata, all_strata.orders, leaf, end=end), tuple(pools)
