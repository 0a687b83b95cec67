"""Register the functions and macros on a connection, and read the catalog.

Functions belong to the database instance. Macros are created as temporary ones if the database is
a file, so that ``register`` does not change the file, and as ordinary ones in memory or with
``persist=True``. In memory they are copied from a stored catalog, without their comments, whose
text ``anon_help`` has too.
"""

import os
import uuid
import weakref
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import duckdb

from anon_sql import system
from anon_sql.core import pseudonyms, stopping
from anon_sql.core.arrow import without_views
from anon_sql.core.duckdb_internals.error_texts import is_older_storage
from anon_sql.core.duckdb_internals.secrets import SECRET_TEXTS, bearer_token
from anon_sql.core.forks import ForkLock, leave, opened_before
from anon_sql.errors import AnonError, Argument, Parameter
from anon_sql.hosts.duckdb import interrupting, macros, registry, rows, stored_catalog
from anon_sql.hosts.duckdb.binding import forget_tables
from anon_sql.hosts.duckdb.sql_files import CREATE

registry.load_functions()

_installing = ForkLock()
_connections: dict[str, list["weakref.ref[duckdb.DuckDBPyConnection]"]] = {}
_of_parent: list[duckdb.DuckDBPyConnection] = []  # connections that were open before a fork


def _leave_those_of_parent() -> None:
    """Forget, in a child, the connections that it cannot use, and destroy none."""
    for con in filter(None, (ref() for refs in _connections.values() for ref in refs)):
        leave(con)
        _of_parent.append(con)
    _connections.clear()


system.after_fork_in_child(_leave_those_of_parent)


def connect(path: str = ":memory:", **config: Any) -> duckdb.DuckDBPyConnection:
    """Open a database like ``duckdb.connect`` and register the SQL functions on it."""
    con = duckdb.connect(path, **config)
    if path in ("", ":memory:"):  # no other process has it
        with _installing:
            return _register(con, persist=False, overwrite=False, registered=_NOTHING)
    return register(con)


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
    con: duckdb.DuckDBPyConnection,
    persist: bool,
    overwrite: bool,
    registered: "_Registered | None" = None,
) -> duckdb.DuckDBPyConnection:
    """Register; registered: what the connection has, None to look for it."""
    database, path, read_only, schema = con.execute(
        "SELECT database_name, path, readonly, current_schema() FROM duckdb_databases() "
        "WHERE database_name = current_database()"
    ).fetchall()[0]
    if persist and read_only:
        raise AnonError("register", "persist needs a database that can be written", f"{database}")
    if registered is None:
        registered = _look(con)
    _add_functions(con, registered.functions)
    foreign = sorted(
        {macro.name for macro, is_of_package in registered.present_macros if not is_of_package}
    )
    if foreign and not overwrite:
        raise AnonError(
            "register",
            "macros with these names must belong to anon_sql",
            ", ".join(foreign),
            "rename them or pass overwrite=True",
        )
    in_database = persist or path is None
    if foreign or not (
        registered.stored if in_database else registered.stored or registered.temporary
    ):
        copy = path is None and schema == "main" and not registered.present_macros
        if not copy or not _copy_macros(con, database):
            _add_macros(con, temporary=not in_database)
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
    registered = _look(con)
    for token in list(_connections):
        for ref in _connections.get(token, []):
            if ref() is con:
                _leave(token, ref)
    _drop_macros(con, registered)
    for name in sorted(registered.functions):
        con.remove_function(name)
    interrupting.forget(con)


@dataclass(frozen=True)
class _Registered:
    """The names of this package that a connection has: functions, and macros, whether ours.

    stored, temporary: whether the macros of this version are all there, in the database or as
    temporary ones.
    """

    functions: frozenset[str] = frozenset()
    present_macros: tuple[tuple[macros.Macro, bool], ...] = ()
    stored: bool = False
    temporary: bool = False


_NOTHING = _Registered()


def _look(con: duckdb.DuckDBPyConnection) -> _Registered:
    """Return the registered names, with a single query, which takes several milliseconds."""
    functions = {*macros.functions().values()}
    rows = con.execute(macros.LOOK).fetchall()
    places = macros.places(rows)
    current = [place.macros[macros.MARK].temporary for place in places if place.current]
    return _Registered(
        frozenset(name for name, macro, *_ in rows if not macro and name in functions),
        tuple(
            (macro, place.is_of_package(macro))
            for place in places
            for macro in place.macros.values()
        ),
        False in current,
        True in current,
    )


def _drop_macros(
    con: duckdb.DuckDBPyConnection, registered: _Registered, half_made: Collection[str] = ()
) -> None:
    """Drop the macros of this package, and those in ``half_made`` that have no mark yet."""
    for macro, is_of_package in registered.present_macros:
        if is_of_package or (macro.comment is None and macro.name in half_made):
            con.execute(f"DROP {macros.kind(macro.name)} {macro.name}")


def _add_functions(con: duckdb.DuckDBPyConnection, installed: Collection[str]) -> None:
    create: Any = con.create_function  # its overloads want enums that moved between versions
    names = macros.functions()
    missing = [function for function in registry.udfs() if names[function.name] not in installed]
    if missing and macros.in_transaction(con):
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
            names[function.name],
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
            database = (self.name,) if function.owned else ()
            try:
                with stopping.call(self.name):
                    return function.call(*database, *map(without_views, arrays))
            except BaseException as error:
                error.__traceback__ = None  # DuckDB 1.5 would print it, with paths of the machine
                raise

        return called


def _forget(database: str) -> None:
    """Delete what is held for a database that has closed."""
    rows.forget(database)
    pseudonyms.forget(database)


def _copy_macros(con: duckdb.DuckDBPyConnection, database: str) -> bool:
    """Copy every macro into a database that has none; return whether that was possible."""
    if macros.in_transaction(con):
        return False
    path = stored_catalog.find() or stored_catalog.make(lambda new: _add_functions(new, ()))
    return path is not None and stored_catalog.copied(con, database, path)


def _add_macros(con: duckdb.DuckDBPyConnection, *, temporary: bool) -> None:
    """Create every macro, with its documentation as comment; all or none, unless in a transaction.

    What a file keeps has a comment on internal macros too, by which other versions know them.
    Raises AnonError for a database file that cannot hold them.
    """
    create = "CREATE OR REPLACE TEMP MACRO" if temporary else CREATE
    commented = macros.PUBLIC if temporary else macros.NAMES
    begun = macros.in_transaction(con)
    try:
        with nullcontext() if begun else macros.transaction(con):
            con.execute(macros.script(create, commented=commented))
            con.execute(macros.mark(con, create))
    except duckdb.BinderException as error:
        if not is_older_storage(error):
            raise
        if begun:
            _drop_macros(con, _look(con), macros.NAMES)
        raise AnonError(
            "register",
            "persist needs a database file of storage version v1.4.0 or later",
            "an older one",
            "open a new file with storage_compatibility_version = 'v1.4.0' and copy the "
            "tables, or leave persist out",
        ) from None


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
            secret_texts = cursor.execute(SECRET_TEXTS, [name]).fetchall()
    except duckdb.InvalidInputException:
        raise AnonError(
            function,
            "secrets can be read only from a database that allows it",
            "one that does not",
            "open it with allow_unredacted_secrets = true, or pass "
            + Argument("key", pseudonyms.KEY),
        ) from None
    if not secret_texts:
        raise AnonError(function, rule, "no secret of that name")
    value = bearer_token(str(secret_texts[0][0]))
    if len(secret_texts) > 1 or value is None:
        raise AnonError(function, rule)
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
        "no open connection to this database",
        "call anon_sql.register(con) again",
    )


def query_rows(token: str, statement: str) -> list[tuple[Any, ...]]:
    """Implement ``registry.query_rows``. Raises AnonError if no registered connection is open."""
    with _cursor(token) as cursor:
        return cursor.execute(statement).fetchall()


registry.use_catalog(catalog, secret, query_rows)
