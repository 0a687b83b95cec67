"""Recognize files by their content, and names of columns that DuckDB has changed.

DuckDB reads JSON that is called .csv as a table of one column, and gives a column another name if
two have one. Both would leave columns without the roles that people meant for them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Parameter, Words, listed
from anon_sql.hosts.columns import require_names
from anon_sql.hosts.files import BY_RECIPE, KINDS, PACKED

_HEAD = 1 << 12  # bytes


@dataclass(frozen=True)
class ForeignFormat:
    """A format that is not CSV. hint: what to do about a file of it."""

    name: str
    hint: str


_UNPACK, _CONVERT = "unpack it first", "convert it to CSV or Parquet"
_EXPORT = "export the table as CSV in UTF-8"
_BINARY = {
    b"PK\x03\x04": ForeignFormat("a ZIP archive, such as an Excel workbook", _EXPORT),
    b"\xd0\xcf\x11\xe0": ForeignFormat("an Office file, such as an Excel workbook", _EXPORT),
    b"PAR1\x15": ForeignFormat("a Parquet file", "let its name end in .parquet"),
    b"ARROW1\0": ForeignFormat("an Arrow file", "write it as Parquet"),
    b"SQLite format 3\0": ForeignFormat("a SQLite database", _EXPORT),
    b"%PDF-": ForeignFormat("a PDF file", _EXPORT),
    b"\x1f\x8b": ForeignFormat("a gzip file", "let its name end in .csv.gz, or .tsv.gz"),
    b"\x28\xb5\x2f\xfd": ForeignFormat("a zstd file", "let its name end in .csv.zst, or .tsv.zst"),
    b"\xfd7zXZ\0": ForeignFormat("an xz file", _UNPACK),
    b"7z\xbc\xaf\x27\x1c": ForeignFormat("a 7z archive", _UNPACK),
}
_DUCKDB = ForeignFormat("a DuckDB database", "write FILE.duckdb:schema.table")
_TEXT = {
    re.compile(r"""\{\s*("|\}|$)|\[\s*([\[{"]|$)"""): ForeignFormat(
        "JSON", "convert it to CSV or Parquet"
    ),
    re.compile(
        r"<(\?xml\b|!--|!doctype\b|[a-z][^<>\n]*>\s*(<|\n|$))", re.IGNORECASE
    ): ForeignFormat("XML or HTML", _EXPORT),
}


def other_format(head: bytes, encoding: str = "utf-8") -> ForeignFormat | None:
    """Return the format of a file that is not CSV, by its first bytes; None for one that may be."""
    for start, file_format in _BINARY.items():
        if head.startswith(start):
            return file_format
    if head[8:12] == b"DUCK":
        return _DUCKDB
    text = head.decode(encoding, "replace").lstrip("\ufeff \t\r\n")
    return next((file_format for begins, file_format in _TEXT.items() if begins.match(text)), None)


_KINDS = {**KINDS, ".pq": "parquet"}


def kind_of(path: Path) -> str | None:
    """Return 'parquet' or 'csv' by the ending of a path; None for others."""
    name = path.name.lower()
    return next((kind for ending, kind in _KINDS.items() if name.endswith(ending)), None)


def by_recipe(path: Path) -> bool:
    """Return whether only a recipe or a command reads a file, by its ending."""
    return path.name.lower().endswith(BY_RECIPE)


def require_parquet(function: str, argument: str | Words, path: Path) -> None:
    """Raise AnonError for a file that is not Parquet, or has two columns with one name."""
    try:
        names = pq.read_schema(path).names
    except (pa.ArrowException, OSError):
        rule = argument + " must be a Parquet file"
        raise AnonError(function, rule, f"other content in '{path.name}'") from None
    require_names(function, names)


def require_csv(function: str, argument: str | Words, path: Path) -> None:
    """Raise AnonError for a file that is not CSV by its content; a compressed one is not read."""
    if path.suffix.lower() in PACKED:
        return
    with path.open("rb") as file:
        file_format = other_format(file.read(_HEAD))
    if file_format is not None:
        raise AnonError(
            function, argument + " must be a CSV file", file_format.name, file_format.hint
        )


def require_file(function: str, relation: object) -> None:
    """Raise AnonError if a relation is a file here that is not what its name says; see above."""
    path = Path(relation) if isinstance(relation, str) else Path()
    kind = kind_of(path)
    if kind is not None and path.is_file():
        require = require_parquet if kind == "parquet" else require_csv
        require(function, Parameter("tbl"), path)


_RENAMED = re.compile(r"(.+)_\d+", re.DOTALL)


def require_unrenamed(function: str, names: Sequence[str]) -> None:
    """Raise AnonError for a column such as AGE_1 beside age: DuckDB gives this name to AGE.

    DuckDB compares names without case, and says nothing when it renames a column of a file or a
    frame. A second column of exactly one name cannot be told from one that is called so.
    """
    names_by_fold = {fold(name): name for name in names}
    for name in names:
        match = _RENAMED.fullmatch(name)
        other = names_by_fold.get(fold(match[1])) if match else None
        if match and other is not None and other != match[1]:
            got = f"{listed([other, name])}, which DuckDB makes of {listed([other, match[1]])}"
            raise AnonError(function, "each column needs a name of its own", got, "rename")
