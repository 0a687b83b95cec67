"""Compute a release of an Arrow table, for programs that do not use SQL."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import valid
from anon_sql.core.columns import is_number
from anon_sql.core.names import quote
from anon_sql.core.printing import cast, evaluated, sql_types
from anon_sql.core.table import Domain
from anon_sql.pipeline.compute import release
from anon_sql.pipeline.request import Request, Source

SORT_KEY = "CASE WHEN {0} IS NULL THEN ''::BLOB ELSE create_sort_key([{0}], 'ASC NULLS FIRST') END"
_SIGN = "CASE WHEN signbit({0}) AND ({0} = 0 OR isnan({0})) THEN {0}::VARCHAR END"


def release_table(
    table: pa.Table,
    request: Request,
    paths: pa.StructArray | None = None,
    domain: Domain | None = None,
    *,
    coded: bool = False,
) -> pa.Table:
    """Return a release of the rows of a table, an Arrow table of the columns that are released.

    The columns are those of the request in the order of the table: kept columns unchanged, quasi-
    identifiers as labels (``string``) or, in the format 'typed', as structs of the column's type
    and lists of text, and in the formats 'mean' and 'median' numbers as numbers. paths: the rows of
    the hierarchy. domain: of the whole table, if these are a part of its rows; information loss and
    t are then measured against all rows. Raises AnonError as ``release`` does.
    """
    names = [name for name in table.column_names if name in {*request.kept, *request.quasi}]
    if table.num_rows == 0:
        return pa.table({name: pa.nulls(0, _type_of(table, name, request)) for name in names})
    columns = {name: table.column(name).combine_chunks() for name in table.column_names}
    counted = [*request.protected, *([request.entity] if request.entity else [])]
    hashes, *keys = evaluated(
        columns,
        sql_types(list(columns.values())),
        [_hash(columns, request), *(SORT_KEY.format(quote(name)) for name in counted)],
    )
    found = release(
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
    rows = pa.array(found.position)
    released = {name: columns[name].take(rows) for name in request.kept}
    for name, labels in found.labels.items():
        text, own = labels.printed, request.value_type(name)
        if own is not None:
            text = cast([text], [own])[0]
        if pa.types.is_struct(text.type):
            ends = cast([text.field("min"), text.field("max")], [request.quasi[name]] * 2)
            missing = pc.invert(text.is_valid())
            text = pa.StructArray.from_arrays(ends, names=["min", "max"], mask=missing)
        label = labels.label_of[found.class_of]
        if coded and pa.types.is_string(text.type):
            missing = ~valid(text)[label]
            released[name] = pa.DictionaryArray.from_arrays(
                pa.array(label, mask=missing), text.fill_null("")
            )
        else:
            released[name] = text.take(pa.array(label.astype(np.int64)))
    return pa.table({name: released[name] for name in names})


def _type_of(table: pa.Table, name: str, request: Request) -> pa.DataType:
    """Return the Arrow type of a released column."""
    kind = table.schema.field(name).type
    if name not in request.quasi:
        return kind
    if request.value_type(name) is not None:
        return pa.float64() if request.value_type(name) == "DOUBLE" else kind
    if not request.typed:
        return pa.string()
    if not is_number(request.function, name, request.quasi[name]):
        return pa.list_(pa.string())
    return pa.struct([("min", kind), ("max", kind)])


def _hash(columns: dict[str, pa.Array], request: Request) -> str:
    """Return the SQL expression of the hash of the kept columns of a row.

    Values that print differently have different hashes: ``hash`` alone does not distinguish 0.0
    from -0.0, nor 0 from -1 in 128 bits, nor such values in nested types, so their text is hashed
    too.
    """
    kept = [(quote(name), columns[name].type) for name in request.kept]
    plain = f"hash({', '.join(['', *(name for name, _ in kept), '0::TINYINT'])})"
    plain = plain.replace("(, ", "('', ", 1)
    texts = [_SIGN.format(name) for name, kind in kept if pa.types.is_floating(kind)]
    texts += [
        f"{name}::VARCHAR" for name, kind in kept if pa.types.is_nested(kind) or _is_wide(kind)
    ]
    if not texts:
        return plain
    listed = ", ".join(texts)
    return f"CASE WHEN coalesce({listed}) IS NULL THEN {plain} ELSE hash({plain}, {listed}) END"


def _is_wide(kind: pa.DataType) -> bool:
    """Return whether DuckDB holds the values in 128 bits, whose halves it hashes alike."""
    return bool(pa.types.is_decimal(kind) and kind.precision > 18)


def label_hash(request: Request) -> str:
    """Return the hash of the labels of a released row, as SQL."""
    cast = "::VARCHAR" if request.typed else ""
    return f"system.main.hash({', '.join(quote(name) + cast for name in request.quasi)})"
