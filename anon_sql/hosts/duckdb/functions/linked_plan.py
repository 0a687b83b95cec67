"""``linked_plan`` and ``linked_table``, as SQL calls them."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core import stopping
from anon_sql.core.arrow import first, one_array, one_list, plain
from anon_sql.core.names import split
from anon_sql.core.parameters import read_group
from anon_sql.core.pseudonyms import key_of
from anon_sql.core.roles import PARAMETER
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb import registry
from anon_sql.hosts.duckdb.binding import flat_scope, scope_of
from anon_sql.hosts.duckdb.functions.linked import relation_in, text_or_error
from anon_sql.hosts.duckdb.linked_catalog import (
    COLUMNS,
    FOREIGN,
    Ask,
    Catalog,
    bin_widths_of,
    read_schema,
    weights_of,
)
from anon_sql.hosts.duckdb.linked_plan import plan_statement
from anon_sql.hosts.duckdb.linked_plan import table_statement as statement_of
from anon_sql.hosts.duckdb.linked_rows import rows_from
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.hosts.duckdb.rows import path_rows
from anon_sql.linked.options import LinkedCall, Linking
from anon_sql.linked.release import Assembly, ReleasedTables, release
from anon_sql.linked.rows import TableRows
from anon_sql.linked.schema import Node, Schema
from anon_sql.privacy.k_anonymity import KAnonymity

_PLAN, _TABLE = "linked_plan", "linked_table"
_ENDS = pa.struct([("min", pa.string()), ("max", pa.string())])
_INTS, _TEXTS = pa.list_(pa.int32()), pa.list_(pa.string())
_RELEASED = pa.struct(
    [
        ("position", _INTS),
        ("linked", pa.list_(pa.bool_())),
        ("keys", pa.list_(pa.list_(pa.int64()))),
        ("weights", pa.list_(pa.list_(pa.float64()))),
        ("places", pa.list_(_INTS)),
        ("labels", pa.list_(_TEXTS)),
        ("ends", pa.list_(pa.list_(_ENDS))),
        ("sets", pa.list_(pa.list_(_TEXTS))),
    ]
)
RELEASED = pa.list_(_RELEASED)


@udf("VARCHAR")
def statement(scope: Any, call: Any) -> pa.Array:
    """The SQL of ``linked_plan``, or SQL that stops with the sentence of an AnonError."""
    row = pa.struct([("__anon_seal", pa.int64())])
    return text_or_error(row, partial(_plan, flat_scope(first(scope)), first(call)))


@udf("VARCHAR")
def table_statement(tables: Any, plans: Any) -> pa.Array:
    """The SQL of ``linked_table``, or SQL that stops with the sentence of an AnonError."""

    def compose() -> str:
        name = relation_in(_TABLE, "tbl", first(tables))
        return statement_of(_TABLE, split(name)[-1], relation_in(_TABLE, "plan", first(plans)))

    return text_or_error(pa.struct([("__anon_seal", pa.int64())]), compose)


@udf(sql_type(RELEASED), volatile=True)
def tables(
    calls: Any, rows: Any, paths: Any, settings: Any, columns: Any, foreign: Any, connections: Any
) -> pa.Array:
    """Return the places, keys and labels of the released rows of each table of the tree.

    calls: text of ``_plan``. rows: a struct of lists, the rows of each table. columns, foreign: the
    catalog as the caller sees it.
    """
    call, setting = json.loads(first(calls)), first(settings)
    stopping.belongs_to(first(connections))
    stopping.check(_PLAN)
    seen = {COLUMNS: first(columns) or [], FOREIGN: first(foreign) or []}
    catalog_rows = {text: [tuple(row.values()) for row in rows_] for text, rows_ in seen.items()}

    def ask(text: str) -> list[tuple[Any, ...]]:
        return (
            catalog_rows[text]
            if text in catalog_rows
            else registry.query_rows(call["scope"]["db"], text)
        )

    schema = _bound(call, ask)
    linked_call = _linked_call(call, schema, path_rows(paths), setting)
    rows_by_table: dict[str, TableRows] = {}
    for field, node in zip(one_array(rows).flatten(), schema.nodes.values(), strict=True):
        structs = (
            plain(field[0].values) if field[0].is_valid else pa.array([], field.type.value_type)
        )
        names = [structs.type.field(position).name for position in range(structs.type.num_fields)]
        rows_by_table[node.name] = rows_from(node, dict(zip(names, structs.flatten(), strict=True)))
    released = released_by(linked_call, schema, rows_by_table)
    return one_list(
        pa.concat_arrays(
            [
                _packed(schema, released, node, released.assemblies[node.name])
                for node in schema.nodes.values()
            ]
        ),
        _RELEASED,
    )


def _bound(call: Mapping[str, Any], ask: Ask) -> Schema:
    """Return the linked tables as the caller sees them, if the statement was bound with these."""
    try:
        schema = _schema(call["scope"], call, ask)
    except AnonError:
        schema = None
    if schema is None or _digest(schema) != call["schema"]:
        raise AnonError(
            _PLAN,
            "the tables must be those that the statement was bound with",
            "others: a temporary table of the same name, or changes in an open transaction",
            "commit first, or name the table with its database and schema",
        )
    return schema


def released_by(
    linked_call: LinkedCall, schema: Schema, rows_by_table: dict[str, TableRows]
) -> ReleasedTables:
    """Return the release; its errors are those of the function, whatever step raised them."""
    try:
        return release(linked_call, schema, rows_by_table)
    except AnonError as error:
        if error.function == linked_call.function:
            raise
        raise AnonError(linked_call.function, error.rule, error.got, error.hint) from None


def _plan(scope: Mapping[str, Any], call: Mapping[str, Any]) -> str:
    """Return the statement, in which stands what the core needs to know."""
    relation_in(_PLAN, "root", scope["relation"])
    plan_call = {**call, **{name: _mapping(call[name]) for name in ("weights", "bin_width")}}
    names = ("db", "relation", "database", "schema", "path")
    plan_call["scope"] = {name: scope[name] for name in names}
    schema = _schema(plan_call["scope"], plan_call, partial(registry.query_rows, scope["db"]))
    plan_call["schema"] = _digest(schema)
    linked_call = _linked_call(plan_call, schema, None, {"threads": 1, "time_zone": "UTC"})
    text = json.dumps(plan_call, default=float)  # of DECIMAL
    return plan_statement(linked_call, schema, text, call["hierarchy"])


def _mapping(value: Any) -> Any:
    """Return a MAP as a dict, and anything else as it is."""
    pairs = isinstance(value, list) and all(isinstance(pair, tuple) for pair in value)
    return dict(value) if pairs else value


def _schema(scope: Mapping[str, Any], call: Mapping[str, Any], ask: Ask) -> Schema:
    return read_schema(
        Catalog(_PLAN, ask, scope_of(scope), files=True),
        scope["relation"],
        links=call["links"],
        leave_out=call["leave_out"],
        roles={name: call[name] for name in PARAMETER.values()},
        releases=True,
    )


def _digest(schema: Schema) -> str:
    """Return the hash of what a statement is bound with."""
    return sha256(json.dumps(asdict(schema)).encode()).hexdigest()


def _linked_call(
    call: Mapping[str, Any],
    schema: Schema,
    paths: pa.StructArray | None,
    settings: Mapping[str, Any],
) -> LinkedCall:
    size = min(read_group(KAnonymity, _PLAN, call).k, 2**31 - 1)
    options = read_group(Linking, _PLAN, call)
    return LinkedCall(
        _PLAN,
        size,
        options,
        weights_of(_PLAN, call["weights"], schema),
        paths,
        int(settings["threads"]),
        settings["time_zone"],
        bin_widths_of(_PLAN, call["bin_width"], schema, options.format),
        None if options.key is None else key_of(_PLAN, options.key),
    )


def _packed(
    schema: Schema, released: ReleasedTables, node: Node, shown: Assembly
) -> pa.StructArray:
    """Return the released rows of a table as one struct."""
    table = released.tables[node.name]
    quasi = [*node.quasi, *(counted for _, counted, _ in schema.added(node))]
    labels = [shown.labels[name] for name in quasi] if shown.labels else []
    weights = [table.column(weight) for _, _, weight in schema.added(node)]
    fields = {
        "position": pa.array([shown.position + 1], _INTS),
        "linked": one_list(pa.array(shown.linked), pa.bool_()),
        "keys": _lists([table.column(name) for name in node.renewed], pa.int64()),
        "weights": _lists(weights, pa.float64()),
        "places": _lists([pa.array(places + np.int32(1)) for _, places in labels], pa.int32()),
    }
    for field, kind in (("labels", pa.string()), ("ends", _ENDS), ("sets", _TEXTS)):
        columns = [values if values.type == kind else pa.nulls(0, kind) for values, _ in labels]
        fields[field] = _lists(columns, kind)
    return pa.StructArray.from_arrays(list(fields.values()), fields=list(_RELEASED))


def _lists(columns: list[Any], kind: pa.DataType) -> pa.ListArray:
    """Return an array of one list of lists, the values of each column."""
    flat = [
        column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        for column in columns
    ]
    items = [one_list(column, kind) for column in flat]
    return one_list(
        pa.concat_arrays(items) if items else pa.array([], pa.list_(kind)), pa.list_(kind)
    )
