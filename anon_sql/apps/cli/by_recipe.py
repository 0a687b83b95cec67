"""Release, verify and report by a recipe: its source as ``raw``, its roles, its verdict."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import duckdb
import typer

from anon_sql.apps import files, manifest
from anon_sql.apps.cli import console
from anon_sql.apps.cli.options import ReleaseCall, note_file
from anon_sql.apps.cli.output import (
    ReleasedRelation,
    ReleaseOutput,
    ReleaseRequest,
    describe,
    in_table,
    read_source,
    say_manifest,
    split,
    warning_of_blanks,
)
from anon_sql.apps.cli.progress import on_database
from anon_sql.apps.cli.series import entering, recover, released_in, say_series
from anon_sql.apps.verdict.of_recipe import HIERARCHY, dialect_of, judged, read_control, requested
from anon_sql.apps.verdict.rules import AMBER, GREEN, RED, Verdict, stricter
from anon_sql.core.common_parameters import PERSON, UNIT
from anon_sql.errors import AnonError, Words
from anon_sql.hosts import recipe_source, recipes
from anon_sql.hosts.files import means_folder
from anon_sql.hosts.parts.release import PartsOptions
from anon_sql.hosts.recipes import Recipe
from anon_sql.hosts.series_file import SeriesFile, naming, of_recipe
from anon_sql.hosts.statements import require_review_ahead

IS_RED, IS_OPEN = 3, 4  # exit codes: red, and amber without a sentence


def load(con: duckdb.DuckDBPyConnection, function: str, recipe: Recipe) -> dict[str, Words]:
    """Make ``raw`` from the source of a recipe, ``control`` and ``hierarchy`` if it has any.

    Returns what ``files.read_source`` returns. Raises AnonError for a source that is not the stated
    one.
    """
    recipe_source.require_content(function, recipe)
    noticed: dict[str, Words] = {}
    if recipe.table is None:
        files.check_source(function, "the source of the recipe", recipe.file)
        noticed = read_source(con, recipe.file, "raw", dialect_of(function, recipe), None)
    else:
        called = function, "the source of the recipe"
        trim = bool(recipe.source.get("trim"))
        files.read_table(con, recipe.file, recipe.table, "raw", called, trim=trim)
    recipe_source.require_schema(function, recipe, types_of_raw(con))
    read_control(con, function, recipe)
    if recipe.hierarchies:
        paths = [str(path) for path in recipe.hierarchies.values()]
        for path in recipe.hierarchies.values():
            files.check_source(function, "a hierarchy of the recipe", path)
        con.execute(f"CREATE TABLE {HIERARCHY} AS FROM read_hierarchies(?)", [paths])
    return noticed


def types_of_raw(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the SQL type of each column of ``raw``."""
    raw = con.table("raw")
    return dict(zip(raw.columns, map(str, raw.types), strict=True))


def say_verdict(verdict: Verdict) -> None:
    """Print the reasons of a verdict on stderr, and its level. Raises typer.Exit if it is open."""
    for each in verdict.reasons:
        acceptance = f" (accepted: {each.accepted})" if each.accepted else ""
        typer.echo(
            console.visible(f"{each.level} {each.rule}: {each.sentence}{acceptance}"), err=True
        )
    if verdict.level == RED:
        typer.echo("release: the verdict is red; nothing was written", err=True)
        raise typer.Exit(IS_RED)
    if verdict.open:
        rules = ", ".join(verdict.open)
        typer.echo(
            "release: the verdict is amber; nothing was written. Write a sentence for each rule "
            f"in [accepted]: {rules}",
            err=True,
        )
        raise typer.Exit(IS_OPEN)


def request_of(recipe: Recipe, *, in_files: bool = False, resume: bool = False) -> ReleaseRequest:
    """Return what a recipe asks for. Raises AnonError for an option that its method does not take.

    in_files: whether the release is a folder; resume: whether it continues an earlier one.
    """
    parameters = dict(recipe.parameters)
    parts, part_rows = (parameters.pop(name, None) for name in ("parts", "part_rows"))
    unique_share = parameters.pop(manifest.UNIQUE, 0)
    unit = parameters.pop(UNIT, PERSON)
    required, options = split(recipe.method, parameters)
    more = {manifest.UNIQUE: unique_share, UNIT: unit, manifest.LIMIT: 0, "options": options}
    return ReleaseRequest(
        recipe.method,
        required,
        options,
        {name: recipe.roles[name] for name in manifest.ROLES},
        {"hierarchy": HIERARCHY if recipe.hierarchies else None},
        manifest.stated(recipe.statement) | more,
        PartsOptions(parts, part_rows, resume, in_files),
    )


def write(
    con: duckdb.DuckDBPyConnection,
    recipe: Recipe,
    of: ReleaseRequest,
    output: ReleaseOutput,
    released: ReleasedRelation,
    state: SeriesFile | None = None,
) -> dict[str, Any]:
    """Write the release of a recipe with its manifest, and return that."""

    def described() -> dict[str, Any]:
        return {**describe(con, of, state), "recipe": {"sha256": recipe.sha256}}

    made = output.write(con, released, described, entering(con, state) if state else None)
    assert made is not None  # the output is stated
    return made


def release(call: ReleaseCall) -> None:
    """Write the release of a recipe with its manifest, unless the verdict is red or open."""
    path, out = call.source, call.out
    recipe = recipes.read_recipe("release", path)
    stricter("release", recipe.stricter)
    require_review_ahead("release", recipe.statement)
    output = ReleaseOutput(Path(out), means_folder(out), True)
    recipe_source.require_content("release", recipe)
    state = of_recipe(recipe)
    recover(state)
    in_database = recipe.table is not None
    form = recipe.parameters.get("format")
    output.prepare(recipe.file, form, call.overwrite, database=in_database)
    of = request_of(recipe, in_files=output.in_files, resume=call.large.resume)
    if state and (of.in_parts.wanted or output.in_files):
        rule = "a release of a series must be one file, not made in parts"
        raise AnonError("release", rule, "a folder" if output.in_files else "parts")

    def make(con: duckdb.DuckDBPyConnection) -> None:
        if call.large.memory_limit is not None:
            con.execute("SET memory_limit = ?", [call.large.memory_limit])
        note_file(recipe.file, load(con, "release", recipe))
        with (
            nullcontext(released_in(con, state, of))
            if state
            else in_table(con, of, output.target) as released
        ):
            verdict = judged(recipe, con, "release", {**requested(recipe), **naming(state)})
            say_verdict(verdict)
            made = write(con, recipe, of, output, released, state)
            level = GREEN if verdict.level == GREEN else f"{AMBER}, accepted"
            k = of.required["k"]
            console.say(f"{out}: {recipe.method}, k = {k}, by {path}; verdict {level}")
            if state:
                say_series(con)
            trimmed = bool(recipe.source.get("trim"))
            if left := warning_of_blanks(con, "write trim = true into [source]", trimmed):
                console.warn(left)
            say_manifest(output.manifest, made)

    on_database("release", call.progress, make)
