"""``anon-sql roles``: suggest the roles of a file's columns, as a table, as SQL or for dbt."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote as quoted
from typing import Annotated, Any

import duckdb
import typer

import anon_sql
from anon_sql.apps import files
from anon_sql.apps.cli import console, options
from anon_sql.apps.cli.console import stoppable
from anon_sql.apps.cli.linked_roles import write_recipe
from anon_sql.apps.cli.progress import Progress, showing
from anon_sql.apps.csv import notations
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.apps.csv.notations import Declared, as_options
from anon_sql.apps.verdict.of_recipe import try_first
from anon_sql.apps.verdict.rules import FLOORS, RED, VERDICT
from anon_sql.core.names import literal, quote, split
from anon_sql.core.roles import ROLES, fold, tagged
from anon_sql.errors import AnonError, listed
from anon_sql.hosts import recipes
from anon_sql.hosts.duckdb.roles import comments_on
from anon_sql.hosts.files import atomic_file, digest
from anon_sql.suggest.roles import BLANKS

NAME = "roles"
_NAMED = 3  # columns that a line names
HEADER = ("column", "type", "role", "distinct", "NULL", "unique", "adds", "reason")


@options.with_dialect
def roles(
    source: Annotated[Path, typer.Argument(metavar="FILE", help=options.TABLE_FILE)],
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
                raise AnonError(NAME, rule, "another option" if others else "none")
            _check_recipe(recipe, overwrite, False)
            for line in write_recipe(source, recipe, root, link or [], leave_out or []):
                console.say(line)
            return
        if link or leave_out:
            raise AnonError(NAME, "--link and --leave-out must come with --root", "none")
        files.check_source(NAME, "FILE", source)
        if sql and dbt:
            raise AnonError(NAME, "one format must be chosen", "--sql and --dbt")
        if recipe is not None:
            _check_recipe(recipe, overwrite, sql or dbt)
        if table is not None and not (sql or dbt):
            raise AnonError(NAME, "--table must come with --sql or --dbt", "neither")
        names = split(table) if table is not None else [_stem(source)]
        if not all(names):
            raise AnonError(NAME, "--table must name a table", "an empty name")

        def suggest(con: duckdb.DuckDBPyConnection) -> None:
            files.read(con, source, "raw", dialect=written_as, called=(NAME, "FILE"))
            reading, noted = _reading(con, source, written_as, again=recipe is not None)
            found = suggestions(con, NAME)
            if recipe is not None:
                lines = _write_recipe(con, source, recipe, found, reading)
                for line in noted:
                    console.say(line)
            elif sql:
                lines = _comments(found, names)
            elif dbt:
                lines = _schema(found, names[-1])
            else:
                console.show_lines(HEADER, map(_row, found))
                proposed = reading.notations[len(written_as.notations) :]
                markers = reading.nulls[len(written_as.nulls) :]
                pairs = (*(("--null", text) for text in markers), *as_options(proposed))
                said = " ".join(f"{option} {quoted(value)}" for option, value in pairs)
                with_blanks = any(BLANKS in each["reason"] for each in found)
                lines = iter(
                    ["These are suggestions: check each one before you declare it."]
                    + [f"To read numbers and dates as such, pass {said}"] * bool(said)
                    + ["--trim removes the blanks around values."] * with_blanks
                )
            for line in lines:  # names are printed as they are, but cannot drive a terminal
                typer.echo(console.visible(line) if sys.stdout.isatty() else line)

        with anon_sql.connect() as con:
            stoppable(con, showing(NAME, progress, partial(suggest, con)))


def suggestions(
    con: duckdb.DuckDBPyConnection, function: str, relation: str = "raw"
) -> list[dict[str, Any]]:
    """Return the rows of ``suggest_roles``, with the role of each column that declares one.

    relation: the rows that are looked at; the comments are those of ``raw``. ``comment`` is the
    text that declares a role, None without one. Raises AnonError for a comment that is not clear.
    """
    query = f"FROM suggest_roles({literal(relation)})"
    found: list[dict[str, Any]] = con.sql(query).to_arrow_table().to_pylist()
    comments = comments_on(con, "raw")
    declared = tagged(function, [each["column_name"] for each in found], comments)
    for each in found:
        role, each["comment"] = declared.get(each["column_name"]), None
        if role is not None:
            each["comment"] = comments[fold(each["column_name"])]
            each |= {"role": role, "reason": f"declared: the comment says anon:{role}"}
    _generalize_rare(con, relation, found)
    return found


def _generalize_rare(
    con: duckdb.DuckDBPyConnection, relation: str, found: Sequence[dict[str, Any]]
) -> None:
    """Make kept columns quasi-identifiers, one by one, until few rows have rare values of them.

    Values are rare if fewer rows or people than the least k have them, as in the rule ``kept``.
    """
    least = FLOORS["contract"]
    entity = next((each["column_name"] for each in found if each["entity"]), None)
    counted = "count(*)" if entity is None else f"count(DISTINCT {quote(entity)})"

    def rare(names: Sequence[str]) -> float:
        by = ", ".join(map(quote, names))
        of = f"FROM {quote(relation)} GROUP BY {by}"
        ((few, rows),) = con.execute(
            f"SELECT sum(n) FILTER (people < {least}), sum(n) "
            f"FROM (SELECT count(*) AS n, {counted} AS people {of})"
        ).fetchall()
        return (few or 0) / rows if rows else 0.0

    kept = {each["column_name"]: each for each in found if each["role"] == "keep"}
    while len(kept) > 1 and rare(list(kept)) >= (VERDICT["rare"].amber or 0):
        free = [name for name, each in kept.items() if each["comment"] is None]
        if not free:
            return
        without = {name: rare([other for other in kept if other != name]) for name in free}
        name = min(free, key=lambda each: without[each])
        row = kept.pop(name)
        row |= {
            "role": "quasi",
            "reason": f"few rows have its value with those of {listed([*kept])}",
        }


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


def _reading(
    con: duckdb.DuckDBPyConnection, source: Path, written_as: Dialect, *, again: bool
) -> tuple[Dialect, list[str]]:
    """Return how a file is to be read, and lines that say so.

    again: whether ``raw`` is read so, and texts without blanks around them.
    """
    markers = _markers(con, source)
    reading = replace(written_as, nulls=(*written_as.nulls, *markers))
    if markers:
        _read_again(con, source, reading)
    proposed = _proposed(con, source, written_as)
    if markers and not again:
        _read_again(con, source, written_as)
    full = replace(reading, notations=(*reading.notations, *proposed))
    merged = files.blanks(con, "raw", con.table("raw").columns)[1] if again else []
    if merged:  # trimmed texts are fewer values, which also decide roles
        full = replace(full, trim=True)
    if again and full != reading:
        _read_again(con, source, full)
    noted = []
    for text, names in markers.items():
        some = listed(names[:_NAMED]) + f" and {len(names) - _NAMED} more" * (len(names) > _NAMED)
        noted.append(
            f'null = ["{text}"] in [source] reads it as missing in every column, because the other '
            f"values of {some} are numbers or dates"
        )
    if merged:
        noted.append(
            f"trim = true in [source] removes the blanks around values of {listed(merged)}, some "
            "of which differ in blanks alone"
        )
    return full, noted


def _read_again(con: duckdb.DuckDBPyConnection, source: Path, dialect: Dialect) -> None:
    """Make ``raw`` again, by another dialect."""
    con.execute(f"DROP {'VIEW' if files.in_database(source) else 'TABLE'} raw")
    files.read(con, source, "raw", dialect=dialect, called=(NAME, "FILE"))


def _markers(con: duckdb.DuckDBPyConnection, source: Path) -> dict[str, list[str]]:
    """Return the markers of missing values in a CSV file, with the columns that they hide."""
    if files.in_database(source) or files.kind(source, NAME)[0] != "csv":
        return {}
    return notations.missing(con, "raw")


def _proposed(con: duckdb.DuckDBPyConnection, source: Path, written_as: Dialect) -> Declared:
    """Return the notations of columns of a CSV file that none is declared for."""
    if files.in_database(source) or files.kind(source, NAME)[0] != "csv":
        return ()
    in_file = {name for name, column, _ in written_as.notations if column is None}
    in_file |= {*notations.SIGNS} if in_file & {*notations.SIGNS} else set()
    return tuple(each for each in notations.proposed(con, "raw") if each[0] not in in_file)


def _write_recipe(
    con: duckdb.DuckDBPyConnection,
    source: Path,
    path: Path,
    found: Sequence[dict[str, Any]],
    written_as: Dialect,
) -> Iterator[str]:
    """Write a first recipe and return lines that say so."""
    tables = first_recipe(con, source, path.absolute().parent, found, written_as)
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
    yield f"next: anon-sql release {path} OUT"


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
    found = tried.verdict
    rules = listed(list(dict.fromkeys(each.rule for each in found.reasons)))
    said = f"{found.level}{f' ({rules})' if rules else ''}"
    lines.append(f"{path}: {tried.where} were released to try it; the verdict was {said}")
    reds = [each for each in found.reasons if each.level == RED]
    return lines + [f"{each.level} {each.rule}: {each.sentence}" for each in reds]


def first_recipe(
    con: duckdb.DuckDBPyConnection,
    source: Path,
    folder: Path,
    found: Sequence[dict[str, Any]],
    written_as: Dialect,
) -> dict[str, Any]:
    """Return the tables of a first recipe of the relation ``raw``.

    folder: of the recipe. found: what ``suggestions`` returns.
    """
    raw = con.table("raw")
    types = dict(zip(raw.columns, map(str, raw.types), strict=True))
    file, table = files.in_database(source) or (source, None)
    relative = os.path.relpath(file.absolute(), folder)
    schema = {"schema_sha256": recipes.schema_sha256(types)}
    trim = {"trim": True} if written_as.trim else {}
    stated = (
        {"file": relative, **schema, "sha256": digest(source), **as_written(written_as)}
        if table is None
        else {"database": relative, "table": table, **schema, **trim}
    )
    by_role = {
        role: [each["column_name"] for each in found if each["role"] == role] for role in ROLES
    }
    release = {"method": "anonymize", "k": 5, **disclosed(by_role)}
    if (entity := next((n["column_name"] for n in found if n["entity"]), None)) is not None:
        release["entity"] = entity
    return {
        "source": stated,
        "release": {**release, "effort": "good", "seed": 42},
        "roles": by_role,
        "statement": {"purpose": "", "recipient": "", "assumptions": [], "audience": "contract"},
        "made": {"anon_sql": anon_sql.__version__, "duckdb": duckdb.__version__},
    }


def disclosed(roles: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a first recipe asks of the sensitive columns. roles: columns by role."""
    return {"l": 2, "t": 0.5} if roles.get("sensitive") else {"l": 1}


def as_written(dialect: Dialect) -> dict[str, Any]:
    """Return how a CSV file is written, as far as that is not the default."""
    default = Dialect()
    names = ("delimiter", "quote", "header", "encoding", "trim")
    said = {name: getattr(dialect, name) for name in names}
    changed = {name: value for name, value in said.items() if value != getattr(default, name)}
    nulls = [text for text in dialect.nulls if text]
    written = notations.as_recipe(dialect.notations)
    return {**changed, **({"null": nulls} if nulls else {}), **written}


def _stem(path: Path) -> str:
    """Return the name of a file without the extension of its format."""
    stored = files.in_database(path)
    if stored is not None:
        return split(stored[1])[-1]
    return path.name[: -len(files.kind(path, NAME)[1])] or path.name


def _row(found: dict[str, Any]) -> list[str]:
    """Return the cells of a column, as in ``HEADER``."""
    shares = (found[name] for name in ("null_share", "unique_share", "adds_share"))
    return [
        *(found[name] for name in ("column_name", "column_type", "role")),
        f"{found['distinct_values']:,}",
        *("" if share is None else f"{share:.1%}" for share in shares),
        found["reason"] + (f"; repeats {found['repeats']}" if found["repeats"] else ""),
    ]


def _comments(found: Sequence[dict[str, Any]], names: Sequence[str]) -> Iterator[str]:
    """Return a COMMENT statement for each column."""
    relation = ".".join(map(quote, names))
    for each in found:
        column = f"{relation}.{quote(each['column_name'])}"
        text = each["comment"] or f"anon:{each['role']}"
        yield f"COMMENT ON COLUMN {column} IS {literal(text)};"


def _schema(found: Sequence[dict[str, Any]], model: str) -> Iterator[str]:
    """Return the lines of a schema.yml; a text of JSON is also one of YAML."""
    yield from ("version: 2", "", "models:", f"  - name: {_yaml(model)}", "    columns:")
    for each in found:
        yield f"      - name: {_yaml(each['column_name'])}"
        said = each["reason"] if each["comment"] else f"Suggested: {each['reason']}"
        yield f"        description: {_yaml(f'{said[0].upper()}{said[1:]}.')}"
        yield f"        meta: {{anon: {each['role']}}}"


def _yaml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
