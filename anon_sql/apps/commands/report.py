"""``anon-sql report``: write a page on a release, or its facts as JSON."""

import json
from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import duckdb
import typer

import anon_sql
from anon_sql.apps import console, files, manifest
from anon_sql.apps.commands import arguments
from anon_sql.apps.commands.option_words import in_options
from anon_sql.apps.csv_files.dialect import dialect
from anon_sql.apps.one_value_columns import require_labels
from anon_sql.apps.stopping import stoppable
from anon_sql.errors import AnonError, not_installed

Page = Annotated[Path, typer.Option("-o", "--output", help="The file to write, .html or .json.")]


class Format(StrEnum):
    """Formats of a report."""

    HTML = "html"
    JSON = "json"


def report(
    raw: Annotated[Path, typer.Argument(metavar="RAW", help="CSV, TSV or Parquet file.")],
    released: Annotated[Path, typer.Argument(metavar="RELEASED", help="Its release, likewise.")],
    output: Page,
    quasi: Annotated[
        list[str], typer.Option(help="Columns that were generalized; default as in the manifest.")
    ] = [],  # noqa: B006
    k: Annotated[int | None, typer.Option("--k", help="Smallest class, in rows.")] = None,
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
    unique_share: arguments.UniqueShareOrWritten = None,
    purpose: arguments.Purpose = None,
    recipient: arguments.Recipient = None,
    assumption: arguments.Assumption = [],  # noqa: B006
    format_: Annotated[
        Format, typer.Option("--format", help="A page, or the same facts for programs.")
    ] = Format.HTML,
    show_sensitive: Annotated[
        bool, typer.Option("--show-sensitive", help="Show how sensitive values are distributed.")
    ] = False,
    delimiter: arguments.Delimiter = None,
    quotes: arguments.Quotes = '"',
    header: arguments.Header = None,
    null: arguments.Null = [],  # noqa: B006
    overwrite: arguments.Overwrite = False,
) -> None:
    """Write a page on a release: verdict, checks, attacks, risk, and what analysts lose.

    Roles, constraints and statements come from the manifest beside RELEASED; options replace them.
    The page is one file and loads nothing. It is for those who may see RAW.

    Example: anon-sql report people.parquet safe.parquet -o report.html
    """
    with console.one_sentence(words=in_options):
        written_as = dialect("report", delimiter, quotes, header, null)
        files.check_source("report", "RAW", raw)
        files.check_source("report", "RELEASED", released)
        arguments.check_page("report", output, overwrite, f".{format_.value}")
        facts, page = drawing("report")
        written = _written(released)
        require_labels("report", written)
        given = (arguments.names(columns) for columns in (quasi, sensitive, identifier, keep))
        roles = dict(zip(manifest.ROLES, given, strict=True))
        asked = {"k": k, "l": l, "l_kind": l_kind and l_kind.value, "c": c, "t": t, "beta": beta}
        asked |= {"delta": delta, "entity": entity, "suppressed": None}
        asked |= {manifest.UNIQUE: unique_share}
        asked |= arguments.statement(purpose, recipient, assumption)

        def draw(con: duckdb.DuckDBPyConnection) -> None:
            trees = arguments.read_hierarchy(con, "report", hierarchy, "hierarchy")
            whole = {**_merged(written, {**asked, **roles}), "hierarchy": trees}
            if written and written["parameters"]["hierarchy"] and not trees:
                rule = "a release made with a hierarchy needs it again"
                raise AnonError("report", rule, "none", "pass --hierarchy")
            files.read(con, raw, "raw", dialect=written_as, called=("report", "RAW"))
            files.read(con, released, "released", labels=True, called=("report", "RELEASED"))
            if con.sql("SELECT count(*) FROM raw").fetchall() == [(0,)]:
                raise AnonError("report", "RAW must have rows", "none")
            found = facts.gather(con, whole, written, show_sensitive=show_sensitive)
            said = facts.described(found, whole, written, raw.name, released.name)
            text = page.of_release(said) if format_ is Format.HTML else _json(said)
            output.write_text(text, "utf-8")

        with anon_sql.connect() as con:
            stoppable(con, partial(draw, con))
    console.say(f"{output}: the report, for those who may see {raw}")


def _json(said: Mapping[str, Any]) -> str:
    return json.dumps(said, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def drawing(function: str) -> tuple[Any, Any]:
    """Return the modules that ask and draw. Raises AnonError without their packages."""
    try:
        from anon_sql.apps.report import facts, page
    except ModuleNotFoundError as error:
        rule = "matplotlib and jinja2 must be installed"
        raise not_installed(function, rule, f"no {error.name}", "report") from None
    return facts, page


def _written(released: Path) -> dict[str, Any] | None:
    """Return the manifest beside a file, or None. Raises AnonError for that of another file."""
    path = manifest.beside(released)
    if not path.is_file():
        return None
    written = manifest.read("report", path)
    if written["output"]["sha256"] != manifest.digest(released):
        hint = f"remove it if {released.name} is what you want a report on"
        raise AnonError("report", "the manifest must be of RELEASED", f"'{path}'", hint)
    return written


def _merged(written: Mapping[str, Any] | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is given, else the manifest's. Raises AnonError without quasi-identifiers."""
    said: dict[str, Any] = {}
    if written:
        said = {**written["parameters"], **written["roles"], **written["statement"]}
    whole = {
        name: value if value not in (None, []) else said.get(name, value)
        for name, value in given.items()
    }
    if not whole["qids"]:
        rule = "RELEASED must have a manifest, or its quasi-identifiers must be named"
        raise AnonError("report", rule, "neither", "pass --quasi age,zip")
    return whole
