"""Release one region, from the files of its rows to the file of its release."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from anon_sql.core.table_domain import Domain
from anon_sql.errors import AnonError
from anon_sql.hosts.parts.checked_call import Asked
from anon_sql.hosts.parts.spilling import every_file
from anon_sql.hosts.parts.workspace import Workspace
from anon_sql.pipeline.release_table import release_table


@dataclass(frozen=True)
class RegionFiles:
    """What the release of a region needs: the call, the table's domain, and the files."""

    asked: Asked
    domain: Domain
    workspace: Workspace
    con: duckdb.DuckDBPyConnection

    def release(self, number: int, rows: int) -> int:
        """Write the release of a region of so many rows and return its number of rows.

        The file is written aside and renamed, so that it is whole or not there. The entity is
        among its columns, for ``whole_check``. Raises AnonError if the release is not legal.
        """
        request = self.asked.request
        table = self._read(self.workspace.region(number))
        if table.num_rows != rows:
            raise AnonError(
                request.function,
                "a region must hold the rows that were counted",
                f"{table.num_rows:,} of {rows:,}",
                "nothing was released; run it again",
            )
        if request.entity is not None:
            request = replace(request, kept=(*request.kept, request.entity))
        found = release_table(table, replace(request, threads=1), self.asked.paths, self.domain)
        if found.num_rows != rows and request.suppressed != "drop":
            raise AnonError(
                request.function,
                "every row of a region must be released",
                f"{found.num_rows:,} of {rows:,}",
                "nothing was released; please report this",
            )
        final = self.workspace.finished(number)
        aside = final.with_suffix(".tmp")
        pq.write_table(found, aside, compression="zstd", compression_level=1)
        os.replace(aside, final)
        return int(found.num_rows)

    def _read(self, folder: Path) -> pa.Table:
        columns = self.asked.types.read()
        with self.con.cursor() as cursor:
            return cursor.sql(f"SELECT {columns} FROM {every_file(folder)}").to_arrow_table()
