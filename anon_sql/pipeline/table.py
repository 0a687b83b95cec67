"""Compute a release of an Arrow table, for programs that do not use SQL."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import valid
from anon_sql.core.duckdb_internals.hashing import hash_of, row_hash, sort_key
from anon_sql.core.labels.types import arrow_type, is_printed, is_range
from anon_sql.core.labels.writing import Labels
from anon_sql.core.names import quote
from anon_sql.core.printing import cast, evaluated, sql_types
from anon_sql.core.table import Domain
from anon_sql.pipeline.compute import release
from anon_sql.pipeline.request import Request, Source


def release_table(
    table: pa.Table,
    request: Request,
    paths: pa.StructArray | None = None,
    domain: Domain | None = None,
    *,
    coded: bool = False,
) -> pa.Table:
    """Return a release of the rows of a table, an Arrow table of the columns that are released.

    The columns are those of the request in the order of the table: kept columns unchanged,
    quasi-identifiers as labels (``string``) or, in the format 'typed', as structs of the column's
    type and lists of text, and in the formats 'mean' and 'median' numbers as numbers. Raises
    AnonError as ``release`` does.

    paths: the rows of the hierarchy.
    domain: of the whole table, if these are a part of its rows; information loss and t are then
        measured against all rows.
    coded: whether labels are dictionaries.
    """
    names = [name for name in table.column_names if name in {*request.kept, *request.quasi}]
    if table.num_rows == 0:
        return pa.table(
            {
                name: pa.nulls(0, _released_type(request, name, table.schema.field(name).type))
                for name in names
            }
        )
    columns = {name: table.column(name).combine_chunks() for name in table.column_names}
    counted = [*request.protected, *([request.entity] if request.entity else [])]
    types = dict(zip(columns, sql_types(list(columns.values())), strict=True))
    kept = {quote(name): types[name] for name in request.kept}
    hashes, *keys = evaluated(
        columns,
        list(types.values()),
        [row_hash(kept), *(sort_key(quote(name)) for name in counted)],
    )
    computed = release(
        Source(
            {name: columns[name] for name in request.quasi},
            hashes,
            dict(zip(counted, keys, strict=True)),
            None if request.classes is None else columns[request.classes],
        ),
        request,
        paths,
        domain,
    )
    rows = pa.array(computed.position)
    released = {name: columns[name].take(rows) for name in request.kept}
    for name, labels in computed.labels.items():
        text, label = shown(request, name, labels), labels.label_of[computed.class_of]
        released[name] = of_rows(text, label) if coded else text.take(pa.array(label))
    return pa.table({name: released[name] for name in names})


def shown(request: Request, name: str, labels: Labels) -> pa.Array:
    """Return the distinct labels of a quasi-identifier in the type in which it is released."""
    text, kind = labels.printed, request.released_type(name)
    if is_printed(kind):
        return text
    if not is_range(kind):
        return cast([text], [kind])[0]
    ends = cast([text.field("min"), text.field("max")], [request.quasi[name]] * 2)
    missing = pc.invert(text.is_valid())
    return pa.StructArray.from_arrays(ends, names=["min", "max"], mask=missing)


def of_rows(distinct: pa.Array, label: npt.NDArray[np.int32]) -> pa.Array:
    """Return the label of each row; texts as a dictionary, which takes less memory."""
    if not pa.types.is_string(distinct.type):
        return distinct.take(pa.array(label))
    missing = None if distinct.null_count == 0 else ~valid(distinct)[label]
    return pa.DictionaryArray.from_arrays(pa.array(label, mask=missing), distinct.fill_null(""))


def _released_type(request: Request, name: str, kind: pa.DataType) -> pa.DataType:
    """Return the Arrow type of a released column, whose type in the source is ``kind``."""
    return arrow_type(request.released_type(name), kind) if name in request.quasi else kind


def label_hash(request: Request) -> str:
    """Return the hash of the labels of a released row, as SQL."""
    cast = "::VARCHAR" if request.typed else ""
    return hash_of(quote(name) + cast for name in request.quasi)
