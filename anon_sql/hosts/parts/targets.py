"""Write a release to a table, a file or a folder of files, whole or not at all."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.core import interrupt
from anon_sql.core.names import quote, split
from anon_sql.errors import AnonError
from anon_sql.hosts.parquet_files import stored, write_files
from anon_sql.hosts.parts.workspace import Place
from anon_sql.hosts.unfinished import remove_unfinished
from anon_sql.hosts.whole_file import whole_file
from anon_sql.hosts.whole_folder import means_folder, require_new_folder, whole_folder

_OPTIONS = {".parquet": "FORMAT parquet", ".csv": "FORMAT csv, HEADER true"}


class Target:
    """The target of a release: a folder, a file by its ending, or else a table.

    A name without '/' and such an ending is a table's, even if there is a folder of that name.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, into: str, overwrite: bool):
        self.con, self.into, self.overwrite = con, str(into), overwrite
        named = Path(self.into).suffix.lower() in _OPTIONS
        self.folder = ("/" in self.into or named) and means_folder(self.into)
        self.path = Path(self.into) if self.folder or named else None

    def require_new(self) -> None:
        """Raise AnonError for a target that exists, unless it may be replaced.

        What killed processes have left of a file or folder is removed.
        """
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
        remove_unfinished(self.path)
        if self.folder:
            require_new_folder("into", self.path, self.overwrite, hint)
        elif self.path.exists() and not self.overwrite:
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

    def write(self, select: str, parameters: Mapping[str, Any]) -> int:
        """Write the rows of a query, in their order, and return their number."""
        if not self.folder:
            return self._write(select, parameters)
        with stored(self.con, select, parameters) as found:
            self.write_in_turn(found.files, found.rows)
        return found.rows

    def write_in_turn(self, selects: Sequence[str], rows: int) -> None:
        """Write the rows of queries, each of which gives the rows of a file; rows: of all."""
        if not self.folder:
            (select,) = selects
            self._write(select, {})
            return
        assert self.path is not None
        with whole_folder(self.path) as unfinished:
            write_files(self.con, selects, unfinished, rows)

    def _write(self, select: str, parameters: Mapping[str, Any]) -> int:
        if self.path is None:
            create = "CREATE OR REPLACE TABLE" if self.overwrite else "CREATE TABLE"
            name = ".".join(map(quote, split(self.into)))
            made = self.con.execute(f"{create} {name} AS {select}", parameters)
            return int(made.fetchall()[0][0])
        with whole_file(self.path) as unfinished:
            options = _OPTIONS[self.path.suffix.lower()]
            copy = f"COPY ({select}) TO $target ({options}, USE_TMP_FILE false)"
            given = {**parameters, "target": str(unfinished)}
            rows = int(self.con.execute(copy, given).fetchall()[0][0])
            interrupt.check("release")
        return rows
