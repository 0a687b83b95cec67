"""``anon-sql release``: read a file, write its release and, on request, the manifest."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
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
    enter,
    in_types_of_raw,
    kept_columns,
    open_ledger,
    read_earlier,
    read_like,
    require_apart,
    unique_on_kept,
    with_files,
)
from anon_sql.apps.cli.options import Columns, Effort, Format, Suppressed, in_options
from anon_sql.apps.csv.dialect import Dialect, dialect
from anon_sql.core import running
from anon_sql.core.names import quote
from anon_sql.core.parameters import refuse_withdrawn, takes
from anon_sql.core.roles import REST, fold
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.files import (
    means_folder,
    remove_unfinished,
    stored,
    whole_file,
    whole_folder,
    write_files,
)
from anon_sql.hosts.parts.call import parts_request
from anon_sql.hosts.parts.release import PartsOptions, one_statement, released_in_parts
from anon_sql.hosts.parts.workspace import Place
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
    if files.kind(source)[0] != "parquet":
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
    given = {name: value for name, value in call.items() if name != "k"}
    checked = parts_request(con, "raw", method, call["k"], given)
    if one_statement(checked, rows, in_parts):
        listed = ", ".join(f"{parameter} := ${parameter}" for parameter in call)
        with stored(con, f"FROM {quote(method)}('raw', {listed})", call) as found:
            con.execute(f"CREATE TEMP VIEW released AS {found.select}")
            yield ReleasedRelation(
                found.rows, found.files if in_parts.in_files else ["FROM released"]
            )
        return
    with released_in_parts(con, checked, Place.beside(target), in_parts) as released:
        con.execute(f"CREATE TEMP VIEW released AS {released.select}")
        written = released.written
        shown = written.rows - written.suppressed
        known = {"rows": written.rows, "released_rows": shown, "regions": written.regions}
        if checked.request.suppressed == "drop":
            known["suppressed"] = written.suppressed
        yield ReleasedRelation(shown, released.ordered, known if written.rows > MEASURED else {})


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

    def prepare(self, source: Path, format_: Format, overwrite: bool) -> None:
        """Remove what killed processes have left of the release and its manifest.

        Raises AnonError for files that must not be written, or cannot hold the format.
        """
        for path in (self.target, self.manifest):
            remove_unfinished(path)
        is_csv = not self.in_files and files.kind(self.target)[0] == "csv"
        if is_csv and format_ is Format.TYPED:
            rule = "OUT must be Parquet for --format typed"
            raise AnonError("release", rule, "CSV", "name it .parquet")
        files.check_pair(source, self.target, overwrite, self.in_files)
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
                unfinished = written.enter_context(whole_folder(self.target))
                write_files(con, released.ordered, unfinished, released.rows)
            else:
                unfinished = written.enter_context(whole_file(self.target))
                files.write(con, released.ordered[0], unfinished, self.target)
            if self.stated or entered:
                files.read(con, unfinished, "written", labels=True, named=self.target)
                made = describe()
            if made and self.stated:
                beside = written.enter_context(whole_file(self.manifest))
                manifest.write(made, unfinished, beside)
            running.check("release")
            if made and entered:
                entered(made, unfinished)
        return made


STOPPED = "release: stopped on request; nothing was written"


def release(
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="CSV, TSV or Parquet file, or folder of Parquet.")
    ],
    out: Annotated[
        str, typer.Argument(metavar="OUT", help="File to write, or folder, which ends in '/'.")
    ],
    quasi: Annotated[Columns, typer.Option(help="Columns to generalize: age,sex")],
    method: Annotated[str, typer.Option(help="Release function.")] = "anonymize",
    effort: Annotated[
        Effort | None, typer.Option(help="Work of anonymize: more loses less. Default: good.")
    ] = None,
    k: Annotated[int, typer.Option("--k", help="Smallest class, in rows.")] = 5,
    l: arguments.L = None,  # noqa: E741
    l_kind: arguments.Kind = None,
    c: arguments.C = None,
    t: arguments.T = None,
    beta: arguments.Beta = None,
    delta: arguments.Delta = None,
    entity: arguments.Entity = None,
    sensitive: arguments.Sensitive = [],  # noqa: B006
    identifier: arguments.Identifier = [],  # noqa: B006
    keep: arguments.Keep = [],  # noqa: B006
    hierarchy: arguments.Hierarchy = None,
    strata: Annotated[Columns, typer.Option(help="Columns of --quasi that stay as they are.")] = [],  # noqa: B006
    weights: Annotated[
        Columns, typer.Option(help="How much the detail of columns matters: age=3,city=0.5")
    ] = [],  # noqa: B006
    format_: Annotated[
        Format,
        typer.Option(
            "--format", help="Text labels, typed ranges and lists, or one value of a class."
        ),
    ] = Format.LABEL,
    suppressed: Annotated[Suppressed, typer.Option(help="Suppressed rows.")] = Suppressed.KEEP,
    suppression_limit: Annotated[
        float | None, typer.Option(help="Share of the rows that may be suppressed, 0 to 1.")
    ] = None,
    like: Annotated[
        Path | None, typer.Option(help="Earlier released file whose bins recode IN.")
    ] = None,
    seed: Annotated[int, typer.Option(help="All randomness.")] = 42,
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
        int | None, typer.Option(help="Release in about so many parts, one after another.")
    ] = None,
    region_rows: Annotated[int | None, typer.Option(help="Rows of a part.")] = None,
    memory_limit: Annotated[
        str | None, typer.Option(help="Memory that may be used, such as 4GB.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the parts that an earlier run finished.")
    ] = False,
    with_manifest: Annotated[
        bool, typer.Option("--manifest", help=f"Write OUT{manifest.ENDING}, which verify checks.")
    ] = False,
    delimiter: arguments.Delimiter = None,
    quotes: arguments.Quotes = '"',
    header: arguments.Header = None,
    null: arguments.Null = [],  # noqa: B006
    overwrite: arguments.Overwrite = False,
) -> None:
    """Release a file: read IN, generalize it, write OUT.

    IN and OUT end in .csv, .tsv (both also packed, .gz or .zst) or .parquet; OUT/ is a folder of
    Parquet files of a million rows each. Separate columns with commas or repeat the option. Every
    column needs a role; --keep '*' keeps all others as they are. A CSV's first line is its header,
    and every line after it is a row (docs/csv.md).

    Example: anon-sql release people.csv safe.csv --k 10 --quasi age,sex --sensitive income
    """
    with console.one_sentence(STOPPED, words=lambda text: with_files(previous, in_options(text))):
        refuse_withdrawn("release", {"invariant": invariant, "counterfeits": counterfeits})
        written_as = dialect("release", delimiter, quotes, header, null)
        output = Output(Path(out), means_folder(out), with_manifest)
        output.prepare(source, format_, overwrite)
        given = (arguments.names(columns) for columns in (quasi, sensitive, identifier, keep))
        roles = dict(zip(manifest.ROLES, given, strict=True))
        check_earlier(previous, like, roles["sensitive"])
        check_ledger(ledger, entity)
        matter = arguments.weights("release", weights)
        chosen = {"format": format_.value, "strata": arguments.names(strata), "weights": matter}
        own = {
            "effort": effort and effort.value,
            "suppression_limit": suppression_limit,
            "like": like and like.name,
        }
        options = _options(method, chosen, own)
        parts_request = {
            "k": k,
            "l": l,
            "l_kind": l_kind and l_kind.value,
            "c": c,
            "t": t,
            "beta": beta,
        }
        parts_request |= {
            "delta": delta,
            "entity": entity,
            "suppressed": suppressed.value,
            "seed": seed,
        }
        stated = arguments.statement(purpose, recipient, assumption)
        stated |= {
            manifest.UNIQUE: unique_share,
            manifest.LIMIT: previous_share,
            "options": options,
        }
        promised = {name: value for name, value in parts_request.items() if value is not None}
        in_parts = PartsOptions(regions, region_rows, resume, output.in_files)

        def make(con: duckdb.DuckDBPyConnection, held: ExitStack) -> None:
            name = _release_method(con, method)
            noticed = read_source(con, source, "raw", written_as, memory_limit)
            again = open_ledger(con, ledger, entity, ledger_key) if ledger and entity else []
            trees = arguments.read_hierarchy(con, "release", hierarchy, "hierarchy")
            call: dict[str, Any] = {**promised, **roles, **options, "hierarchy": trees}
            earlier = read_earlier(con, "release", previous, roles)
            call |= read_like(con, like)
            released = held.enter_context(in_table(con, name, call, output.target, in_parts))
            measured = released.measures or arguments.measured(
                con,
                "FROM utility('raw', 'released', k := ?, qids := ?, hierarchy := ?, weights := ?)",
                [k, roles["qids"], trees, matter],
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
                cast_values(con, "release", "written", roles["qids"], format_.value)
                again = in_types_of_raw(con, "written", roles["sensitive"] if earlier else [])
                return manifest.make(
                    con, ("raw", again), name, {**promised, **stated}, roles, trees, earlier
                )

            entered = partial(enter, con, output.target.name, ledger_key) if ledger else None
            made = output.write(con, released, describe, entered)
            console.say(f"{out}: {name}, k = {k}, from {source}")
            console.show_measures(measured)
            if together:
                together.show()
            _warn(noticed, roles["qids"], (singled_out, *again))
            if made and with_manifest:
                _say_manifest(output.manifest, made)

        with anon_sql.connect() as con, ExitStack() as held:
            stoppable(con, partial(make, con, held))


def _options(method: str, chosen: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that the manifest states beside the constraints, those that were given.

    own: options of some methods. Raises AnonError for one of them with another method.
    """
    options = {name: value for name, value in chosen.items() if value}
    given = {name: value for name, value in own.items() if value is not None}
    known = release_methods()
    for name in given if fold(method) in known else ():
        takers = [function for function in known if name in takes(function)]
        if fold(method) not in takers:
            option = f"--{name.replace('_', '-')}"
            rule = f"{option} must come with --method {' or '.join(takers)}"
            raise AnonError("release", rule, f"--method {method}")
    return {**options, **given}


def _warn(noticed: Mapping[str, str], qids: Sequence[str], found: Sequence[str | None]) -> None:
    """Warn of what was noticed in quasi-identifiers of a file, and of what else was found."""
    names = {fold(column) for column in qids}
    said = [text for column, text in noticed.items() if fold(column) in names]
    for sentence in (*said, *filter(None, found)):
        console.warn(sentence)


def _say_manifest(path: Path, made: Mapping[str, Any]) -> None:
    """Print where the manifest is, and which of its checks fail."""
    failed = [check["property"] for check in made["checks"] if check["passed"] is False]
    console.say(f"{path}: the manifest")
    if failed:
        console.say(f"checks that fail: {', '.join(failed)} (anon-sql report shows them)")


def _release_method(con: duckdb.DuckDBPyConnection, method: str) -> str:
    """Return the release function of a name. Raises AnonError that lists them for any other."""
    parameters = ["tbl", *manifest.PROMISED, *manifest.ROLES, "hierarchy", "format"]
    found = con.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'table_macro' "
        "AND NOT internal AND list_has_all(parameters, ?) ORDER BY ALL",
        [parameters],
    ).fetchall()
    known = [name for (name,) in found]
    if fold(method) not in known:
        hint = did_you_mean(method, known)
        raise AnonError("release", "--method must be a release function", f"'{method}'", hint)
    return fold(method)
