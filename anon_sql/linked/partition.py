"""Cut classes of persons by all that is known of them: one wide row a person.

A wide row has the quasi-identifiers of the person and, of each table below whose number of rows is
known, those of COPIES rows spread over the person's rows in order of time. Classes are cut within
bins of near counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import valid
from anon_sql.core.columns import Numbers
from anon_sql.core.hierarchy.tree import rows_of
from anon_sql.core.running import Workers
from anon_sql.core.table import QuasiTable, read
from anon_sql.linked.bins import bins_of
from anon_sql.linked.options import Asked
from anon_sql.linked.rows import Ints, Rows, counts_of, free, lexical
from anon_sql.linked.schema import Node, Schema
from anon_sql.pipeline.partition import in_source_order, legal_partition, prepare
from anon_sql.pipeline.request import Relation, Source, checked

COPIES = 8  # rows of a table below that a wide row has
CHILDREN = 3.0  # weight of all copies of a column, against 1 of a column of the person
_BIN, _OWN = "bin", "own"


@dataclass(frozen=True)
class Points:
    """The quasi-identifiers of a table, with the counts that its release adds, in source order.

    table: as the core reads them. columns: values by released name; types: SQL type by name; steps:
    of those whose values the table has cut. time: int64[n], the order of rows in time, or of equal
    values where there is no time.
    """

    table: QuasiTable
    columns: Mapping[str, pa.Array]
    types: Mapping[str, str]
    steps: Mapping[str, Decimal]
    time: Ints

    def array(self) -> npt.NDArray[np.float64]:
        """Return the points of the rows in source order, float64[n, d]."""
        found = np.empty_like(self.table.points)
        found[self.table.order] = self.table.points
        return found


def points_of(asked: Asked, schema: Schema, tied: Mapping[str, Rows], node: Node) -> Points | None:
    """Return the quasi-identifiers of a table, None if its release has none."""
    rows = tied[node.name]
    columns = {name: rows.given.column(name) for name in node.quasi}
    types = {name: node.table.types[name] for name in node.quasi}
    for child, counted, _ in schema.added(node):
        columns[counted] = pa.array(counts_of(tied[child.name].parent, rows.count))
        types[counted] = "BIGINT"
    if not columns:
        return None
    trees = rows_of(asked.paths, types, asked.time_zone)
    weights = np.array([asked.weights.get((node.name, name), 1.0) for name in columns])
    top = weights.max()
    table = read(
        asked.function,
        types,
        columns,
        pa.array(rows.order),
        Workers(asked.function, asked.threads),
        trees,
        None,
        None if top <= 0 or (weights == top).all() else weights / top,
    )
    first = next((each for each in table.columns if isinstance(each, Numbers)), None)
    if first is not None and first.name in node.quasi:
        time = np.where(first.present, first.keys, np.int64(-(2**63)))
    else:
        others = [each for each in table.columns if not isinstance(each, Numbers)]
        time = others[0].codes.astype(np.int64) if others else np.zeros(rows.count, np.int64)
    return Points(table, {**columns, **rows.given.raw}, types, asked.steps_of(node.name), time)


def bins_of_persons(
    asked: Asked, schema: Schema, tied: Mapping[str, Rows]
) -> npt.NDArray[np.int32]:
    """Return the bin of near counts of each person, int32[n]."""
    many = tied[schema.root].count
    counts = [
        counts_of(tied[node.name].parent, many) for node in schema.children(schema.root, "quasi")
    ]
    return bins_of(np.column_stack(counts or [np.zeros((many, 0), np.int64)]), asked.k)


def classes_of(
    asked: Asked,
    schema: Schema,
    tied: Mapping[str, Rows],
    points: Mapping[str, Points | None],
    bins: npt.NDArray[np.int32],
) -> npt.NDArray[np.int32]:
    """Return the class of each person, int32[n], at least k persons of one bin."""
    rows = tied[schema.root]
    known = [node for node in schema.nodes.values() if node.link and schema.known(node.name)]
    wide, types, weights = _own(asked, schema, rows)
    for node in known:
        for name, values in _copies(asked, tied[node.name], points[node.name], rows.count):
            wide[name], types[name] = values, node.table.types[name[-1]]
            weight = asked.weights.get((node.name, name[-1]), 1.0)
            weights[name] = CHILDREN * weight / _copies_of(tied[node.name], rows.count)
    if not any(weights.values()):
        return bins
    free()
    return _cut(asked, schema, rows, bins, (wide, types, weights))


_Wide = tuple[
    dict[tuple[str, ...], pa.Array], dict[tuple[str, ...], str], dict[tuple[str, ...], float]
]


def _own(asked: Asked, schema: Schema, rows: Rows) -> _Wide:
    node = rows.given.node
    names = {(_OWN, name): name for name in node.quasi}
    return (
        {key: rows.given.column(name) for key, name in names.items()},
        {key: node.table.types[name] for key, name in names.items()},
        {key: asked.weights.get((schema.root, name), 1.0) for key, name in names.items()},
    )


def _copies_of(rows: Rows, persons: int) -> int:
    return int(min(COPIES, counts_of(rows.person, persons).max(initial=0))) or 1


def _copies(asked: Asked, rows: Rows, points: Points | None, persons: int) -> Any:
    """Yield the copies of the columns of a table below: name, and a value of each person."""
    node = rows.given.node
    if points is None or rows.count == 0:
        return
    order = lexical(rows.person, points.time, rows.order)
    counts = counts_of(rows.person, persons)
    starts = np.r_[0, counts.cumsum()[:-1]]
    copies = _copies_of(rows, persons)
    for copy in range(copies):
        place = starts + (2 * copy + 1) * counts // (2 * copies)
        at = pa.array(order[np.minimum(place, rows.count - 1)], mask=counts == 0)
        for name in node.quasi:
            yield (node.name, str(copy), name), rows.given.column(name).take(at)


def _cut(
    asked: Asked, schema: Schema, rows: Rows, bins: npt.NDArray[np.int32], wide: _Wide
) -> npt.NDArray[np.int32]:
    values, kinds, weights = wide
    node = rows.given.node
    names = {key: f"{at}" for at, key in enumerate(values)}
    types = {names[key]: kinds[key] for key in values} | {_BIN: "INTEGER"}
    secret = {f"s{at}": name for at, name in enumerate(node.sensitive)}
    asks = asked.options.l > 1 and bool(secret)
    types |= dict.fromkeys(secret, "UBIGINT") if asks else {}
    request = checked(
        "anonymize",
        Relation(types, {}, asked.threads, asked.time_zone),
        asked.arguments(
            qids=[*names.values(), _BIN],
            sensitive=list(secret) if asks else [],
            l=asked.options.l if asks else 1,
            strata=[_BIN] if len(np.unique(bins)) > 1 else None,
            weights={names[key]: weight for key, weight in weights.items()} | {_BIN: 0.0},
            effort=asked.options.effort,
            seed=asked.options.seed,
        ),
    )
    source = Source(
        {**{names[key]: of for key, of in values.items()}, _BIN: pa.array(bins)},
        pa.array(rows.order),
        {name: _keys(rows.codes[column]) for name, column in secret.items()} if asks else {},
    )
    prepared = prepare(source, request, _paths(asked.paths, names))
    found = legal_partition(prepared.table, prepared.call, request.method)
    classes = in_source_order(prepared.table, found.classes)
    return np.unique(classes, return_inverse=True)[1].reshape(-1).astype(np.int32)


def _keys(codes: Ints) -> pa.Array:
    """Return sort keys of codes; the empty key for NULL."""
    words = [b"" if code == 0 else int(code).to_bytes(8, "big") for code in range(codes.max() + 1)]
    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(np.int32)), pa.array(words, pa.binary())
    )


def _paths(
    paths: pa.StructArray | None, names: Mapping[tuple[str, ...], str]
) -> pa.StructArray | None:
    """Return the rows of the hierarchy once for each copy of a column."""
    if paths is None:
        return None
    attributes = np.array([str(each).lower() for each in paths.field("attribute").to_pylist()])
    parts = []
    for key, name in names.items():
        own = paths.take(pa.array(np.flatnonzero(attributes == key[-1].lower())))
        fields = [
            pa.array([name] * len(own), pa.string())
            if field.name == "attribute"
            else own.field(field.name)
            for field in paths.type
        ]
        parts.append(
            pa.StructArray.from_arrays(
                fields, names=[field.name for field in paths.type], mask=pa.array(~valid(own))
            )
        )
    return pa.concat_arrays(parts) if parts else None
