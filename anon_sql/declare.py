"""Roles written into the comments of a table's columns, beside what the comments say already."""

import re
from collections.abc import Sequence

import duckdb

from anon_sql.errors import AnonError, did_you_mean
from anon_sql.install import literal
from anon_sql.relation import Scope, find, quote, split
from anon_sql.roles import ROLES, fold

_TAG = re.compile(r"\s*anon:\w*")


def declare(
    con: duckdb.DuckDBPyConnection,
    table: str,
    *,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    identifier: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> None:
    """Declare the roles of columns as ``anon:`` tags; columns not named keep what they have.

    table: its name as in SQL, qualified or quoted where needed. Raises AnonError for a table
    or column that does not exist and for a column named twice; then nothing is written.
    """
    rows = con.execute(
        "SELECT database_name, schema_name, table_name, column_name, data_type, comment, "
        "column_index, current_database(), current_schema(), current_setting('search_path') "
        "FROM duckdb_columns() WHERE NOT internal"
    ).fetchall()
    keys = ("database", "schema", "relation", "name", "type", "comment", "at")
    scope = Scope(*rows[0][7:]) if rows else Scope("", "", "")
    found = find(table, scope, [dict(zip(keys, row[:7], strict=True)) for row in rows])
    if found is None:
        raise AnonError("declare", "the table must exist", f"'{table}'")
    columns = {fold(name): name for name in found.names}
    chosen: dict[str, str] = {}
    for role, names in zip(ROLES, (identifier, quasi, sensitive, keep), strict=True):
        for name in [names] if isinstance(names, str) else names:
            column = columns.get(fold(name))
            if column is None:
                hint = did_you_mean(name, columns.values())
                raise AnonError(
                    "declare", f"{role} must name columns of the table", f"'{name}'", hint
                )
            if column in chosen:
                raise AnonError("declare", "a column has one role", f"two for {column}")
            chosen[column] = role
    target = ".".join(quote(part) for part in split(table))
    comments = dict(zip(found.names, found.comments, strict=True))
    for column, role in chosen.items():
        kept = _TAG.sub("", comments[column] or "").strip()
        text = f"{kept} anon:{role}".strip()
        con.execute(f"COMMENT ON COLUMN {target}.{quote(column)} IS {literal(text)}")
