"""Write files and folders whole or not at all, and remove what killed processes left."""

import hashlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from anon_sql import system
from anon_sql.core import stopping
from anon_sql.core.names import quote
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Words
from anon_sql.hosts.parquet import ArrowRows, write_parquet

ROWS = 1_000_000  # of a file
PACKED = {"": None, ".gz": "gzip", ".zst": "zstd"}  # by ending, DuckDB's name of the compression
KINDS = {f"{kind}{packed}": "csv" for packed in PACKED for kind in (".csv", ".tsv")}
KINDS[".parquet"] = "parquet"
# endings of tables that the command line, recipes and the studio read, and no function of Python
BY_RECIPE = (
    *(f"{kind}{packed}" for packed in PACKED for kind in (".jsonl", ".ndjson")),
    *(".xlsx", ".xls", ".ods", ".sav", ".zsav", ".por", ".sas7bdat", ".xpt", ".dta"),
)
_NAME = "release-{:05}.parquet"
_NAMES = re.compile(r"release-\d{5,}\.parquet")
_MARK = "anon_sql"  # key in the metadata of a file that was written here
LINKED = "linked"  # its value in the file of a table that is released with others
_STORED = "__anon_stored"


def files_of(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder, in the order of their rows."""
    return sorted(path for path in folder.glob("*.parquet") if path.is_file())


def is_pattern(path: Path) -> bool:
    """Return whether a path that does not exist is a pattern, such as ``visits-*.csv``."""
    return any(sign in path.name for sign in "*?[") and not path.exists()


def members(path: Path) -> list[Path]:
    """Return a file, or the files that a pattern fits, in the order of their names.

    Only the last part of a path is a pattern.
    """
    if not is_pattern(path):
        return [path]
    return sorted(
        (other for other in path.parent.glob(path.name) if other.is_file()),
        key=lambda other: other.name,
    )


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of what ``sha256sum`` prints of several.

    Those are the Parquet files in a folder, or the files that a pattern fits.
    """
    if path.is_dir() or is_pattern(path):
        several = files_of(path) if path.is_dir() else members(path)
        lines = (f"{digest(file)}  {file.name}\n" for file in several)
        return hashlib.sha256(os.fsencode("".join(lines))).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def others(folder: Path) -> list[str]:
    """Return the names of what a folder holds beside files that were written here."""
    return sorted(path.name for path in folder.iterdir() if not _is_own(path))


def _is_own(path: Path) -> bool:
    from pyarrow.parquet import read_metadata

    if path.suffix != ".parquet" or path.is_symlink() or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            mark = (read_metadata(file).metadata or {}).get(_MARK.encode())
    except (pa.ArrowException, OSError):
        return False
    return mark == LINKED.encode() or (mark is not None and bool(_NAMES.fullmatch(path.name)))


def number_of_files(rows: int) -> int:
    """Return how many files hold so many rows."""
    return max(1, -(-rows // ROWS))


def write_files(
    con: duckdb.DuckDBPyConnection, contents: Sequence[str | ArrowRows], folder: Path, rows: int
) -> None:
    """Write the rows of each query, or of Arrow, to a file.

    Raises AnonError unless they are ``rows`` in all.
    """
    written = 0
    for number, content in enumerate(contents):
        written += write_parquet(con, content, folder / _NAME.format(number), {_MARK: "release"})
        stopping.check("release")
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
        return [
            f"{self.select} WHERE rowid BETWEEN {start} AND {start + ROWS - 1}" for start in starts
        ]


@contextmanager
def stored(
    con: duckdb.DuckDBPyConnection, select: str, parameters: Mapping[str, Any]
) -> Iterator[Stored]:
    """Store the rows of a query, in their order, until the end."""
    con.execute(f"CREATE OR REPLACE TEMP TABLE {_STORED} AS {select}", parameters)
    try:
        (rows,) = con.execute(f"SELECT count(*) FROM {_STORED}").fetchall()[0]
        columns = "*"
        for name in con.table(_STORED).columns:
            if fold(name) == "rowid":  # it would hide the number of a row
                con.execute(f"ALTER TABLE {_STORED} RENAME COLUMN {quote(name)} TO __anon_rowid")
                columns = f"* RENAME (__anon_rowid AS {quote(name)})"
        yield Stored(rows, f"SELECT {columns} FROM {_STORED}")
    finally:
        with suppress(duckdb.Error):  # a transaction that has failed holds it no more
            con.execute(f"DROP TABLE IF EXISTS temp.{_STORED}")


def temporary_folder(function: str) -> Path:
    """Return the folder for temporary files. Raises AnonError where there is none to write to."""
    try:
        folder = Path(tempfile.gettempdir())
    except OSError:
        folder = None
    if folder is None or not os.access(folder, os.W_OK | os.X_OK):
        rule = "there must be a folder for temporary files that can be written"
        raise AnonError(function, rule, None, "set TMPDIR")
    return folder


TEMPORARY, REPLACED = ".tmp", ".old"


def hidden_path(final: Path, ending: str = TEMPORARY) -> Path:
    """Return a new path beside a target, short for any target."""
    return final.with_name(f"{_prefix(final)}{secrets.token_hex(8)}{ending}")


def remove_temporary(target: Path) -> None:
    """Remove what killed processes have left of a target; what is being written stays."""
    final = target.resolve()
    for left in _hidden(final):
        with suppress(OSError), system.locked(left):
            if left.suffix == REPLACED:
                restore_or_remove(left, final)
            elif left.suffix == TEMPORARY:
                remove(left)


def _hidden(final: Path) -> list[Path]:
    """Return the hidden paths beside a target, also those of which only the lock is left."""
    paths = list(final.parent.glob(f"{_prefix(final)}*"))
    return sorted({path.with_suffix("") if system.is_lock(path) else path for path in paths})


def restore_or_remove(replaced: Path, final: Path) -> None:
    """Remove a replaced folder of a release, or put it back if nothing has its name."""
    if replaced.exists() and not final.exists():
        replaced.rename(final)
    elif replaced.exists() and not others(replaced):
        remove(replaced)


def remove(path: Path) -> None:
    """Remove a file or a folder with its files."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _prefix(final: Path) -> str:
    """Return what the names of all that is hidden beside a target begin with."""
    return f".anon-sql-{hashlib.sha256(os.fsencode(final.name)).hexdigest()[:16]}-"


@contextmanager
def atomic_file(target: Path) -> Iterator[Path]:
    """Give the path of a temporary file beside the target, which replaces it at the end.

    An error leaves nothing behind.
    """
    final = target.resolve()
    temporary = hidden_path(final)
    with system.locked(temporary):
        try:
            temporary.open("xb").close()
            yield temporary
            os.replace(temporary, final)
        finally:
            temporary.unlink(missing_ok=True)


def means_folder(target: str) -> bool:
    """Return whether a path as the user gives it is that of a folder."""
    return system.ends_as_folder(target) or Path(target).is_dir()


def require_new_folder(name: str | Words, target: Path, overwrite: bool, hint: str | Words) -> None:
    """Raise AnonError for a target that exists, unless it may be replaced; name: as errors do."""
    if not target.exists():
        return
    if not target.is_dir():
        raise AnonError("release", name + " must be a new folder", f"the file '{target}'")
    if not overwrite:
        got = f"'{target}', which exists"
        raise AnonError("release", name + " must be a new folder", got, hint)
    _require_own(target, target)


def _require_own(folder: Path, target: Path) -> None:
    """Raise AnonError unless a folder, shown as ``target``, holds nothing but a release."""
    foreign = others(folder)
    if foreign:
        rule = "a folder that is replaced must hold only files of an earlier release"
        raise AnonError("release", rule, f"'{foreign[0]}' in '{target}'", "name another folder")


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """Give the path of a temporary folder beside the target, which replaces it at the end.

    An error leaves nothing behind, and an old folder as it was. Raises AnonError if that holds
    anything but a release.
    """
    final = target.resolve()
    temporary, old = hidden_path(final), hidden_path(final, REPLACED)
    with system.locked(temporary), system.locked(old):
        try:
            temporary.mkdir()
            yield temporary
            if final.exists():
                final.rename(old)
                _require_own(old, final)
            temporary.rename(final)
        finally:
            restore_or_remove(old, final)
            remove(temporary)
