"""One database for test after test: registering the functions takes longer than most tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pytest

import anon_sql
from anon_sql import connect
from anon_sql.core.names import quote

LEFT = """
    SELECT 'VIEW', database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal
    UNION ALL
    SELECT 'TABLE', database_name, schema_name, table_name FROM duckdb_tables()
    UNION ALL
    SELECT 'TYPE', database_name, schema_name, type_name FROM duckdb_types() WHERE NOT internal
    UNION ALL
    SELECT 'SCHEMA', database_name, NULL, schema_name FROM duckdb_schemas()
    WHERE NOT internal AND schema_name != 'main'
"""
FUNCTIONS = """
    SELECT DISTINCT
        if(function_type = 'table_macro', 'MACRO TABLE', 'MACRO'),
        database_name, schema_name, function_name, function_oid
    FROM duckdb_functions() WHERE NOT internal
"""
VARIABLES = "SELECT name FROM duckdb_variables()"
STATE = """
    SELECT
        (SELECT list(database_name ORDER BY database_name) FROM duckdb_databases()),
        (SELECT count(*) FROM duckdb_sequences()),
        (SELECT count(*) FROM duckdb_prepared_statements()),
        current_database(),
        current_schema()
"""


class Database:
    """A connection that is replaced only after a test has left what cannot be removed from it."""

    def __init__(self) -> None:
        self._spare: duckdb.DuckDBPyConnection | None = None
        self._state: list[tuple[object, ...]] = []
        self._settings: set[tuple[str, object]] = set()
        self._functions: set[tuple[object, ...]] = set()

    def take(self) -> duckdb.DuckDBPyConnection:
        """Return a connection as ``anon_sql.connect()`` makes it."""
        if self._spare is None:
            made = connect()
            self._state = made.execute(STATE).fetchall()
            self._settings, self._functions = set(_settings(made)), _functions(made)
            self._spare = made
        return self._spare

    def give_back(self, *, functions: bool = True, settings: bool = True) -> None:
        """Remove what the test has made; close the connection if anything else has changed.

        functions, settings: whether the test may have made or set some; to list them takes time.
        """
        assert self._spare is not None
        if not self._emptied(self._spare, functions, settings):
            self._spare.close()
            self._spare = None

    def _emptied(self, con: duckdb.DuckDBPyConnection, makes: bool, sets: bool) -> bool:
        try:
            con.begin()  # an error if a transaction is open or the connection closed
            functions = _functions(con) if makes else self._functions
            made = [(kind, *name) for kind, *name, _ in functions - self._functions]
            for kind, *name in (*made, *con.execute(LEFT).fetchall()):
                con.execute(f"DROP {kind} {_named(name)}")
            for (name,) in con.execute(VARIABLES).fetchall():
                con.execute(f"RESET VARIABLE {quote(name)}")
            con.commit()
            found = set(_settings(con)) if sets else self._settings
            changed = {name for name, _ in found - self._settings}
            for setting in changed:
                con.execute(f"RESET {setting}")
            if changed and set(_settings(con)) != self._settings:
                return False
            return functions >= self._functions and con.execute(STATE).fetchall() == self._state
        except duckdb.Error:
            return False


_commands = Database()


@contextmanager
def lent(functions: bool) -> Iterator[None]:
    """Let calls of ``anon_sql.connect()`` return cursors of one database, emptied afterwards.

    functions: whether they may make functions.
    """
    taken = []

    def cursor(path: str = ":memory:", **config: Any) -> duckdb.DuckDBPyConnection:
        if path != ":memory:" or config:
            return connect(path, **config)
        taken.append(_commands.take())
        return taken[-1].cursor()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(anon_sql, "connect", cursor)
        try:
            yield
        finally:
            if taken:
                _commands.give_back(functions=functions)


def _named(parts: list[object]) -> str:
    """Return a qualified name in quotes; NULL parts are left out."""
    return ".".join(quote(str(part)) for part in parts if part is not None)


def _functions(con: duckdb.DuckDBPyConnection) -> set[tuple[object, ...]]:
    """Return the functions that are not DuckDB's: how to drop them, names, and number."""
    return set(con.execute(FUNCTIONS).fetchall())


def _settings(con: duckdb.DuckDBPyConnection) -> list[tuple[str, object]]:
    """Return the names and values of the settings."""
    return con.execute("SELECT name, value FROM duckdb_settings()").fetchall()
