"""Define the options that several commands take, and read what they name."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import duckdb
import typer

from anon_sql.apps import files
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.core.names import quote
from anon_sql.errors import AnonError

Purpose = Annotated[str | None, typer.Option(help="What the release is for, in words.")]
Recipient = Annotated[str | None, typer.Option(help="Who receives the release, in words.")]
Assumption = Annotated[
    list[str], typer.Option(help="What recipients know or may do, in words, repeatable.")
]
_UNIQUE: Any = typer.Option(
    min=0, max=1, help="Share of rows that may be unique on the kept columns."
)
UniqueShare = Annotated[float, _UNIQUE]
UniqueShareOrWritten = Annotated[float | None, _UNIQUE]
Previous = Annotated[
    list[Path], typer.Option(help="Earlier release of the same persons, repeatable.")
]
PreviousShare = Annotated[
    float,
    typer.Option(min=0, max=1, help="Share of persons that composition with --previous may find."),
]
Invariant = Annotated[bool, typer.Option("--invariant", help="Withdrawn.")]
Counterfeits = Annotated[bool, typer.Option("--counterfeits", help="Withdrawn.")]
Ledger = Annotated[
    Path | None,
    typer.Option(help="DuckDB file that the release is entered in, with --entity as keyed hashes."),
]
LedgerKey = Annotated[
    str, typer.Option(help="Key of these hashes; env:NAME is an environment variable.")
]
Hierarchy = Annotated[
    Path | None,
    typer.Option(help="File of attribute, value, level, label; or folder of .csv, one a column."),
]
Delimiter = Annotated[
    str | None, typer.Option(help="Sign between fields of a CSV file; tab for a tab.")
]
Quotes = Annotated[
    str, typer.Option("--quote", help="Sign around fields of a CSV file; '' for none.")
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Line 1 of a CSV file is its header, or is a row."),
]
Null = Annotated[
    list[str],
    typer.Option("--null", help="Text that is NULL in a CSV file, repeatable; default: empty."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file.")]


def statement(
    purpose: str | None, recipient: str | None, assumptions: Sequence[str]
) -> dict[str, Any]:
    """Return what the options say of a release, by ``manifest.STATEMENT``."""
    return {
        "purpose": purpose,
        "recipient": recipient,
        "assumptions": [text for text in assumptions if text.strip()],
    }


def read_hierarchy(
    con: duckdb.DuckDBPyConnection, function: str, path: Path | None, table: str
) -> str | None:
    """Create ``table`` from hierarchies and return its name, or None if no path is given."""
    if path is None:
        return None
    if path.is_dir():
        pattern = str(path.absolute() / "*.csv")
        con.execute(f"CREATE TABLE {quote(table)} AS FROM read_hierarchies(?)", [pattern])
        return table
    files.check_source(function, "--hierarchy", path)
    written = Dialect(files.own_delimiter(path), header=True)
    files.read(con, path, table, dialect=written, called=(function, "--hierarchy"))
    return table


def measured(
    con: duckdb.DuckDBPyConnection, sql: str, arguments: Sequence[object] | Mapping[str, Any]
) -> dict[str, Any]:
    """Return the only row of a query, by column."""
    result = con.execute(sql, arguments)
    columns = [column[0] for column in result.description or []]
    (row,) = result.fetchall()
    return dict(zip(columns, row, strict=True))


def check_page(function: str, target: Path, overwrite: bool, ending: str = ".html") -> None:
    """Raise AnonError if a page must not be written."""
    if target.suffix.lower() != ending:
        raise AnonError(function, f"-o must end in {ending}", f"'{target}'")
    if not target.parent.is_dir():
        raise AnonError(function, "-o must be in a directory that exists", f"'{target}'")
    if target.exists() and not overwrite:
        hint = "--overwrite replaces it"
        raise AnonError(function, "-o must be a new file", f"'{target}', which exists", hint)
