"""Describe a file format, as the table of formats in ``apps/files.py`` lists them by ending."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import duckdb

from anon_sql.apps.csv.dialect import Dialect
from anon_sql.core.names import literal, quote
from anon_sql.errors import AnonError, Parameter, Words, listed, looks_like_name
from anon_sql.hosts.files import is_pattern, members


class NamedFile(Protocol):
    """A file that is read, and the errors about it."""

    @property
    def path(self) -> Path:
        """Return the path of the file."""

    def error(self, rule: str | Words, got: str, hint: str | Words | None = None) -> AnonError:
        """Return an error about the file."""


def nested_columns(file: NamedFile, names: list[str], kind: str = "") -> AnonError:
    """Return the error for nested columns, with the SQL that flattens the first of them.

    kind: its SQL type; '' for an object or a list.
    """
    hint = "flatten them with unnest"
    if looks_like_name(names[0]):
        name = quote(names[0])
        if kind.startswith(("UNION(", "VARIANT")):
            flat = f"* REPLACE ({name}::VARCHAR AS {name})"
        else:
            values = f"map_entries({name})" if kind.startswith("MAP(") else name
            flat = f"* EXCLUDE ({name}), unnest({values})"
        hint = f"flatten them in DuckDB: SELECT {flat} FROM {literal(file.path.name)}"
    return file.error("have one value per column", f"objects or lists in {listed(names)}", hint)


@dataclass(frozen=True)
class FileSource:
    """A file that is read, and how errors name it.

    ending: of its name, or of the name that says the format. labels: whether the file is a release,
    whose labels are text whatever they look like. dialect: how a CSV file is written, and whether
    texts are trimmed; None if it was not stated. called: the function and the argument that errors
    name.
    """

    path: Path
    ending: str
    labels: bool
    dialect: Dialect | None
    called: tuple[str, str]

    @property
    def files(self) -> list[Path]:
        """Return the file, or those that a pattern fits, in the order of their names."""
        return members(self.path)

    @property
    def is_pattern(self) -> bool:
        """Return whether the name is a pattern of files."""
        return is_pattern(self.path)

    def error(self, rule: str | Words, got: str, hint: str | Words | None = None) -> AnonError:
        """Return an error about the file."""
        return AnonError(self.called[0], Parameter(self.called[1]) + " must " + rule, got, hint)


Read = Callable[[duckdb.DuckDBPyConnection, FileSource, str], dict[str, Words]]
Write = Callable[[duckdb.DuckDBPyConnection, str, Path, str], None]


@dataclass(frozen=True)
class Format:
    """How the files of a format are read and written.

    read: create a table of this name with all rows of a file; return a sentence for each column
    that is not what a person expects. write: write the rows of a query to a path, which has a
    temporary name, in the form that an ending says. instead: the ending in which a release is
    written, if it cannot be written in this format.
    """

    name: str
    read: Read
    write: Write
    instead: str = ""
