"""``anon-sql studio``: a page on this machine, from a table to a signed release."""

import os
import shutil
import sys
import tempfile
import webbrowser
from html import escape
from pathlib import Path
from typing import Annotated

import typer

from anon_sql.apps import files
from anon_sql.apps.cli import console
from anon_sql.errors import AnonError, not_installed
from anon_sql.hosts import recipes
from anon_sql.hosts.files import is_pattern

NAME = "studio"


def studio(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE | DATABASE | RECIPE",
            help="CSV, TSV or Parquet file, workbook, SPSS, SAS or Stata file, DuckDB database "
            "with --table, or recipe, .toml.",
        ),
    ],
    table: Annotated[
        str | None, typer.Option(help="Table of the database, such as main.stays.")
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on this machine. Default: a free one.")
    ] = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Print the address, and open no browser.")
    ] = False,
) -> None:
    """Choose roles and protection on a page, check the release, and sign it.

    The page is on this machine alone, and no request leaves it. Files are
    written only when you sign, into the present folder. Ctrl-C ends it.

    Example: anon-sql studio people.parquet
    """
    with console.one_sentence("studio: ended"):
        path = _source(source, table)
        try:
            from anon_sql.apps.studio.server import serve
        except ModuleNotFoundError as error:
            rule = "starlette, uvicorn and jinja2 must be installed"
            raise not_installed(NAME, rule, f"no {error.name}", NAME) from None
        folder = Path(tempfile.mkdtemp(prefix="anon-sql-studio-"))
        try:
            description = {"path": str(path), "start": str(Path.cwd())}
            serve(description, folder, port, _print if no_open else lambda url: _open(url, folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _source(source: Path, table: str | None) -> Path:
    """Return the absolute path of the source. Raises AnonError if it is none."""
    if table is not None:
        path = Path(f"{source.absolute()}:{table}")
        if files.in_database(path) is None:
            raise AnonError(NAME, "--table must come with a .duckdb or .db file", f"'{source}'")
        files.check_source(NAME, "DATABASE", path)
        return path
    if recipes.is_recipe(source):
        _require_one(recipes.read_recipe(NAME, source).file)
    elif source.suffix.lower() in (".duckdb", ".db"):
        raise AnonError(NAME, "a database must come with --table")
    else:
        files.check_source(NAME, "FILE", source)
        _require_one(source)
    return source.absolute()


def _require_one(source: Path) -> None:
    """Raise AnonError for a pattern of files."""
    if is_pattern(source):
        hint = "anon-sql roles and anon-sql release read all that a pattern fits"
        raise AnonError(NAME, "the source must be one file", f"'{source.name}'", hint)


def _print(url: str) -> None:
    """Print the address, the only line on stdout."""
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()


def _open(url: str, folder: Path) -> None:
    """Open the address in a browser by a file that only this user can read.

    The list of processes would show the token if the browser were called with the address.
    """
    page = folder / "open.html"
    with open(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(url)}">')
    if not webbrowser.open(page.as_uri()):
        _print(url)
        return
    typer.echo("studio: the page is open in the browser; Ctrl-C ends it", err=True)
