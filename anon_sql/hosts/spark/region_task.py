"""Release the rows of one region in a task of Spark."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core.printing import use_threads
from anon_sql.core.table_domain import Domain
from anon_sql.errors import AnonError
from anon_sql.hosts.spark.class_counts import SLICE, class_counts, class_of, count_schema
from anon_sql.hosts.spark.compiled_once import compiled_once
from anon_sql.hosts.spark.packed_rows import BATCH, PACKED, ROWS, grouped, packed, unpacked
from anon_sql.pipeline.release_table import release_table
from anon_sql.pipeline.request import Request
from anon_sql.routing.references import REGION
from anon_sql.routing.runs import whole


@dataclass(frozen=True)
class RegionTask:
    """A function that Spark calls with the packed rows of one region.

    paths: the rows of the hierarchy. domain: of the whole table. rows: the number of rows of each
    region when they were counted, empty if they were not. slices: into which released rows are
    divided by their class.
    """

    request: Request
    paths: pa.StructArray | None
    domain: Domain
    rows: tuple[int, ...]
    slices: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the released rows packed, and the counts of classes, as ``count_schema`` says.

        Raises AnonError unless the rows are one region as counted.
        """
        pa.set_cpu_count(1)
        use_threads(1)
        table = self._region(batches)
        if table is None:
            return
        asked = self.request
        if asked.entity is not None:  # its values come back beside the labels, to be counted
            asked = replace(asked, kept=tuple(dict.fromkeys([*asked.kept, asked.entity])))
        with compiled_once(asked.function, self._kernels):
            released = release_table(table, asked, self.paths, self.domain)
        del table
        yield from self.sent(released)

    def sent(self, released: pa.Table) -> Iterator[pa.RecordBatch]:
        """Give released rows, with the entity if there is one, as they are sent to Spark."""
        asked, schema = self.request, count_schema(self.request)
        classes = class_of(released, asked)
        yield from class_counts(released, asked, classes, self.slices).to_batches(BATCH)
        shown = [n for n in released.column_names if n in {*asked.quasi, *asked.kept}]
        numbers = (classes % np.uint64(self.slices)).astype(np.int32)
        with compiled_once(asked.function, "packing"):
            groups = grouped(released.select(shown), numbers, self.slices)
        if released.num_rows == 0:  # Spark skips the check of a release of which nothing is sent
            yield _one({SLICE: 0, ROWS: 0}, schema)
        del released
        for number, rows in groups:
            yield _one({SLICE: number, PACKED: packed(rows), ROWS: rows.num_rows}, schema)

    @property
    def _kernels(self) -> str:
        """Return a text that differs where a release calls other kernels."""
        asked = self.request
        kinds = sorted({*asked.quasi.values()})
        rules = (bool(asked.protected), asked.entity is not None, self.paths is not None)
        return f"{asked.function} {asked.options} {asked.l_kind} {asked.format} {kinds} {rules}"

    def _region(self, batches: Iterator[pa.RecordBatch]) -> pa.Table | None:
        """Return the rows of the region; None for a task without rows.

        Quasi-identifiers may have a dictionary.
        """
        held: list[pa.Table] = []
        count, region = 0, None
        for batch in batches:
            for number, rows in zip(batch.column(REGION).to_pylist(), unpacked(batch), strict=True):
                region = number if region is None else region
                count += rows.num_rows
                if self.rows and (number != region or count > self.rows[region]):
                    raise self._changed()
                held.append(rows)
        if region is None:
            return None
        if self.rows and count != self.rows[region]:
            raise self._changed()
        return whole(held, self.request.quasi)

    def _changed(self) -> AnonError:
        return AnonError(
            self.request.function,
            "the DataFrame must have the same rows each time that Spark reads it",
            "a region with other rows than were counted",
            "nothing was released; store the DataFrame first, as a table or by checkpoint()",
        )


def _one(values: Mapping[str, Any], schema: pa.Schema) -> pa.RecordBatch:
    """Return one row, with NULL for columns without a value."""
    columns = [pa.array([values.get(field.name)], field.type) for field in schema]
    return pa.record_batch(columns, schema=schema)
