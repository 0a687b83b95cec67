"""``anon-sql release``: read a file, write its release and, on request, the manifest."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import duckdb
import typer

import anon_sql
from anon_sql.apps import files, manifest
from anon_sql.apps.cli import console
from anon_sql.apps.cli import options as arguments
from anon_sql.apps.cli.console import stoppable
from anon_sql.apps.cli.earlier import (
    cast_values,
    check_earlier,
    check_ledger,
    earlier_files,
    enter,
    in_types_of_raw,
    kept_columns,
    open_ledger,
    read_earlier,
    read_like,
    require_apart,
    unique_on_kept,
)
from anon_sql.apps.cli.linked import release_root
from anon_sql.apps.cli.parameters import flag, of_releases, takers, with_parameters
from anon_sql.apps.cli.progress import Progress, showing
from anon_sql.apps.cli.spelling import Options
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.core import stopping
from anon_sql.core.common_parameters import refuse_withdrawn
from anon_sql.core.parameters import takes
from anon_sql.core.roles import REST, fold
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.files import (
    atomic_file,
    atomic_folder,
    means_folder,
    remove_temporary,
    stored,
    write_files,
)
from anon_sql.hosts.frames.named import released_by_name
from anon_sql.hosts.parts.call import parts_request
from anon_sql.hosts.parts.release import PartsOptions, one_statement, released_in_parts
from anon_sql.hosts.parts.workspace import Place
from anon_sql.hosts.recipes import is_recipe
from anon_sql.measures.uniqueness import UNIQUE_SHARE
from anon_sql.methods.method import release_methods

MEASURED = 5_000_000  # rows of a release in parts whose measures are computed


@dataclass(frozen=True)
class ReleasedRelation:
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
    if files.in_database(source) or files.kind(source)[0] != "parquet":
        return files.read(con, source, table, dialect=written_as)
    con.read_parquet(files.parquet(source), hive_partitioning=False).create_view(table)
    return {}


@contextmanager
def in_table(
    con: duckdb.DuckDBPyConnection,
    method: str,
    call: Mapping[str, Any],
    target: Path,
    in_parts: PartsOptions,
) -> Iterator[ReleasedRelation]:
    """Make the relation ``released`` from the relation ``raw``.

    call: the parameters of the method by name. The files of a release in parts exist until the end.
    """
    (rows,) = con.execute("SELECT count(*) FROM raw").fetchall()[0]
    options = {name: value for name, value in call.items() if name != "k"}
    checked = parts_request(con, "raw", method, call["k"], options)
    if one_statement(checked, rows, in_parts):
        with released_by_name(con, checked, call) as select, stored(con, select, {}) as found:
            con.execute(f"CREATE TEMP VIEW released AS {found.select}")
            yield ReleasedRelation(
                found.rows, found.files if in_parts.in_files else ["FROM released"]
            )
        return
    with released_in_parts(con, checked, Place.beside(target), in_parts) as released:
        con.execute(f"CREATE TEMP VIEW released AS {released.select}")
        written = released.written
        released_rows = written.rows - written.suppressed
        known = {"rows": written.rows, "released_rows": released_rows, "regions": written.regions}
        if checked.request.suppressed == "drop":
            known["suppressed"] = written.suppressed
        yield ReleasedRelation(
            released_rows, released.ordered, known if written.rows > MEASURED else {}
        )


@dataclass(frozen=True)
class Output:
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
        is_csv = not self.in_files and files.kind(self.target)[0] == "csv"
        if is_csv and form == "typed":
            rule = "OUT must be Parquet for --format typed"
            raise AnonError("release", rule, "CSV", "name it .parquet")
        files.check_pair(source, self.target, overwrite, self.in_files, database=database)
        if self.stated and not overwrite and self.manifest.exists():
            rule, got = "the manifest must be a new file", f"'{self.manifest}', which exists"
            raise AnonError("release", rule, got, "--overwrite replaces it")

    def write(
        self,
        con: duckdb.DuckDBPyConnection,
        released: ReleasedRelation,
        describe: Callable[[], dict[str, Any]],
        entered: Callable[[Mapping[str, Any], Path], None] | None,
    ) -> dict[str, Any] | None:
        """Write the release, its manifest if it is to be stated, and its entry in a ledger.

        describe: returns the manifest of ``raw`` and ``written``. entered: takes the manifest and
        the file or folder, None without a ledger. Returns the manifest, None if nobody asks for it.
        """
        made = None
        with ExitStack() as written:
            if self.in_files:
                temporary = written.enter_context(atomic_folder(self.target))
                write_files(con, released.ordered, temporary, released.rows)
            else:
                temporary = written.enter_context(atomic_file(self.target))
                files.write(con, released.ordered[0], temporary, self.target)
            if self.stated or entered:
                files.read(con, temporary, "written", labels=True, named=self.target)
                made = describe()
            if made and self.stated:
                beside = written.enter_context(atomic_file(self.manifest))
                manifest.write(made, temporary, beside)
            stopping.check("release")
            if made and entered:
                entered(made, temporary)
        return made


_ALWAYS = ("k", "suppressed", "seed")  # constraints that a manifest states with their defaults
STOPPED = "release: stopped on request; nothing was written"


_LARGE = "Large tables"
_LINKED = "Tables that belong together"


@with_parameters(of_releases)
@arguments.with_dialect
def release(
    source: Annotated[
        Path,
        typer.Argument(metavar="IN", help=f"{arguments.TABLE_FILE[:-1]}; or a recipe, .toml."),
    ],
    out: Annotated[
        str, typer.Argument(metavar="OUT", help="File to write, or a folder if it ends in '/'.")
    ],
    *,
    method: Annotated[str, typer.Option(help="Release method.")] = "anonymize",
    parameters: Mapping[str, Any],
    unique_share: arguments.UniqueShare = UNIQUE_SHARE,
    previous: arguments.Previous = [],  # noqa: B006
    previous_share: arguments.PreviousShare = 0,
    invariant: arguments.Invariant = False,
    counterfeits: arguments.Counterfeits = False,
    ledger: arguments.Ledger = None,
    ledger_key: arguments.LedgerKey = "env:ANON_KEY",
    purpose: arguments.Purpose = None,
    recipient: arguments.Recipient = None,
    assumption: arguments.Assumption = [],  # noqa: B006
    regions: Annotated[
        int | None,
        typer.Option(help="Number of parts to divide the table into.", rich_help_panel=_LARGE),
    ] = None,
    region_rows: Annotated[
        int | None, typer.Option(help="Number of rows in a part.", rich_help_panel=_LARGE)
    ] = None,
    memory_limit: Annotated[
        str | None, typer.Option(help="Memory limit, such as 4GB.", rich_help_panel=_LARGE)
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue after the parts that an earlier run finished.",
            rich_help_panel=_LARGE,
        ),
    ] = False,
    with_manifest: Annotated[
        bool, typer.Option("--manifest", help=f"Also write OUT{manifest.ENDING} for verify.")
    ] = False,
    root: Annotated[
        str | None,
        typer.Option(
            help="Table of persons; IN is a database or folder, and OUT gets a file per table.",
            rich_help_panel=_LINKED,
        ),
    ] = None,
    link: Annotated[
        list[str],
        typer.Option(
            help="A link that IN lacks: 'visit.person_id -> person.person_id'.",
            rich_help_panel=_LINKED,
        ),
    ] = [],  # noqa: B006
    leave_out: Annotated[
        list[str],
        typer.Option(help="Linked table that is not released.", rich_help_panel=_LINKED),
    ] = [],  # noqa: B006
    surplus: Annotated[
        str,
        typer.Option(
            help="Rows that a class cannot hold: drop, or unlink to release labels alone.",
            rich_help_panel=_LINKED,
        ),
    ] = "drop",
    orphans: Annotated[
        str,
        typer.Option(
            help="Rows below no row: error, or drop to leave them out.", rich_help_panel=_LINKED
        ),
    ] = "error",
    written_as: Dialect,
    progress: Progress = None,
    overwrite: arguments.Overwrite = False,
) -> None:
    """Read IN, generalize its quasi-identifiers, and write OUT.

    Files are .csv, .tsv (also compressed, .gz or .zst) or .parquet. If OUT
    ends in /, it becomes a folder of Parquet files of a million rows each.
    Separate columns with commas, or repeat the option. Every column needs a
    role; --keep '*' releases all other columns unchanged.
    More on CSV files: anon-sql help release-a-csv-file. A recipe holds all of
    these: anon-sql help release-by-a-recipe.

    Example: anon-sql release raw.csv safe.csv --quasi age,sex --sensitive income
    """
    with console.one_sentence(STOPPED, spelling=Options(release, earlier_files(previous))):
        if is_recipe(source):
            named = (method, unique_share, regions, region_rows, written_as)
            _require_alone(
                parameters
                or previous
                or ledger
                or purpose
                or recipient
                or assumption
                or named != ("anonymize", UNIQUE_SHARE, None, None, Dialect())
            )
            _release_by(source, out, (overwrite, progress, memory_limit, resume))
            return
        refuse_withdrawn("release", {"invariant": invariant, "counterfeits": counterfeits})
        if root is not None:
            release_root(
                source,
                out,
                root,
                parameters,
                {"links": link, "leave_out": leave_out, "surplus": surplus, "orphans": orphans},
                arguments.statement(purpose, recipient, assumption),
                with_manifest=with_manifest,
                overwrite=overwrite,
            )
            return
        _require_quasi(parameters)
        output = Output(Path(out), means_folder(out), with_manifest)
        output.prepare(source, parameters.get("format"), overwrite)
        roles = {name: parameters.get(name, []) for name in manifest.ROLES}
        like, hierarchy, entity, weights = map(
            parameters.get, ("like", "hierarchy", "entity", "weights")
        )
        check_earlier(previous, like, roles["sensitive"])
        check_ledger(ledger, entity)
        required, options = split(method, {**parameters, **({"like": like.name} if like else {})})
        stated = arguments.statement(purpose, recipient, assumption) | {
            manifest.UNIQUE: unique_share,
            manifest.LIMIT: previous_share,
            "options": options,
        }
        in_parts = PartsOptions(regions, region_rows, resume, output.in_files)

        def make(con: duckdb.DuckDBPyConnection, stack: ExitStack) -> None:
            name = fold(method)
            noticed = read_source(con, source, "raw", written_as, memory_limit)
            arguments.name_rest(con, roles, entity)
            again = open_ledger(con, ledger, entity, ledger_key) if ledger and entity else []
            trees = arguments.read_hierarchy(con, "release", hierarchy, "hierarchy")
            call: dict[str, Any] = {**required, **roles, **options, "hierarchy": trees}
            earlier = read_earlier(con, "release", previous, roles)
            call |= read_like(con, like)
            released = stack.enter_context(in_table(con, name, call, output.target, in_parts))
            measured = released.measures or arguments.measured(
                con,
                "FROM utility('raw', 'released', k := ?, qids := ?, hierarchy := ?, weights := ?)",
                [required["k"], roles["qids"], trees, weights],
            )
            together = require_apart(con, list(earlier), previous_share, call) if earlier else None
            labelled = [*roles["qids"], *roles["sensitive"]]
            kept = kept_columns(con, "released", labelled)
            if REST in roles["keep"]:
                roles["keep"] = kept
            singled_out = (
                None if released.measures else unique_on_kept(con, "released", kept, unique_share)
            )

            def describe() -> dict[str, Any]:
                cast_values(con, "release", "written", roles["qids"], options["format"])
                again = in_types_of_raw(con, "written", roles["sensitive"] if earlier else [])
                return manifest.make(
                    con, ("raw", again), name, {**required, **stated}, roles, trees, earlier
                )

            entered = partial(enter, con, output.target.name, ledger_key) if ledger else None
            made = output.write(con, released, describe, entered)
            console.say(f"{out}: {name}, k = {required['k']}, from {source}")
            console.show_measures(measured)
            if together:
                together.show()
            _warn(noticed, roles["qids"], (singled_out, *again))
            if made and with_manifest:
                say_manifest(output.manifest, made)

        with anon_sql.connect() as con, ExitStack() as stack:
            stoppable(con, showing("release", progress, partial(make, con, stack)))


def split(method: str, parameters: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the manifest states as constraints, and as options, of the given parameters.

    Raises AnonError for an option that the method does not take.
    """
    if fold(method) not in release_methods():
        hint = did_you_mean(method, release_methods())
        raise AnonError("release", "--method must be a release function", f"'{method}'", hint)
    known = takes(fold(method))
    for name in parameters:
        if name not in known:
            rule = f"{flag(name)} must come with --method {' or '.join(takers(name))}"
            raise AnonError("release", rule, f"--method {method}")
    values = {name: known[name].default for name in (*_ALWAYS, "format")} | dict(parameters)
    required = {name: values[name] for name in manifest.PROMISED if name in values}
    apart = {*manifest.PROMISED, *manifest.ROLES, "hierarchy"}
    return required, {name: value for name, value in values.items() if name not in apart}


def _require_quasi(parameters: Mapping[str, Any]) -> None:
    if not parameters.get("qids"):
        hint = "write --quasi age,city, or release by a recipe"
        raise AnonError("release", "--quasi must name quasi-identifiers", "none", hint)


def _release_by(recipe: Path, out: str, settings: tuple[Any, ...]) -> None:
    """Release by a recipe. settings: overwrite, progress, memory_limit and resume."""
    names = ("overwrite", "progress", "memory_limit", "resume")
    by_recipe = import_module("anon_sql.apps.cli.by_recipe")  # which imports this module
    by_recipe.release(recipe, out, **dict(zip(names, settings, strict=True)))


def _require_alone(others: object) -> None:
    """Raise AnonError if a recipe comes with options that it has of its own."""
    if others:
        rule = "a recipe must come without options of roles, parameters, statements and files"
        raise AnonError("release", rule, "some", "write them into the recipe")


def _warn(noticed: Mapping[str, str], qids: Sequence[str], found: Sequence[str | None]) -> None:
    """Warn of what was noticed in quasi-identifiers of a file, and of what else was found."""
    names = {fold(column) for column in qids}
    said = [text for column, text in noticed.items() if fold(column) in names]
    for warning in (*said, *filter(None, found)):
        console.warn(warning)


def say_manifest(path: Path, made: Mapping[str, Any]) -> None:
    """Print where the manifest is, and which of its checks fail."""
    failed = [check["property"] for check in made["checks"] if check["passed"] is False]
    console.say(f"{path}: the manifest")
    if failed:
        console.say(f"checks that fail: {', '.join(failed)} (anon-sql report shows them)")
