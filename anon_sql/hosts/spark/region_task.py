"""Release the rows of one region in a task of Spark."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from anon_sql.core.printing import use_threads
from anon_sql.core.table_domain import Domain
from anon_sql.errors import AnonError
from anon_sql.hosts.spark.compiled_once import compiled_once
from anon_sql.pipeline.release_table import release_table
from anon_sql.pipeline.request import Request
from anon_sql.routing.references import REGION

BATCH = 50_000  # rows that go back to Spark at a time


@dataclass(frozen=True)
class RegionTask:
    """A function that Spark calls with the rows of one region in batches.

    paths: the rows of the hierarchy. domain: of the whole table. rows: the number of rows of each
    region when they were counted. names: of the columns, which arrive numbered, because Spark
    passes no others whatever characters they have. schema: of the rows that are returned.
    """

    request: Request
    paths: pa.StructArray | None
    domain: Domain
    rows: tuple[int, ...]
    names: tuple[str, ...]
    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the released rows. Raises AnonError unless the rows are one region as counted."""
        table = self._region(batches)
        if table is None:
            return
        pa.set_cpu_count(1)
        use_threads(1)
        with compiled_once(self.request.function, self._kernels):
            released = release_table(table, self.request, self.paths, self.domain)
        del table
        yield from released.cast(self.schema).to_batches(BATCH)

    @property
    def _kernels(self) -> str:
        """Return a text that differs where a release calls other kernels."""
        asked = self.request
        kinds = sorted({*asked.quasi.values()})
        rules = (bool(asked.protected), asked.entity is not None, self.paths is not None)
        return f"{asked.function} {asked.options} {asked.l_kind} {asked.format} {kinds} {rules}"

    def _region(self, batches: Iterator[pa.RecordBatch]) -> pa.Table | None:
        """Return the rows of the region; None for a task without rows."""
        held: list[pa.RecordBatch] = []
        count, region = 0, None
        for batch in batches:
            if batch.num_rows == 0:
                continue
            found = batch.column(REGION).unique().to_pylist()
            region = found[0] if region is None else region
            count += batch.num_rows
            if found != [region] or region is None or count > self.rows[region]:
                raise self._changed()
            held.append(batch.drop_columns([REGION]))
        if region is None:
            return None
        if count != self.rows[region]:
            raise self._changed()
        return pa.Table.from_batches(held).rename_columns(self.names)

    def _changed(self) -> AnonError:
        return AnonError(
            self.request.function,
            "the DataFrame must have the same rows each time that Spark reads it",
            "a region with other rows than were counted",
            "nothing was released; store the DataFrame first, as a table or by checkpoint()",
        )
