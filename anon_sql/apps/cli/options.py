"""Define the options that several commands take, and read what they name."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import duckdb
import typer

from anon_sql.apps import files, manifest
from anon_sql.apps.cli import console, standard_input
from anon_sql.apps.cli.parameters import flag, with_options
from anon_sql.apps.cli.progress import Shown
from anon_sql.apps.csv import notations
from anon_sql.apps.csv.dialect import Dialect, dialect
from anon_sql.apps.csv.loading import OF_FILE
from anon_sql.apps.formats import missing_codes
from anon_sql.core import common_parameters
from anon_sql.core.names import quote
from anon_sql.core.pseudonyms import KEY
from anon_sql.core.roles import PARAMETER, clear_tag, fold
from anon_sql.errors import AnonError, Parameter, Words
from anon_sql.hosts.duckdb.roles import described_by_name, refuse_identifiers
from anon_sql.hosts.statements import require_review_ahead, statement_of
from anon_sql.measures.uniqueness import UNIQUE_SHARE
from anon_sql.pipeline.request import roles_of

_UNIQUE: Any = typer.Option(
    min=0, max=1, help="Largest share of rows that may be unique on the kept columns."
)
UniqueShareOrWritten = Annotated[float | None, _UNIQUE]


class Unit(StrEnum):
    """What must be protected."""

    PERSON = common_parameters.PERSON
    ROW = common_parameters.ROW


_UNIT: Any = typer.Option(
    help="What must be protected: row if k may count rows although an identifier repeats."
)
UnitOrWritten = Annotated[Unit | None, _UNIT]
_in_series = partial(typer.Option, rich_help_panel="Earlier releases")
Previous = Annotated[
    list[Path], _in_series(help="Earlier release of the same persons; may be repeated.")
]
StateOfSeries = Annotated[
    Path | None,
    _in_series(
        help="DuckDB file with the state of the series; RELEASED must be its latest release."
    ),
]
SeriesKey = Annotated[
    str,
    _in_series(help="Secret key of the series; env:NAME reads an environment variable."),
]


@dataclass(frozen=True)
class Protection:
    """What the release of one table must protect beside its classes."""

    unique_share: Annotated[float, _UNIQUE] = UNIQUE_SHARE
    unit: Annotated[Unit, _UNIT] = Unit.PERSON


@dataclass(frozen=True)
class EarlierReleases:
    """Earlier releases that a release is compared with, and the ledger that records it."""

    previous: Previous = field(default_factory=list)
    previous_share: Annotated[
        float,
        _in_series(
            min=0,
            max=1,
            help="Largest share of persons that a comparison with --previous may reveal.",
        ),
    ] = 0
    ledger: Annotated[
        Path | None,
        _in_series(
            help="DuckDB file that records the release, and its persons (--entity) as keyed hashes."
        ),
    ] = None
    ledger_key: Annotated[
        str, _in_series(help="Key of these hashes; env:NAME reads an environment variable.")
    ] = KEY


@dataclass(frozen=True)
class SeriesOptions:
    """The series that a release belongs to."""

    series: Annotated[
        Path | None,
        _in_series(
            help="DuckDB file with the state of a series, to which the release belongs; made if it "
            "is not there."
        ),
    ] = None
    series_key: SeriesKey = KEY
    leavers: Annotated[
        str,
        _in_series(
            help="Rows of persons who have left a series: keep, or withdraw with their cohort."
        ),
    ] = "keep"


_stated = partial(typer.Option, rich_help_panel="Statement for the recipient")


@dataclass(frozen=True)
class Statement:
    """What a manifest or a report states in the words of its author."""

    purpose: Annotated[str | None, _stated(help="Purpose, in your words.")] = None
    recipient: Annotated[str | None, _stated(help="Recipient, in your words.")] = None
    assumption: Annotated[
        list[str],
        _stated(help="What recipients know or may do, in your words; may be repeated."),
    ] = field(default_factory=list)
    environment: Annotated[
        str | None, _stated(help="Where the recipient has it: public, contract or secure.")
    ] = None
    review_by: Annotated[
        str | None, _stated(help="Date by which it is looked at again, such as 2027-01-31.")
    ] = None
    review: Annotated[
        list[str], _stated(help="What must be looked at again by then; may be repeated.")
    ] = field(default_factory=list)

    def by_name(self, function: str) -> dict[str, Any]:
        """Return the texts by ``manifest.STATEMENT``. Raises AnonError of ``function``."""
        stated = {
            "purpose": self.purpose,
            "recipient": self.recipient,
            "environment": self.environment,
            "assumptions": [text for text in self.assumption if text.strip()],
            "review_by": self.review_by,
            "review": [text for text in self.review if text.strip()],
        }
        entries = {name: value for name, value in stated.items() if value is not None}
        return {**dict.fromkeys(stated), **statement_of(function, entries, Parameter)}

    def of_release(self) -> dict[str, Any]:
        """Return the texts for a new release. Raises AnonError if its review is due."""
        stated = self.by_name("release")
        require_review_ahead("release", stated, Parameter)
        return stated


METHOD = "anonymize"
_large = partial(typer.Option, rich_help_panel="Large tables")


@dataclass(frozen=True)
class LargeTable:
    """How a table is released that does not fit into memory."""

    parts: Annotated[int | None, _large(help="Number of parts to divide the table into.")] = None
    part_rows: Annotated[int | None, _large(help="Number of rows in a part.")] = None
    memory_limit: Annotated[str | None, _large(help="Memory limit, such as 4GB.")] = None
    resume: Annotated[
        bool,
        _large("--resume", help="Continue after the parts that an earlier run finished."),
    ] = False


_linked = partial(typer.Option, rich_help_panel="Tables that belong together")


@dataclass(frozen=True)
class Linked:
    """The table that others are linked with, and how they are released."""

    root: Annotated[
        str | None,
        _linked(
            help="Table of persons; IN is a database or folder, and OUT gets a file per table."
        ),
    ] = None
    link: Annotated[
        list[str],
        _linked(help="A link that IN lacks: 'visit.person_id -> person.person_id'."),
    ] = field(default_factory=list)
    leave_out: Annotated[list[str], _linked(help="Linked table that is not released.")] = field(
        default_factory=list
    )
    surplus: Annotated[
        str,
        _linked(
            help="Surplus rows: 'drop', or 'unlink' to release labels without keys and values."
        ),
    ] = "drop"
    orphans: Annotated[
        str, _linked(help="Rows whose foreign key has no match: 'error' or 'drop'.")
    ] = "error"


@dataclass(frozen=True)
class ReleaseCall:
    """What ``anon-sql release`` is called with. context: of typer, which knows what was typed."""

    context: typer.Context
    source: Path
    out: str
    method: str
    parameters: Mapping[str, Any]
    protection: Protection
    earlier: EarlierReleases
    series: SeriesOptions
    statement: Statement
    large: LargeTable
    with_manifest: bool
    linked: Linked
    written_as: Dialect
    progress: Shown | None
    overwrite: bool

    @property
    def has_earlier(self) -> bool:
        """Return whether earlier releases, or a ledger of them, matter to this one."""
        return bool(changed(self.earlier)) or "like" in self.parameters

    @property
    def of_one_table(self) -> list[str]:
        """Return the options that only the release of one table takes."""
        groups = (self.protection, self.earlier, self.series, self.large)
        read = ["--delimiter, --quote, --header, --null, --encoding, --trim or --sheet"]
        return [
            *(["--method"] if self.method != METHOD else []),
            *(option for group in groups for option in changed(group)),
            *(read if self.written_as != Dialect() else []),
        ]


def changed(group: Any) -> list[str]:
    """Return the options of a group that do not have their defaults."""
    return [
        flag(each.name)
        for each in fields(group)
        if getattr(group, each.name) != getattr(type(group)(), each.name)
    ]


def refuse(rule: str, options: Sequence[str]) -> None:
    """Raise AnonError if there is an option that a kind of release does not take."""
    if options:
        raise AnonError("release", rule, options[0], "leave it out")


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each argument of a command that is one of these groups by the options in it."""
    for name, argument in inspect.signature(command).parameters.items():
        if argument.annotation in (
            Protection,
            EarlierReleases,
            SeriesOptions,
            Statement,
            LargeTable,
            Linked,
        ):
            group = argument.annotation
            command = with_options(command, name, _options(group), group)
    return command


def _options(group: Any) -> list[inspect.Parameter]:
    declared = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=getattr(group(), name),
            annotation=declared[name],
        )
        for name in declared
    ]


TABLE_FILE = (
    "CSV, TSV, JSON lines or Parquet file, workbook, SPSS, SAS or Stata file, folder of Parquet "
    "files, FILE.duckdb:schema.table, or - for a CSV file on standard input."
)
TableFile = Annotated[
    Path, typer.Argument(metavar="FILE", help=TABLE_FILE, callback=standard_input.file_of)
]
Hierarchy = Annotated[
    Path | None,
    typer.Option(
        help="File of attribute, value, level and label, or folder with a .csv per column."
    ),
]
TableOrRecipe = Annotated[
    Path,
    typer.Argument(
        metavar="IN",
        help=f"{TABLE_FILE[:-1]}; or a recipe, .toml.",
        callback=standard_input.file_of,
    ),
]
FileOrFolder = Annotated[
    str, typer.Argument(metavar="OUT", help="File to write, or a folder if it ends in '/'.")
]
Method = Annotated[str, typer.Option(help="Release method.")]
WithManifest = Annotated[
    bool, typer.Option("--manifest", help=f"Also write OUT{manifest.ENDING} for verify.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")]


def _read_as(
    panel: str,
    name: str,
    kind: Any,
    default: Any,
    spelling: str,
    says: str,
    least: int | None = None,
) -> inspect.Parameter:
    option = typer.Option(spelling, help=says, show_default=False, rich_help_panel=panel, min=least)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
    )


_csv = partial(_read_as, "CSV files")
_of_workbook = partial(_read_as, "Workbooks")
_of_program = partial(_read_as, "SPSS, SAS and Stata files")
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
    _csv(
        *("without_total_row", bool, False, "--without-total-row"),
        "Leave out the last row, which must be a total; also of JSON lines and workbooks.",
    ),
    _of_workbook(
        *("sheet", str | None, None, "--sheet"),
        "Sheet to read. Default: the only one with rows.",
    ),
    _of_workbook(
        *("first_row", int, 1, "--first-row"), "Row of the headings. Default: 1.", least=1
    ),
    _of_program(
        *("missing", list[str], [], "--missing"),
        "COLUMN=CODE that means a missing value, in place of those that the file declares; "
        "may be repeated.",
    ),
    _of_program(
        *("as_codes", list[str], [], "--as-codes"),
        "Column whose codes are its values, not their labels, so that it gets ranges; may be "
        "repeated.",
    ),
    _of_program(
        *("variable_labels", bool, False, "--variable-labels"),
        "Keep the labels of columns in a release of the same format.",
    ),
]


def with_dialect(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the argument ``written_as`` of a command, a ``Dialect``, by the options of CSV."""
    return with_options(command, "written_as", _DIALECT, partial(_dialect, command.__name__))


def _dialect(function: str, **stated: Any) -> Dialect:
    signs = {name: stated.pop(name) for name in notations.PARAMETERS}
    names = ("sheet", "first_row", "variable_labels", "without_total_row")
    of_others = {name: stated.pop(name) for name in names}
    as_codes = tuple(stated.pop("as_codes"))
    missing = missing_codes.of_options(function, stated.pop("missing"))
    dialect_stated = dialect(function, **stated, notations=notations.declared(function, signs))
    return replace(dialect_stated, missing=missing, as_codes=as_codes, **of_others)


def read_raw(
    con: duckdb.DuckDBPyConnection, source: Path, written_as: Dialect, called: tuple[str, str]
) -> None:
    """Make ``raw`` from a file, and print what was noticed of the file as a whole."""
    note_file(source, files.read_source(con, source, "raw", dialect=written_as, called=called))


def note_file(source: Path, noticed: Mapping[str, Words], *others: Words) -> None:
    """Print what was noticed of a file, not of one of its columns."""
    for text in (*others, noticed.get(OF_FILE)):
        if text is not None:
            console.note(f"{source.name}: {text}")


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
    files.read_source(con, path, table, dialect=written, called=(function, "--hierarchy"))
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
    bound = {**{name: names or None for name, names in roles.items()}, "entity": entity}
    relation, _ = described_by_name(con, function, "raw", bound)
    bound_roles = roles_of(function, relation, bound)
    relation.agrees(bound_roles)
    if releases:
        refuse_identifiers(
            con,
            function,
            "raw",
            bound_roles.rest_parameter,
            {n: relation.types[n] for n in bound_roles.rest},
        )
    named = {fold(name) for name in roles["identifiers"] or []}
    named |= {name for name, text in relation.comments.items() if clear_tag(text)}
    for role, parameter in PARAMETER.items():
        others = set() if entity is None else {fold(entity)} - named
        roles[parameter] = [name for name in getattr(bound_roles, role) if fold(name) not in others]


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
