"""Define the options that several commands take, and read what they name."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import duckdb
import typer

from anon_sql.apps import files
from anon_sql.apps.cli.parameters import with_options
from anon_sql.apps.csv import notations
from anon_sql.apps.csv.dialect import Dialect, dialect
from anon_sql.core import common_parameters
from anon_sql.core.names import quote
from anon_sql.core.roles import PARAMETER, clear_tag, fold
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.roles import described_by_name, refuse_identifiers
from anon_sql.pipeline.request import roles_of

_STATED, _SERIES = "Statement for the recipient", "Earlier releases"
Purpose = Annotated[
    str | None, typer.Option(help="Purpose, in your words.", rich_help_panel=_STATED)
]
Recipient = Annotated[
    str | None, typer.Option(help="Recipient, in your words.", rich_help_panel=_STATED)
]
Assumption = Annotated[
    list[str],
    typer.Option(
        help="What recipients know or may do, in your words; may be repeated.",
        rich_help_panel=_STATED,
    ),
]
_UNIQUE: Any = typer.Option(
    min=0, max=1, help="Largest share of rows that may be unique on the kept columns."
)
UniqueShare = Annotated[float, _UNIQUE]
UniqueShareOrWritten = Annotated[float | None, _UNIQUE]


class Unit(StrEnum):
    """What must be protected."""

    PERSON = common_parameters.PERSON
    ROW = common_parameters.ROW


_UNIT: Any = typer.Option(
    help="What must be protected: row if k may count rows although an identifier repeats."
)
UnitOfProtection = Annotated[Unit, _UNIT]
UnitOrWritten = Annotated[Unit | None, _UNIT]
Previous = Annotated[
    list[Path],
    typer.Option(
        help="Earlier release of the same persons; may be repeated.", rich_help_panel=_SERIES
    ),
]
PreviousShare = Annotated[
    float,
    typer.Option(
        min=0,
        max=1,
        help="Largest share of persons that a comparison with --previous may reveal.",
        rich_help_panel=_SERIES,
    ),
]
Ledger = Annotated[
    Path | None,
    typer.Option(
        help="DuckDB file that records the release, and its persons (--entity) as keyed hashes.",
        rich_help_panel=_SERIES,
    ),
]
LedgerKey = Annotated[
    str,
    typer.Option(
        help="Key of these hashes; env:NAME reads an environment variable.",
        rich_help_panel=_SERIES,
    ),
]
Series = Annotated[
    Path | None,
    typer.Option(
        help="DuckDB file with the state of a series, to which the release belongs; made if it is "
        "not there.",
        rich_help_panel=_SERIES,
    ),
]
StateOfSeries = Annotated[
    Path | None,
    typer.Option(
        help="DuckDB file with the state of the series; RELEASED must be its latest release.",
        rich_help_panel=_SERIES,
    ),
]
SeriesKey = Annotated[
    str,
    typer.Option(
        help="Secret key of the series; env:NAME reads an environment variable.",
        rich_help_panel=_SERIES,
    ),
]
Leavers = Annotated[
    str,
    typer.Option(
        help="Rows of persons who have left a series: keep, or withdraw with their cohort.",
        rich_help_panel=_SERIES,
    ),
]
TABLE_FILE = "CSV, TSV or Parquet file, folder of Parquet files, or FILE.duckdb:schema.table."
Hierarchy = Annotated[
    Path | None,
    typer.Option(
        help="File of attribute, value, level and label, or folder with a .csv per column."
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")]


def _csv(name: str, kind: Any, default: Any, spelling: str, says: str) -> inspect.Parameter:
    option = typer.Option(spelling, help=says, show_default=False, rich_help_panel="CSV files")
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
    )


_DIALECT = [
    _csv(
        *("delimiter", str | None, None, "--delimiter"),
        "Delimiter, or 'tab'. Default: a comma; a tab in a .tsv file.",
    ),
    _csv("quote", str, '"', "--quote", "Quote character; '' for none. Default: \"."),
    _csv(
        *("header", bool | None, None, "--header/--no-header"),
        "Whether the first line is a header. Default: it must look like one.",
    ),
    _csv(
        *("nulls", list[str], [], "--null"),
        "Text that means NULL, as an empty field does; may be repeated.",
    ),
    _csv(
        *("encoding", str, "utf-8", "--encoding"),
        "Encoding, such as windows-1252 or utf-16. Default: utf-8.",
    ),
    _csv(
        *("decimal", list[str], [], "--decimal"),
        "Decimal sign of numbers, ',' or '.'; COLUMN=, for one column; may be repeated.",
    ),
    _csv(
        *("thousands", list[str], [], "--thousands"),
        "Sign between thousands: '.', ',', a blank or an apostrophe; COLUMN=. for one column.",
    ),
    _csv(
        *("date_format", list[str], [], "--date-format"),
        "How dates are written, such as %d.%m.%Y; COLUMN=%d.%m.%Y for one column.",
    ),
    _csv(
        *("timestamp_format", list[str], [], "--timestamp-format"),
        "How dates with times are written, such as '%d.%m.%Y %H:%M'; COLUMN=… for one column.",
    ),
    _csv(
        *("trim", bool, False, "--trim"),
        "Remove blanks around texts, also of other files and of tables.",
    ),
]


def with_dialect(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the argument ``written_as`` of a command, a ``Dialect``, by the options of CSV."""
    return with_options(command, "written_as", _DIALECT, partial(_dialect, command.__name__))


def _dialect(function: str, **given: Any) -> Dialect:
    signs = {name: given.pop(name) for name in notations.PARAMETERS}
    return dialect(function, **given, notations=notations.declared(function, signs))


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


def name_roles(
    con: duckdb.DuckDBPyConnection,
    function: str,
    roles: dict[str, Any],
    entity: str | None = None,
    *,
    releases: bool = False,
) -> None:
    """Write the columns of ``raw`` that have each role in place of what options name.

    roles: names by parameter; without any, those that the comments of a database declare apply.
    ``*`` becomes the names of the columns that it stands for. releases: whether they are released.
    Raises AnonError as ``assign`` does, and for a ``*`` that would release identifiers.
    """
    given = {name: names or None for name, names in roles.items()}
    bound = {**given, "entity": entity}
    relation, _ = described_by_name(con, function, "raw", bound)
    found = roles_of(function, relation, bound)
    relation.agrees(found)
    if releases:
        refuse_identifiers(
            con, function, "raw", found.rest_parameter, {n: relation.types[n] for n in found.rest}
        )
    named = {fold(name) for name in roles["identifiers"] or []}
    named |= {name for name, text in relation.comments.items() if clear_tag(text)}
    for role, parameter in PARAMETER.items():
        others = set() if entity is None else {fold(entity)} - named
        roles[parameter] = [name for name in getattr(found, role) if fold(name) not in others]


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
