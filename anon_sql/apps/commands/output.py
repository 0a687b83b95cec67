"""Write what ``anon-sql release`` writes: a file or a folder of files, and its manifest."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps import files, manifest
from anon_sql.apps.commands.choices import Format
from anon_sql.apps.commands.release_table_or_parts import Made
from anon_sql.core import interrupt
from anon_sql.errors import AnonError
from anon_sql.hosts.parquet_files import write_files
from anon_sql.hosts.unfinished import remove_unfinished
from anon_sql.hosts.whole_file import whole_file
from anon_sql.hosts.whole_folder import whole_folder


@dataclass(frozen=True)
class Output:
    """The argument OUT. in_files: whether it is a folder; stated: whether with a manifest."""

    target: Path
    in_files: bool
    stated: bool

    @property
    def manifest(self) -> Path:
        """Return the path of the manifest."""
        return manifest.beside(self.target)

    def prepare(self, source: Path, format_: Format, overwrite: bool) -> None:
        """Remove what killed processes have left of the release and its manifest.

        Raises AnonError for files that must not be written, or cannot hold the format.
        """
        for path in (self.target, self.manifest):
            remove_unfinished(path)
        is_csv = not self.in_files and files.kind(self.target)[0] == "csv"
        if is_csv and format_ is Format.TYPED:
            rule = "OUT must be Parquet for --format typed"
            raise AnonError("release", rule, "CSV", "name it .parquet")
        files.check_pair(source, self.target, overwrite, self.in_files)
        if self.stated and not overwrite and self.manifest.exists():
            rule, got = "the manifest must be a new file", f"'{self.manifest}', which exists"
            raise AnonError("release", rule, got, "--overwrite replaces it")

    def write(
        self,
        con: duckdb.DuckDBPyConnection,
        released: Made,
        describe: Callable[[], dict[str, Any]],
        entered: Callable[[Mapping[str, Any], Path], None] | None,
    ) -> dict[str, Any] | None:
        """Write the release, its manifest if it is to be stated, and its entry in a ledger.

        describe: returns the manifest of ``raw`` and ``written``. entered: takes the manifest and
        the file or folder, None without a ledger. Returns the manifest, None if nobody asks for it.
        """
        made = None
        with ExitStack() as written:
            if self.in_files:
                unfinished = written.enter_context(whole_folder(self.target))
                write_files(con, released.ordered, unfinished, released.rows)
            else:
                unfinished = written.enter_context(whole_file(self.target))
                files.write(con, released.ordered[0], unfinished, self.target)
            if self.stated or entered:
                files.read(con, unfinished, "written", labels=True, named=self.target)
                made = describe()
            if made and self.stated:
                beside = written.enter_context(whole_file(self.manifest))
                manifest.write(made, unfinished, beside)
            interrupt.check("release")
            if made and entered:
                entered(made, unfinished)
        return made
