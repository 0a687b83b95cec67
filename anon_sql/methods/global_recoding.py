"""Recode the columns of a table to levels that all rows share, and judge the result.

- The levels of a column determine how its values are recoded if all rows have one level. A column
with a hierarchy has the levels of its tree. Numbers, dates and times without one have their values,
ranges, each level twice as wide as the last, and ``*``; text without one has its values and ``*``.
NULL stays NULL below the last level. Ranges begin at multiples of their width. The narrowest width
is 1, 2 or 5 times a power of ten: of numbers in their unit, of dates in days, of times in
microseconds. - Groups of rows with the same recoded values are counted on distinct combinations of
values. Groups of one node are rolled up to those of a more general node; rows are read once. After
Incognito (LeFevre et al. 2005), which rolls frequency sets up in the same way. - A node of a
generalization lattice is judged by its loss, the rows it suppresses, and whether it is legal.
Groups that are not legal are suppressed. If suppressed rows are shown, they are a class that must
be legal too: the smallest groups join them, of equal ones those that lose most.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.columns import Categories, Numbers
from anon_sql.core.hierarchy.column import Hierarchical
from anon_sql.core.hierarchy.tree import HierarchyTree
from anon_sql.core.labels.grammar import AS_CLASS, STARRED
from anon_sql.core.table import Column, QuasiTable
from anon_sql.methods.method import Partition
from anon_sql.privacy.constraint import Constraint

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
MIN_RANGES = 20  # the narrowest ranges have at least this part of the extent of all values
MIN_WIDTH = 1e-300  # of a column that has ranges
DENSE_PLACES = 4  # per row, up to which keys are coded without a sort


class CodedNumbers(NamedTuple):
    """codes: of each row, ascending with the values. points: of each value. null: whether the last
    value is NULL."""

    codes: Codes
    points: Floats
    null: bool


def coded_numbers(column: Numbers, order: Codes) -> CodedNumbers:
    """Return the codes of a column's values, ascending, in an order of its rows.

    With them the point of each value, and whether the last value is NULL.
    """
    keys, present = column.keys, column.present
    lowest = int(keys[present].min()) if present.any() else 0
    extent = int(keys[present].max()) - lowest if present.any() else 0
    if extent < DENSE_PLACES * len(keys):
        codes = np.where(present, keys - lowest, extent + 1).astype(np.int32)
        codes, used = present_codes(codes, extent + 2)
        null = bool(used[-1] == extent + 1) if len(used) else False
    else:
        used, ranks = np.unique(keys[present], return_inverse=True)
        codes = np.full(len(keys), len(used), np.int32)
        codes[present], null = ranks.reshape(-1), not present.all()
    count = int(codes.max()) + 1
    points = np.empty(count)
    points[codes] = column.points
    return CodedNumbers(codes[order], points, null)


def ranges_of(column: Numbers, points: Floats, null: bool) -> list[Codes]:
    """Return the range of each value that is not NULL, int32[…], by level, from 0 without gaps.

    Levels that have one range, or as many as the level below, are left out.

    points, null: as ``coded_numbers`` returns them.
    """
    values = points[:-1] if null else points
    if column.width < MIN_WIDTH or len(values) < 3:
        return []
    width = _first_width(column.width)
    positions = np.floor((values * column.width + column.least) / width + 1e-9)
    levels, distinct = [], len(values)
    while width < column.width:
        _, bins = np.unique(positions, return_inverse=True)
        codes = bins.reshape(-1).astype(np.int32)
        if 1 < codes[-1] + 1 < distinct:
            levels.append(codes)
            distinct = int(codes[-1]) + 1
        width, positions = width * 2, np.floor(positions / 2)
    return levels


def _first_width(extent: float) -> float:
    """Return the least of 1, 2 and 5 times a power of ten that is extent / MIN_RANGES or more."""
    wanted = extent / MIN_RANGES
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(next((step * power for step in (1, 2, 5) if step * power >= wanted), 10 * power))


def present_codes(codes: Codes, count: int) -> tuple[Codes, npt.NDArray[np.int64]]:
    """Return codes int32[n] from 0 without gaps, in their order, and the codes they stand for."""
    used = np.bincount(codes, minlength=count) > 0
    rank = (np.cumsum(used) - 1).astype(np.int32)
    return rank[codes], np.flatnonzero(used)


@dataclass(frozen=True)
class Level:
    """One level of a column of v values.

    group: int32[v], the recoded value of each value, from 0 without gaps.
    nodes: int32[v], its node, as ``Partition.nodes``.
    loss: float64[v], the NCP of its label.
    size: recoded values.
    suppressed: whether every label is ``*``.
    """

    group: Codes
    nodes: Codes
    loss: Floats
    size: int
    suppressed: bool = False


@dataclass(frozen=True)
class Levels:
    """A column, with its levels from the values up.

    codes: int32[n], the value of each row in canonical order.
    rows: int64[v], how many rows have each value.
    """

    name: str
    codes: Codes
    rows: npt.NDArray[np.int64]
    levels: tuple[Level, ...]

    def losses(self) -> Floats:
        """Return the sum of the NCP of all rows at each level, float64[levels]."""
        return np.array([float((self.rows * level.loss).sum()) for level in self.levels])


def levels_of(table: QuasiTable, column: Column) -> Levels:
    """Return the levels of a column for the rows of the table."""
    if isinstance(column, Hierarchical):
        codes, used = present_codes(column.codes[table.order], column.null_code + 1)
        levels = [level_of_nodes(column.tree, nodes[used]) for nodes in node_levels(column)]
    elif isinstance(column, Categories):
        codes, used = present_codes(column.codes[table.order], column.null_code + 1)
        levels = [_values(len(used)), _star(len(used))]
    else:
        codes, points, null = coded_numbers(column, table.order)
        ranges = [_of_ranges(bins, points, null) for bins in ranges_of(column, points, null)]
        levels = [_values(len(points)), *ranges, _star(len(points))]
    return Levels(
        column.name, codes, np.bincount(codes, minlength=len(levels[0].group)), tuple(levels)
    )


def node_levels(column: Hierarchical) -> list[Codes]:
    """Return the node of each leaf, and last of NULL, at each level: -1, at the top the root."""
    nulls = np.full(len(column.tree.levels), -1, dtype=np.int32)
    nulls[-1] = column.tree.root
    return list(np.column_stack([column.tree.levels, nulls]).astype(np.int32))


def level_of_nodes(tree: HierarchyTree, nodes: Codes) -> Level:
    """Return a level of a hierarchy; nodes: int32[v]. The root is printed as ``*`` and loses 1."""
    loss = np.where(nodes < 0, 0.0, np.where(nodes == tree.root, 1.0, tree.share[nodes]))
    return _level(nodes, nodes, loss, suppressed=bool((nodes == tree.root).all()))


def _values(count: int) -> Level:
    all_values = np.arange(count, dtype=np.int32)
    return Level(all_values, np.full(count, AS_CLASS, np.int32), np.zeros(count), count)


def _star(count: int) -> Level:
    nodes = np.full(count, STARRED, np.int32)
    return _level(np.zeros(count, np.int32), nodes, np.ones(count), suppressed=True)


def _level(
    keys: npt.NDArray[Any], nodes: Codes, loss: Floats, *, suppressed: bool = False
) -> Level:
    used, group = np.unique(keys, return_inverse=True)
    return Level(group.reshape(-1).astype(np.int32), nodes, loss, len(used), suppressed)


def _of_ranges(bins: Codes, points: Floats, null: bool) -> Level:
    """Return a level of ranges; bins: int32[v], ascending with the points of the values."""
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    ends = np.append(starts[1:], len(bins)) - 1
    loss = (points[ends] - points[starts])[bins]
    if not null:
        return _level(bins, bins, loss)
    group = np.append(bins, bins[-1] + 1)
    return _level(group, np.append(bins, np.int32(AS_CLASS)), np.append(loss, 0.0))


Node = tuple[int, ...]  # the level of each column
Ints = npt.NDArray[np.int64]
MAX_COMBINATIONS = 1 << 62  # that a key of 64 bits tells apart
KEPT_NODES = 64  # whose groups are kept to be rolled up


@dataclass(frozen=True)
class RecodedGroups:
    """The g groups of a node.

    one: int32[g], a record in each.
    sizes: int64[g], in rows.
    """

    node: Node
    one: Codes
    sizes: Ints


class Records:
    """The distinct combinations of the values of some columns, and their groups at any node."""

    def __init__(self, columns: Sequence[Levels]) -> None:
        """Count the combinations; rows are in canonical order."""
        self.columns = tuple(columns)
        rows, self._record_of = number(
            [column.codes for column in columns], [len(column.rows) for column in columns]
        )
        self.codes = [
            column.codes[rows].astype(np.min_scalar_type(len(column.rows))) for column in columns
        ]
        sizes = np.bincount(self._record_of, minlength=len(rows))
        all_records = np.arange(len(rows), dtype=np.int32)
        self._counted = [RecodedGroups((0,) * len(self.columns), all_records, sizes)]

    @property
    def rows(self) -> int:
        return len(self._record_of)

    def groups(self, node: Node) -> RecodedGroups:
        """Return the groups of a node, rolled up from the fewest that were counted before."""
        more_specific = [
            groups for groups in self._counted if all(map(int.__le__, groups.node, node))
        ]
        fewest = min(more_specific, key=lambda groups: len(groups.one))
        first, group_of = number(*self._recoded(node, fewest.one))
        sizes = np.bincount(group_of, weights=fewest.sizes, minlength=len(first)).astype(np.int64)
        rolled_up = RecodedGroups(node, fewest.one[first], sizes)
        self._counted.append(rolled_up)
        if len(self._counted) > KEPT_NODES:
            del self._counted[1]  # never the first, from which every node can be rolled up
        return rolled_up

    def all_suppressed(self, node: Node) -> bool:
        """Return whether every label of a node is ``*``."""
        return all(c.levels[level].suppressed for level, c in zip(node, self.columns, strict=True))

    def losses(self, groups: RecodedGroups) -> npt.NDArray[np.float64]:
        """Return the sum of the NCP of a row in each group, float64[g]."""
        losses = np.zeros(len(groups.one))
        for level, column, codes in zip(groups.node, self.columns, self.codes, strict=True):
            lost = column.levels[level].loss
            if column.levels[level].size == 1:
                losses += lost[0]
            elif lost.any():
                losses += lost.take(codes.take(groups.one))
        return losses

    def of_rows(self, groups: RecodedGroups) -> Codes:
        """Return the group of each row, int32[n], in canonical order."""
        all_records = np.arange(len(self.codes[0]), dtype=np.int32)
        first, group_of = number(*self._recoded(groups.node, all_records))
        number_of = np.empty(len(first), np.int32)  # the same groups, numbered as in ``groups``
        number_of[group_of[groups.one]] = np.arange(len(first), dtype=np.int32)
        return number_of[group_of][self._record_of]

    def partition(
        self, groups: RecodedGroups, suppressed_groups: npt.NDArray[np.bool_], **stats: float
    ) -> Partition:
        """Return the groups as classes.

        suppressed_groups: bool[g], those that are suppressed.
        """
        group_of = self.of_rows(groups)
        suppressed = suppressed_groups[group_of]
        levels = zip(groups.node, self.columns, strict=True)
        nodes = np.column_stack([c.levels[level].nodes[c.codes] for level, c in levels])
        nodes[suppressed] = STARRED
        classes = np.where(suppressed, np.int32(-1), group_of).astype(np.int32)
        return Partition(classes, {**stats, "suppressed": int(suppressed.sum())}, nodes)

    def _recoded(self, node: Node, records: Codes) -> tuple[list[npt.NDArray[Any]], list[int]]:
        """Return the recoded values of records in each column, and how many each has."""
        levels = [column.levels[level] for level, column in zip(node, self.columns, strict=True)]
        varied = [(level, c) for c, level in enumerate(levels) if level.size > 1]
        parts = [level.group.take(self.codes[c].take(records)) for level, c in varied]
        if not parts:
            return [np.zeros(len(records), np.int32)], [1]
        return parts, [level.size for level, _ in varied]


def number(parts: Sequence[npt.NDArray[Any]], sizes: Sequence[int]) -> tuple[Codes, Codes]:
    """Return the first position of each distinct combination, int32[u], and the number of each.

    parts: codes int32[m] of each column, below its size.
    """
    key, combinations = np.zeros(len(parts[0]), np.int64), 1
    for codes, size in zip(parts, sizes, strict=True):
        if combinations > MAX_COMBINATIONS // size:
            first, numbers = kernels.hashing.number(_mixed(key))
            key, combinations = numbers.astype(np.int64), len(first)
        key *= size
        key += codes
        combinations *= size
    if combinations <= 4 * len(key):
        return _by_place(key, combinations)
    return kernels.hashing.number(_mixed(key))  # type: ignore[no-any-return]


def _by_place(key: Ints, combinations: int) -> tuple[Codes, Codes]:
    """Return the same as ``number`` for keys below ``combinations``, in the order of the keys."""
    first = np.full(combinations, -1, np.int32)
    first[key[::-1]] = np.arange(len(key) - 1, -1, -1, dtype=np.int32)
    used = first >= 0
    rank = (np.cumsum(used) - 1).astype(np.int32)
    return first[used], rank[key]


def _mixed(key: Ints) -> npt.NDArray[np.uint64]:
    """Return keys with their bits mixed; different keys stay different."""
    mixed = key.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(32))


LEVEL_GCP = 1e-12  # of GCP, for each level
MINIMIZE = ("gcp", "dm", "height")
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class NodeVerdict:
    """The judgement of a node.

    gcp: 0…1, suppressed rows lose 1.
    dm: the discernibility.
    suppressed: rows.
    classes: groups that are not suppressed.
    passes: False if every more specific node is illegal too.
    legal: whether it may be released.
    few: rows in groups too small to be legal.
    extra: by how much they raise the GCP, which is no less in every more specific node.
    squares: the sum of the squared sizes of all groups, which is no less in every more general
        node.
    """

    node: Node
    gcp: float
    dm: float
    suppressed: int
    classes: int
    passes: bool
    legal: bool
    few: int
    extra: float
    squares: float

    def value(self, minimize: str) -> float:
        """Return what is minimized.

        Of nodes with equal height that of less GCP is better, of others with equal values that of
        less height.
        """
        if minimize == "height":
            return sum(self.node) + self.gcp / 2
        return self.dm if minimize == "dm" else self.gcp + LEVEL_GCP * sum(self.node)


@dataclass(frozen=True)
class Judge:
    """Judges nodes.

    limit: rows that may be suppressed.
    suppressed_released: whether they are released, as ``*``.
    """

    records: Records
    constraint: Constraint
    limit: int
    suppressed_released: bool

    @property
    def monotone(self) -> bool:
        """Return whether a more general node never suppresses more rows.

        It may where a legal group is no longer legal in the union with an illegal one, or, if
        persons are counted, in the union with a legal one.
        """
        rules, models = self.constraint.rules, self.constraint.models
        if self.limit == 0 and (rules is None or not rules.persons):
            return all(model.closed for model in models)
        return all(model.monotone for model in models)

    def verdict(self, node: Node) -> NodeVerdict:
        """Return the judgement of a node."""
        groups = self.records.groups(node)
        sizes, columns = groups.sizes, len(self.records.columns)
        lost = sizes * self.records.losses(groups)
        cells = columns * self.records.rows
        small = sizes < self.constraint.smallest
        few = int(sizes[small].sum())
        rare = self.illegal(groups) if few <= self.limit else small
        passes = (int(sizes[rare].sum()) if self.monotone else few) <= self.limit
        suppressed_groups, legal = self.left_out(groups, rare)
        suppressed = int(sizes[suppressed_groups].sum())
        return NodeVerdict(
            node=node,
            gcp=float(lost[~suppressed_groups].sum() + suppressed * columns) / cells,
            dm=float((sizes[~suppressed_groups].astype(np.float64) ** 2).sum())
            + float(suppressed) ** 2,
            suppressed=suppressed,
            classes=int((~suppressed_groups).sum()),
            passes=passes,
            # a release is never empty
            legal=legal and (self.suppressed_released or not suppressed_groups.all()),
            few=few,
            extra=float((sizes * columns - lost)[small].sum()) / cells,
            squares=float((sizes.astype(np.float64) ** 2).sum()),
        )

    def illegal(self, groups: RecodedGroups) -> Bools:
        """Return which groups are not legal, bool[g]."""
        if self.constraint.rules is None:
            return groups.sizes < self.constraint.k
        return ~self.constraint.legal(self.records.of_rows(groups), len(groups.sizes))

    def left_out(self, groups: RecodedGroups, rare: Bools) -> tuple[Bools, bool]:
        """Return which groups are suppressed, bool[g], and whether that is legal.

        If every label is ``*``, all rows are suppressed, which is legal if they are released.

        rare: bool[g], the groups that must be suppressed.
        """
        if self.records.all_suppressed(groups.node):
            legal = self.suppressed_released or self.records.rows <= self.limit
            return np.ones(len(rare), np.bool_), legal
        suppressed, sizes = rare.copy(), groups.sizes
        within = int(sizes[suppressed].sum()) <= self.limit
        if not within or not self.suppressed_released or not suppressed.any():
            return suppressed, within
        rows = None if self.constraint.rules is None else self.records.of_rows(groups)
        by_size = np.lexsort((-self.records.losses(groups), sizes))
        others = iter(by_size[~suppressed[by_size]])
        while within and not self._allowed(sizes, suppressed, rows):
            suppressed[next(others)] = True  # all rows together are legal
            within = int(sizes[suppressed].sum()) <= self.limit
        return suppressed, within

    def _allowed(self, sizes: npt.NDArray[np.int64], suppressed: Bools, rows: Codes | None) -> bool:
        """Return whether the rows of some groups are legal as one class; rows: their groups."""
        if rows is None:
            return int(sizes[suppressed].sum()) >= self.constraint.k
        return self.constraint.allows(np.flatnonzero(suppressed[rows]))
