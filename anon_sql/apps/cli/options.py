"""Define the options that several commands take, and read what they name."""

import csv
from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import isnan, nan
from pathlib import Path
from typing import Annotated, Any

import duckdb
import typer

from anon_sql.apps import files
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.core.names import quote
from anon_sql.errors import AnonError

NAMED = "Columns, separated by commas or by repeating the option: "
Columns = list[str]
Sensitive = Annotated[Columns, typer.Option(help=NAMED + "to protect.")]
Identifier = Annotated[Columns, typer.Option(help=NAMED + "to drop.")]
Keep = Annotated[
    Columns,
    typer.Option(help=NAMED + "to keep as is; '*' is all others."),
]
L = Annotated[float | None, typer.Option("--l", help="How diverse sensitive columns must be.")]
T = Annotated[float | None, typer.Option("--t", help="How far from the table's, 0 to 1.")]
Beta = Annotated[
    float | None, typer.Option("--beta", help="Largest relative gain of a sensitive share.")
]
Delta = Annotated[
    float | None, typer.Option("--delta", help="Largest |ln| of a sensitive share by the table's.")
]
C = Annotated[float | None, typer.Option("--c", help="The c of --l-kind recursive.")]
Purpose = Annotated[str | None, typer.Option(help="What the release is for, in words.")]
Recipient = Annotated[str | None, typer.Option(help="Who receives the release, in words.")]
Assumption = Annotated[
    list[str], typer.Option(help="What recipients know or may do, in words, repeatable.")
]
Entity = Annotated[str | None, typer.Option(help="Column that says whose a row is.")]
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


class LKind(StrEnum):
    """Kinds of l-diversity."""

    DISTINCT = "distinct"
    ENTROPY = "entropy"
    RECURSIVE = "recursive"


Kind = Annotated[LKind | None, typer.Option("--l-kind", help="What l counts.")]


def names(given: Sequence[str]) -> list[str]:
    """Return the names in repeated options of comma-separated names; quotes protect a comma."""
    lines = csv.reader(given, skipinitialspace=True)
    return [name.strip() for line in lines for name in line if name.strip()]


def weights(function: str, given: Sequence[str]) -> dict[str, float] | None:
    """Return the numbers in repeated options of pairs such as age=3; None for none."""
    found: dict[str, float] = {}
    for pair in names(given):
        name, _, number = pair.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = nan
        if not name or isnan(value) or name in found:
            rule = "--weights must be a column, = and a number, each column once"
            raise AnonError(function, rule, f"'{pair}'", "write --weights age=3,city=0.5")
        found[name] = value
    return found or None


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


class Format(StrEnum):
    """Formats of generalized values."""

    LABEL = "label"
    TYPED = "typed"
    MEAN = "mean"
    MEDIAN = "median"


class Effort(StrEnum):
    """Efforts of anonymize."""

    FAST = "fast"
    GOOD = "good"
    BEST = "best"


class Suppressed(StrEnum):
    """Ways to treat suppressed rows."""

    KEEP = "keep"
    DROP = "drop"
