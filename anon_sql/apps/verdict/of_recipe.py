"""Judge the release of a recipe, and make it in Python unless the verdict is red or open."""

import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps import files, manifest
from anon_sql.apps.csv import notations
from anon_sql.apps.csv.dialect import UTF_8, Dialect, dialect
from anon_sql.apps.formats import missing_codes
from anon_sql.apps.verdict.criteria import CONTROL, gains_of, require_others, with_gains
from anon_sql.apps.verdict.figures import arguments, audit_of_made, measure
from anon_sql.apps.verdict.remedies import first, remedied
from anon_sql.apps.verdict.rules import RED, Verdict, stricter, verdict
from anon_sql.apps.verdict.trials import NotCopied, copy, trials
from anon_sql.core import stopping
from anon_sql.core.common_parameters import UNIT
from anon_sql.core.names import literal, quote, split
from anon_sql.core.parameters import takes
from anon_sql.core.running import Progress
from anon_sql.errors import AnonError, Parameter
from anon_sql.hosts import recipe_source, recipes
from anon_sql.hosts.duckdb.errors import as_raised
from anon_sql.hosts.duckdb.interrupting import interrupt, owner_of
from anon_sql.hosts.duckdb.register import register
from anon_sql.hosts.duckdb.roles import carry_comments
from anon_sql.hosts.kept import columns_besides, unique_on_kept, warn
from anon_sql.hosts.recipes import Recipe
from anon_sql.hosts.series_file import naming, of_recipe
from anon_sql.hosts.statements import require_review_ahead
from anon_sql.measures.uniqueness import UNIQUE_SHARE

HIERARCHY = "hierarchy"
_HOME = "__anon_recipes"  # a database in memory: cursors of a connection share no temporary table


def requested(recipe: Recipe) -> dict[str, Any]:
    """Return what an audit of the release asks for: roles, levels and hierarchy."""
    method_parameters = takes(recipe.method)
    levels = {
        name: method_parameters[name].default
        for name in manifest.REQUIRED
        if name in method_parameters
    }
    levels |= {n: recipe.parameters[n] for n in manifest.REQUIRED if n in recipe.parameters}
    if recipe.series:  # which takes no model, and does not say whose a row is
        levels["t"] = None
    trees = HIERARCHY if recipe.hierarchies else None
    return {
        **dict.fromkeys(manifest.REQUIRED),
        **levels,
        **recipe.roles,
        "hierarchy": trees,
        manifest.UNIQUE: recipe.parameters.get(manifest.UNIQUE, 0),
        UNIT: recipe.parameters.get(UNIT),
    }


def judged(
    recipe: Recipe, con: duckdb.DuckDBPyConnection, function: str, request: Mapping[str, Any]
) -> Verdict:
    """Return the verdict on ``released``, after an audit and trials of what lifts its rules."""
    with Progress(function, 5) as progress:

        def step(note: str) -> None:
            stopping.check(function)
            progress.note = note
            progress.advance(1)

        progress.show("audit")
        checks = audit_of_made(con, request)
        measured = measure(con, request, checks, step, form=recipe.parameters.get("format"))
        if recipe.control is not None:
            require_others(function, con, request)
            measured = with_gains(measured, gains_of(con, request, control=True))
        options = judging(recipe, function)
        of = {**recipe.parameters, **request}
        return remedied(
            con, recipe.method, of, verdict(measured, **options), options, progress.show
        )


@dataclass(frozen=True)
class First:
    """What trials of a first recipe gave.

    t: that it begins with. why: in words, if it is not the one that was asked for. verdict: None if
    no release can be made, as refused says. where: on how many rows, in words.
    """

    t: float | None
    why: str
    verdict: Verdict | None
    refused: AnonError | None
    where: str


def try_first(con: duckdb.DuckDBPyConnection, function: str, recipe: Recipe) -> First | None:
    """Return the t that a first recipe of ``raw`` begins with, and its verdict.

    None without rows, and for types that no trial can copy.
    """
    request = {**recipe.parameters, **requested(recipe)}
    if not request["quasi"] or not con.sql("SELECT 1 FROM raw LIMIT 1").fetchall():
        return None
    t, judgment, refused = request["t"], None, None
    with Progress(function, 1) as progress:
        progress.show("trying the recipe")
        judged_by = {"environment": recipe.environment}
        try:
            with trials(con, recipe.method, request, judged_by) as few:
                t, judgment = first(few)
                refused = next(iter(few.refused.values()), None)
        except NotCopied:
            return None
    why = ""
    if judgment is not None and t != request["t"]:
        why = f"with t = {request['t']:g}, groups disclosed too much in {few.where}"
    return First(t, why, judgment, refused, few.where)


def judging(recipe: Recipe, function: str) -> dict[str, Any]:
    """Return what ``verdict`` takes from a recipe."""
    return {
        "accepted": recipe.accepted,
        "limits": stricter(function, recipe.stricter),
        "environment": recipe.environment,
        "confirmed": recipe.confirmed,
    }


def recipe(con: duckdb.DuckDBPyConnection, path: str | Path) -> duckdb.DuckDBPyRelation:
    """Return the release that a recipe describes, after the verdict on it.

    con: a connection with the functions; path: of the TOML file. The rows are those that were
    judged; they stay in memory as long as the database is open. Of a series, the next state is
    written as soon as they are there. ``interrupt(con)`` stops it. Warns of rows that are unique on
    the kept columns, as release functions do, although a sentence accepts them. Raises AnonError,
    and leaves the state as it was, if the verdict is red, or amber and a rule lacks its sentence.
    """
    recipe = recipes.read_recipe("recipe", Path(path))
    require_review_ahead("recipe", recipe.statement)
    if others := [name for name in ("parts", "part_rows") if name in recipe.parameters]:
        rule = "a release of anon_sql.recipe must not be made in parts"
        raise AnonError("recipe", rule, others[0], "anon-sql release makes it")
    state = of_recipe(recipe)
    if state:
        state.recover()
    table = f"{_HOME}.main.{quote(secrets.token_hex(8))}"
    with (
        stopping.call(*owner_of(con), encloses=True),
        con.cursor() as judge,
        stopping.reaching(lambda: interrupt(judge)),
    ):
        register(judge)
        judge.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {_HOME} (READ_WRITE)")
        try:
            _load(judge, recipe)
            call = _call(recipe)
            if state:
                state.release(judge, recipe.method, call)
                judge.execute(f"CREATE TABLE {table} AS FROM released")
            else:
                with as_raised():
                    made = f"{recipe.method}('raw'{arguments(call)})"
                    judge.execute(f"CREATE TABLE {table} AS FROM {made}")
                stopping.check("recipe")
                judge.execute(f"CREATE TEMP VIEW released AS FROM {table}")
            request = requested(recipe) | naming(state)
            require_signable("recipe", judged(recipe, judge, "recipe", request))
            sentence = _of_kept(judge, recipe, call["k"])
            if state:
                state.save(judge)
        except BaseException:
            with suppress(duckdb.Error):
                judge.execute(f"DROP TABLE IF EXISTS {table}")
            raise
        finally:
            if state:
                state.detach(judge)
    warn("recipe", sentence)
    return con.sql(f"FROM {table}")


def dialect_of(function: str, recipe: Recipe) -> Dialect:
    """Return how the source is written, if it is a file that has to be told."""
    source = recipe.source
    csv_dialect = dialect(
        function,
        source.get("delimiter"),
        source.get("quote", '"'),
        source.get("header"),
        list(source.get("null", [])),
        source.get("encoding", UTF_8),
        notations.of_recipe(function, source),
        source.get("trim", False),
    )
    return replace(
        csv_dialect,
        sheet=source.get("sheet"),
        first_row=_first_row(function, source.get("first_row", 1)),
        missing=missing_codes.of_recipe(function, source.get("missing", {})),
        as_codes=tuple(map(str, source.get("as_codes", ()))),
        variable_labels=source.get("variable_labels", False),
        without_total_row=source.get("without_total_row", False),
    )


def read_control(con: duckdb.DuckDBPyConnection, function: str, recipe: Recipe) -> None:
    """Make ``control`` from the people that a recipe names who are not in its source, if any.

    It is not read twice.
    """
    there = "SELECT 1 FROM information_schema.tables WHERE table_name = ?"
    if recipe.control is not None and not con.execute(there, [CONTROL]).fetchall():
        called = (function, "the control of the recipe")
        files.check_source(*called, recipe.control)
        files.read_source(
            con, recipe.control, CONTROL, dialect=dialect_of(function, recipe), called=called
        )


def _first_row(function: str, number: int) -> int:
    if number < 1:
        rule = "first_row in [source] must be at least 1"
        raise AnonError(function, rule, f"{number}")
    return number


def _load(con: duckdb.DuckDBPyConnection, recipe: Recipe) -> None:
    """Make ``raw`` and the hierarchies of a recipe."""
    recipe_source.require_content("recipe", recipe)
    if recipe.table is None and (
        files.kind(recipe.file, "recipe")[0] != "parquet" or _is_read(recipe)
    ):
        with duckdb.connect() as reader, stopping.reaching(lambda: interrupt(reader)):
            register(reader)
            called = ("recipe", "the source of the recipe")
            files.read_source(
                reader, recipe.file, "raw", dialect=dialect_of("recipe", recipe), called=called
            )
            copy(reader.table("raw"), con, "raw", "TEMP TABLE")
    else:
        source = literal(recipe_source.relation(recipe))
        con.execute(f"CREATE TEMP TABLE raw AS FROM query_table({source})")
    if recipe.control is not None:
        with duckdb.connect() as reader, stopping.reaching(lambda: interrupt(reader)):
            register(reader)
            read_control(reader, "recipe", recipe)
            copy(reader.table(CONTROL), con, CONTROL, "TEMP TABLE")
    if recipe.table is not None:
        carry_comments(con, "recipe", (recipe.file.stem, *split(recipe.table)), "raw")
    raw = con.table("raw")
    types = dict(zip(raw.columns, map(str, raw.types), strict=True))
    recipe_source.require_schema("recipe", recipe, types)
    if recipe.hierarchies:
        trees = [str(each) for each in recipe.hierarchies.values()]
        con.execute(f"CREATE TEMP TABLE {HIERARCHY} AS FROM read_hierarchies(?)", [trees])


def _is_read(recipe: Recipe) -> bool:
    """Return whether the source is read in a way that the recipe says."""
    return any(name in recipe.source for name in recipes.READING)


def _call(recipe: Recipe) -> dict[str, Any]:
    """Return the parameters of the method of a recipe, without its table."""
    method_parameters = takes(recipe.method)
    call = {"k": method_parameters["k"].default} | {
        n: v for n, v in recipe.parameters.items() if n in method_parameters
    }
    trees = HIERARCHY if recipe.hierarchies else None
    roles = {role: names for role, names in recipe.roles.items() if names}
    return {**call, **roles, "hierarchy": trees}


def _of_kept(con: duckdb.DuckDBPyConnection, recipe: Recipe, k: int) -> str | None:
    """Return a sentence about the rows of ``released`` that its kept columns single out."""
    labelled = [*recipe.roles["quasi"], *recipe.roles["sensitive"]]
    kept = columns_besides(con, "FROM released", labelled)
    return unique_on_kept(con, "FROM released", kept, UNIQUE_SHARE, k)


def require_signable(function: str, judgment: Verdict) -> None:
    """Raise AnonError if a verdict is red, or amber and a rule lacks its sentence."""
    if judgment.level == RED:
        why = [each for each in judgment.reasons if each.level == RED]
        refused = f"not released, because the verdict is red ({_rules(why)})"
        raise AnonError(function, f"{refused}. {why[0].sentence}")
    if judgment.open:
        refused = f"not released, because [accepted] has no sentence for {', '.join(judgment.open)}"
        why = [each for each in judgment.reasons if each.rule == judgment.open[0]]
        raise AnonError(function, f"{refused}. {why[0].sentence}")


STATED = ("purpose", "recipient")  # what a release must have in words before it is signed


def stated(statement: Mapping[str, Any]) -> bool:
    """Return whether a release has a purpose and a recipient, in words."""
    return all(_in_words(statement, name) for name in STATED)


def require_stated(function: str, statement: Mapping[str, Any]) -> None:
    """Raise AnonError for a release that cannot be signed: it lacks its purpose or recipient."""
    for name in STATED:
        if not _in_words(statement, name):
            rule = Parameter(name) + " must be stated before a release is signed"
            raise AnonError(function, rule, None, "write one or two sentences")


def _in_words(statement: Mapping[str, Any], name: str) -> bool:
    return any(letter.isalnum() for letter in str(statement.get(name) or ""))


def _rules(reasons: Any) -> str:
    return ", ".join(dict.fromkeys(each.rule for each in reasons))
