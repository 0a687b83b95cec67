"""Register the functions and macros on a connection, and read the catalog.

Functions belong to the database instance. Macros are created as temporary ones if the database is
a file, so that ``register`` does not change the file, and as ordinary ones in memory or with
``persist=True``.
"""

import os
import uuid
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

import duckdb

from anon_sql.core import pseudonyms, stopping
from anon_sql.core.arrow import without_views
from anon_sql.core.duckdb_internals.error_texts import is_older_storage
from anon_sql.core.duckdb_internals.secrets import SECRET_TEXTS, bearer_token
from anon_sql.core.forks import ForkLock, leave, opened_before
from anon_sql.core.names import literal
from anon_sql.errors import AnonError, Argument, Parameter
from anon_sql.hosts.duckdb import interrupting, registry, rows
from anon_sql.hosts.duckdb.binding import forget_tables
from anon_sql.hosts.duckdb.sql_files import CREATE, full_header, sql_files
from anon_sql.version import VERSION

registry.load_functions()

_MARK = "anon_sql "  # begins the last line of the comment on every macro of this package
_TEXT = "".join(part for file in sql_files() for part in (file.text, full_header(file)))
_DIGEST = sha256(_TEXT.encode()).hexdigest()[:16]
_STAMP = f"{_MARK}{VERSION} {_DIGEST}"  # macros of another checkout may have the same version
_installing = ForkLock()
_connections: dict[str, list["weakref.ref[duckdb.DuckDBPyConnection]"]] = {}
_of_parent: list[duckdb.DuckDBPyConnection] = []  # connections that were open before a fork


def _leave_those_of_parent() -> None:
    """Forget, in a child, the connections that it cannot use, and destroy none."""
    for con in filter(None, (ref() for refs in _connections.values() for ref in refs)):
        leave(con)
        _of_parent.append(con)
    _connections.clear()


os.register_at_fork(after_in_child=_leave_those_of_parent)


def connect(path: str = ":memory:", **config: Any) -> duckdb.DuckDBPyConnection:
    """Open a database like ``duckdb.connect`` and register the SQL functions on it."""
    return register(duckdb.connect(path, **config))


def register(
    con: duckdb.DuckDBPyConnection, *, persist: bool = False, overwrite: bool = False
) -> duckdb.DuckDBPyConnection:
    """Register the SQL functions on a connection and return it; a repeated call changes nothing.

    persist: store the macros in the database file, replacing those of another version. overwrite:
    replace macros of the same names that are not of this package. Raises AnonError for such macros
    without overwrite, for persist in a read-only database, within an open transaction, and for a
    connection that was registered before a fork.
    """
    if any(con is other for other in _of_parent):
        raise opened_before()
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
    known = _look(con)
    _add_functions(con, known.functions)
    macros = {**known.stored, **known.temporary}
    foreign = sorted(name for name, comment in macros.items() if not _ours(comment))
    if foreign and not overwrite:
        raise AnonError(
            "register",
            "macros with these names must belong to anon_sql",
            ", ".join(foreign),
            "rename them or pass overwrite=True",
        )
    wanted = known.stored if persist or path is None else macros
    if foreign or not (wanted.get("anon_version") or "").endswith(_STAMP):
        _add_macros(con, temporary=path is not None and not persist)
    token, number = con.execute(
        "SELECT __anon_db(), system.main.current_connection_id()"
    ).fetchall()[0]
    others = [ref for ref in _connections.get(token, []) if ref() not in (None, con)]
    _connections[token] = [*others, weakref.ref(con, partial(_leave, token))]
    interrupting.note(con, number)
    return con


def _leave(token: str, gone: "weakref.ref[duckdb.DuckDBPyConnection]") -> None:
    """Strike off a connection that is no more."""
    others = [ref for ref in _connections.get(token, []) if ref is not gone]
    if others:
        _connections[token] = others
    else:
        _connections.pop(token, None)
        forget_tables(token)


def unregister(con: duckdb.DuckDBPyConnection) -> None:
    """Remove the macros and functions of this package from a connection and its database."""
    known = _look(con)
    for token in list(_connections):
        for ref in _connections.get(token, []):
            if ref() is con:
                _leave(token, ref)
    _drop_macros(con, known)
    for name in sorted(known.functions):
        con.remove_function(name)
    interrupting.forget(con)


@dataclass(frozen=True)
class _Known:
    """The registered names of this package: functions, and macros with their comments."""

    functions: frozenset[str]
    stored: Mapping[str, str | None]
    temporary: Mapping[str, str | None]


def _look(con: duckdb.DuckDBPyConnection) -> _Known:
    """Return the registered names, with a single query, which takes several milliseconds."""
    functions = {function.name for function in registry.udfs()}
    macros = {"anon_version", "__anon_db", *(name for file in sql_files() for name in file.macros)}
    rows = con.execute(
        "SELECT function_name, function_type LIKE '%macro', comment, database_name = 'temp', "
        "database_name = current_database() "
        "FROM duckdb_functions() WHERE list_contains(?, function_name)",
        [sorted(functions | macros)],
    ).fetchall()
    ours = [row for row in rows if row[1] and row[0] in macros]
    return _Known(
        frozenset(name for name, macro, *_ in rows if not macro and name in functions),
        {name: comment for name, _, comment, _, here in ours if here},
        {name: comment for name, _, comment, temporary, _ in ours if temporary},
    )


def _drop_macros(
    con: duckdb.DuckDBPyConnection, known: _Known, half_made: Collection[str] = ()
) -> None:
    """Drop the macros of this package, and those in ``half_made`` that have no comment yet."""
    tables = {name for file in sql_files() for name in file.tables}
    for name, comment in {**known.stored, **known.temporary}.items():
        if _ours(comment) or (comment is None and name in half_made):
            con.execute(f"DROP MACRO {'TABLE ' if name in tables else ''}{name}")


def _ours(comment: str | None) -> bool:
    """Return whether the comment marks a macro of this package."""
    return (comment or "").rpartition("\n")[2].startswith(_MARK)


def _in_transaction(con: duckdb.DuckDBPyConnection) -> bool:
    """Return whether a transaction is open; otherwise each statement has its own transaction id."""
    first, second = (con.execute("SELECT txid_current()").fetchall() for _ in range(2))
    return bool(first == second)


def _add_functions(con: duckdb.DuckDBPyConnection, known: Collection[str]) -> None:
    create: Any = con.create_function  # its overloads want enums that moved between versions
    missing = [function for function in registry.udfs() if function.name not in known]
    if missing and _in_transaction(con):
        raise AnonError(
            "register",
            "no transaction may be open, because a rollback would break the functions",
            "an open one",
            "COMMIT or ROLLBACK first",
        )
    if missing:
        forget_tables()
    opened = _Opened()
    for function in missing:
        create(
            function.name,
            opened.call(function),
            None,
            function.returns,
            type="arrow",
            null_handling="special",
            side_effects=function.volatile,
        )


class _Opened:
    """An open database. DuckDB alone holds it, with the functions, until the database closes."""

    def __init__(self) -> None:
        self.name, self.process = uuid.uuid4().hex, os.getpid()
        weakref.finalize(self, _forget, self.name).atexit = False

    def call(self, function: registry.Udf) -> Callable[..., Any]:
        """Return what DuckDB calls, with Arrow arrays that may be views.

        It raises AnonError in a child of the process that has opened the database.
        """

        def called(*arrays: Any) -> Any:
            if os.getpid() != self.process:
                error = opened_before()
                registry.remember(error)
                raise error
            own = (self.name,) if function.owned else ()
            try:
                with stopping.call(self.name):
                    return function.call(*own, *map(without_views, arrays))
            except BaseException as error:
                error.__traceback__ = None  # DuckDB 1.5 would print it, with paths of the machine
                raise

        return called


def _forget(database: str) -> None:
    """Delete what is held for a database that has closed."""
    rows.forget(database)
    pseudonyms.forget(database)


def _add_macros(con: duckdb.DuckDBPyConnection, *, temporary: bool) -> None:
    """Create every macro, with its documentation as comment; anon_version last, to mark success."""
    create = "CREATE OR REPLACE TEMP MACRO" if temporary else CREATE
    script = [f"{create} __anon_db() AS {literal(uuid.uuid4().hex)};", _comment("__anon_db", "")]
    for file in sql_files():
        script.append(file.text.replace(CREATE, create))
        for macro in file.macros:
            header = f"{full_header(file)}\n" if macro == file.name else ""
            script.append(_comment(macro, header, table=macro in file.tables))
    script.append(f"{create} anon_version() AS {literal(VERSION)};")
    script.append(_comment("anon_version", "The version of anon_sql.\n"))
    try:
        con.execute("\n".join(script))
    except duckdb.BinderException as error:
        if not is_older_storage(error):
            raise
        _drop_macros(con, _look(con), {name for file in sql_files() for name in file.macros})
        raise AnonError(
            "register",
            "persist needs a database file of storage version v1.4.0 or later",
            "an older one",
            "open a new file with storage_compatibility_version = 'v1.4.0' and copy the "
            "tables, or leave persist out",
        ) from None


def _comment(macro: str, header: str, *, table: bool = False) -> str:
    kind = "TABLE " if table else ""
    return f"COMMENT ON MACRO {kind}{macro} IS {literal(header + _STAMP)};"


def catalog(token: str, relation: str) -> list[dict[str, Any]]:
    """Implement ``registry.catalog``. Raises AnonError if no registered connection is open."""
    with _cursor(token) as cursor:
        rows = cursor.execute(
            "SELECT database_name, schema_name, table_name, column_name, data_type, comment, "
            "column_index FROM system.main.duckdb_columns() "
            "WHERE NOT internal AND database_name <> 'temp' AND system.main.contains("
            "system.main.lower(?), system.main.lower(table_name))",
            [relation.replace('""', '"')],
        ).fetchall()
    keys = ("database", "schema", "relation", "name", "type", "comment", "at")
    return [dict(zip(keys, row, strict=True)) for row in rows]


def secret(token: str, function: str, name: str) -> str:
    """Implement ``registry.secret``: the BEARER_TOKEN of a secret of type http.

    Raises AnonError if there is none, or if the database does not let it be read.
    """
    rule = Parameter("key") + " must name a secret of type http with nothing but a BEARER_TOKEN"
    try:
        with _cursor(token) as cursor:
            found = cursor.execute(SECRET_TEXTS, [name]).fetchall()
    except duckdb.InvalidInputException:
        raise AnonError(
            function,
            "secrets can be read only from a database that allows it",
            "one that does not",
            "open it with allow_unredacted_secrets = true, or pass "
            + Argument("key", "env:ANON_KEY"),
        ) from None
    if not found:
        raise AnonError(function, rule, "none of that name")
    value = bearer_token(str(found[0][0]))
    if len(found) > 1 or value is None:
        raise AnonError(function, rule, "another")
    return value


@contextmanager
def _cursor(token: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a cursor on a database. Raises AnonError if no registered connection is open."""
    for ref in _connections.get(token, []):
        con = ref()
        if con is None:
            continue
        try:
            cursor = con.cursor()
        except duckdb.Error:
            continue
        try:
            yield cursor
        finally:
            cursor.close()
        return
    raise AnonError(
        "anon_sql",
        "comments and secrets are read through a registered connection that is open",
        "none for this database",
        "call anon_sql.register(con) again",
    )


registry.use_catalog(catalog, secret)
