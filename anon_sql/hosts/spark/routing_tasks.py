"""Find the regions of rows in tasks of Spark, and pack the rows of each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import integers
from anon_sql.core.printing import use_threads
from anon_sql.hosts.spark.compiled_once import compiled_once
from anon_sql.hosts.spark.packed_rows import BATCH, PACKED, ROWS, grouped, packed
from anon_sql.pipeline.request import Request
from anon_sql.routing.leaf_rows import LeafRows
from anon_sql.routing.references import REGION
from anon_sql.routing.regions import Regions
from anon_sql.routing.runs import FEW, coded, repeated, runs, whole

HASH = "__anon_hash"  # the column that spreads rows over parts
ALIKE = "__anon_alike"  # the number of rows that are alike
RUN_ROWS, RUN_BYTES = 500_000, 64 << 20  # rows that a task holds at a time, at most


@dataclass(frozen=True)
class Router:
    """The regions of rows. names: of the columns, which arrive numbered in this order."""

    request: Request
    regions: Regions
    names: tuple[str, ...]

    def runs(
        self, batches: Iterable[pa.RecordBatch]
    ) -> Iterator[tuple[pa.Table, npt.NDArray[np.int64]]]:
        """Give rows with their names, and the region of each."""
        pa.set_cpu_count(1)
        use_threads(1)
        of_rows, few = LeafRows(self.request, self.regions.tree), min(FEW, 1 / self.regions.count)
        for run in runs(batches, RUN_ROWS, RUN_BYTES):
            named = run.rename_columns(self.names)
            columns = coded(named, repeated(named, few))
            with compiled_once(self.request.function, "routing"):
                leaf = of_rows.of(columns)
            region = self.regions.numbers(leaf, partial(_hashes, columns))
            yield pa.table({n: held for n, held in columns.items() if n != HASH}), region


def _hashes(columns: dict[str, pa.Array]) -> npt.NDArray[np.uint64]:
    found: npt.NDArray[np.uint64] = integers(columns[HASH]).astype(np.uint64)
    return found


@dataclass(frozen=True)
class Packing:
    """A function that Spark calls with rows, and that packs the rows of each region."""

    router: Router

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the number of a region, a number of its rows, and these rows packed."""
        for run, region in self.router.runs(batches):
            with compiled_once(self.router.request.function, "packing"):
                groups = grouped(run, region.astype(np.int32), self.router.regions.count)
            for number, rows in groups:
                yield pa.record_batch(
                    {REGION: [number], ROWS: [rows.num_rows], PACKED: [packed(rows)]}, schema=SCHEMA
                )


SCHEMA = pa.schema([(REGION, pa.int64()), (ROWS, pa.int64()), (PACKED, pa.binary())])


@dataclass(frozen=True)
class Numbering:
    """A function that Spark calls with rows, and that returns their regions and some columns.

    kept: these columns. They are returned by their place, with the region and a count of rows: each
    row by itself if columns are kept, and else all rows of a region together. Rows without kept
    columns may come grouped, with their number in the column ``ALIKE``.
    """

    router: Router
    kept: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the kept columns, the region and the number of rows."""
        for run, region in self.router.runs(batches):
            if self.kept:
                held = {f"c{at}": run.column(name) for at, name in enumerate(self.kept)}
                ones = np.ones(len(region), np.int64)
                numbered = pa.table({**held, REGION: region, ROWS: ones})
                yield from whole([numbered], []).to_batches(BATCH)
            else:
                many = run.column(ALIKE).to_numpy() if ALIKE in run.column_names else None
                rows = np.bincount(region, many).astype(np.int64)
                yield pa.record_batch({REGION: np.arange(len(rows)), ROWS: rows})
