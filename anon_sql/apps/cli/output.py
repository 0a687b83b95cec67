"""Read the source of a release, make it, and write it with its manifest."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps import files, manifest
from anon_sql.apps.cli import console
from anon_sql.apps.cli.earlier import cast_values, in_types_of_raw, whole_tuple
from anon_sql.apps.cli.parameters import flag, takers
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.apps.formats.format import FileSource
from anon_sql.core import stopping
from anon_sql.core.parameters import takes
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Option, Words, did_you_mean, listed
from anon_sql.hosts.arrow.named import released_by_name
from anon_sql.hosts.call import relation_call
from anon_sql.hosts.files import atomic_file, atomic_folder, remove_temporary, stored, write_files
from anon_sql.hosts.kept import MEASURED
from anon_sql.hosts.parquet import ArrowRows, write_parquet
from anon_sql.hosts.parts.release import PartsOptions, one_statement, released_in_parts
from anon_sql.hosts.parts.workspace import Place
from anon_sql.hosts.series_file import SeriesFile, naming
from anon_sql.methods.method import release_methods

PARQUET = ".parquet"


@dataclass(frozen=True)
class ReleasedRelation:
    """A release, the relation ``released``.

    rows: their number. ordered: queries to be run in turn, one for each output file, that give the
    rows in their order. measures: what is known without measuring; empty if the relation can be
    measured. arrow: as in ``ReleasedFiles``.
    """

    rows: int
    ordered: Sequence[str]
    measures: Mapping[str, Any] = field(default_factory=dict)
    arrow: Sequence[ArrowRows] = ()


def read_source(
    con: duckdb.DuckDBPyConnection,
    source: Path,
    table: str,
    written_as: Dialect,
    memory_limit: str | None,
) -> dict[str, Words]:
    """Make ``table`` from a file: a view of a Parquet file, a table of any other.

    memory_limit: the setting of the connection, None for DuckDB's own. Returns what
    ``files.read_source`` returns.
    """
    if memory_limit is not None:
        con.execute("SET memory_limit = ?", [memory_limit])
    if files.in_database(source) or files.kind(source)[0] != "parquet":
        return files.read_source(con, source, table, dialect=written_as)
    file = FileSource(source, ".parquet", False, written_as, ("release", "IN"))
    files.parquet_rows(con, file).create_view(table)
    return {}


@dataclass(frozen=True)
class ReleaseRequest:
    """What is asked of the release of one table.

    required, options: of the manifest, as ``split`` returns them. roles: columns by ``ROLES``.
    relations: those that parameters name. stated: in words, and what else a manifest says.
    in_parts: whether, and how, the table is divided.
    """

    method: str
    required: Mapping[str, Any]
    options: Mapping[str, Any]
    roles: Mapping[str, list[str]]
    relations: Mapping[str, str | None]
    stated: Mapping[str, Any]
    in_parts: PartsOptions

    @property
    def call(self) -> dict[str, Any]:
        """Return the parameters of the method but its table."""
        return {**self.required, **self.roles, **self.options, **self.relations}


@contextmanager
def in_table(
    con: duckdb.DuckDBPyConnection, request: ReleaseRequest, target: Path
) -> Iterator[ReleasedRelation]:
    """Make the relation ``released`` from the relation ``raw``.

    The files of a release in parts exist until the end.
    """
    (rows,) = con.execute("SELECT count(*) FROM raw").fetchall()[0]
    call, in_parts = request.call, request.in_parts
    options = {name: value for name, value in call.items() if name != "k"}
    checked = relation_call(con, "raw", request.method, call["k"], options)
    if one_statement(checked, rows, in_parts):
        with (
            released_by_name(con, checked, call) as select,
            stored(con, select, {}) as stored_release,
        ):
            con.execute(f"CREATE TEMP VIEW released AS {stored_release.select}")
            yield ReleasedRelation(
                stored_release.rows,
                stored_release.files if in_parts.in_files else ["FROM released"],
            )
        return
    with released_in_parts(con, checked, Place.beside(target), in_parts) as released:
        con.execute(f"CREATE TEMP VIEW released AS {released.select}")
        written = released.written
        released_rows = written.rows - written.suppressed
        measures = {"rows": written.rows, "released_rows": released_rows, "parts": written.parts}
        if checked.request.suppressed == "drop":
            measures["suppressed"] = written.suppressed
        yield ReleasedRelation(
            released_rows,
            released.ordered,
            measures if written.rows > MEASURED else {},
            released.arrow,
        )


def describe(
    con: duckdb.DuckDBPyConnection,
    request: ReleaseRequest,
    state: SeriesFile | None = None,
    earlier: Mapping[str, Path] | None = None,
) -> dict[str, Any]:
    """Return the manifest of ``raw`` and ``written``. earlier: files of releases, by relation."""
    cast_values(con, "release", "written", request.roles["quasi"], request.options["format"])
    compared = in_types_of_raw(con, "written", whole_tuple(con, request.roles))
    return manifest.make(
        con,
        ("raw", compared),
        request.method,
        {**request.required, **request.stated, **naming(state)},
        request.roles,
        request.relations["hierarchy"],
        earlier,
    )


@dataclass(frozen=True)
class Entering:
    """How a release is entered in a ledger or a series.

    enter: takes the manifest, and pairs of a temporary path and its final path: of the file or
    folder, and of the manifest if it is written. around: a context that is open while the release
    is written and renamed.
    """

    enter: Callable[[Mapping[str, Any], Sequence[tuple[Path, Path]]], None]
    around: AbstractContextManager[None] = field(default_factory=nullcontext)


@dataclass(frozen=True)
class ReleaseOutput:
    """The argument OUT. in_files: whether it is a folder; stated: whether with a manifest."""

    target: Path
    in_files: bool
    stated: bool

    @property
    def manifest(self) -> Path:
        """Return the path of the manifest."""
        return manifest.beside(self.target)

    def prepare(
        self, source: Path, form: str | None, overwrite: bool, *, database: bool = False
    ) -> None:
        """Remove what killed processes have left of the release and its manifest.

        Raises AnonError for files that must not be written, or cannot hold the format.
        """
        for path in (self.target, self.manifest):
            remove_temporary(path)
        ending = PARQUET if self.in_files else files.require_written(self.target)
        if ending != PARQUET and form == "typed":
            rule = "OUT must be Parquet for --format typed"
            got = "CSV" if files.FORMATS[ending].name == "csv" else f"a {ending} file"
            raise AnonError("release", rule, got, "name it .parquet")
        files.check_pair(source, self.target, overwrite, self.in_files, database=database)
        if self.stated and not overwrite and self.manifest.exists():
            rule, got = "the manifest must be a new file", f"'{self.manifest}', which exists"
            raise AnonError("release", rule, got, Option("--overwrite", verb="") + " replaces it")

    def write(
        self,
        con: duckdb.DuckDBPyConnection,
        released: ReleasedRelation,
        describe: Callable[[], dict[str, Any]],
        entering: Entering | None,
    ) -> dict[str, Any] | None:
        """Write the release, its manifest if it is to be stated, and what is entered elsewhere.

        describe: returns the manifest of ``raw`` and ``written``. Returns the manifest, None if
        it is not asked for. The manifest is renamed last, so that none is there without its
        release.
        """
        made, beside = None, None
        with ExitStack() as written:
            if entering:
                written.enter_context(entering.around)
            if self.stated:
                beside = written.enter_context(atomic_file(self.manifest))
            if self.in_files:
                temporary = written.enter_context(atomic_folder(self.target))
                write_files(con, released.arrow or released.ordered, temporary, released.rows)
            else:
                temporary = written.enter_context(atomic_file(self.target))
                if released.arrow and files.kind(self.target)[0] == "parquet":
                    write_parquet(con, released.arrow[0], temporary, {})
                else:
                    files.write(con, released.ordered[0], temporary, self.target)
            if self.stated or entering:
                files.read_source(con, temporary, "written", labels=True, named=self.target)
                made = describe()
            unnamed = [(temporary, self.target)]
            if made and beside:
                manifest.write(made, temporary, beside)
                unnamed.append((beside, self.manifest))
            stopping.check("release")
            if made and entering:
                entering.enter(made, unnamed)
        return made


def warning_of_blanks(con: duckdb.DuckDBPyConnection, remedy: str, trimmed: bool) -> str | None:
    """Return a warning of blanks around texts of ``raw`` in columns that are released, if any."""
    if trimmed:
        return None
    released = {fold(name) for name in con.table("released").columns}
    columns = [name for name in con.table("raw").columns if fold(name) in released]
    with_blanks, _ = files.blanks(con, "raw", columns)
    if not with_blanks:
        return None
    count = sum(with_blanks.values())
    names = listed([*with_blanks])
    return f"{count:,} values of {names} have blanks around them; {remedy} to remove them"


_ALWAYS = ("k", "suppressed", "seed")  # constraints that a manifest states with their defaults


def split(method: str, parameters: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the manifest states as constraints, and as options, of the given parameters.

    Raises AnonError for an option that the method does not take.
    """
    if fold(method) not in release_methods():
        hint = did_you_mean(method, release_methods())
        raise AnonError("release", "--method must be a release function", f"'{method}'", hint)
    declarations = takes(fold(method))
    for name in parameters:
        if name not in declarations:
            rule = f"{flag(name)} must come with --method {' or '.join(takers(name))}"
            raise AnonError("release", rule, f"--method {method}")
    values = {name: declarations[name].default for name in (*_ALWAYS, "format")} | dict(parameters)
    required = {name: values[name] for name in manifest.PROMISED if name in values}
    apart = {*manifest.PROMISED, *manifest.ROLES, "hierarchy"}
    return required, {name: value for name, value in values.items() if name not in apart}


def say_manifest(path: Path, made: Mapping[str, Any]) -> None:
    """Print where the manifest is, and which of its checks fail."""
    failed = [check["property"] for check in made["checks"] if check["passed"] is False]
    console.say(f"{path}: the manifest")
    if failed:
        console.say(f"checks that fail: {', '.join(failed)} (anon-sql report shows them)")
