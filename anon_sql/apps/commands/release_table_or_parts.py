"""Make the release of ``anon-sql release``: a table, or in parts if it does not fit into memory."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps import files
from anon_sql.apps.csv_files.dialect import Dialect
from anon_sql.core.names import quote
from anon_sql.hosts.parquet_files import stored
from anon_sql.hosts.parts.checked_call import asked
from anon_sql.hosts.parts.in_parts import Parts, one_statement, released_in_parts
from anon_sql.hosts.parts.workspace import Place

MEASURED = 5_000_000  # rows of a release in parts whose measures are computed


@dataclass(frozen=True)
class Made:
    """A release, the relation ``released``.

    rows: their number. ordered: queries to be run in turn, one for each output file, that give the
    rows in their order. measures: what is known without measuring; empty if the relation can be
    measured.
    """

    rows: int
    ordered: Sequence[str]
    measures: Mapping[str, Any] = field(default_factory=dict)


def read_source(
    con: duckdb.DuckDBPyConnection,
    source: Path,
    table: str,
    written_as: Dialect,
    memory_limit: str | None,
) -> dict[str, str]:
    """Make ``table`` from a file: a view of a Parquet file, a table of any other.

    memory_limit: the setting of the connection, None for DuckDB's own. Returns what ``files.read``
    returns.
    """
    if memory_limit is not None:
        con.execute("SET memory_limit = ?", [memory_limit])
    if files.kind(source)[0] != "parquet":
        return files.read(con, source, table, dialect=written_as)
    con.read_parquet(files.parquet(source), hive_partitioning=False).create_view(table)
    return {}


@contextmanager
def in_table(
    con: duckdb.DuckDBPyConnection,
    method: str,
    call: Mapping[str, Any],
    target: Path,
    wishes: Parts,
) -> Iterator[Made]:
    """Make the relation ``released`` from the relation ``raw``.

    call: the parameters of the method by name. The files of a release in parts exist until the end.
    """
    (rows,) = con.execute("SELECT count(*) FROM raw").fetchall()[0]
    given = {name: value for name, value in call.items() if name != "k"}
    checked = asked(con, "raw", method, call["k"], given)
    if one_statement(checked, rows, wishes):
        listed = ", ".join(f"{parameter} := ${parameter}" for parameter in call)
        with stored(con, f"FROM {quote(method)}('raw', {listed})", call) as found:
            con.execute(f"CREATE TEMP VIEW released AS {found.select}")
            yield Made(found.rows, found.files if wishes.in_files else ["FROM released"])
        return
    with released_in_parts(con, checked, Place.beside(target), wishes) as released:
        con.execute(f"CREATE TEMP VIEW released AS {released.select}")
        written = released.written
        shown = written.rows - written.suppressed
        known = {"rows": written.rows, "released_rows": shown, "regions": written.regions}
        if checked.request.suppressed == "drop":
            known["suppressed"] = written.suppressed
        yield Made(shown, released.ordered, known if written.rows > MEASURED else {})
