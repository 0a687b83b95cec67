"""``anon-sql release``: a file in, its release out, with a manifest if asked."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import duckdb
import typer

import anon_sql
from anon_sql import console, files, manifest
from anon_sql.commands import arguments
from anon_sql.commands.arguments import Columns
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.relation import quote
from anon_sql.roles import fold


class Format(StrEnum):
    """How a release writes a generalized value."""

    LABEL = "label"
    TYPED = "typed"


class Suppressed(StrEnum):
    """What becomes of suppressed rows."""

    KEEP = "keep"
    DROP = "drop"


def release(
    source: Annotated[Path, typer.Argument(metavar="IN", help="CSV, TSV or Parquet file.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="File to write, likewise.")],
    quasi: Annotated[Columns, typer.Option(help="Columns to generalize: age,sex")],
    method: Annotated[str, typer.Option(help="Release function.")] = "anonymize",
    k: Annotated[int, typer.Option("--k", help="Smallest class, in rows.")] = 5,
    l: arguments.L = None,  # noqa: E741
    l_kind: arguments.Kind = None,
    c: arguments.C = None,
    t: arguments.T = None,
    entity: arguments.Entity = None,
    sensitive: arguments.Sensitive = [],  # noqa: B006
    identifier: arguments.Identifier = [],  # noqa: B006
    keep: arguments.Keep = [],  # noqa: B006
    hierarchy: arguments.Hierarchy = None,
    format_: Annotated[
        Format, typer.Option("--format", help="Text labels, or typed ranges and lists.")
    ] = Format.LABEL,
    suppressed: Annotated[Suppressed, typer.Option(help="Suppressed rows.")] = Suppressed.KEEP,
    seed: Annotated[int, typer.Option(help="All randomness.")] = 42,
    with_manifest: Annotated[
        bool, typer.Option("--manifest", help=f"Write OUT{manifest.ENDING}, which verify checks.")
    ] = False,
    overwrite: arguments.Overwrite = False,
) -> None:
    """Release a file: read IN, generalize it, write OUT.

    IN and OUT end in .csv, .tsv, .csv.gz, .tsv.gz or .parquet. Separate columns with commas or
    repeat the option. A column without a role is kept as it is.

    Example: anon-sql release people.csv safe.csv --k 10 --quasi age,sex --sensitive income
    """
    with console.one_sentence():
        if format_ is Format.TYPED and files.kind(target)[0] == "csv":
            hint = "name it .parquet"
            raise AnonError("release", "OUT must be Parquet for --format typed", "CSV", hint)
        files.kind(target)
        files.check_pair(source, target, overwrite)
        if with_manifest and not overwrite and manifest.beside(target).exists():
            got = f"'{manifest.beside(target)}', which exists"
            raise AnonError(
                "release", "the manifest must be a new file", got, "--overwrite replaces it"
            )
        given = (arguments.names(columns) for columns in (quasi, sensitive, identifier, keep))
        roles = dict(zip(manifest.ROLES, given, strict=True))
        options = {"format": format_.value}
        asked = {"k": k, "l": l, "l_kind": l_kind and l_kind.value, "c": c, "t": t}
        asked = {**asked, "entity": entity, "suppressed": suppressed.value, "seed": seed}
        promised = {name: value for name, value in asked.items() if value is not None}
        with anon_sql.connect() as con:
            method = _release_method(con, method)
            files.read(con, source, "raw")
            trees = arguments.read_hierarchy(con, "release", hierarchy, "hierarchy")
            call: dict[str, Any] = {**promised, **roles, **options, "hierarchy": trees}
            listed = ", ".join(f"{name} := ${name}" for name in call)
            con.execute(f"CREATE TABLE released AS FROM {quote(method)}('raw', {listed})", call)
            measured = arguments.measured(
                con,
                "FROM utility('raw', 'released', k := ?, qids := ?, hierarchy := ?)",
                [k, roles["qids"], trees],
            )
            rest = _without_role(con, roles)
            files.write(con, "released", target)
            console.say(f"{target}: {method}, k = {k}, from {source}")
            if rest:
                console.say(f"kept as they are, for want of a role: {', '.join(rest)}")
            console.show_measures(measured)
            if with_manifest:
                files.read(con, target, "written", labels=True)
                parameters = {**promised, "options": options}
                made = manifest.make(con, ("raw", "written"), method, parameters, roles, trees)
                _say_manifest(manifest.write(made, target), made)


def _say_manifest(path: Path, made: Mapping[str, Any]) -> None:
    """Where the manifest is, and the checks in it that a verification will stumble over."""
    failed = [check["property"] for check in made["checks"] if check["passed"] is False]
    console.say(f"{path}: the manifest")
    if failed:
        console.say(f"checks that fail: {', '.join(failed)} (anon-sql report shows them)")


def _without_role(con: duckdb.DuckDBPyConnection, roles: Mapping[str, list[str]]) -> list[str]:
    with_role = {fold(name) for columns in roles.values() for name in columns}
    return [name for name in con.sql("FROM released").columns if fold(name) not in with_role]


def _release_method(con: duckdb.DuckDBPyConnection, method: str) -> str:
    """The release function of this name. Raises AnonError that lists them for any other."""
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
