"""The functions in dbt: a plugin of dbt-duckdb (extra ``dbt``), named in ``profiles.yml``.

dbt writes a relation as ``"db"."schema"."table"``, without quotes around it. DuckDB reads that as
a column wherever it evaluates it, save in the arguments of its own table functions, where it is
text. So dbt gets each function that takes relations in a second form: it writes its call out
again, with the relation as text, and hands it to DuckDB's ``query``. Names in quotes work too.

Run as a program, ``python -m anon_sql.dbt_plugin``, it writes a ``packages.yml``.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.resources import files
from typing import Any

import duckdb

from anon_sql.core.names import literal, quote
from anon_sql.hosts.duckdb.errors import own_error_text
from anon_sql.hosts.duckdb.macros import comment
from anon_sql.hosts.duckdb.register import register
from anon_sql.hosts.duckdb.sql_files import CREATE, SqlFile, full_header, sql_files

try:
    from dbt.adapters.duckdb.plugins import BasePlugin
except ImportError as missing:
    raise ImportError(
        "anon_sql.dbt_plugin: dbt-duckdb must be installed; pip install 'anon-sql[dbt]'"
    ) from missing

PACKAGE = files("anon_sql") / "dbt"  # macros and generic tests, a dbt package
HOME = "__anon_sql"  # a database in memory, so that macros are made once and not in the warehouse
PLACES = (f"{HOME}.unquoted", f"{HOME}.main")  # the second forms come before what they call
RELATIONS = {"tbl", "raw", "released", "root", "plan", "series"}


class Plugin(BasePlugin):  # the name that dbt-duckdb looks for
    """Registers the functions on every connection of dbt, and shows their errors as sentences."""

    def initialize(self, plugin_config: dict[str, Any]) -> None:
        """Let dbt show an error of the package without what DuckDB puts around it."""
        from dbt.adapters.duckdb.connections import DuckDBConnectionManager

        handler = DuckDBConnectionManager.exception_handler
        if not hasattr(handler, "_anon_sql"):
            DuckDBConnectionManager.exception_handler = _with_sentences(handler)

    def configure_connection(self, conn: duckdb.DuckDBPyConnection) -> None:
        """Make the macros, once for all connections."""
        ((database,),) = conn.execute("SELECT current_database()").fetchall()
        conn.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {HOME}; USE {HOME}")
        register(conn)
        conn.execute("CREATE SCHEMA IF NOT EXISTS unquoted")
        made = conn.execute(
            "SELECT function_name, parameters FROM duckdb_functions() "
            "WHERE database_name = ? AND schema_name = 'main'",
            [HOME],
        ).fetchall()
        parameters = dict(made)
        for file in sql_files():
            if file.public and RELATIONS.intersection(parameters[file.name]):
                conn.execute(_second_form(file, parameters[file.name]))
        conn.execute(f"USE {quote(database)}")

    def configure_cursor(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Let a connection find the macros, after all that it finds already."""
        ((database, schema, path),) = cursor.execute(
            "SELECT current_database(), current_schema(), current_setting('search_path')"
        ).fetchall()
        before = path or f"{quote(database)}.{quote(schema)}"
        cursor.execute(f"SET search_path = {literal(','.join((before, *PLACES)))}")


def _with_sentences(
    handler: Callable[..., AbstractContextManager[None]],
) -> Callable[..., AbstractContextManager[None]]:
    """Return dbt-duckdb's handler of errors, which is given the sentence where there is one."""

    @contextmanager
    def handle(self: Any, sql: str, connection_name: str = "master") -> Iterator[None]:
        with handler(self, sql, connection_name):
            try:
                yield
            except Exception as error:
                text = own_error_text(error)
                if text is None:
                    raise
                raise duckdb.InvalidInputException(text) from error

    handle._anon_sql = True  # type: ignore[attr-defined]
    return handle


def _second_form(file: SqlFile, parameters: list[str]) -> str:
    """The statements that make the function in the form that dbt calls, with its comment."""
    name = f"unquoted.{file.name}"
    declared = file.text.partition(f"{CREATE} {file.name}(")[2].partition(") AS")[0]
    values = ", ".join(f"{literal(each)}: {quote(each)}" for each in parameters)
    call = f"__anon_queries_written('{HOME}.main.{file.name}', {{{values}}})"
    body = (
        f"TABLE FROM query('FROM ' || {call})"
        if file.is_table
        else f"(FROM query('SELECT ' || {call}))"
    )
    return f"{CREATE} {name}({declared}) AS {body}; {comment(name, full_header(file))}"


if __name__ == "__main__":
    sys.stdout.write(f"packages:\n  - local: {json.dumps(str(PACKAGE))}\n")
