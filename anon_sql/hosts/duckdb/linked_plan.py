"""Write the SQL of ``linked_plan`` and ``linked_table``.

Which columns a release has depends on the linked tables, and DuckDB must know them when a statement
is bound. ``linked_plan`` reads the tables' descriptions then, and so knows the type of every
released column: its result has a column per table, a struct of what that table releases.
``linked_table`` takes such a struct apart, and needs to know nothing but its name.
"""

from collections.abc import Iterator

from anon_sql.core.duckdb_internals.hashing import HASH
from anon_sql.core.labels.types import LABEL, SET, is_range, released_type
from anon_sql.core.names import literal, quote
from anon_sql.hosts.duckdb.linked_catalog import COLUMNS, FOREIGN
from anon_sql.hosts.duckdb.linked_rows import expressions, field_of
from anon_sql.linked.options import LinkedCall
from anon_sql.linked.schema import Node, Schema

SEAL = "__anon_seal"  # of a table's rows, by which linked_table knows that none was changed


def plan_statement(
    linked_call: LinkedCall, schema: Schema, call: str, hierarchy: str | None
) -> str:
    """Return the statement of ``linked_plan``.

    call: what the core needs to know to make the release, as text.
    """
    nodes = list(schema.nodes.values())
    row_lists = ", ".join(
        f"({_rows_query(linked_call, node)}) AS t{number}" for number, node in enumerate(nodes)
    )
    rows = ", ".join(f"t{number} := t{number}" for number in range(len(nodes)))
    seen = ", ".join(
        f"(SELECT system.main.list(s) FROM ({text}) AS s)" for text in (COLUMNS, FOREIGN)
    )
    path = "NULL" if hierarchy is None else literal(hierarchy)
    ctes = [
        f"__anon_given AS MATERIALIZED (SELECT {row_lists})",
        f"__anon_made AS MATERIALIZED (SELECT t.*, __anon_linked_plan_tables({literal(call)}, "
        f"system.main.struct_pack({rows}), p.__anon_path_rows, __anon_settings(), {seen}, "
        "system.main.current_connection_id()) AS f "
        f"FROM __anon_given AS t, __anon_path_rows({path}) AS p)",
    ]
    for number, node in enumerate(nodes):
        ctes.append(f"__anon_at_{number} AS ({_places(schema, node, number)})")
        packed = f"system.main.struct_pack({', '.join(_released(linked_call, schema, node))})"
        query = f"SELECT {packed} AS {quote(node.name)} FROM __anon_at_{number}"
        ctes.append(f"__anon_shown_{number} AS MATERIALIZED ({query})")
    for number, (name, table) in enumerate(schema.references.items(), len(nodes)):
        columns = ", ".join(f"{quote(c)} := {quote(c)}" for c in table.having("keep"))
        packed = f"system.main.struct_pack({columns})"
        query = f"SELECT {packed} AS {quote(name)} FROM {table.relation} ORDER BY ALL"
        ctes.append(f"__anon_shown_{number} AS MATERIALIZED ({query})")
    selects = " UNION ALL BY NAME ".join(
        f"SELECT r.*, s.{SEAL} FROM __anon_shown_{number} AS r, "
        f"(SELECT {_seal(quote(name))} AS {SEAL} FROM __anon_shown_{number}) AS s"
        for number, name in enumerate([*schema.nodes, *schema.references])
    )
    return f"WITH {', '.join(ctes)} SELECT * EXCLUDE ({SEAL}), {SEAL} FROM ({selects})"


def _rows_query(linked_call: LinkedCall, node: Node) -> str:
    """Return the query of all rows of a table as one list."""
    sql_by_field = expressions(node, linked_call.bin_widths_of(node.name))
    fields = ", ".join(f"{field} := {text}" for field, text in sql_by_field.items())
    packed = f"system.main.struct_pack({fields})"
    return f"SELECT system.main.list({packed}) FROM {node.table.relation} AS __anon_source"


def _places(schema: Schema, node: Node, number: int) -> str:
    """Return the query of released rows by their places: of raw rows, and of distinct labels."""
    parts = ["unnest(f.position) AS p", "unnest(f.linked) AS l"]
    for kind, count in (
        ("keys", len(node.renewed)),
        ("weights", len(schema.added(node))),
        ("places", len(_labelled(schema, node))),
    ):
        parts += [f"unnest(list_extract(f.{kind}, {n + 1})) AS {kind}_{n}" for n in range(count)]
    source = f"SELECT t{number} AS raw, list_extract(f, {number + 1}) AS f FROM __anon_made"
    return f"SELECT raw, f, {', '.join(parts)} FROM ({source})"


def _seal(row: str) -> str:
    return f"system.main.sum({HASH}({row}))"


def _labelled(schema: Schema, node: Node) -> list[str]:
    """Return the columns of a released table that have labels."""
    if not schema.is_countable(node.name):
        return []
    return [*node.quasi, *(counted for _, counted, _ in schema.added(node))]


def _released(linked_call: LinkedCall, schema: Schema, node: Node) -> Iterator[str]:
    """Yield the released columns, as fields of a struct, in the order of ``release``."""
    labelled = _labelled(schema, node)
    for name in node.table.types:
        if name in node.renewed:
            yield f"{quote(name)} := keys_{node.renewed.index(name)}"
        elif name in node.kept:
            value = f"list_extract(raw, p).{field_of(node, name)}"
            yield f"{quote(name)} := CASE WHEN l THEN {value} END"
        elif name in labelled:
            kind = node.table.types[name]
            yield f"{quote(name)} := {_label(linked_call, name, kind, labelled.index(name))}"
    for number, (_, counted, weight) in enumerate(schema.added(node)):
        label = _label(linked_call, counted, "BIGINT", labelled.index(counted))
        yield f"{quote(counted)} := {label}"
        yield f"{quote(weight)} := weights_{number}"


def _label(linked_call: LinkedCall, name: str, kind: str, place_number: int) -> str:
    """Return a label in the type in which it is released."""

    def label_list(field: str) -> str:
        return f"list_extract(list_extract(f.{field}, {place_number + 1}), places_{place_number})"

    released = released_type(linked_call.function, name, kind, linked_call.options.format)
    if released == SET:
        return label_list("sets")
    if released == LABEL:
        return label_list("labels")
    return f"{label_list('ends' if is_range(released) else 'labels')}::{released}"


def table_statement(function: str, name: str, plan: str) -> str:
    """Return the statement of ``linked_table``."""
    column = quote(name)
    wrong = literal(
        f"{function}: the plan must have all rows of {name} as linked_plan has made them, got "
        "others; make the plan anew, and store it as a table"
    )
    return (
        f"WITH __anon_rows AS MATERIALIZED (SELECT {column} AS __anon_row, {SEAL} "
        f"FROM query_table({literal(plan)}) WHERE {column} IS NOT NULL), "
        f"__anon_whole AS (SELECT {_seal('__anon_row')} = system.main.min({SEAL}) "
        f"AND system.main.min({SEAL}) = system.main.max({SEAL}) AS whole FROM __anon_rows) "
        "SELECT unnest(__anon_row) FROM (SELECT CASE WHEN whole THEN __anon_row "
        f"ELSE error({wrong}) END AS __anon_row FROM __anon_rows, __anon_whole)"
    )
