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
    SELECT 'DROP VIEW', database_name, schema_name, view_name FROM duckdb_views()
    WHERE NOT internal
    UNION ALL
    SELECT 'DROP TABLE', database_name, schema_name, table_name FROM duckdb_tables()
    UNION ALL
    SELECT 'DROP TYPE', database_name, schema_name, type_name FROM duckdb_types()
    WHERE NOT internal
    UNION ALL
    SELECT 'DROP SCHEMA', database_name, NULL, schema_name FROM duckdb_schemas()
    WHERE NOT internal AND schema_name != 'main'
    UNION ALL
    SELECT 'RESET VARIABLE', NULL, NULL, name FROM duckdb_variables()
"""
FUNCTIONS = """
    SELECT DISTINCT
        if(function_type = 'table_macro', 'DROP MACRO TABLE', 'DROP MACRO'),
        database_name, schema_name, function_name, function_oid
    FROM duckdb_functions() WHERE NOT internal
"""
SETTINGS = "SELECT name, value FROM duckdb_settings()"
CHANGED = (  # that tests change and leave; to read all of them takes as long as a small release
    *("threads", "memory_limit", "search_path", "schema", "TimeZone", "default_collation"),
    *("default_order", "default_null_order", "preserve_insertion_order", "integer_division"),
    *("enable_progress_bar", "enable_external_access", "lock_configuration", "explain_output"),
    *("arrow_output_version", "arrow_large_buffer_size", "arrow_lossless_conversion"),
    "old_implicit_casting",
)
FEW = "SELECT " + ", ".join(f"current_setting('{name}')" for name in CHANGED)
STATE = """
    SELECT
        (SELECT list(database_name ORDER BY database_name) FROM duckdb_databases()),
        (SELECT count(*) FROM duckdb_sequences()),
        (SELECT count(*) FROM duckdb_secrets()),
        (SELECT count(*) FROM duckdb_prepared_statements()),
        current_database(),
        current_schema()
"""


class Database:
    """A connection that is replaced only after a test has left what cannot be removed from it."""

    def __init__(self) -> None:
        self._spare: duckdb.DuckDBPyConnection | None = None
        self._used = False
        self._state: list[tuple[Any, ...]] = []
        self._settings: set[tuple[Any, ...]] = set()
        self._few: list[tuple[Any, ...]] = []
        self._functions: set[tuple[Any, ...]] = set()

    def take(self) -> duckdb.DuckDBPyConnection:
        """Return a connection as ``anon_sql.connect()`` makes it."""
        if self._spare is None:
            made = connect()
            self._state = made.execute(STATE).fetchall()
            self._settings, self._functions = _rows(made, SETTINGS), _rows(made, FUNCTIONS)
            self._few = made.execute(FEW).fetchall()
            self._spare = made
        self._used = True
        return self._spare

    def give_back(self, *, functions: bool) -> None:
        """Remove what the test has made; close the connection if anything else has changed.

        functions: whether functions are looked for, which takes as long as a small release.
        """
        assert self._spare is not None
        if not self._emptied(self._spare, functions):
            self._close(self._spare)

    def left(self) -> list[str]:
        """Return the names of functions and settings that were changed since the last call.

        Those of ``CHANGED``, and functions of tests that say so, are gone after each test. If there
        are any others, the connection is closed.
        """
        if self._spare is None or not self._used:
            return []
        self._used = False
        functions = self._functions ^ _rows(self._spare, FUNCTIONS)
        settings = self._settings ^ _rows(self._spare, SETTINGS)
        if functions or settings:
            self._close(self._spare)
        return sorted({name for *_, name, _ in functions} | {name for name, _ in settings})

    def _close(self, con: duckdb.DuckDBPyConnection) -> None:
        con.close()
        self._spare = None

    def _emptied(self, con: duckdb.DuckDBPyConnection, functions: bool) -> bool:
        try:
            con.begin()  # an error if a transaction is open or the connection closed
            found = _rows(con, FUNCTIONS) if functions else self._functions
            made = [row[:-1] for row in found - self._functions]
            for remove, *name in (*made, *con.execute(LEFT).fetchall()):
                con.execute(f"{remove} {_named(name)}")
            con.commit()
            if con.execute(FEW).fetchall() != self._few:
                for setting, _ in _rows(con, SETTINGS) - self._settings:
                    con.execute(f"RESET {setting}")
                if _rows(con, SETTINGS) != self._settings:
                    return False
            return found >= self._functions and con.execute(STATE).fetchall() == self._state
        except duckdb.Error:
            return False


commands = Database()  # of the calls of the command line


@contextmanager
def lent(functions: bool) -> Iterator[None]:
    """Let calls of ``anon_sql.connect()`` return cursors of one database, emptied afterwards.

    functions: whether they may make functions.
    """
    taken = []

    def cursor(path: str = ":memory:", **config: Any) -> duckdb.DuckDBPyConnection:
        if path != ":memory:" or config:
            return connect(path, **config)
        taken.append(commands.take())
        return taken[-1].cursor()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(anon_sql, "connect", cursor)
        try:
            yield
        finally:
            if taken:
                commands.give_back(functions=functions)


def _named(parts: list[object]) -> str:
    """Return a qualified name in quotes; NULL parts are left out."""
    return ".".join(quote(str(part)) for part in parts if part is not None)


def _rows(con: duckdb.DuckDBPyConnection, query: str) -> set[tuple[Any, ...]]:
    """Return what a query on the catalog finds."""
    return set(con.execute(query).fetchall())
