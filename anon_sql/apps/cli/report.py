"""``anon-sql report`` and ``anon-sql sweep``: write a page on a release, or on all methods."""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import duckdb
import typer

from anon_sql.apps import files, manifest
from anon_sql.apps.cli import console, options
from anon_sql.apps.cli.by_recipe import load
from anon_sql.apps.cli.earlier import in_types_of_raw, require_labels, whole_tuple
from anon_sql.apps.cli.parameters import names, of_compare, of_manifests, with_parameters
from anon_sql.apps.cli.progress import Progress, on_database
from anon_sql.apps.cli.spelling import Options
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.apps.verdict.criteria import CONTROL, require_others
from anon_sql.apps.verdict.of_recipe import dialect_of, judging, requested
from anon_sql.core.common_parameters import UNIT
from anon_sql.core.names import quote
from anon_sql.core.pseudonyms import KEY
from anon_sql.errors import AnonError, not_installed
from anon_sql.hosts import recipes
from anon_sql.hosts.files import atomic_file, digest
from anon_sql.hosts.recipes import Recipe
from anon_sql.hosts.series_file import SeriesFile, naming, of_recipe

Page = Annotated[
    Path, typer.Option("-o", "--output", help="File to write: .html, or .json with --format json.")
]

_RESTRICTED = "restricted_prefixes"  # the relation of --restricted


class ReportFormat(StrEnum):
    """Formats of a report."""

    HTML = "html"
    JSON = "json"


class Drawing(NamedTuple):
    """The modules that ask for facts, and draw pages and figures; they need the extra report."""

    facts: Any
    page: Any
    figure_files: Any


@with_parameters(of_manifests)
@options.with_groups
@options.with_dialect
def report(
    raw: Annotated[
        Path, typer.Argument(metavar="RAW", help=f"{options.TABLE_FILE[:-1]}; or a recipe.")
    ],
    released: Annotated[Path, typer.Argument(metavar="RELEASED", help="The released file.")],
    *,
    output: Page,
    parameters: Mapping[str, Any],
    unique_share: options.UniqueShareOrWritten = None,
    unit: options.UnitOrWritten = None,
    statement: options.Statement,
    format_: Annotated[
        ReportFormat, typer.Option("--format", help="Page, or the same facts as JSON.")
    ] = ReportFormat.HTML,
    control: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="People who are not in RAW: what attacks find of them, the population tells.",
        ),
    ] = None,
    show_sensitive: Annotated[
        bool, typer.Option("--show-sensitive", help="Show distributions of sensitive values.")
    ] = False,
    safe_harbor: Annotated[
        bool,
        typer.Option("--safe-harbor", help="Compare with the 18 identifiers of HIPAA Safe Harbor."),
    ] = False,
    restricted: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Prefixes of ZIP codes with 20,000 people or fewer, in a column zip3.",
        ),
    ] = None,
    series: options.StateOfSeries = None,
    series_key: options.SeriesKey = KEY,
    written_as: Dialect,
    figures: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the numbers of each figure, as CSV, and each chart, as SVG.",
        ),
    ] = None,
    progress: Progress = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Write a report on a release: verdict, checks, risk and loss.

    Roles, constraints and statements are read from the manifest beside
    RELEASED; options override them. The report is a single file that loads
    nothing from elsewhere. Share it only with people who may see RAW.

    Example: anon-sql report people.parquet safe.parquet -o report.html
    """
    with console.one_sentence(spelling=Options(report, key="series_key" if series else "key")):
        options.check_page("report", output, overwrite, f".{format_.value}")
        if (linked := _linked(released)) is not None:
            of_one_table = {n: value for n, value in parameters.items() if n != "hierarchy"}
            trees = parameters.get("hierarchy")
            others = (
                *(of_one_table, unique_share is not None, unit, options.changed(statement)),
                *(figures, series, control, safe_harbor, restricted),
            )
            _write(output, _of_linked(linked, released, raw, trees, format_, any(others)))
            return
        recipe = recipes.read_recipe("report", raw) if recipes.is_recipe(raw) else None
        if recipe is None:
            files.check_source("report", "RAW", raw)
        files.check_source("report", "RELEASED", released)
        facts, page, figure_files = drawing("report")
        if figures is not None:
            figure_files.check_folder("report", figures, overwrite)
        written = _written(released)
        require_labels("report", written)
        state = _state(written, recipe, series, series_key)
        roles = {name: parameters.get(name, []) for name in manifest.ROLES}
        request: dict[str, Any] = {
            **{name: parameters.get(name) for name in manifest.REQUIRED},
            manifest.UNIQUE: unique_share,
            UNIT: unit,
            **statement.by_name("report"),
        }

        def draw(con: duckdb.DuckDBPyConnection) -> None:
            path = parameters.get("hierarchy")
            trees = options.read_hierarchy(con, "report", path, "hierarchy")
            if recipe is not None:
                trees = _by_recipe(con, recipe, request, roles)
            declared = recipe is None and files.in_database(raw) is not None
            call = {**_merged(written, {**request, **roles}, declared), "hierarchy": trees}
            if written:
                manifest.require_hierarchy("report", written, trees)
            if recipe is None:
                options.read_raw(con, raw, written_as, ("report", "RAW"))
            files.read_source(con, released, "released", labels=True, called=("report", "RELEASED"))
            if con.sql("SELECT count(*) FROM raw").fetchall() == [(0,)]:
                raise AnonError("report", "RAW must have rows")
            named = {name: call[name] for name in manifest.ROLES}
            options.name_roles(con, "report", named, call["entity"])
            call |= named | _of_series(con, state, named)
            people = _control(con, control, recipe, written_as, call)
            sources = facts.summary.Sources(raw, released, recipe, written_as, path, people)
            gathered = facts.gather(
                con,
                call,
                written,
                show_sensitive=show_sensitive,
                judging=None if recipe is None else judging(recipe, "report"),
                sources=sources,
                safe_harbor=_safe_harbor(con, safe_harbor, restricted),
            )
            content = facts.described(gathered, call, written, sources.raw_name, released.name)
            html = format_ is ReportFormat.HTML
            drawn = figure_files.draw(content) if html or figures else {}
            _write(output, page.of_release(content, drawn) if html else _json(content))
            console.say(f"{output}: the report, for those who may see {raw}")
            if figures is not None:
                count = figure_files.write(figures, content, drawn)
                console.say(f"{figures}: its figures, {count} files, for the same readers")

        on_database("report", progress, draw)


def _control(
    con: duckdb.DuckDBPyConnection,
    control: Path | None,
    recipe: Recipe | None,
    written_as: Dialect,
    request: Mapping[str, Any],
) -> Path | None:
    """Make ``control`` of an option, and return its file, or that of a recipe; None without."""
    if control is not None and recipe is not None and recipe.control is not None:
        rule = "--control must come with a recipe that names no control"
        raise AnonError("report", rule, "two", "leave out --control")
    if control is not None:
        files.check_source("report", "--control", control)
        read_as = written_as if recipe is None else dialect_of("report", recipe)
        files.read_source(con, control, CONTROL, dialect=read_as, called=("report", "--control"))
    source = control or (recipe.control if recipe else None)
    if source is not None:
        require_others("report", con, request)
    return source


def _safe_harbor(
    con: duckdb.DuckDBPyConnection, is_wanted: bool, restricted: Path | None
) -> str | None:
    """Return the call of ``safe_harbor`` on the release, None without; reads the prefixes."""
    if restricted is None:
        return "safe_harbor('released')" if is_wanted else None
    files.check_source("report", "--restricted", restricted)
    files.read_source(con, restricted, _RESTRICTED, called=("report", "--restricted"))
    return f"safe_harbor('released', restricted := '{_RESTRICTED}')"


def _linked(released: Path) -> dict[str, Any] | None:
    """Return the manifest of a folder of tables that belong together; None for anything else."""
    return manifest.read_linked_manifest("report", manifest.beside(released))


def _of_linked(
    written: Mapping[str, Any],
    released: Path,
    raw: Path,
    hierarchy: Path | None,
    form: ReportFormat,
    others: bool,
) -> str:
    """Return the report on tables that belong together. Raises AnonError for other options."""
    if others:
        rule = "a report on tables that belong together takes them from the manifest"
        raise AnonError("report", rule, "options", "leave them out")
    if hierarchy is not None and recipes.is_recipe(raw):
        rule = "a recipe must come without --hierarchy, because it names its own"
        raise AnonError("report", rule, f"'{hierarchy}'")
    drawing("report")
    from anon_sql.apps.report.linked import gather, of_linked

    content = gather(written, released, raw, hierarchy)
    return of_linked(content) if form is ReportFormat.HTML else _json(content)


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _write(output: Path, text: str) -> None:
    with atomic_file(output) as temporary:
        temporary.write_text(text, "utf-8")


def drawing(function: str) -> Drawing:
    """Return the modules that ask and draw. Raises AnonError without their packages."""
    try:
        from anon_sql.apps.report import facts, figure_files, page
    except ModuleNotFoundError as error:
        rule = "matplotlib and jinja2 must be installed"
        raise not_installed(function, rule, f"no {error.name}", "report") from None
    return Drawing(facts, page, figure_files)


def _written(released: Path) -> dict[str, Any] | None:
    """Return the manifest beside a file, or None. Raises AnonError for that of another file."""
    path = manifest.beside(released)
    if not path.is_file():
        return None
    written = manifest.read_manifest("report", path)
    if written["output"]["sha256"] != digest(released):
        hint = f"remove it if {released.name} is what you want a report on"
        raise AnonError("report", "the manifest must be of RELEASED", f"'{path}'", hint)
    return written


def _by_recipe(
    con: duckdb.DuckDBPyConnection,
    recipe: Recipe,
    request: dict[str, Any],
    roles: dict[str, Any],
) -> str | None:
    """Make ``raw``, put what a recipe says where nothing is asked, and return its hierarchies."""
    options.note_file(recipe.file, load(con, "report", recipe))
    stated = {n: v for n, v in recipe.statement.items() if n in manifest.STATEMENT}
    base = {**stated, **requested(recipe)}
    for each in (request, roles):
        each |= {n: base[n] for n in each if n in base and not each[n]}
    trees: str | None = base["hierarchy"]
    return trees


def _state(
    written: Mapping[str, Any] | None, recipe: Recipe | None, series: Path | None, key: str
) -> SeriesFile | None:
    """Return the state of a series that an option or a recipe names.

    Raises AnonError for a release of a series without its state, and for a state without one.
    """
    state = SeriesFile(series, key) if series else of_recipe(recipe) if recipe else None
    if written is None:
        return state
    of_series = written["series"].get("cohorts") is not None
    if of_series and state is None:
        rule = "a report on a release of a series needs its state"
        hint = "pass --series FILE, or the recipe in place of RAW"
        raise AnonError("report", rule, None, hint)
    if state and not of_series:
        rule = "--series, or a recipe of a series, must come with a release of a series"
        raise AnonError("report", rule, "another, as its manifest says")
    return state


def _of_series(
    con: duckdb.DuckDBPyConnection, state: SeriesFile | None, roles: Mapping[str, Any]
) -> dict[str, str]:
    """Return the parameters of ``audit`` that name the state.

    Sensitive and kept columns of ``released`` get the types of ``raw``, as the state has them.
    """
    if state is None:
        return {}
    state.load(con, "report")
    typed = in_types_of_raw(con, "released", whole_tuple(con, roles))
    con.execute(f"CREATE TEMP TABLE released AS FROM {quote(typed)}")
    return naming(state)


def _merged(
    written: Mapping[str, Any] | None, values: Mapping[str, Any], declared: bool
) -> dict[str, Any]:
    """Return what is given, else the manifest's. Raises AnonError without quasi-identifiers.

    declared: whether they may stand in the comments of a database.
    """
    of_manifest: dict[str, Any] = {}
    if written:
        of_manifest = {**written["parameters"], **written["roles"], **written["statement"]}
    merged = {
        name: value if value not in (None, []) else of_manifest.get(name, value)
        for name, value in values.items()
    }
    if not merged["quasi"] and not declared:
        rule = "RELEASED must have a manifest, or its quasi-identifiers must be named"
        raise AnonError("report", rule, "neither", "pass --quasi age,zip")
    return merged


@with_parameters(of_compare, required=("quasi",))
@options.with_dialect
def sweep(
    raw: Annotated[Path, typer.Argument(metavar="RAW", help=options.TABLE_FILE)],
    *,
    output: Page,
    parameters: Mapping[str, Any],
    methods: Annotated[
        list[str], typer.Option(help="Methods to compare. Default: all that fit the table.")
    ] = [],  # noqa: B006
    ks: Annotated[str, typer.Option(help="Values of k to compare.")] = "5,10,25,50,100",
    attacks: Annotated[
        bool, typer.Option("--attacks", help="Repeat each release and attack it.")
    ] = False,
    written_as: Dialect,
    progress: Progress = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Compare the loss, risk and time of release methods by k.

    The page shows what each method would achieve. No release is written.

    Example: anon-sql sweep people.parquet --quasi age,sex --ks 5,25 -o sweep.html
    """
    with console.one_sentence(spelling=Options(sweep)):
        files.check_source("sweep", "RAW", raw)
        options.check_page("sweep", output, overwrite)
        facts, page, _ = drawing("sweep")

        def draw(con: duckdb.DuckDBPyConnection) -> None:
            path = parameters.get("hierarchy")
            request = {
                **dict.fromkeys(of_compare()),
                **{name: [] for name in manifest.ROLES},
                "seed": of_compare()["seed"].default,
                **parameters,
                "methods": names(methods) or None,
                "ks": _whole_numbers(ks),
                "hierarchy": options.read_hierarchy(con, "sweep", path, "hierarchy"),
            }
            options.read_raw(con, raw, written_as, ("sweep", "RAW"))
            named = {name: request[name] for name in manifest.ROLES}
            options.name_roles(con, "sweep", named, request.get("entity"))
            request |= named
            if attacks and not request["sensitive"]:
                raise AnonError("sweep", "--attacks needs a sensitive column")
            rows = facts.sweep(con, request, attacks=attacks)
            others = facts.left_out(con, rows, request["methods"])
            _write(output, page.of_sweep(rows, request, raw.name, others))
            console.say(f"{output}: {_count(rows)}, none written")

        on_database("sweep", progress, draw)


def _count(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how many releases were compared, and how many could not be made."""
    made = sum(row["note"] is None for row in rows)
    failed = len(rows) - made
    compared = f"{made} release{'' if made == 1 else 's'} compared"
    return compared + (f", {failed} that could not be made" if failed else "")


def _whole_numbers(text: str) -> list[int]:
    """Return the whole numbers between commas. Raises AnonError for anything else."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        hint = "write --ks 5,10,25"
        raise AnonError("sweep", "--ks must be whole numbers", f"'{text}'", hint) from None
