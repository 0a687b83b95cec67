"""``anon-sql release IN OUT/ --root`` and ``verify``: tables that belong together, in a folder."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

import anon_sql
from anon_sql import system
from anon_sql.apps import files, manifest
from anon_sql.apps.cli import by_recipe, console
from anon_sql.apps.cli.console import stoppable
from anon_sql.apps.cli.linked_folder import read_folder
from anon_sql.apps.cli.options import ReleaseCall, read_hierarchy, refuse
from anon_sql.apps.linked_checks import (
    checked,
    figures,
    missing,
    tables_of,
)
from anon_sql.apps.recorded import Check, of_output
from anon_sql.apps.verdict.figures import Figure
from anon_sql.apps.verdict.linked import LINKED, judged_tables
from anon_sql.apps.verdict.linked_tables import LinkedTables
from anon_sql.apps.verdict.rules import Verdict, stricter
from anon_sql.core.names import quote
from anon_sql.core.parameters import read_group
from anon_sql.core.roles import PARAMETER
from anon_sql.errors import AnonError
from anon_sql.hosts import recipe_source
from anon_sql.hosts.duckdb.linked_folds import Folds, risk
from anon_sql.hosts.files import atomic_file
from anon_sql.hosts.linked import Staged, release_linked
from anon_sql.hosts.linked import schema_of as schema_in
from anon_sql.hosts.recipes import Recipe, is_recipe, read_recipe
from anon_sql.hosts.statements import require_review_ahead
from anon_sql.linked.schema import Schema
from anon_sql.privacy.k_anonymity import KAnonymity

_TREES = "hierarchy"
_ONE_TABLE = "tables that belong together take no such option"
DATABASES = (".duckdb", ".db", ".ddb")
_TAKEN = (
    "k",
    "l",
    "quasi",
    "sensitive",
    "identifiers",
    "keep",
    "exclude",
    "weights",
    "bin_width",
    "format",
    "seed",
    "effort",
    "key",
)


@contextmanager
def opened(function: str, name: str, source: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database file without changing it, or a folder with a file per table."""
    if source.is_dir():
        with anon_sql.connect() as con:
            read_folder(con, function, name, source)
            yield con
        return
    if source.suffix.lower() not in DATABASES:
        endings = ", ".join(DATABASES)
        rule = f"{name} must be a database file ({endings}) or a folder of files for --root"
        raise AnonError(function, rule, f"'{source.name}'")
    if not source.is_file():
        raise AnonError(function, f"{name} must be a file", f"'{source}'")
    with anon_sql.connect(str(source), read_only=True) as con:
        yield con


def release(call: ReleaseCall) -> None:
    """Release the tables that are linked with the root of a call."""
    refuse(_ONE_TABLE, call.of_one_table)
    linking = asdict(call.linked)
    release_root(
        call.source,
        call.out,
        linking.pop("root"),
        call.parameters,
        linking,
        call.statement.of_release(),
        with_manifest=call.with_manifest,
        overwrite=call.overwrite,
    )


def release_root(
    source: Path,
    out: str,
    root: str,
    parameters: Mapping[str, Any],
    linking: Mapping[str, Any],
    stated: Mapping[str, Any],
    *,
    with_manifest: bool,
    overwrite: bool,
    recipe: Recipe | None = None,
) -> None:
    """Release the tables that are linked with a root into a folder.

    parameters: of a release by name. linking: link, leave_out, surplus, orphans, and
    format_files. stated: what the release is for. recipe: that says all this, if one does.
    """
    if not system.ends_as_folder(out):
        raise AnonError("release", "OUT must be a folder that ends in '/' for --root", f"'{out}'")
    others = [name for name in parameters if name not in (*_TAKEN, "hierarchy")]
    if others:
        rule = f"--{others[0].replace('_', '-')} does not apply to tables that belong together"
        raise AnonError("release", rule, "it with --root", "leave it out")
    beside = manifest.beside(Path(out))
    if with_manifest and beside.exists() and not overwrite:
        got = f"'{beside}', which exists"
        raise AnonError(
            "release", "the manifest must be a new file", got, "--overwrite replaces it"
        )

    def make(con: duckdb.DuckDBPyConnection) -> None:
        schema = _schema(con, root, parameters, linking)
        folds = Folds(schema, "__anon_s_", lambda node: node.table.relation, added=False)
        k = read_group(KAnonymity, "release", {"k": parameters.get("k", 5)}).k
        before = con.execute(risk(schema, folds, k)).fetchall()
        if recipe is not None:
            recipe_source.require_linked_schema("release", recipe, schema)
        trees = _hierarchy(con, "release", parameters.get("hierarchy"), recipe)
        options = {name: value for name, value in parameters.items() if name != "hierarchy"}
        if float(options.get("l", 1)).is_integer():  # an option of all models, so a number
            options["l"] = int(options.get("l", 1))
        made = release_linked(
            con,
            root,
            into=out,
            overwrite=overwrite,
            hierarchy=trees,
            judge=None if recipe is None else partial(_judge, recipe, beside.name),
            **options,
            **_named(linking),
        )
        if with_manifest:
            described = {**made.manifest, "statement": dict(stated)}
            whole = manifest.with_output(described, Path(out))
            whole |= _recorded(con, schema, whole, Path(out), trees, made.checks)
            if recipe is not None:
                whole["recipe"] = {"sha256": recipe.sha256}
            with atomic_file(beside) as temporary:
                manifest.write_text(whole, temporary)
        console.say(f"{out}: {len(made.tables)} tables, k = {made.manifest['parameters']['k']}")
        console.show_lines(
            ("table", "rows", "unlinked", "left out", "gcp"),
            [
                (name, f"{t.rows:,}", f"{t.unlinked:,}", f"{t.left_out:,}", _figure(t.gcp))
                for name, t in made.tables.items()
            ],
        )
        console.say("unique persons before the release, by what is known of them:")
        console.show_lines(
            ("knowledge", "unique", "of"), [(r[0], f"{r[2]:,}", f"{r[1]:,}") for r in before]
        )
        if with_manifest:
            console.say(f"{beside}: the manifest")

    with opened("release", "IN", source) as con:
        stoppable(con, partial(make, con))


def _recorded(
    con: duckdb.DuckDBPyConnection,
    schema: Schema,
    written: Mapping[str, Any],
    folder: Path,
    trees: str | None,
    checks: list[dict[str, Any]],
) -> dict[str, Any]:
    """Return what a manifest records of the files that were written: checks, and loss by table.

    checks: the rows of the audit of the tables. Without their loss, checks are left out, which
    ``verify`` tells.
    """

    def raw(name: str) -> str:
        return schema.nodes[name].table.relation if name in schema.nodes else quote(name)

    try:
        tables_there = tables_of(con, written, folder, raw, trees)
        loss = {name: value for name, value, _ in figures(tables_there)}
    except AnonError as wrong:
        console.warn(f"the manifest records no checks: {wrong}")
        return {}
    tables = {
        name: {**table, "gcp": loss.get(f"gcp of {name}", table["gcp"])}
        for name, table in written["tables"].items()
    }
    return {"checks": [{n: row[n] for n in manifest.CHECK} for row in checks], "tables": tables}


def checks_of(
    written: Mapping[str, Any],
    folder: Path,
    raw: Path | None,
    hierarchy: Path | None = None,
    recipe: Recipe | None = None,
    *,
    function: str = "verify",
    called: str = "--raw",
) -> Iterator[Check]:
    """Yield what was checked of a folder.

    hierarchy, recipe: where the hierarchies are that the release was made with. function, called:
    the command and the name of raw in it. Raises AnonError if there is no folder, and if labels are
    to be compared without their hierarchies.
    """
    if not folder.is_dir():
        rule = "the released tables must be in a folder"
        raise AnonError(function, rule, f"'{folder}', which does not exist")
    if raw is not None:
        stated_trees = hierarchy if recipe is None else recipe.hierarchies
        hint = "pass --hierarchy" if recipe is None else "name it in the recipe"
        manifest.require_hierarchy(function, written, stated_trees, hint)
    same = list(of_output(written, folder))
    yield from same
    if not all(check.holds for check in same):
        return
    with ExitStack() as stack:
        if raw is None:
            con = stack.enter_context(anon_sql.connect())
            yield from checked(tables_of(con, written, folder, None, None))
            return
        con = stack.enter_context(opened(function, called, raw))
        gone = missing(con, written, quote)
        yield Check("the raw tables have the columns they had", not gone, ", ".join(gone))
        if not gone:
            trees = _hierarchy(con, function, hierarchy, recipe)
            yield from checked(tables_of(con, written, folder, quote, trees))


def release_by_recipe(call: ReleaseCall) -> None:
    """Release the tables that belong together by a recipe, with their manifest."""
    refuse(_ONE_TABLE, call.of_one_table)
    recipe = read_recipe("release", call.source, linked=True)
    recipe_source.require_content("release", recipe)
    require_review_ahead("release", recipe.statement)
    parameters = dict(recipe.parameters)
    linking = {"link": recipe.source.get("links"), "leave_out": recipe.source.get("leave_out")}
    of_linking = ("surplus", "orphans", "format_files")
    linking |= {name: parameters.pop(name) for name in of_linking if name in parameters}
    release_root(
        recipe.file,
        call.out,
        recipe.source["root"],
        {**parameters, **recipe.roles},
        linking,
        manifest.stated(recipe.statement),
        with_manifest=True,
        overwrite=call.overwrite,
        recipe=recipe,
    )


def _judge(recipe: Recipe, name: str, written: Mapping[str, Any], staged: Staged) -> None:
    """Print the verdict on what is about to be written. Raises typer.Exit if it is open."""
    k = written["parameters"]["k"]
    tables = LinkedTables(staged.con, staged.schema, staged.raw, staged.released, k)
    measured = list(tables.figures())
    judged_by = judging("release", recipe)
    by_recipe.say_verdict(judged_tables(written, name, measured_in=measured, **judged_by))


def judging(function: str, recipe: Recipe) -> dict[str, Any]:
    """Return what ``judged_tables`` takes from a recipe."""
    return {
        "accepted": recipe.accepted,
        "limits": stricter(function, recipe.stricter, LINKED),
        "environment": recipe.environment,
    }


def verdict_of(
    written: Mapping[str, Any],
    folder: Path,
    failed: Sequence[str],
    raw: Path,
    measured: Sequence[Figure],
) -> Verdict:
    """Return the verdict on the files of a folder.

    raw: their source, or a recipe that names it. measured: figures of the tables.
    """
    judged_by = judging("report", read_recipe("report", raw, linked=True)) if is_recipe(raw) else {}
    name = manifest.beside(folder).name
    return judged_tables(written, name, failed, measured_in=measured, **judged_by)


def _hierarchy(
    con: duckdb.DuckDBPyConnection,
    function: str,
    path: Path | None,
    recipe: Recipe | None,
) -> str | None:
    """Register the hierarchies, and return their relation; None without any.

    A database of their own reads them, because that of the raw tables is not written.
    """
    with anon_sql.connect() as readers:
        if recipe is not None and recipe.hierarchies:
            for file in recipe.hierarchies.values():
                files.check_source(function, "a hierarchy of the recipe", file)
            paths = [str(file) for file in recipe.hierarchies.values()]
            rows = readers.sql("FROM read_hierarchies(?)", params=[paths]).to_arrow_table()
        elif read_hierarchy(readers, function, path, _TREES):
            rows = readers.table(_TREES).to_arrow_table()
        else:
            return None
    con.register(_TREES, rows)
    return _TREES


def source_of(function: str, path: Path) -> Path:
    """Return the source of linked tables, which may be named by a recipe."""
    if not is_recipe(path):
        return path
    recipe = read_recipe(function, path, linked=True)
    recipe_source.require_content(function, recipe)
    return recipe.file


def _named(linking: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is linked as ``release_linked`` calls it."""
    return {"links" if name == "link" else name: value for name, value in linking.items()}


def _schema(
    con: duckdb.DuckDBPyConnection,
    root: str,
    parameters: Mapping[str, Any],
    linking: Mapping[str, Any],
) -> Schema:
    """Return the linked tables of a call."""
    named = _named(linking)
    return schema_in(
        con,
        "release",
        root,
        links=named.get("links"),
        leave_out=named.get("leave_out"),
        roles={name: parameters.get(name) for name in PARAMETER.values()},
    )


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
