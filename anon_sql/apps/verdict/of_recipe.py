"""Judge the release of a recipe, and make it in Python unless the verdict is red or open."""

import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps import manifest
from anon_sql.apps.verdict.figures import audit_statement, measure, rows_of
from anon_sql.apps.verdict.rules import RED, Verdict, stricter, verdict
from anon_sql.core.names import literal, quote
from anon_sql.core.parameters import takes
from anon_sql.core.running import Progress
from anon_sql.errors import AnonError
from anon_sql.hosts import recipes
from anon_sql.hosts.duckdb.register import register
from anon_sql.hosts.recipes import Recipe

HIERARCHY = "hierarchy"
_HOME = "__anon_recipes"  # a database in memory: cursors of a connection share no temporary table


def requested(recipe: Recipe) -> dict[str, Any]:
    """Return what an audit of the release asks for: roles, levels and hierarchy."""
    known = takes(recipe.method)
    asked = {name: known[name].default for name in manifest.REQUIRED if name in known}
    asked |= {n: recipe.parameters[n] for n in manifest.REQUIRED if n in recipe.parameters}
    if recipe.series:  # which takes no model, and does not say whose a row is
        asked["t"] = None
    trees = HIERARCHY if recipe.hierarchies else None
    return {
        **dict.fromkeys(manifest.REQUIRED),
        **asked,
        **recipe.roles,
        "hierarchy": trees,
        manifest.UNIQUE: recipe.parameters.get(manifest.UNIQUE, 0),
    }


def judged(
    recipe: Recipe, con: duckdb.DuckDBPyConnection, function: str, request: Mapping[str, Any]
) -> Verdict:
    """Return the verdict on ``released``, after an audit."""
    with Progress(function, 5) as progress:

        def step(note: str) -> None:
            progress.note = note
            progress.advance(1)

        progress.note = "audit"
        progress.advance(0)
        measured = measure(con, request, rows_of(con, audit_statement(request)), step)
    return verdict(measured, **judging(recipe, function))


def judging(recipe: Recipe, function: str) -> dict[str, Any]:
    """Return what ``verdict`` takes from a recipe."""
    return {
        "accepted": recipe.accepted,
        "limits": stricter(function, recipe.stricter),
        "audience": recipe.audience,
        "confirmed": recipe.confirmed,
    }


def recipe(con: duckdb.DuckDBPyConnection, path: str | Path) -> duckdb.DuckDBPyRelation:
    """Return the release that a recipe describes, after the verdict on it.

    con: a connection with the functions; path: of the TOML file. The rows are those that were
    judged; they stay in memory as long as the database is open. Raises AnonError if the verdict is
    red, or amber and a rule lacks its sentence.
    """
    found = recipes.read("recipe", Path(path))
    table = f"{_HOME}.main.{quote(secrets.token_hex(8))}"
    with con.cursor() as judge:
        register(judge)
        judge.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {_HOME} (READ_WRITE)")
        try:
            judge.execute(f"CREATE TABLE {table} AS FROM anonymize_recipe({literal(str(path))})")
            judge.execute(f"CREATE TEMP VIEW released AS FROM {table}")
            source = literal(recipes.relation(found))
            judge.execute(f"CREATE TEMP TABLE raw AS FROM query_table({source})")
            if found.hierarchies:
                trees = [str(each) for each in found.hierarchies.values()]
                judge.execute(f"CREATE TEMP TABLE {HIERARCHY} AS FROM read_hierarchies(?)", [trees])
            require_signable("recipe", judged(found, judge, "recipe", requested(found)))
        except BaseException:
            with suppress(duckdb.Error):
                judge.execute(f"DROP TABLE IF EXISTS {table}")
            raise
    return con.sql(f"FROM {table}")


def require_signable(function: str, found: Verdict) -> None:
    """Raise AnonError if a verdict is red, or amber and a rule lacks its sentence."""
    if found.level == RED:
        why = [each for each in found.reasons if each.level == RED]
        rule = "a release whose verdict is red must not be made"
        raise AnonError(function, rule, _rules(why), why[0].text)
    if found.open:
        rule = "[accepted] must have a sentence for each amber rule of the verdict"
        why = [each for each in found.reasons if each.rule == found.open[0]]
        raise AnonError(function, rule, f"none for {', '.join(found.open)}", why[0].text)


def _rules(reasons: Any) -> str:
    return ", ".join(dict.fromkeys(each.rule for each in reasons))
