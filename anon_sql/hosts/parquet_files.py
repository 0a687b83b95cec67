"""Write rows to Parquet files in a folder: their order is that of the files' names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from anon_sql.core import interrupt
from anon_sql.core.names import quote
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError

ROWS = 1_000_000  # of a file
_NAME = "release-{:05}.parquet"
_NAMES = re.compile(r"release-\d{5,}\.parquet")
_MARK = "anon_sql"  # key in the metadata of a file that was written here
_STORED = "__anon_stored"


def files_of(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder, in the order of their rows."""
    return sorted(path for path in folder.glob("*.parquet") if path.is_file())


def others(folder: Path) -> list[str]:
    """Return the names of what a folder holds beside files that were written here."""
    return sorted(path.name for path in folder.iterdir() if not _is_own(path))


def _is_own(path: Path) -> bool:
    from pyarrow.parquet import read_metadata

    if not _NAMES.fullmatch(path.name) or path.is_symlink() or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return _MARK.encode() in (read_metadata(file).metadata or {})
    except (pa.ArrowException, OSError):
        return False


def number_of_files(rows: int) -> int:
    """Return how many files hold so many rows."""
    return max(1, -(-rows // ROWS))


def write_files(
    con: duckdb.DuckDBPyConnection, selects: Sequence[str], folder: Path, rows: int
) -> None:
    """Write the rows of each query to a file. Raises AnonError unless they are ``rows`` in all."""
    options = f"FORMAT parquet, USE_TMP_FILE false, KV_METADATA {{{_MARK}: 'release'}}"
    written = 0
    for number, select in enumerate(selects):
        file = str(folder / _NAME.format(number))
        made = con.execute(f"COPY ({select}) TO $target ({options})", {"target": file})
        written += int(made.fetchall()[0][0])
        interrupt.check("release")
    if written != rows:
        hint = "nothing was released; please report this"
        raise AnonError("release", "every row must be written", f"{written:,} of {rows:,}", hint)


@dataclass(frozen=True)
class Stored:
    """Rows in a temporary table. select: the query of all; files: those of each file's rows."""

    rows: int
    select: str

    @property
    def files(self) -> list[str]:
        starts = range(0, number_of_files(self.rows) * ROWS, ROWS)
        return [f"{self.select} WHERE rowid BETWEEN {at} AND {at + ROWS - 1}" for at in starts]


@contextmanager
def stored(
    con: duckdb.DuckDBPyConnection, select: str, parameters: Mapping[str, Any]
) -> Iterator[Stored]:
    """Store the rows of a query, in their order, until the end."""
    con.execute(f"CREATE OR REPLACE TEMP TABLE {_STORED} AS {select}", parameters)
    try:
        (rows,) = con.execute(f"SELECT count(*) FROM {_STORED}").fetchall()[0]
        shown = "*"
        for name in con.table(_STORED).columns:
            if fold(name) == "rowid":  # it would hide the number of a row
                con.execute(f"ALTER TABLE {_STORED} RENAME COLUMN {quote(name)} TO __anon_rowid")
                shown = f"* RENAME (__anon_rowid AS {quote(name)})"
        yield Stored(rows, f"SELECT {shown} FROM {_STORED}")
    finally:
        with suppress(duckdb.Error):  # a transaction that has failed holds it no more
            con.execute(f"DROP TABLE IF EXISTS temp.{_STORED}")
