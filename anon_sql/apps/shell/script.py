"""Run the shell without a terminal, on statements from a pipe or a file."""

from collections.abc import Iterable

import duckdb

from anon_sql.apps.shell.answering import answer
from anon_sql.apps.shell.statements import inputs


def run(con: duckdb.DuckDBPyConnection, lines: Iterable[str]) -> bool:
    """Answer statements up to the first that fails, and return whether none did."""
    try:
        return all(answer(con, text) for text in inputs(lines))
    except EOFError:
        return True
