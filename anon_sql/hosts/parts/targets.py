"""Write a release to a table or a file, whole or not at all."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.core import interrupt
from anon_sql.core.names import quote, split
from anon_sql.errors import AnonError
from anon_sql.hosts.parts.workspace import Place
from anon_sql.hosts.whole_file import remove_unfinished, whole_file

_OPTIONS = {".parquet": "FORMAT parquet", ".csv": "FORMAT csv, HEADER true"}


class Target:
    """The target of a release: a file by its ending, else a table."""

    def __init__(self, con: duckdb.DuckDBPyConnection, into: str, overwrite: bool):
        self.con, self.into, self.overwrite = con, str(into), overwrite
        self.path = Path(self.into) if Path(self.into).suffix.lower() in _OPTIONS else None

    def require_new(self) -> None:
        """Raise AnonError for a target that exists, unless it may be replaced."""
        hint = "overwrite=True replaces it"
        if self.path is None:
            there = self.con.execute(
                "SELECT count(*) FROM duckdb_tables() WHERE lower(table_name) = lower(?)",
                [split(self.into)[-1]],
            ).fetchall()[0][0]
            if there and not self.overwrite:
                raise AnonError("release", "into must be a new table", f"'{self.into}'", hint)
            return
        if not self.path.parent.is_dir():
            got = f"'{self.into}'"
            raise AnonError("release", "into must be in a directory that exists", got)
        if self.path.exists() and not self.overwrite:
            raise AnonError("release", "into must be a new file", f"'{self.into}'", hint)

    def place(self) -> Place:
        """Return where a folder may lie on the disk of the target."""
        if self.path is not None:
            return Place.beside(self.path)
        (file,) = self.con.execute(
            "SELECT path FROM duckdb_databases() WHERE database_name = current_database()"
        ).fetchall()[0]
        if file is None:  # a database in memory, of which there may be many
            parent = Path(tempfile.gettempdir())
            return Place(parent, f"{os.getuid()} memory {self.into}", shared=True)
        return Place(Path(file).resolve().parent, f"{Path(file).name} {self.into}")

    def write(self, select: str, parameters: Mapping[str, Any] | None = None) -> int:
        """Write the rows of a query, in their order, and return their number."""
        if self.path is None:
            create = "CREATE OR REPLACE TABLE" if self.overwrite else "CREATE TABLE"
            name = ".".join(map(quote, split(self.into)))
            made = self.con.execute(f"{create} {name} AS {select}", parameters)
            return int(made.fetchall()[0][0])
        remove_unfinished(self.path)
        with whole_file(self.path) as unfinished:
            options = _OPTIONS[self.path.suffix.lower()]
            given = {**(parameters or {}), "target": str(unfinished)}
            copy = f"COPY ({select}) TO $target ({options}, USE_TMP_FILE false)"
            rows = int(self.con.execute(copy, given).fetchall()[0][0])
            interrupt.check("release")
        return rows
