"""``anon-sql release``: read a file, write its release and, on request, the manifest."""

import shlex
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import duckdb
import typer

import anon_sql
from anon_sql.apps import files, manifest
from anon_sql.apps.cli import by_recipe, console
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
    whole_tuple,
)
from anon_sql.apps.cli.linked import release_by_recipe, release_root
from anon_sql.apps.cli.output import (
    Entering,
    Output,
    in_table,
    read_source,
    say_manifest,
    split,
    warning_of_blanks,
)
from anon_sql.apps.cli.parameters import flag, of_releases, with_parameters
from anon_sql.apps.cli.people import require_people
from anon_sql.apps.cli.progress import Progress, showing
from anon_sql.apps.cli.series import entering, released_in, say_series, state_of
from anon_sql.apps.cli.spelling import Options
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.core.common_parameters import PERSON, UNIT
from anon_sql.core.roles import REST, fold
from anon_sql.errors import AnonError, Words
from anon_sql.hosts import linked_recipes
from anon_sql.hosts.files import (
    means_folder,
)
from anon_sql.hosts.kept import unique_on_kept
from anon_sql.hosts.parts.call import parts_request
from anon_sql.hosts.parts.release import PartsOptions
from anon_sql.hosts.recipes import is_recipe
from anon_sql.hosts.series_file import naming
from anon_sql.measures.uniqueness import UNIQUE_SHARE

STOPPED = "release: stopped on request; nothing was written"


_LARGE = "Large tables"
_LINKED = "Tables that belong together"
_WRITTEN = ["--delimiter, --quote, --header, --null, --encoding or --trim"]


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
    unit: arguments.UnitOfProtection = arguments.Unit.PERSON,
    previous: arguments.Previous = [],  # noqa: B006
    previous_share: arguments.PreviousShare = 0,
    ledger: arguments.Ledger = None,
    ledger_key: arguments.LedgerKey = "env:ANON_KEY",
    series: arguments.Series = None,
    series_key: arguments.SeriesKey = "env:ANON_KEY",
    leavers: arguments.Leavers = "keep",
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
            help="Surplus rows: 'drop', or 'unlink' to release labels without keys and values.",
            rich_help_panel=_LINKED,
        ),
    ] = "drop",
    orphans: Annotated[
        str,
        typer.Option(
            help="Rows whose foreign key has no match: 'error' or 'drop'.", rich_help_panel=_LINKED
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
    with console.one_sentence(STOPPED, spelling=_spelling(source, parameters, previous, series)):
        linking = {"link": link, "leave_out": leave_out, "surplus": surplus, "orphans": orphans}
        if is_recipe(source):
            _require_alone(
                parameters
                or previous
                or ledger
                or series
                or purpose
                or recipient
                or assumption
                or root
                or _changed({**linking, "leavers": leavers, "series_key": series_key})
                or (method, unique_share, unit, regions, region_rows, written_as)
                != ("anonymize", UNIQUE_SHARE, PERSON, None, None, Dialect())
            )
            single = {"memory_limit": memory_limit, "resume": resume}
            return _by_recipe(source, out, single, overwrite=overwrite, progress=progress)
        _require_options(
            root,
            parameters,
            linking,
            files.in_database(source) is not None,
            {
                "method": method,
                "unique_share": unique_share,
                "unit": unit,
                "previous": previous,
                "previous_share": previous_share,
                "ledger": ledger,
                "series": series,
                "regions": regions,
                "region_rows": region_rows,
                "memory_limit": memory_limit,
                "resume": resume,
            },
            written_as,
        )
        if root is not None:
            release_root(
                source,
                out,
                root,
                parameters,
                linking,
                arguments.statement(purpose, recipient, assumption),
                with_manifest=with_manifest,
                overwrite=overwrite,
            )
            return
        output = Output(Path(out), means_folder(out), with_manifest)
        beside = {
            "--previous": previous,
            "--ledger": ledger,
            "--key": "key" in parameters,
            "--regions": regions,
            "--region-rows": region_rows,
            "--resume": resume,
            "a folder": output.in_files,
        }
        parameters, state = state_of(series, series_key, parameters, leavers, beside)
        output.prepare(source, parameters.get("format"), overwrite)
        roles = {name: parameters.get(name, []) for name in manifest.ROLES}
        like, hierarchy, entity, weights = map(
            parameters.get, ("like", "hierarchy", "entity", "weights")
        )
        declared = files.in_database(source) is not None  # its comments may declare roles
        check_earlier(previous, like, roles["sensitive"] or [REST] * declared)
        check_ledger(ledger, entity)
        required, options = split(method, {**parameters, **({"like": like.name} if like else {})})
        stated = arguments.statement(purpose, recipient, assumption) | {
            manifest.UNIQUE: unique_share,
            UNIT: str(unit),
            manifest.LIMIT: previous_share,
            "options": options,
        }

        def make(con: duckdb.DuckDBPyConnection, stack: ExitStack) -> None:
            name = fold(method)
            noticed = read_source(con, source, "raw", written_as, memory_limit)
            trees = arguments.read_hierarchy(con, "release", hierarchy, "hierarchy")
            _check_call(con, name, {**required, **options}, roles, state is not None)
            arguments.name_roles(con, name, roles, entity, releases=True)
            check_earlier(previous, like, roles["sensitive"])
            again = open_ledger(con, ledger, entity, ledger_key) if ledger and entity else []
            call: dict[str, Any] = {
                **required,
                **roles,
                **options,
                "hierarchy": trees,
                **read_like(con, like),
            }
            earlier = read_earlier(con, "release", previous, roles)
            released = (
                released_in(con, state, name, call)
                if state
                else stack.enter_context(
                    in_table(
                        *(con, name, call, output.target),
                        PartsOptions(regions, region_rows, resume, output.in_files),
                    )
                )
            )
            measured = released.measures or arguments.measured(
                con,
                "FROM __anon_utility('utility', 'raw', 'released', ?, ?, ?, ?, __anon_own := ?)",
                [required["k"], roles["quasi"], trees, weights, state is not None],
            )
            require_people(con, call, unit, counted=not released.measures)
            together = require_apart(con, list(earlier), previous_share, call) if earlier else []
            kept = kept_columns(con, "released", [*roles["quasi"], *roles["sensitive"]])
            singled_out = (
                None
                if released.measures
                else unique_on_kept(con, "FROM released", kept, unique_share, required["k"])
            )

            def describe() -> dict[str, Any]:
                cast_values(con, "release", "written", roles["quasi"], options["format"])
                compared = whole_tuple(con, roles)
                return manifest.make(
                    con,
                    ("raw", in_types_of_raw(con, "written", compared)),
                    name,
                    {**required, **stated, **naming(state)},
                    roles,
                    trees,
                    earlier,
                )

            made = output.write(
                con,
                released,
                describe,
                Entering(partial(enter, con, output.target.name, ledger_key))
                if ledger
                else entering(con, state)
                if state
                else None,
            )
            console.say(f"{out}: {name}, k = {required['k']}, from {source}")
            console.show_measures({n: v for n, v in measured.items() if n != "rows" or not state})
            say_series(con, state, together)
            _warn(
                noticed,
                roles["quasi"],
                (singled_out, warning_of_blanks(con, "pass --trim", written_as.trim), *again),
            )
            if made and with_manifest:
                say_manifest(output.manifest, made)
            console.note(
                _unjudged(
                    *(source, out),
                    with_manifest=with_manifest,
                    alone=not (output.in_files or state),
                )
            )

        with anon_sql.connect() as con, ExitStack() as stack:
            stoppable(con, showing("release", progress, partial(make, con, stack)))


def _check_call(
    con: duckdb.DuckDBPyConnection,
    method: str,
    values: Mapping[str, Any],
    roles: Mapping[str, Any],
    in_series: bool,
) -> None:
    """Raise AnonError for the first fault of a call, as every host does, before roles are named."""
    if not in_series:
        others = {name: value for name, value in values.items() if name not in ("k", "like")}
        named = {role: names or None for role, names in roles.items()}
        parts_request(con, "raw", method, values["k"], {**others, **named})


def _spelling(
    source: Path, parameters: Mapping[str, Any], previous: Sequence[Path], series: Path | None
) -> Options:
    """Return how errors name options; a key is that of a series, of the release or of a ledger."""
    own = is_recipe(source) or "key" in parameters
    key = "series_key" if series else "key" if own else "ledger_key"
    return Options(release, earlier_files(previous), key)


def _require_options(
    root: str | None,
    parameters: Mapping[str, Any],
    linking: Mapping[str, Any],
    in_database: bool,
    single: Mapping[str, Any],
    written_as: Dialect,
) -> None:
    """Raise AnonError for options of linked tables without --root, and of one table with it.

    A file needs quasi-identifiers; those of tables in a database may stand in comments.
    """
    if root is None:
        for option in _changed(linking):
            raise AnonError("release", f"{option} must come with --root", "none")
        if not parameters.get("quasi") and not in_database:
            hint = "write --quasi age,city, or release by a recipe"
            raise AnonError("release", "--quasi must name quasi-identifiers", "none", hint)
        return
    _refuse(_changed(single) + _WRITTEN * (written_as != Dialect()))


def _refuse(options: Sequence[str]) -> None:
    """Raise AnonError for an option of one table beside linked tables."""
    for option in options:
        rule = "tables that belong together take no such option"
        raise AnonError("release", rule, option, "leave it out")


def _changed(given: Mapping[str, Any]) -> list[str]:
    """Return the options, by name of the parameter, that do not have their defaults."""
    known = signature(release).parameters
    return [flag(name) for name, value in given.items() if value != known[name].default]


def _by_recipe(
    recipe: Path, out: str, single: Mapping[str, Any], *, overwrite: bool, progress: Progress
) -> None:
    """Release by a recipe, of one table or of linked tables. single: options of one table."""
    if linked_recipes.is_linked("release", recipe):
        _refuse(_changed(single))
        release_by_recipe(recipe, out, overwrite=overwrite)
        return
    by_recipe.release(recipe, out, overwrite=overwrite, progress=progress, **single)


def _require_alone(others: object) -> None:
    """Raise AnonError if a recipe comes with options that it has of its own."""
    if others:
        rule = "a recipe must come without options of roles, parameters, statements and files"
        raise AnonError("release", rule, "some", "write them into the recipe")


def _unjudged(source: Path, out: str, *, with_manifest: bool, alone: bool) -> str:
    """Say that there is no verdict on a release, and which command gives one.

    alone: whether ``report`` needs no more than the two files and the roles.
    """
    by = "release by a recipe for a verdict: anon-sql help release-by-a-recipe"
    if alone:
        by = f"for a verdict: {shlex.join(['anon-sql', 'report', f'{source}', out])} -o report.html"
        by += "" if with_manifest else ", with the roles of this call"
    return f"release: {out} was not judged; {by}"


def _warn(noticed: Mapping[str, Words], quasi: Sequence[str], found: Sequence[str | None]) -> None:
    """Warn of what was noticed in quasi-identifiers of a file, and of what else was found."""
    names = {fold(column) for column in quasi}
    said = [str(text) for column, text in noticed.items() if fold(column) in names]
    for warning in (*said, *filter(None, found)):
        console.warn(warning)
