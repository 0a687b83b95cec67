"""Assign the rows of an Arrow table to the leaves of a routing tree, and leaves to regions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql import kernels
from anon_sql.core.arrow import integers, one_array, valid
from anon_sql.core.columns import categories, comparable, is_number
from anon_sql.core.printing import cast
from anon_sql.pipeline.request import Request
from anon_sql.regions.tree import Leaf, RegionTree, RoutingCut, Test

MAX_DICTIONARY_SHARE = 0.1  # distinct values of a column with a dictionary, of its rows


def runs(batches: Iterable[pa.RecordBatch], most: int, size: int) -> Iterator[pa.Table]:
    """Give the rows of batches in tables; one is complete at ``most`` rows or ``size`` bytes."""
    buffered: list[pa.RecordBatch] = []
    rows = buffered_bytes = 0
    for batch in batches:
        buffered.append(batch)
        rows, buffered_bytes = rows + batch.num_rows, buffered_bytes + batch.nbytes
        if rows >= most or buffered_bytes >= size:
            yield pa.Table.from_batches(buffered)
            buffered, rows, buffered_bytes = [], 0, 0
    if rows:
        yield pa.Table.from_batches(buffered)


def repeated(run: pa.Table, few: float = MAX_DICTIONARY_SHARE) -> list[str]:
    """Return the columns of text with at most ``few`` distinct values, as a share of the rows."""
    return [
        field.name
        for field in run.schema
        if pa.types.is_string(field.type)
        and len(run.column(field.name).unique()) <= few * run.num_rows
    ]


def coded(run: pa.Table, text: Sequence[str]) -> dict[str, pa.Array]:
    """Return the columns of a run by name; text: those that become dictionaries."""
    columns = {name: one_array(run.column(name)) for name in run.column_names}
    return columns | {name: columns[name].dictionary_encode() for name in text}


def coded_if_few(run: pa.Table, few: float) -> dict[str, pa.Array]:
    """Return the columns of a run by name, those as dictionaries that ``repeated`` would name."""
    columns = {name: run.column(name).combine_chunks() for name in run.column_names}
    for name, values in columns.items():
        if pa.types.is_string(values.type):
            encoded = values.dictionary_encode()
            if len(encoded.dictionary) <= few * run.num_rows:
                columns[name] = encoded
    return columns


def joined_runs(tables: Sequence[pa.Table], text: Iterable[str]) -> pa.Table:
    """Return the rows of several runs as one table.

    Dictionaries, which have the values of all runs, are left to columns of ``text`` that have one
    in every run.
    """
    dictionaries = {
        name
        for name in text
        if all(pa.types.is_dictionary(table.schema.field(name).type) for table in tables)
    }
    return one_table([_plain(table, dictionaries) for table in tables])


def one_table(tables: Sequence[pa.Table]) -> pa.Table:
    """Return rows of several tables as one, whose dictionaries hold the values of all."""
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()


def few_coded(table: pa.Table, most: float) -> pa.Table:
    """Return a table without dictionaries of more than ``most`` values."""
    kept = [
        field.name
        for field, column in zip(table.schema, table.columns, strict=True)
        if pa.types.is_dictionary(field.type)
        and max((len(chunk.dictionary) for chunk in column.chunks), default=0) <= most
    ]
    return _plain(table, kept)


def _plain(table: pa.Table, kept: Iterable[str]) -> pa.Table:
    """Return a table without dictionaries in other columns than ``kept``."""
    fields = [
        pa.field(field.name, field.type.value_type)
        if pa.types.is_dictionary(field.type) and field.name not in kept
        else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


class LeafRows:
    """A routing tree prepared for rows in memory."""

    def __init__(self, request: Request, tree: RegionTree):
        self.request = request
        self.columns = tested_columns(request, tree)
        self.point_ids = {
            name: [i for i, point in enumerate(tree.points) if point.column == name]
            for name in self.columns
        }
        self.points = _cut_points(request, tree, self.point_ids)
        self.nodes = self._nodes(tree)

    def leaves_of(self, rows: Mapping[str, pa.Array]) -> npt.NDArray[np.int32]:
        """Return int32[n], the leaf of each row; rows: the columns that are tested, by name."""
        many = len(rows[self.columns[0]])
        keys = np.empty((len(self.columns), many), np.int64)
        present = np.empty((len(self.columns), many), np.bool_)
        points = np.zeros(sum(map(len, self.point_ids.values())), np.int64)
        for c, name in enumerate(self.columns):
            values, point_ids = rows[name], self.point_ids[name]
            present[c] = valid(values)
            keys[c], points[point_ids] = self._keys(name, values, self.points[name])
        leaves: npt.NDArray[np.int32] = kernels.sides.routed_leaf(self.nodes, keys, present, points)
        return leaves

    def _keys(
        self, name: str, values: pa.Array, points: pa.Array
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return keys of values and of cut points that compare as they do."""
        kind = self.request.quasi[name]
        if len(points) == 0:
            return np.zeros(len(values), np.int64), np.zeros(0, np.int64)
        if is_number(self.request.function, name, kind):
            both = [values, points]
            if pa.types.is_floating(values.type):  # -0.0 equals 0.0
                both = [pc.add(side, pa.scalar(0.0, side.type)) for side in both]
            keys, cut = comparable(kind, both)
            return keys, cut
        if pa.types.is_dictionary(values.type):
            words, codes = values.dictionary, values.indices
        else:
            text = pc.if_else(values, "true", "false") if values.type == pa.bool_() else values
            encoded = text.dictionary_encode()
            words, codes = encoded.dictionary, encoded.indices
        both = pa.concat_arrays([texts.cast(pa.large_string()) for texts in (words, points)])
        ranks = categories(name, both).codes.astype(np.int64)
        keys = ranks[integers(codes)] if len(words) else np.zeros(len(values), np.int64)
        return keys, ranks[len(words) :]

    def _nodes(self, tree: RegionTree) -> "kernels.sides.Nodes":
        """Return the tree as arrays; the points of a test are consecutive."""
        rows: list[tuple[int, ...]] = []

        def add(node: RoutingCut | Leaf) -> int:
            node_id = len(rows)
            rows.append(())
            if isinstance(node, Leaf):
                rows[node_id] = (-1, node.number, 0, False, False, 0, 0)
                return node_id
            yes, no = add(node.yes), add(node.no)
            column, at_most = self.columns.index(node.column), node.test is Test.AT_MOST
            ends = (node.points[0], node.points[-1] + 1) if node.points else (0, 0)
            rows[node_id] = (column, yes, no, node.null, at_most, *ends)
            return node_id

        add(tree.root)
        fields = np.array(rows, np.int32).T
        column, yes, no, null, at_most, first, last = map(np.ascontiguousarray, fields)
        return kernels.sides.Nodes(
            column, yes, no, null.astype(np.bool_), at_most.astype(np.bool_), first, last
        )


def tested_columns(request: Request, tree: RegionTree) -> list[str]:
    """Return the quasi-identifiers that a routing tree tests; the first if it tests none."""
    columns: set[str] = set()
    nodes: list[RoutingCut | Leaf] = [tree.root]
    while nodes:
        node = nodes.pop()
        if isinstance(node, RoutingCut):
            columns.add(node.column)
            nodes += [node.yes, node.no]
    return [name for name in request.quasi if name in columns] or list(request.quasi)[:1]


def _cut_points(
    request: Request, tree: RegionTree, point_ids: Mapping[str, list[int]]
) -> dict[str, pa.Array]:
    """Return the cut points of each column in its type; point_ids: their numbers by column."""
    kinds = [
        kind if is_number(request.function, name, kind) else "VARCHAR"
        for name in point_ids
        for kind in [request.quasi[name]]
    ]
    texts = [
        pa.array([tree.points[point_id].text for point_id in ids], pa.string())
        for ids in point_ids.values()
    ]
    return dict(zip(point_ids, cast(texts, kinds), strict=True))


@dataclass(frozen=True)
class Group:
    """Leaves whose rows are one region, or several regions of parts."""

    leaves: tuple[int, ...]
    parts: int = 1


@dataclass(frozen=True)
class Regions:
    """The regions of a table, numbered from 0.

    tree: the routing tree. groups: its leaves by region, each leaf in one group. rows: exact number
    of rows of each region once they are counted, else empty.
    """

    tree: RegionTree
    groups: tuple[Group, ...]
    rows: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        return sum(group.parts for group in self.groups)

    @property
    def of_leaf(self) -> dict[int, tuple[int, int]]:
        """Return the first region of each leaf and the number of parts it is spread over."""
        regions, first = {}, 0
        for group in self.groups:
            regions.update(dict.fromkeys(group.leaves, (first, group.parts)))
            first += group.parts
        return regions

    @property
    def spread(self) -> bool:
        """Return whether a group has several parts."""
        return any(group.parts > 1 for group in self.groups)

    def numbers(
        self, leaf: npt.NDArray[np.int32], dealt: Callable[[], npt.NDArray[np.uint64]]
    ) -> npt.NDArray[np.int64]:
        """Return the region of each row, int64[n].

        leaf: int32[n]. dealt: returns the number of each row that spreads it over parts.
        """
        first, parts = (np.zeros(self.tree.leaves, np.int64) for _ in range(2))
        for leaf_id, region_and_parts in self.of_leaf.items():
            first[leaf_id], parts[leaf_id] = region_and_parts
        region = first[leaf]
        if self.spread:
            region += (dealt() % parts[leaf].astype(np.uint64)).astype(np.int64)
        return region


def each_leaf(tree: RegionTree) -> Regions:
    """Return the regions of a tree whose leaves are not merged."""
    return Regions(tree, tuple(Group((leaf,)) for leaf in range(tree.leaves)))


def one_group(groups: Sequence[Group]) -> Group:
    """Return the leaves of several groups as one."""
    return Group(tuple(sorted(leaf for group in groups for leaf in group.leaves)))
