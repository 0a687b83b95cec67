"""Puts the functions and macros on a connection, and answers what the catalog knows of a table.

This is the one module that talks to DuckDB. Functions belong to the database instance; macros
are temporary on a file, so that a warehouse is not changed by being looked at, and plain in
memory or with ``persist=True``.
"""

import uuid
import weakref
from collections.abc import Collection, Iterable
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from threading import Lock
from typing import Any

import duckdb

from anon_sql import attacks, calls, interrupt, measures, registry, workload
from anon_sql.errors import AnonError
from anon_sql.macros import CREATE, sql_files
from anon_sql.version import VERSION

for _package in (calls, measures, workload, attacks):  # importing a file files its functions
    for _file in iter_modules(_package.__path__):
        import_module(f"{_package.__name__}.{_file.name}")

_MARK = "anon_sql "  # opens the last line of every comment on a macro of ours
_STAMP = f"{_MARK}{VERSION}"
_installing = Lock()
_connections: dict[str, list["weakref.ref[duckdb.DuckDBPyConnection]"]] = {}


def connect(path: str = ":memory:", **config: Any) -> duckdb.DuckDBPyConnection:
    """Open a database as ``duckdb.connect`` does, with the functions on it."""
    return register(duckdb.connect(path, **config))


def register(
    con: duckdb.DuckDBPyConnection, *, persist: bool = False, overwrite: bool = False
) -> duckdb.DuckDBPyConnection:
    """Make the SQL functions callable on a connection, and return it. Calling again is harmless.

    persist: store the macros in the database file, where an older version is replaced.
    overwrite: replace macros of the same names that are not ours, which else is an error.
    """
    with _installing:
        return _register(con, persist, overwrite)


def _register(
    con: duckdb.DuckDBPyConnection, persist: bool, overwrite: bool
) -> duckdb.DuckDBPyConnection:
    database, path, read_only = con.execute(
        "SELECT database_name, path, readonly FROM duckdb_databases() "
        "WHERE database_name = current_database()"
    ).fetchall()[0]
    if persist and read_only:
        raise AnonError("register", "persist needs a database that can be written", f"{database}")
    _add_functions(con)
    stored, temporary = _macros(con, temporary=False), _macros(con, temporary=True)
    foreign = sorted(
        name for name, comment in {**stored, **temporary}.items() if not _ours(comment)
    )
    if foreign and not overwrite:
        raise AnonError(
            "register",
            "macros of the same names must be ours",
            ", ".join(foreign),
            "rename them or pass overwrite=True",
        )
    wanted = stored if persist or path is None else {**stored, **temporary}
    if foreign or not (wanted.get("anon_version") or "").endswith(_STAMP):
        _add_macros(con, temporary=path is not None and not persist)
    token = con.execute("SELECT __anon_db()").fetchall()[0][0]
    known = [ref for ref in _connections.get(token, []) if ref() not in (None, con)]
    _connections[token] = [*known, weakref.ref(con)]
    interrupt.listen()
    return con


def unregister(con: duckdb.DuckDBPyConnection) -> None:
    """Take our macros and functions off a connection and its database."""
    _drop_macros(con)
    for name in sorted(_known(con, (function.name for function in registry.udfs()))):
        con.remove_function(name)


def _drop_macros(con: duckdb.DuckDBPyConnection, half_made: Collection[str] = ()) -> None:
    """Drop our macros, and those that were just made and have no comment yet."""
    tables = {name for file in sql_files() for name in file.tables}
    made = {**_macros(con, temporary=False), **_macros(con, temporary=True)}
    for name, comment in made.items():
        if _ours(comment) or (comment is None and name in half_made):
            con.execute(f"DROP MACRO {'TABLE ' if name in tables else ''}{name}")


def _ours(comment: str | None) -> bool:
    return (comment or "").rpartition("\n")[2].startswith(_MARK)


def _macros(con: duckdb.DuckDBPyConnection, *, temporary: bool) -> dict[str, str | None]:
    """Comment by name of the macros, stored or temporary, that have one of our names."""
    names = ["anon_version", "__anon_db", *(name for file in sql_files() for name in file.macros)]
    rows = con.execute(
        "SELECT function_name, comment FROM duckdb_functions() "
        "WHERE function_type IN ('macro', 'table_macro') AND NOT internal "
        "AND list_contains(?, function_name) "
        "AND database_name = if(?, 'temp', current_database())",
        [names, temporary],
    ).fetchall()
    return dict(rows)


def _known(con: duckdb.DuckDBPyConnection, names: Iterable[str]) -> set[str]:
    """Which of the names are functions already."""
    query = "SELECT function_name FROM duckdb_functions() WHERE list_contains(?, function_name)"
    return {name for (name,) in con.execute(query, [list(names)]).fetchall()}


def _in_transaction(con: duckdb.DuckDBPyConnection) -> bool:
    """Outside a transaction every statement has a number of its own."""
    first, second = (con.execute("SELECT txid_current()").fetchall() for _ in range(2))
    return bool(first == second)


def _add_functions(con: duckdb.DuckDBPyConnection) -> None:
    create: Any = con.create_function  # its overloads want enums that moved between versions
    names = {function.name for function in registry.udfs()}
    known = _known(con, names)
    if names - known and _in_transaction(con):
        raise AnonError(
            "register",
            "no transaction may be open, since its rollback would spoil the functions' names",
            "an open one",
            "COMMIT or ROLLBACK first",
        )
    database = uuid.uuid4().hex
    for function in registry.udfs():
        if function.name not in known:
            create(
                function.name,
                partial(function.call, database) if function.owned else function.call,
                None,
                function.returns,
                type="arrow",
                null_handling="special",
                side_effects=function.volatile,
            )


def _add_macros(con: duckdb.DuckDBPyConnection, *, temporary: bool) -> None:
    """Make every macro, its documentation as its comment; the version last, when all is done."""
    create = "CREATE OR REPLACE TEMP MACRO" if temporary else CREATE

    def make(statements: str, headers: dict[str, str], tables: Collection[str] = ()) -> None:
        con.execute(statements.replace(CREATE, create))
        for macro, header in headers.items():
            kind = "TABLE " if macro in tables else ""
            con.execute(f"COMMENT ON MACRO {kind}{macro} IS {literal(f'{header}{_STAMP}')}")

    make(f"{CREATE} __anon_db() AS {literal(uuid.uuid4().hex)}", {"__anon_db": ""})
    for file in sql_files():
        headers = {macro: f"{file.header}\n" * (macro == file.name) for macro in file.macros}
        try:
            make(file.text, headers, file.tables)
        except duckdb.BinderException as error:
            if "storage version" not in str(error):
                raise
            _drop_macros(con, half_made=file.macros)
            raise AnonError(
                "register",
                "persist needs a database file of storage version v1.4.0 or later",
                "an older one",
                "open a new file with storage_compatibility_version = 'v1.4.0' and copy the "
                "tables, or leave persist out",
            ) from None
    version = {"anon_version": "The version of anon_sql.\n"}
    make(f"{CREATE} anon_version() AS {literal(VERSION)}", version)


def literal(text: str) -> str:
    """A text as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def catalog(token: str, relation: str) -> list[dict[str, Any]]:
    """See ``registry.catalog``. Raises AnonError where no registered connection is left."""
    for ref in _connections.get(token, []):
        con = ref()
        if con is None:
            continue
        try:
            cursor = con.cursor()
        except duckdb.Error:
            continue
        try:
            rows = cursor.execute(
                "SELECT database_name, schema_name, table_name, column_name, data_type, comment, "
                "column_index FROM duckdb_columns() WHERE NOT internal AND database_name <> 'temp' "
                "AND contains(lower(?), lower(table_name))",
                [relation.replace('""', '"')],
            ).fetchall()
        finally:
            cursor.close()
        keys = ("database", "schema", "relation", "name", "type", "comment", "at")
        return [dict(zip(keys, row, strict=True)) for row in rows]
    raise AnonError(
        "anon_sql",
        "comments are read through a registered connection that is open",
        "none for this database",
        "call anon_sql.register(con) again",
    )


registry.use_catalog(catalog)
