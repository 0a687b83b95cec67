"""Convert quasi-identifiers to arrays in canonical order, beside the domain of the whole table.

Canonical order sorts rows by a hash of their quasi-identifiers, so that a release depends neither
on the order in which rows were scanned nor, at plain k, on sensitive and kept values.

Information loss is normalized by the domain of the whole table, and t-closeness compares with its
distribution. If a part of its rows is released with the ``Domain`` of the table, both are measured
as for the whole table.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import blake2b
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql import kernels
from anon_sql.core.columns import NULL_POINT, Categories, Numbers, categories, is_number, numbers
from anon_sql.core.hierarchy.column import Hierarchical, hierarchical
from anon_sql.core.ordered import Ordered, ordered_column
from anon_sql.core.running import Workers
from anon_sql.errors import AnonError

_NONE: Mapping[str, "Distribution"] = MappingProxyType({})


@dataclass(frozen=True)
class Distribution:
    """The values of a sensitive column in the whole table.

    keys: binary[m], distinct sort keys in ascending order, the empty key for NULL.
    counts: int64[m], rows of each value, or persons that have it if persons are counted.
    """

    keys: pa.Array
    counts: npt.NDArray[np.int64]

    @property
    def nulls(self) -> bool:
        """Return whether NULL is among the values."""
        return len(self.keys) > 0 and len(self.keys[0].as_py()) == 0


@dataclass(frozen=True)
class Domain:
    """The domain of a whole table.

    rows: its number of rows.
    widths: largest minus smallest value of each quasi-identifier of numbers, dates or times, in the
        unit of ``Numbers.width``.
    distinct: distinct values of each quasi-identifier of text, NULL counted as one.
    sensitive: distribution of each column that l or t applies to.
    """

    rows: int
    widths: Mapping[str, float]
    distinct: Mapping[str, int]
    sensitive: Mapping[str, Distribution] = field(default_factory=lambda: _NONE)

    def placed(self, column: "Column") -> "Column":
        """Return a column of some rows, with its loss normalized by the domain of the table."""
        if isinstance(column, Categories):
            return replace(column, table_distinct=self.distinct[column.name])
        if not isinstance(column, Numbers):
            return column  # the leaves of a hierarchy are the domain
        width = self.widths[column.name]
        share = column.width / width if width > 0 else 0.0
        points = np.where(column.present, column.points * min(share, 1.0), NULL_POINT)
        return replace(column, points=points, width=width)

    def codes(self, function: str, name: str, keys: pa.Array) -> npt.NDArray[np.int32]:
        """Return the codes of the distinct sort keys of a sensitive column, int32[m].

        Codes are in the order of the table's values, from 0, NULL last. Raises AnonError for a
        value that the table did not have when it was counted.
        """
        counted = self.sensitive[name]
        index = pc.index_in(keys.cast(pa.binary()), counted.keys)
        if index.null_count:
            raise AnonError(
                function,
                "the table must not change while it is released",
                f"values of {name} that were not there before",
                "nothing was released; run it again",
            )
        indices = index.to_numpy(zero_copy_only=False)
        codes: npt.NDArray[np.int32] = indices.astype(np.int32) - np.int32(counted.nulls)
        codes[codes < 0] = len(counted.keys) - 1
        return codes


Column = Numbers | Categories | Hierarchical
BLOCK_ROWS = 4096  # whose points fit into the CPU cache
SPAN_ROWS = 1 << 16  # whose points a thread writes at a time


@dataclass(frozen=True)
class QuasiTable:
    """n rows of d quasi-identifiers.

    columns: d columns with rows in source order, of which there may be more.
    order: int32[n], the source row at each position of the canonical order. Every other array
        passed to a method is in canonical order.
    weights: float64[d], the loss of each whole column, 0…1; None for 1 each.
    workers: the threads that arrange the points.
    """

    columns: tuple[Column, ...]
    order: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float64] | None = None
    workers: Workers = field(default_factory=partial(Workers, "arrange"))

    @property
    def rows(self) -> int:
        return len(self.order)

    @cached_property
    def points(self) -> npt.NDArray[np.float64]:
        """Return float64[n, d]: numbers scaled to [0, weight], other values as codes.

        min(|a - b|, weight) is the distance of two values of either kind.
        """
        columns = [self._points(c) for c in range(len(self.columns))]
        in_source_order = np.empty((max(map(len, columns), default=self.rows), len(columns)))
        points = np.empty((self.rows, len(columns)))

        def beside(first: int, end: int) -> None:
            for start in range(first, end, BLOCK_ROWS):
                rows = slice(start, min(start + BLOCK_ROWS, end))
                for c, values in enumerate(columns):
                    in_source_order[rows, c] = values[rows]

        def arranged(first: int, end: int) -> None:
            in_source_order.take(self.order[first:end], axis=0, out=points[first:end], mode="clip")

        for step, rows in ((beside, len(in_source_order)), (arranged, self.rows)):
            spans = list(pairwise([*range(0, rows, SPAN_ROWS), rows]))
            self.workers.map(step, spans, [end - first for first, end in spans])
        return points

    def _points(self, c: int) -> npt.NDArray[Any]:
        """Return the points of one column in source order."""
        column = self.columns[c]
        if not isinstance(column, Numbers):
            return column.codes
        if self.weights is None or self.weights[c] == 1:
            return column.points
        return np.where(column.present, column.points * self.weights[c], NULL_POINT)

    def only(self, kept: npt.NDArray[Any]) -> "QuasiTable":
        """Return the rows at some canonical positions, marked bool[n] or listed int64[m]."""
        part = QuasiTable(self.columns, self.order[kept], self.weights, self.workers)
        part.__dict__.update(points=self.points[kept], model=self.model)
        return part

    @cached_property
    def ranks(self) -> npt.NDArray[np.int32]:
        """Return the rank of each value in its column, int32[n, d].

        Sets are ranked by frequency, NULL behind all values.
        """
        ranks = np.empty(self.points.shape, np.int32)
        for column, kind in enumerate(self.model.kind):
            values = self.points[:, column]
            if kind == kernels.loss.SET:
                ranks[:, column] = values
            else:
                ranks[:, column] = np.unique(values, return_inverse=True)[1].reshape(-1)
        kernels.mondrian.order_sets(ranks, self.model)
        return ranks

    @cached_property
    def model(self) -> "kernels.loss.LossModel":
        """Return the description of the points for the kernels that compute information loss."""
        kinds = {
            Numbers: kernels.loss.NUMBER,
            Ordered: kernels.loss.NUMBER,
            Categories: kernels.loss.SET,
            Hierarchical: kernels.loss.TREE,
        }
        trees = [c.tree if isinstance(c, Hierarchical) else None for c in self.columns]
        sizes = [0 if tree is None else len(tree.names) for tree in trees]
        nodes = [tree for tree in trees if tree is not None]
        sets = [c.distinct if isinstance(c, Categories) else 0 for c in self.columns]
        nulls = [NULL_POINT if isinstance(c, Numbers) else c.null_code for c in self.columns]
        none = np.zeros(0, dtype=np.int64)
        return kernels.loss.LossModel(
            kind=np.array([kinds[type(c)] for c in self.columns], dtype=np.int64),
            values=np.array(sets, dtype=np.int64),
            null=np.array(nulls, dtype=np.float64),
            base=np.cumsum([0, *sizes[:-1]]).astype(np.int64),
            last=np.concatenate([none, *(tree.last for tree in nodes)]),
            parent=np.concatenate([none, *(tree.parent for tree in nodes)]),
            share=np.concatenate([np.zeros(0), *(tree.share for tree in nodes)]),
            weight=np.ones(len(self.columns)) if self.weights is None else self.weights,
        )


def read_table(
    function: str,
    types: Mapping[str, str],
    lists: Mapping[str, pa.Array],
    hashes: pa.Array,
    workers: Workers,
    trees: Mapping[str, pa.StructArray | None] = MappingProxyType({}),
    domain: Domain | None = None,
    weights: npt.NDArray[np.float64] | None = None,
    ties: bytes | None = None,
    ordered: Collection[str] = (),
) -> QuasiTable:
    """Return the quasi-identifiers of a source as a table.

    Raises AnonError for a type or value that labels cannot represent.

    types: SQL types by name in the order of the call.
    lists: Arrow values by name.
    hashes: uint64[n], of the columns that are released unchanged.
    trees: rows of the hierarchy by name (see ``rows_of``), for columns that have one.
    domain: of the whole table, if these are not all of its rows.
    weights: see ``QuasiTable``.
    ties: see ``canonical_order``.
    ordered: the columns whose values have the order of their ENUM; a hierarchy wins.
    """
    columns = read_columns(function, types, lists, workers, trees, ordered)
    order = canonical_order(columns, hashes.to_numpy(zero_copy_only=False), ties)
    if domain is not None:
        columns = [domain.placed(column) for column in columns]
    return QuasiTable(tuple(columns), order, weights, workers)


def canonical_order(
    columns: Sequence[Column], hashes: npt.NDArray[np.uint64], ties: bytes | None = None
) -> npt.NDArray[np.int32]:
    """Return the source row at each position of the canonical order, int32[n].

    Rows are sorted by a hash of their quasi-identifiers alone. The order decides vantage points and
    ties, so that classes would depend on other values if these took part. Only rows that are equal
    in all quasi-identifiers are sorted by the hash of the other columns, mixed with the first hash
    so that no value is first everywhere.

    With a key, rows that are equal in everything have different hashes. Otherwise they would be
    side by side, and classes would show which values are frequent among equal rows.

    hashes: uint64[n], of the other columns.
    ties: a secret key, without which neither order can be computed; None for none.
    """
    start = 0 if ties is None else int.from_bytes(ties[:8])
    quasi = quasi_hashes(columns, len(hashes), start)
    order: npt.NDArray[np.int32] = kernels.orders.by_hash(quasi)
    begins = np.flatnonzero(_is_first(quasi[order]))
    if len(begins) == len(order):
        return order
    mixed = kernels.hashing.mix(quasi, hashes.astype(np.uint64).view(np.int64))
    if ties is not None:
        mixed = _keyed(kernels.hashing.mix(mixed, _copies(mixed)), ties)
    starts = np.append(begins, len(order))
    arranged: npt.NDArray[np.int32] = kernels.hashing.arrange(order, starts, mixed)
    return arranged


def quasi_hashes(columns: Sequence[Column], rows: int, start: int = 0) -> npt.NDArray[np.uint64]:
    """Return a hash of the quasi-identifiers of each row, in source order, uint64[n].

    start: the hash that the first column is mixed with.
    """
    hashes = np.full(rows, start, np.uint64)
    for column in columns:
        if isinstance(column, Numbers):
            kernels.hashing.mix_in(hashes, column.keys, column.present)
        else:
            hashes = kernels.hashing.mix(hashes, column.codes)
    return hashes


def _is_first(ordered: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Return whether each of some sorted hashes differs from the one before, bool[n]."""
    return np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]


def _copies(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Return the number of each row among those of equal hash, int64[n], from 0."""
    order = kernels.orders.by_hash(hashes)
    places = np.arange(len(order))
    copies = np.empty(len(order), np.int64)
    copies[order] = places - np.maximum.accumulate(np.where(_is_first(hashes[order]), places, 0))
    return copies


def _keyed(hashes: npt.NDArray[np.uint64], key: bytes) -> npt.NDArray[np.uint64]:
    """Return keyed hashes of hashes, uint64[n]; equal hashes have equal results."""
    distinct, inverse = np.unique(hashes, return_inverse=True)
    words = distinct.tobytes()
    digests = b"".join(
        blake2b(words[begin : begin + 8], key=key, digest_size=8).digest()
        for begin in range(0, len(words), 8)
    )
    return np.frombuffer(digests, np.uint64)[inverse.reshape(-1)]


def read_columns(
    function: str,
    types: Mapping[str, str],
    lists: Mapping[str, pa.Array],
    workers: Workers,
    trees: Mapping[str, pa.StructArray | None] = MappingProxyType({}),
    ordered: Collection[str] = (),
) -> list[Column]:
    """Return quasi-identifiers with rows in source order; parameters as in ``read_table``."""
    jobs = [
        (function, name, sql_type, lists[name], trees.get(name), name in ordered)
        for name, sql_type in types.items()
    ]
    return workers.map(_column, jobs, [len(lists[name]) for name in types])


def _column(
    function: str,
    name: str,
    sql_type: str,
    values: pa.Array,
    tree: pa.StructArray | None,
    is_ordered: bool,
) -> Column:
    """Return one quasi-identifier; tree: the rows of its hierarchy, None for none."""
    number = is_number(function, name, sql_type)
    if tree is not None:
        return hierarchical(function, name, sql_type, values, tree)
    if is_ordered:
        return ordered_column(name, sql_type, values)
    return numbers(function, name, sql_type, values) if number else categories(name, values)
