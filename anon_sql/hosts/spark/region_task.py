"""Release the rows of one region in a task of Spark."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core.arrow import integers
from anon_sql.core.printing import use_threads
from anon_sql.core.table_domain import Domain
from anon_sql.hosts.spark.class_counts import (
    COLUMN,
    HASHED,
    SLICE,
    class_counts,
    class_of,
    count_schema,
)
from anon_sql.hosts.spark.compiled_once import compiled_once
from anon_sql.hosts.spark.packed_rows import BATCH, PACKED, ROWS, grouped, packed, unpacked
from anon_sql.hosts.spark.routing_tasks import HASHES
from anon_sql.pipeline.release_table import release_table
from anon_sql.pipeline.request import Request
from anon_sql.routing.references import REGION
from anon_sql.routing.runs import whole


@dataclass(frozen=True)
class RegionTask:
    """A function that Spark calls with the packed rows of one region.

    paths: the rows of the hierarchy. domain: of the whole table. fingerprint: the sum over hashes
    of its rows, by the number of the region that subtracts it. slices: into which released rows are
    divided by their class.
    """

    request: Request
    paths: pa.StructArray | None
    domain: Domain
    fingerprint: Mapping[int, int]
    slices: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the released rows packed, and the counts of classes, as ``count_schema`` says."""
        pa.set_cpu_count(1)
        use_threads(1)
        held: list[pa.Table] = []
        hashes = 0
        for batch in batches:
            region = batch.column(REGION)
            hashes += int(integers(batch.column(HASHES)).sum())
            held += unpacked(batch)
        if not held:
            return
        hashes -= self.fingerprint.get(region[0].as_py(), 0)
        table = whole(held, self.request.quasi)
        del held
        asked = self.request
        if asked.entity is not None:  # its values come back beside the labels, to be counted
            asked = replace(asked, kept=tuple(dict.fromkeys([*asked.kept, asked.entity])))
        with compiled_once(asked.function, self._kernels):
            released = release_table(table, asked, self.paths, self.domain)
        del table
        yield from self.sent(released, hashes)

    def sent(self, released: pa.Table, hashes: int) -> Iterator[pa.RecordBatch]:
        """Give released rows, with the entity if there is one, as they are sent to Spark.

        hashes: see ``count_schema``.
        """
        asked = self.request
        classes = class_of(released, asked)
        yield _sent(asked, {SLICE: 0, COLUMN: HASHED, ROWS: hashes})
        yield from class_counts(released, asked, classes, self.slices).to_batches(BATCH)
        shown = [n for n in released.column_names if n in {*asked.quasi, *asked.kept}]
        numbers = (classes % np.uint64(self.slices)).astype(np.int32)
        with compiled_once(asked.function, "packing"):
            groups = grouped(released.select(shown), numbers, self.slices)
        del released
        for number, rows in groups:
            yield _sent(asked, {SLICE: number, PACKED: packed(rows), ROWS: rows.num_rows})

    @property
    def _kernels(self) -> str:
        """Return a text that differs where a release calls other kernels."""
        asked = self.request
        kinds = sorted({*asked.quasi.values()})
        rules = (bool(asked.protected), asked.entity is not None, self.paths is not None)
        return f"{asked.function} {asked.options} {asked.l_kind} {asked.format} {kinds} {rules}"


def _sent(request: Request, given: Mapping[str, Any]) -> pa.RecordBatch:
    """Return one row of ``count_schema``, NULL in columns that are not given."""
    schema = count_schema(request)
    columns = [pa.array([given.get(field.name)], field.type) for field in schema]
    return pa.record_batch(columns, schema=schema)
