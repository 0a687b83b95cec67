"""``anon-sql roles``: suggest the roles of a file's columns, as a table, as SQL or for dbt."""

import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import duckdb
import typer

import anon_sql
from anon_sql import system
from anon_sql.apps import files
from anon_sql.apps.cli import console, options, standard_input
from anon_sql.apps.cli.linked_roles import write_recipe
from anon_sql.apps.cli.progress import Progress, on_database
from anon_sql.apps.cli.suggestions import by_role, entity_of, reading, say_suggestions, suggestions
from anon_sql.apps.csv import notations
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.apps.verdict.of_recipe import try_first
from anon_sql.apps.verdict.rules import RED
from anon_sql.core.names import literal, quote, split
from anon_sql.errors import AnonError, listed
from anon_sql.hosts import recipe_source, recipes
from anon_sql.hosts.files import atomic_file, digest
from anon_sql.hosts.statements import BLANK

NAME = "roles"


@options.with_dialect
def roles(
    source: options.TableFile,
    sql: Annotated[bool, typer.Option("--sql", help="Print SQL COMMENT statements.")] = False,
    dbt: Annotated[bool, typer.Option("--dbt", help="Print a schema.yml for dbt.")] = False,
    table: Annotated[
        str | None,
        typer.Option(
            help="Name of the table or model in --sql or --dbt. Default: the file's name."
        ),
    ] = None,
    recipe: Annotated[
        Path | None, typer.Option(help="Recipe to write, .toml, with the suggested roles.")
    ] = None,
    root: Annotated[
        str | None,
        typer.Option(
            help="Table of persons: FILE is a database or a folder of tables that belong "
            "together. With --recipe."
        ),
    ] = None,
    link: Annotated[
        list[str] | None,
        typer.Option(help="With --root: a link that the database lacks, 'a.id -> b.id'."),
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(help="With --root: a linked table that is not released."),
    ] = None,
    *,
    written_as: Dialect,
    overwrite: options.Overwrite = False,
    progress: Progress = None,
) -> None:
    """Suggest a role for every column of a file. Nothing is changed.

    A role that a comment in a database declares is shown in place of a suggestion.
    "unique" is the share of rows that the column alone singles out. "adds" is
    the share that becomes unique only when it joins all other columns that are
    not identifiers. The statements of --sql replace comments on the columns.
    --recipe writes a file that release, report and verify read, with entity if
    people have several rows.

    Example: anon-sql roles people.csv --sql
    """
    with console.one_sentence():
        if root is not None:
            others = sql or dbt or table is not None or written_as != Dialect()
            if recipe is None or others:
                rule = "--root must come with --recipe alone"
                raise AnonError(NAME, rule, "another option" if others else None)
            _check_recipe(recipe, overwrite, False)
            for line in write_recipe(source, recipe, root, link or [], leave_out or []):
                console.say(line)
            return
        if link or leave_out:
            raise AnonError(NAME, "--link and --leave-out must come with --root")
        files.check_source(NAME, "FILE", source)
        if sql and dbt:
            raise AnonError(NAME, "one format must be chosen", "--sql and --dbt")
        if recipe is not None:
            standard_input.refuse(NAME, source, "--recipe")
            _check_recipe(recipe, overwrite, sql or dbt)
        if table is not None and not (sql or dbt):
            raise AnonError(NAME, "--table must come with --sql or --dbt", "neither")
        names = split(table) if table is not None else [_stem(source)]
        if not all(names):
            raise AnonError(NAME, "--table must name a table", "an empty name")

        def suggest(con: duckdb.DuckDBPyConnection) -> None:
            stated, detected = files.detected(source, written_as, (NAME, "FILE"))
            noticed = files.read_source(con, source, "raw", dialect=stated, called=(NAME, "FILE"))
            options.note_file(source, noticed, *detected)
            lines: Iterator[str] = iter(())
            if recipe is not None:
                proposed, noted = reading(con, source, stated, again=True)
                lines = _write_recipe(con, source, recipe, suggestions(con, NAME), proposed)
                for line in noted:
                    console.say(line)
            elif sql:
                lines = _comments(suggestions(con, NAME), names)
            elif dbt:
                lines = _schema(suggestions(con, NAME), names[-1])
            else:
                say_suggestions(con, source, stated, suggestions(con, NAME))
            for line in lines:  # names are printed as they are, but cannot drive a terminal
                typer.echo(console.visible(line) if sys.stdout.isatty() else line)

        on_database(NAME, progress, suggest)


def _check_recipe(path: Path, overwrite: bool, others: bool) -> None:
    """Raise AnonError for a recipe that must not be written."""
    if others:
        raise AnonError(NAME, "one format must be chosen", "--recipe and another")
    if not recipes.is_recipe(path):
        raise AnonError(NAME, "--recipe must end in .toml", f"'{path.name}'")
    if not path.parent.is_dir():
        raise AnonError(NAME, "--recipe must be in a directory that exists", f"'{path}'")
    if path.exists() and not overwrite:
        hint = "--overwrite replaces it"
        raise AnonError(NAME, "--recipe must be a new file", f"'{path}', which exists", hint)


def _write_recipe(
    con: duckdb.DuckDBPyConnection,
    source: Path,
    path: Path,
    suggested: Sequence[dict[str, Any]],
    written_as: Dialect,
) -> Iterator[str]:
    """Write a first recipe and return lines that say so."""
    tables = first_recipe(con, source, path.absolute().parent, suggested, written_as)
    tried = _tried(con, path, tables)
    with atomic_file(path) as temporary:
        recipes.write(temporary, **tables)
    yield f"{path}: a recipe with the suggested roles; read them, and set confirmed = true"
    if written_as.notations:
        columns = listed(list(dict.fromkeys(c or "the file" for _, c, _ in written_as.notations)))
        yield f"{path}: [source] says how numbers and dates are written in {columns}"
    if "entity" in tables["release"]:
        name = tables["release"]["entity"]
        yield f"{name} has several rows with one value, so the release protects its people (entity)"
    yield from tried
    yield f"next: {shlex.join(['anon-sql', 'release', str(path), 'OUT'])}"


def _tried(con: duckdb.DuckDBPyConnection, path: Path, tables: dict[str, Any]) -> list[str]:
    """Give a first recipe the t that a trial chooses, and return lines that say what it gave."""
    recipe = recipes.parse(NAME, path, {"recipe": recipes.FORM, **tables})
    tried = try_first(con, NAME, recipe)
    if tried is None:
        return []
    if tried.verdict is None:
        none = f"{path}: no release of {tried.where} can be made"
        return [] if tried.refused is None else [f"{none}: {tried.refused}"]
    lines = []
    if tried.why:
        tables["release"]["t"] = tried.t
        lines = [f"{path}: t = {tried.t:g}, because {tried.why}"]
    verdict = tried.verdict
    rules = listed(list(dict.fromkeys(each.rule for each in verdict.reasons)))
    level = f"{verdict.level}{f' ({rules})' if rules else ''}"
    lines.append(f"{path}: {tried.where} were released to try it; the verdict was {level}")
    reds = [each for each in verdict.reasons if each.level == RED]
    return lines + [f"{each.level} {each.rule}: {each.sentence}" for each in reds]


def first_recipe(
    con: duckdb.DuckDBPyConnection,
    source: Path,
    folder: Path,
    suggested: Sequence[dict[str, Any]],
    written_as: Dialect,
) -> dict[str, Any]:
    """Return the tables of a first recipe of the relation ``raw``.

    folder: of the recipe. found: what ``suggestions`` returns.
    """
    raw = con.table("raw")
    types = dict(zip(raw.columns, map(str, raw.types), strict=True))
    file, table = files.in_database(source) or (source, None)
    relative = system.relative(file.absolute(), folder)
    schema = {"schema_sha256": recipe_source.schema_sha256(types)}
    trim = {"trim": True} if written_as.trim else {}
    stated = (
        {"file": relative, **schema, "sha256": digest(source), **as_written(written_as)}
        if table is None
        else {"database": relative, "table": table, **schema, **trim}
    )
    roles_found = by_role(suggested)
    release = {"method": "anonymize", "k": 5, **disclosed(roles_found)}
    if (entity := entity_of(suggested)) is not None:
        release["entity"] = entity
    return {
        "source": stated,
        "release": {**release, "effort": "good", "seed": 42},
        "roles": roles_found,
        "statement": dict(BLANK),
        "made": {"anon_sql": anon_sql.__version__, "duckdb": duckdb.__version__},
    }


def disclosed(roles: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a first recipe asks of the sensitive columns. roles: columns by role."""
    return {"l": 2, "t": 0.5} if roles.get("sensitive") else {"l": 1}


def as_written(dialect: Dialect) -> dict[str, Any]:
    """Return how a file is written, as far as that is not the default."""
    default = Dialect()
    names = (
        *("delimiter", "quote", "header", "encoding", "trim"),
        *("sheet", "first_row", "variable_labels", "without_total_row"),
    )
    values = {name: getattr(dialect, name) for name in names}
    changed = {name: value for name, value in values.items() if value != getattr(default, name)}
    nulls = [text for text in dialect.nulls if text]
    written = notations.as_recipe(dialect.notations)
    missing = {name: list(codes) for name, codes in dialect.missing}
    listed_ = {"null": nulls, "missing": missing, "as_codes": list(dialect.as_codes)}
    return {**changed, **{name: values for name, values in listed_.items() if values}, **written}


def _stem(path: Path) -> str:
    """Return the name of a file without the extension of its format."""
    stored = files.in_database(path)
    if stored is not None:
        return split(stored[1])[-1]
    return path.name[: -len(files.kind(path, NAME)[1])] or path.name


def _comments(suggested: Sequence[dict[str, Any]], names: Sequence[str]) -> Iterator[str]:
    """Return a COMMENT statement for each column."""
    relation = ".".join(map(quote, names))
    for each in suggested:
        column = f"{relation}.{quote(each['column_name'])}"
        text = each["comment"] or f"anon:{each['role']}"
        yield f"COMMENT ON COLUMN {column} IS {literal(text)};"


def _schema(suggested: Sequence[dict[str, Any]], model: str) -> Iterator[str]:
    """Return the lines of a schema.yml; a text of JSON is also one of YAML."""
    yield from ("version: 2", "", "models:", f"  - name: {_yaml(model)}", "    columns:")
    for each in suggested:
        yield f"      - name: {_yaml(each['column_name'])}"
        description = each["reason"] if each["comment"] else f"Suggested: {each['reason']}"
        yield f"        description: {_yaml(f'{description[0].upper()}{description[1:]}.')}"
        yield f"        meta: {{anon: {each['role']}}}"


def _yaml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
