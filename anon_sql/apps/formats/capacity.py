"""Check that a file format can hold a release, before any of it is written."""

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from anon_sql.core.columns import is_nested
from anon_sql.core.names import quote
from anon_sql.errors import AnonError, Option, Words, listed

_CONTROL = r"[\x00-\x08\x0b\x0c\x0e-\x1f]"  # which XML cannot hold


@dataclass(frozen=True)
class Capacity:
    """What a format can hold.

    ending: of its files. rows, columns: at most. longest: text, in characters. controls: whether
    control characters are refused. blanks: whether blanks at the end of a text are lost.
    """

    ending: str
    rows: int
    columns: int
    longest: int
    controls: bool = False
    blanks: bool = False


def columns_of(con: duckdb.DuckDBPyConnection, select: str) -> dict[str, str]:
    """Return the SQL type of each column of a query."""
    return {name: kind for name, kind, *_ in con.execute(f"DESCRIBE {select}").fetchall()}


def require(
    con: duckdb.DuckDBPyConnection, select: str, columns: Mapping[str, str], capacity: Capacity
) -> None:
    """Raise AnonError unless a format can hold the rows of a query. columns: their types."""
    nested = [name for name, kind in columns.items() if is_nested(kind)]
    if nested:
        raise _error(capacity, "have no nested columns", listed(nested))
    if len(columns) > capacity.columns:
        raise _error(capacity, f"have at most {capacity.columns:,} columns", f"{len(columns):,}")
    texts = [name for name, kind in columns.items() if kind == "VARCHAR"]
    counts = ["count(*)"]
    for x in map(quote, texts):
        counts += [f"count(*) FILTER ({x} = '')", f"max(length({x}))"]
        counts.append(f"count(*) FILTER (regexp_matches({x}, '{_CONTROL}'))")
        counts.append(f"count(*) FILTER ({x} LIKE '% ')")
    rows, *figures = con.execute(f"SELECT {', '.join(counts)} FROM ({select})").fetchall()[0]
    if rows > capacity.rows:
        raise _error(capacity, f"have at most {capacity.rows:,} rows", f"{rows:,}")
    for name, first in zip(texts, range(0, len(figures), 4), strict=True):
        empty, longest, controls, blanks = figures[first : first + 4]
        of = f"texts of {listed([name])}"
        if empty:
            got = f"{empty:,} of {listed([name])}"
            raise _error(capacity, "have no empty texts, which it holds as missing values", got)
        if (longest or 0) > capacity.longest:
            rule = f"have no {of} longer than {capacity.longest:,}"
            raise _error(capacity, rule, f"one of {longest:,}")
        if capacity.controls and controls:
            raise _error(capacity, f"have no control characters in {of}", f"{controls:,}")
        if capacity.blanks and blanks:
            hint = Option("--trim") + " to remove them"
            raise _error(capacity, f"have no blanks at the end of {of}", f"{blanks:,}", hint)


def _error(
    capacity: Capacity, rule: str, got: str, hint: str | Words = "name OUT .csv or .parquet"
) -> AnonError:
    return AnonError("release", f"a release in a {capacity.ending} file must {rule}", got, hint)
