"""Read record batches once, some rows with each scan."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from anon_sql.hosts.parts.finished_regions import Batches


class InTurn:
    """A relation for DuckDB whose scans read the next ``rows`` rows each."""

    def __init__(self, batches: Batches, rows: int):
        self.schema, self.rows = batches.schema, rows
        self._coming = batches.given()
        self._begun: pa.RecordBatch | None = None  # the rest of a batch

    def __arrow_c_stream__(self, requested: object = None) -> Any:
        reader = pa.RecordBatchReader.from_batches(self.schema, self._next())
        return reader.__arrow_c_stream__(requested)

    def _next(self) -> Iterator[pa.RecordBatch]:
        left = self.rows
        while left:
            batch = self._begun or next(self._coming, None)
            self._begun = None
            if batch is None:
                return
            if len(batch) > left:
                self._begun, batch = batch.slice(left), batch.slice(0, left)
            left -= len(batch)
            yield batch
