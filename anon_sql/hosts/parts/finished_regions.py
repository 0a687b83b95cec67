"""Keep the releases of regions in files, and give the rows of all of them in the order of a hash.

The rows of a file lie in slices, a row group each, that a hash of their labels chooses. So the rows
are put in order slice by slice, and never all at once.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from anon_sql.core.arrow import integers
from anon_sql.core.names import exactly, literal, quote
from anon_sql.core.printing import evaluated, sql_types
from anon_sql.hosts.parts.checked_call import Asked
from anon_sql.hosts.parts.rows_done import RowsDone

_LABELS, _VALUES = "__anon_labels", "__anon_values"  # hashes of a row
_REGIONS = 4  # a slice has as many rows as so many regions
_BATCH = 100_000


@dataclass(frozen=True)
class FinishedRegions:
    """The releases in a folder.

    asked: the call. slices: number of slices.
    """

    asked: Asked
    folder: Path
    slices: int

    @staticmethod
    def slices_of(rows: int, wanted: int) -> int:
        """Return the number of slices of so many rows in regions of ``wanted`` rows."""
        return max(1, ceil(rows / (_REGIONS * wanted)))

    def write(self, number: int, table: pa.Table) -> None:
        """Write the release of a region; the file is there as a whole or not at all."""
        from anon_sql.kernels.hash.grouping import group

        hashes = self._hashes(table)
        slices = (hashes[0] % np.uint64(self.slices)).astype(np.int32)
        order, starts = group(slices, self.slices)
        table = table.append_column(_LABELS, pa.array(hashes[0]))
        table = table.append_column(_VALUES, pa.array(hashes[1])).take(pa.array(order))
        final = self.file(number)
        aside = final.with_suffix(".tmp")
        with pq.ParquetWriter(aside, table.schema, compression="lz4") as writer:
            for start, end in pairwise(starts):
                writer.write_table(table.slice(start, end - start), max(end - start, 1))
        os.replace(aside, final)

    def file(self, number: int) -> Path:
        """Return the file of a region."""
        return self.folder / f"{number}.parquet"

    def rows(self, number: int) -> int | None:
        """Return the number of released rows of a region, None if it is not finished."""
        file = self.file(number)
        return pq.ParquetFile(file).metadata.num_rows if file.exists() else None

    def _hashes(self, table: pa.Table) -> list[npt.NDArray[np.uint64]]:
        names = [name for name in table.column_names if name != self.asked.request.entity]
        columns = {name: table.column(name).combine_chunks() for name in names}
        found = evaluated(
            columns,
            sql_types(list(columns.values())),
            [label_hash(self.asked), f"system.main.hash({self._values()})"],
        )
        return [integers(each).astype(np.uint64) for each in found]

    def _values(self) -> str:
        """Return the kept columns as arguments of the hash that orders the rows of a class.

        Values that print differently have different hashes, so that ties are identical rows.
        """
        types, kept = self.asked.types, self.asked.request.kept
        texts = [quote(n) + ("" if types.hashes_apart(n) else "::VARCHAR") for n in kept]
        return ", ".join(["''", *texts])

    def ordered(self, rows: int) -> "Ordered":
        """Return the released rows in their order, a relation for DuckDB; rows: their number."""
        files = sorted(self.folder.glob("*.parquet"))
        return Ordered(self.asked.request.function, files, self.slices, rows)


@dataclass(frozen=True)
class Ordered:
    """The rows of files, slice by slice in the order of their hashes; read anew by each scan."""

    function: str
    files: Sequence[Path]
    slices: int
    rows: int

    def __arrow_c_stream__(self, requested: object = None) -> Any:
        schema = pq.read_schema(self.files[0]).remove_metadata()
        reader = pa.RecordBatchReader.from_batches(schema, self._batches())
        return reader.__arrow_c_stream__(requested)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        with ThreadPoolExecutor(1) as pool, RowsDone(self.function, "written", self.rows) as done:
            coming = pool.submit(self._sorted, 0)
            for number in range(self.slices):
                found = coming.result()
                if number + 1 < self.slices:
                    coming = pool.submit(self._sorted, number + 1)
                done.advance(found.num_rows)
                yield from found.to_batches(max_chunksize=_BATCH)

    def _sorted(self, number: int) -> pa.Table:
        from anon_sql.kernels.order.hash_order import by_hash

        found = pa.concat_tables([self._rows(file, number) for file in self.files])
        found = found.unify_dictionaries().combine_chunks()
        classes, rows = (
            integers(found.column(name).chunk(0)) if found.num_rows else np.zeros(0, np.uint64)
            for name in (_LABELS, _VALUES)
        )
        order = by_hash(rows)
        return found.take(pa.array(order[by_hash(classes[order])]))

    def _rows(self, file: Path, number: int) -> pa.Table:
        with pq.ParquetFile(file) as held:
            return held.read_row_group(number).replace_schema_metadata()


def label_hash(asked: Asked) -> str:
    """Return the hash of the labels of a row, as SQL."""
    cast = "::VARCHAR" if asked.request.typed else ""
    return f"system.main.hash({', '.join(quote(n) + cast for n in asked.request.quasi)})"


def every_file(folder: Path, name: str | None = None) -> str:
    """Return the SQL that reads every Parquet file in a folder.

    name: of an additional column with the path of the file.
    """
    files = literal(exactly(folder) + "/*.parquet")
    named = "" if name is None else f", filename = {literal(name)}"
    return f"read_parquet({files}, hive_partitioning = false{named})"
