"""The shell without a terminal: statements from a pipe or a file."""

from collections.abc import Iterable

import duckdb

from anon_sql.shell.answering import answer
from anon_sql.shell.statements import inputs


def run(con: duckdb.DuckDBPyConnection, lines: Iterable[str]) -> bool:
    """Answer one after another, up to the first that fails; whether none did."""
    try:
        return all(answer(con, text) for text in inputs(lines))
    except EOFError:
        return True
