"""Read the table of a command from standard input: ``-`` instead of a CSV file.

Its rows are read more than once, so they are copied to a file that only the user can read. The
command removes it at its end, also after an error or Ctrl-C.
"""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import typer

from anon_sql.apps.cli import console
from anon_sql.errors import AnonError
from anon_sql.hosts.files import temporary_folder

SIGN = "-"
_NAME = "stdin.csv"
_copies: set[Path] = set()


def file_of(context: typer.Context, source: Path) -> Path:
    """Return the file that an argument names; for ``-`` the copy of standard input."""
    if str(source) != SIGN:
        return source
    function = str(context.info_name)
    with console.one_sentence():
        rows = typer.get_binary_stream("stdin")
        if rows.isatty():
            rule = "standard input must be a file or what another program writes"
            raise AnonError(function, rule, "a terminal", "write the name of a file instead of -")
        folder = TemporaryDirectory(prefix="anon-sql-", dir=temporary_folder(function))
        context.call_on_close(folder.cleanup)
        copy = Path(folder.name) / _NAME
        with open(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            shutil.copyfileobj(rows, file)
    _copies.add(copy)
    return copy


def is_input(source: Path) -> bool:
    """Return whether a file is a copy of standard input, which is removed after the command."""
    return source in _copies


def shown(source: Path) -> str:
    """Return how a user calls a source."""
    return "standard input" if is_input(source) else str(source)


def typed(source: object) -> str:
    """Return an argument as it was typed."""
    return SIGN if isinstance(source, Path) and is_input(source) else str(source)


def refuse(function: str, source: Path, option: str) -> None:
    """Raise AnonError for an option that needs a file which is still there afterwards."""
    if is_input(source):
        rule = f"{option} must come with a file, which is read again"
        raise AnonError(function, rule, "standard input", "write the rows to a file first")
