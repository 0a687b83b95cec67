"""Declare roles as tags in column comments, keeping the other text of the comments."""

from collections.abc import Sequence

import duckdb

from anon_sql.core.names import literal, quote, split
from anon_sql.core.roles import fold
from anon_sql.core.tags import ROLES, without_tags
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.duckdb.relation import Scope, find


def declare(
    con: duckdb.DuckDBPyConnection,
    table: str,
    *,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    identifier: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> None:
    """Declare the roles of columns as ``anon:`` tags; other columns keep their comments.

    table: name as written in SQL, qualified or quoted if necessary. Raises AnonError for a table or
    column that does not exist and for a column named twice, before anything is written.
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
        kept = without_tags(comments[column]).rstrip()
        text = f"{kept} anon:{role}".strip()
        con.execute(f"COMMENT ON COLUMN {target}.{quote(column)} IS {literal(text)}")
