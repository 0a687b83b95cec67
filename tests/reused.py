"""One database for test after test: to put the functions on a new one takes longer than most tests."""

import duckdb

import anon_sql
from anon_sql.core.names import quote

LEFT = """
    SELECT 'TABLE', database_name, schema_name, table_name FROM duckdb_tables()
    UNION ALL
    SELECT 'VIEW', database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal
"""
STATE = """
    SELECT
        (SELECT (count(*), max(function_oid)) FROM duckdb_functions()),
        (SELECT list((name, value) ORDER BY name) FROM duckdb_settings()),
        (SELECT list(name ORDER BY name) FROM (SELECT (database_name, schema_name) AS name FROM duckdb_schemas())),
        (SELECT count(*) FROM duckdb_types()),
        (SELECT count(*) FROM duckdb_sequences()),
        (SELECT count(*) FROM duckdb_variables()),
        (SELECT count(*) FROM duckdb_prepared_statements()),
        current_database(),
        current_schema()
"""


class Database:
    """A connection that is made anew only after a test left more behind than tables and views."""

    def __init__(self) -> None:
        self._spare: duckdb.DuckDBPyConnection | None = None
        self._state: list[tuple[object, ...]] = []

    def take(self) -> duckdb.DuckDBPyConnection:
        """A connection as ``anon_sql.connect()`` makes it."""
        if self._spare is None:
            made = anon_sql.connect()
            self._state = made.execute(STATE).fetchall()
            self._spare = made
        return self._spare

    def give_back(self) -> None:
        """Drop the tables and views; close the connection if anything else is not as it was."""
        assert self._spare is not None
        if not self._emptied(self._spare):
            self._spare.close()
            self._spare = None

    def _emptied(self, con: duckdb.DuckDBPyConnection) -> bool:
        try:
            con.begin()  # an error if a transaction is open or the connection closed
            for kind, *name in con.execute(LEFT).fetchall():
                con.execute(f"DROP {kind} {'.'.join(map(quote, name))}")
            con.commit()
            return con.execute(STATE).fetchall() == self._state
        except duckdb.Error:
            return False
