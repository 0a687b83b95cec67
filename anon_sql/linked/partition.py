"""Cut classes of people by all their quasi-identifiers: one wide row per person.

A wide row has the quasi-identifiers of the person. For each table below with a public number of
rows, it also has those of COPIES rows, spread over the person's rows in order of time. Classes are
cut within bins of people with similar numbers of rows.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import valid
from anon_sql.core.columns import Categories, Numbers
from anon_sql.core.hierarchy.tree import rows_of
from anon_sql.core.running import Workers
from anon_sql.core.table import Column, Distribution, Domain, QuasiTable, read_columns
from anon_sql.linked.bins import bins_of
from anon_sql.linked.options import LinkedCall
from anon_sql.linked.rows import Ints, LinkedRows, counts_of, free, lexical
from anon_sql.linked.schema import Node, Schema
from anon_sql.pipeline.partition import in_source_order, legal_partition, prepare
from anon_sql.pipeline.request import Relation, Source, checked

COPIES = 8  # rows of a table below that a wide row has
COPIES_WEIGHT = 3.0  # weight of all copies of a column, against 1 of a column of the person
BLOCK_PERSONS = 1 << 14  # persons whose wide rows are held at a time, or those of one bin
_BIN = "bin"


@dataclass(frozen=True)
class LinkedPoints:
    """The quasi-identifiers of a table, with the counts that its release adds, in source order.

    columns: values by released name; types: SQL type by name; bin_width: of those whose values the
    table has cut. binned: values by name, of those with bins the first of each. time: int64[n], the
    order of rows in time, or of equal values where there is no time. domain: of the columns. read:
    returns them as the core reads them. weights: float64[d], None for 1 each.
    """

    columns: Mapping[str, pa.Array]
    types: Mapping[str, str]
    bin_width: Mapping[str, Decimal]
    binned: Mapping[str, pa.Array]
    time: Ints
    domain: Domain
    read: Callable[[], list[Column]]
    weights: npt.NDArray[np.float64] | None
    workers: Workers

    def table(self, rows: Ints) -> QuasiTable:
        """Return some rows as the core reads them, in this order.

        All are read anew each time, because they take more memory than the values.
        """
        order = rows.astype(np.int32, copy=False)
        return QuasiTable(tuple(self.read()), order, self.weights, self.workers)


def points_of(
    call: LinkedCall, schema: Schema, tied: Mapping[str, LinkedRows], node: Node
) -> LinkedPoints | None:
    """Return the quasi-identifiers of a table, None if its release has none."""
    rows = tied[node.name]
    columns = {name: rows.source.column(name) for name in node.quasi}
    types = {name: node.table.types[name] for name in node.quasi}
    for child, counted, _ in schema.added(node):
        columns[counted] = pa.array(counts_of(tied[child.name].parent, rows.count))
        types[counted] = "BIGINT"
    if not columns:
        return None
    workers = Workers(call.function, call.threads)
    trees = rows_of(call.paths, types, call.time_zone)
    read_quasi = partial(read_columns, call.function, types, columns, workers, trees)
    weights = np.array([call.weights.get((node.name, name), 1.0) for name in columns])
    top = weights.max()
    quasi_columns = read_quasi()
    return LinkedPoints(
        columns={**columns, **rows.source.raw},
        types=types,
        bin_width=call.bin_widths_of(node.name),
        binned=columns,
        time=_time(rows.count, quasi_columns, node),
        domain=_domain(rows.count, quasi_columns),
        read=read_quasi,
        weights=None if top <= 0 or (weights == top).all() else weights / top,
        workers=workers,
    )


def _time(rows: int, columns: list[Column], node: Node) -> Ints:
    """Return the values of the first column of numbers, or else of the first column, int64[n]."""
    first = next((column for column in columns if isinstance(column, Numbers)), None)
    if first is not None and first.name in node.quasi:
        return np.where(first.present, first.keys, np.int64(-(2**63)))
    others = [column for column in columns if not isinstance(column, Numbers)]
    return others[0].codes.astype(np.int64) if others else np.zeros(rows, np.int64)


def _domain(rows: int, columns: list[Column]) -> Domain:
    widths = {column.name: column.width for column in columns if isinstance(column, Numbers)}
    distinct = {
        column.name: column.distinct for column in columns if isinstance(column, Categories)
    }
    return Domain(rows, widths, distinct)


def bins_of_persons(
    call: LinkedCall, schema: Schema, tied: Mapping[str, LinkedRows]
) -> npt.NDArray[np.int32]:
    """Return the bin of near counts of each person, int32[n]."""
    rows = tied[schema.root]
    many = rows.count
    counts = [
        counts_of(tied[node.name].parent, many) for node in schema.children(schema.root, "quasi")
    ]
    table = np.column_stack(counts or [np.zeros((many, 0), np.int64)])
    return bins_of(table, call.k, rows.order)


def classes_of(
    call: LinkedCall,
    schema: Schema,
    tied: Mapping[str, LinkedRows],
    points: Mapping[str, LinkedPoints | None],
    bins: npt.NDArray[np.int32],
) -> npt.NDArray[np.int32]:
    """Return the class of each person, int32[n], at least k persons of one bin."""
    rows = tied[schema.root]
    wide = list(_wide(call, schema, tied, points))
    if not any(column.weight for column in wide):
        return bins
    free()
    class_of, first_id = np.empty(rows.count, np.int32), 0
    for block in _blocks(bins):
        classes_of_block = _cut(call, rows, bins, wide, block)
        class_of[block] = classes_of_block + first_id
        first_id += int(classes_of_block.max()) + 1
        free()
    return class_of


def _blocks(bins: npt.NDArray[np.int32]) -> Iterator[Ints]:
    """Yield the persons of whole bins, int64[m], at least BLOCK_PERSONS at a time except the
    last."""
    order, sizes = np.argsort(bins, kind="stable"), np.bincount(bins)
    start = end = 0
    for size in sizes:
        end += size
        if end - start >= BLOCK_PERSONS:
            yield order[start:end]
            start = end
    if start < end:
        yield order[start:]


@dataclass(frozen=True)
class _WideColumn:
    """A column of the wide rows: a quasi-identifier of persons, or a copy of one of a table below.

    values: of all rows of the table. row_of: int32[n], the row that each person shows, -1 for none;
    None for persons themselves. domain: of the table.
    """

    name: str
    type: str
    weight: float
    values: pa.Array
    row_of: Ints | None
    domain: Domain

    def values_of(self, persons: Ints) -> pa.Array:
        """Return the values of some persons."""
        if self.row_of is None:
            return self.values.take(pa.array(persons))
        rows = self.row_of[persons]
        return self.values.take(pa.array(rows, mask=rows < 0))


def _wide(
    call: LinkedCall,
    schema: Schema,
    tied: Mapping[str, LinkedRows],
    points: Mapping[str, LinkedPoints | None],
) -> Iterator[_WideColumn]:
    """Yield the columns of the wide rows."""
    persons = tied[schema.root].count
    for node in schema.nodes.values():
        table_points = points.get(node.name)
        rows = tied[node.name]
        if table_points is None or rows.count == 0:
            continue
        shown = [None] if node.link is None else _copies(rows, table_points, persons)
        share = 1.0 if node.link is None else COPIES_WEIGHT / len(shown)
        for name in node.quasi:
            weight = share * call.weights.get((node.name, name), 1.0)
            values, kind = table_points.binned[name], node.table.types[name]
            yield from (
                _WideColumn(name, kind, weight, values, row_of, table_points.domain)
                for row_of in shown
            )


def _copies(rows: LinkedRows, points: LinkedPoints, persons: int) -> list[Ints | None]:
    """Return the rows of each person that are spread over the person's time, int32[n] each."""
    order = lexical(rows.person, points.time, rows.order)
    counts = counts_of(rows.person, persons)
    starts = np.r_[0, counts.cumsum()[:-1]]
    copies = int(min(COPIES, counts.max()))
    rows_of_copies: list[Ints | None] = []
    for copy in range(copies):
        position = starts + (2 * copy + 1) * counts // (2 * copies)
        row_of = order[np.minimum(position, rows.count - 1)]
        rows_of_copies.append(np.where(counts == 0, np.int32(-1), row_of))
    return rows_of_copies


def _cut(
    call: LinkedCall,
    rows: LinkedRows,
    bins: npt.NDArray[np.int32],
    wide: list[_WideColumn],
    persons: Ints,
) -> npt.NDArray[np.int32]:
    """Return the class of some persons, int32[m], as in a release of all of them."""
    columns = {f"{c}": column for c, column in enumerate(wide)}
    types = {name: column.type for name, column in columns.items()} | {_BIN: "INTEGER"}
    node = rows.source.node
    secret = {f"s{c}": rows.codes[name] for c, name in enumerate(node.sensitive)}
    asks = call.options.l > 1 and bool(secret)
    types |= dict.fromkeys(secret, "UBIGINT") if asks else {}
    request = checked(
        "anonymize",
        Relation(types, {}, call.threads, call.time_zone),
        call.arguments(
            quasi=[*columns, _BIN],
            sensitive=list(secret) if asks else [],
            l=call.options.l if asks else 1,
            strata=[_BIN] if len(np.unique(bins[persons])) > 1 else None,
            weights={name: column.weight for name, column in columns.items()} | {_BIN: 0.0},
        ),
    )
    source = Source(
        {
            **{name: column.values_of(persons) for name, column in columns.items()},
            _BIN: pa.array(bins[persons]),
        },
        pa.array(rows.order[persons]),
        {name: _keys(codes[persons]) for name, codes in secret.items()} if asks else {},
    )
    widths = {
        name: column.domain.widths[column.name]
        for name, column in columns.items()
        if column.name in column.domain.widths
    }
    distinct = {
        name: column.domain.distinct[column.name] + (column.row_of is not None)  # or no row
        for name, column in columns.items()
        if column.name in column.domain.distinct
    }
    values = {name: _distribution(codes) for name, codes in secret.items()} if asks else {}
    domain = Domain(rows.count, {**widths, _BIN: float(bins.max())}, distinct, values)
    paths = _paths(call.paths, {name: column.name for name, column in columns.items()})
    prepared = prepare(source, request, paths, domain)
    partition = legal_partition(prepared.table, prepared.call, request.method)
    classes = in_source_order(prepared.table, partition.classes)
    return np.unique(classes, return_inverse=True)[1].reshape(-1).astype(np.int32)


def _words(codes: Ints) -> pa.Array:
    """Return sort keys of ascending codes; the empty key for NULL."""
    return pa.array(
        [b"" if code == 0 else code.to_bytes(8, "big") for code in codes.tolist()], pa.binary()
    )


def _keys(codes: Ints) -> pa.Array:
    """Return the sort keys of codes."""
    distinct, indices = np.unique(codes, return_inverse=True)
    return pa.DictionaryArray.from_arrays(
        pa.array(indices.reshape(-1).astype(np.int32)), _words(distinct)
    )


def _distribution(codes: Ints) -> Distribution:
    distinct, counts = np.unique(codes, return_counts=True)
    return Distribution(_words(distinct), counts.astype(np.int64))


def _paths(paths: pa.StructArray | None, names: Mapping[str, str]) -> pa.StructArray | None:
    """Return the rows of the hierarchy once for each copy of a column; names: of their columns."""
    if paths is None:
        return None
    attributes = np.array(
        [str(attribute).lower() for attribute in paths.field("attribute").to_pylist()]
    )
    parts = []
    for name, column in names.items():
        paths_of_column = paths.take(pa.array(np.flatnonzero(attributes == column.lower())))
        fields = [
            pa.array([name] * len(paths_of_column), pa.string())
            if field.name == "attribute"
            else paths_of_column.field(field.name)
            for field in paths.type
        ]
        parts.append(
            pa.StructArray.from_arrays(
                fields,
                names=[field.name for field in paths.type],
                mask=pa.array(~valid(paths_of_column)),
            )
        )
    return pa.concat_arrays(parts) if parts else None
