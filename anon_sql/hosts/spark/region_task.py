"""Release the rows of one region in a task of Spark."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from anon_sql.core.printing import use_threads
from anon_sql.core.table_domain import Domain
from anon_sql.errors import AnonError
from anon_sql.hosts.spark.compiled_once import compiled_once
from anon_sql.hosts.spark.frame import HELPER
from anon_sql.release.release_table import release_table
from anon_sql.release.request import Request

REGION = HELPER + "region"
BATCH = 50_000  # rows that go back to Spark at a time


@dataclass(frozen=True)
class RegionTask:
    """A function that Spark calls with the rows of one region in batches.

    paths: the rows of the hierarchy. domain: of the whole table. rows: the number of rows of each
    region when they were counted. schema: of the rows that are returned.
    """

    request: Request
    paths: pa.StructArray | None
    domain: Domain
    rows: Mapping[int, int]
    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the released rows. Raises AnonError unless the rows are one region as counted."""
        held = [batch for batch in batches if batch.num_rows]
        if not held:
            return
        table = pa.Table.from_batches(held)
        held.clear()
        self._require_one(table)
        pa.set_cpu_count(1)
        use_threads(1)
        request = self.request
        kind = f"{request.function} {request.options} {request.entity} {request.protected} {bool(self.paths)}"
        with compiled_once(request.function, kind):
            released = release_table(table.drop_columns([REGION]), request, self.paths, self.domain)
        del table
        yield from released.cast(self.schema).to_batches(BATCH)

    def _require_one(self, table: pa.Table) -> None:
        regions = table.column(REGION).unique().to_pylist()
        expected = self.rows.get(regions[0])
        if len(regions) != 1 or expected != table.num_rows:
            raise AnonError(
                self.request.function,
                "the DataFrame must have the same rows each time that Spark reads it",
                "a region with other rows than were counted",
                "nothing was released; store the DataFrame first (cache, checkpoint or a table)",
            )
