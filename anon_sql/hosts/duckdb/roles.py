"""Determine the roles of a call, and declare roles as tags in column comments."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import duckdb

from anon_sql.core import stopping
from anon_sql.core.arrow import one_array
from anon_sql.core.duckdb_internals.settings import size_in_bytes
from anon_sql.core.names import literal, quote, split
from anon_sql.core.roles import ROLES, Roles, fold, has_tag, without_tags
from anon_sql.errors import AnonError, Argument, did_you_mean
from anon_sql.hosts.contents import require_file
from anon_sql.hosts.duckdb.binding import (
    HELPER,
    NO_ROLES,
    bound_role,
    committed,
    flat_scope,
    named_columns,
    require_names,
    scope_of,
)
from anon_sql.hosts.duckdb.looks import shape_in, shapes_of
from anon_sql.hosts.duckdb.relation import Scope, Table, find, namesakes
from anon_sql.pipeline.request import Relation, roles_of
from anon_sql.suggest import identifiers
from anon_sql.suggest.roles import Shape

_LOOK = 48  # bytes that a value costs while its column is looked at for suggestions
_FEWEST = 100_000  # rows that are looked at, however little memory there is


def resolve_roles(
    function: str,
    types: Mapping[str, str],
    scope: Mapping[str, Any],
    seen: Sequence[Mapping[str, Any]] | None,
    *,
    needs_quasi: bool = True,
) -> Roles:
    """Return the roles of a call from its parameters and from column comments.

    types: SQL type by column of the relation that is read; scope: the struct of ``__anon_scope``;
    seen: columns of the catalog as the caller sees it. Comments are used only if the table that the
    caller sees equals the committed one. Raises AnonError if the roles differ from those with which
    the statement was bound, because the relation is shadowed or was changed.
    """
    relation = _described(function, types, scope, seen)
    dropped = scope["classes"]
    drops = [*(scope["drops"] or ()), *([dropped] if isinstance(dropped, str) else ())]
    roles = roles_of(function, relation, scope, needs_quasi=needs_quasi, drops=drops)
    _require_one_meaning(function, roles, scope, seen)
    return roles


def described(
    function: str,
    types: Mapping[str, str],
    scope: Mapping[str, Any],
    seen: Sequence[Mapping[str, Any]] | None,
    settings: Mapping[str, Any],
) -> Relation:
    """Return a relation with the comments that count, for ``checked``.

    settings: of the connection. Other parameters are those of ``resolve_roles``.
    """
    relation = _described(function, types, scope, seen)
    return replace(
        relation,
        threads=int(settings["threads"]),
        time_zone=settings["time_zone"],
        agrees=lambda roles: _require_one_meaning(function, roles, scope, seen),
    )


def described_by_name(
    con: duckdb.DuckDBPyConnection, function: str, relation: str, bound: Mapping[str, Any]
) -> tuple[Relation, Mapping[str, Any]]:
    """Return a relation that a connection sees, with the comments that count, and the settings.

    con: with the functions of the package. bound: the arguments that choose columns, by name.
    """
    named, packed = literal(relation), ", ".join(f"{name} := ${name}" for name in bound)
    rows = con.execute(
        f"SELECT __anon_types, __anon_call, __anon_seen({named}), __anon_settings() "
        f"FROM __anon_schema({named}, 5), "
        f"(SELECT __anon_scope({named}, struct_pack({packed})) AS __anon_call)",
        dict(bound),
    ).fetchall()
    types, scope, seen, settings = rows[0]
    columns = {name: kind for name, kind in types.items() if name != HELPER + "zero"}
    return described(function, columns, flat_scope(scope), seen, settings), settings


def shapes_in(types: Mapping[str, str], looks: Any, *, one_more: bool = False) -> list[Shape]:
    """Return columns as the rules of suggestions see them.

    types: SQL type by name. looks: a struct of what ``__anon_looked`` returns for each column, by
    its name, which may begin with ``__anon_kept_``. one_more: whether one entry is no row.
    """
    packed = one_array(looks)
    position_of = {
        field.name.removeprefix(HELPER + "kept_"): position
        for position, field in enumerate(packed.type)
    }
    shapes = []
    for name, kind in types.items():
        shapes.append(shape_in(name, kind, packed.field(position_of[name]), one_more=one_more))
        stopping.check()
    return shapes


def refuse_identifiers(
    con: duckdb.DuckDBPyConnection,
    function: str,
    relation: str,
    parameter: str,
    rest: Mapping[str, str],
) -> None:
    """Raise AnonError if a ``*`` would release columns that are suggested as identifiers.

    con: with the functions of the package. relation: its name, as SQL writes it. parameter: the
    one that has the ``*``. rest: SQL type by name of the columns that only the ``*`` releases. Of a
    relation whose hashes would fill much of the memory, one row in so many is looked at, which
    shows more values that differ, and never fewer.
    """
    if not rest:
        return
    rows, limit = con.execute(
        f"SELECT count(*), current_setting('memory_limit') FROM query_table({literal(relation)})"
    ).fetchall()[0]
    memory = size_in_bytes(limit)
    most = rows if memory is None else max(memory // (4 * _LOOK * len(rest)), _FEWEST)
    every = max(-(-int(rows) // max(int(most), 1)), 1)
    read = f"FROM query_table({literal(relation)})"
    if every > 1:
        numbered = f"SELECT *, row_number() OVER () AS __anon_number {read}"
        read = f"FROM ({numbered}) WHERE __anon_number % {every} = 0"
    shapes = shapes_of(con, rest, f"({read})")
    reasons = identifiers.identifiers_among(function, rest, shapes)
    identifiers.refuse_identifiers(function, parameter, reasons)


def _described(
    function: str,
    types: Mapping[str, str],
    scope: Mapping[str, Any],
    seen: Sequence[Mapping[str, Any]] | None,
) -> Relation:
    """Return a relation with its comments, where they count.

    Comments are used only if the table that the caller sees equals the committed one. Raises
    AnonError where comments would be needed and do not count.
    """
    names = list(types)
    require_file(function, scope["relation"])
    require_names(function, names)
    seen_table = find(scope["relation"], scope_of(scope), seen or [])
    committed_table = committed(scope)
    counts = (
        seen_table is not None
        and seen_table.names == tuple(names)
        and _same_types(seen_table, types)
    )
    agreed = counts and seen_table == committed_table
    if (
        scope["quasi"] is None
        and not agreed
        and any(_tagged(table) for table in (seen_table, committed_table))
    ):
        raise shadowed(function)
    return Relation(types, seen_table.tags() if seen_table is not None and counts else {})


def _require_one_meaning(
    function: str,
    roles: Roles,
    scope: Mapping[str, Any],
    seen: Sequence[Mapping[str, Any]] | None,
) -> None:
    """Raise AnonError unless the relation is the table with which the statement was bound.

    Another table of the same name and columns may not have stricter roles.
    """
    seen_table = find(scope["relation"], scope_of(scope), seen or [])
    committed_table = committed(scope)
    columns = [*roles.left_out, *roles.quasi, *roles.sensitive, *roles.keep, *roles.none]
    folded = {fold(name) for name in columns}
    for other in namesakes(scope["relation"], seen or []):
        if (
            other not in (seen_table, committed_table)
            and {fold(name) for name in other.names} == folded
        ):
            _require_as_strict(function, other, roles, scope["quasi"] is None)
    bound_tags = committed_table.tags() if committed_table else {}
    at_binding = named_columns({**scope, "drops": None, "classes": None})
    for name in columns:
        bound = bound_role(at_binding, bound_tags, name)
        if (bound == "quasi") != (name in roles.quasi):
            raise shadowed(function)
        if not scope["whole"] and (bound == "identifier") != (name in roles.left_out):
            raise shadowed(function)


def _require_as_strict(function: str, other: Table, roles: Roles, declared: bool) -> None:
    """Raise AnonError unless the roles of a call are as strict as the comments of another table.

    other: a table of the same name and columns in another schema, which may be the one that is
    read, because a view resolves names in its own schema. declared: whether the call takes the
    quasi-identifiers from comments.
    """
    tags = other.tags()
    named = named_columns(NO_ROLES)
    role_of = {name: bound_role(named, tags, name) for name in tags}
    hidden = {name for name, role in role_of.items() if role == "identifier"}
    quasi = {name for name, role in role_of.items() if role == "quasi"}
    if hidden <= {fold(name) for name in roles.left_out} and (
        not declared or quasi == {fold(name) for name in roles.quasi}
    ):
        return
    raise AnonError(
        function,
        "a name must mean one table",
        "another of that name with the same columns and other roles",
        "write it in full, database.schema.table",
    )


def _tagged(table: Table | None) -> bool:
    """Return whether any column comment has a tag."""
    return table is not None and any(map(has_tag, table.comments))


def _same_types(table: Table, types: Mapping[str, str]) -> bool:
    return all(
        sql_type == types[name] for name, sql_type in zip(table.names, table.types, strict=True)
    )


def shadowed(function: str) -> AnonError:
    """Return the error for a relation that is not the table whose comments were read."""
    return AnonError(
        function,
        "comments count only where the relation is the committed table they were written on",
        "a relation of that name that differs from it (a CTE, a temporary table, another "
        "schema or an uncommitted change)",
        "pass "
        + Argument("quasi", [...])
        + " and "
        + Argument("identifiers", [...])
        + ", or give the relation another name",
    )


def declare(
    con: duckdb.DuckDBPyConnection,
    table: str,
    *,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    identifier: Sequence[str] = (),
    keep: Sequence[str] = (),
    exclude: Sequence[str] = (),
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
    described_table = find(table, scope, [dict(zip(keys, row[:7], strict=True)) for row in rows])
    if described_table is None:
        raise AnonError("declare", "the table must exist", f"'{table}'")
    columns = {fold(name): name for name in described_table.names}
    chosen: dict[str, str] = {}
    for role, names in zip(ROLES, (identifier, quasi, sensitive, keep, exclude), strict=True):
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
    comments = dict(zip(described_table.names, described_table.comments, strict=True))
    for column, role in chosen.items():
        kept = without_tags(comments[column]).rstrip()
        text = f"{kept} anon:{role}".strip()
        con.execute(f"COMMENT ON COLUMN {target}.{quote(column)} IS {literal(text)}")


def carry_comments(
    con: duckdb.DuckDBPyConnection, function: str, table: Sequence[str], copy: str
) -> None:
    """Give a view or copy of a table the comments of the table's columns, which declare roles.

    table: database, schema and name; the schema may be left out if it is main. copy: the name of
    the relation that has its columns. Raises AnonError if the comments cannot be read, since
    identifiers would then be released.
    """
    database, *schema, name = table
    comments = comments_on(con, name, schema[0] if schema else "main", database)
    columns = con.sql(f"FROM {quote(copy)}").columns  # 1.5 reads no quotes in con.table
    if any(fold(column) not in comments for column in columns):
        rule = "the comments on the columns of the table must be readable"
        raise AnonError(function, rule, None, "write schema.table")
    for column in columns:
        if (text := comments[fold(column)]) is not None:
            target = f"{quote(copy)}.{quote(column)}"
            con.execute(f"COMMENT ON COLUMN {target} IS {literal(text)}")


def comments_on(
    con: duckdb.DuckDBPyConnection, name: str, schema: str = "main", database: str | None = None
) -> dict[str, str | None]:
    """Return the comment on each column of a table or view, by folded name.

    database: None for the current one.
    """
    rows = con.execute(
        "SELECT coalesce(?, current_database()), database_name, schema_name, table_name, "
        "column_name, comment FROM system.main.duckdb_columns() WHERE NOT internal",
        [database],
    ).fetchall()
    return {
        fold(column): comment
        for wanted, *there, column, comment in rows
        if list(map(fold, there)) == [fold(wanted), fold(schema), fold(name)]
    }
