"""Release a region from its rows to the file of its release, and read finished ones in order.

Keep the releases of regions in files, and give the rows of all of them in the order of a hash. The
rows of a file lie in slices, a group each, that a hash of their labels chooses. So the rows are put
in order slice by slice, and never all at once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import kernels
from anon_sql.core.arrow import integers
from anon_sql.core.printing import evaluated, sql_types
from anon_sql.core.table import Domain
from anon_sql.errors import AnonError
from anon_sql.hosts.files import remove
from anon_sql.hosts.parquet import ROW_GROUP, ArrowRows
from anon_sql.hosts.parts.call import PartsCall
from anon_sql.hosts.parts.running import RowsDone
from anon_sql.hosts.parts.spilling import RegionRows
from anon_sql.hosts.parts.workspace import (
    end,
    is_sealed,
    open_groups,
    read_groups,
    seal,
    starts_of,
    write_groups,
)
from anon_sql.pipeline.compute import require_hash_order
from anon_sql.pipeline.table import label_hash, release_table
from anon_sql.regions.rows import Group, one_table

REGION_FILE = "__anon_file"  # the number of the region of a row
LABELS, KEPT = "__anon_labels", "__anon_values"  # hashes of a row: of its labels, of kept columns
_REGIONS = 4  # a slice has as many rows as so many regions


@dataclass(frozen=True)
class FinishedRegions:
    """The releases in a folder, each in a sealed file.

    call: the request. slices: number of slices. numbers: of the regions. run: what tells the call
    and its rows from others.
    """

    call: PartsCall
    folder: Path
    slices: int
    numbers: Sequence[int]
    run: bytes

    @staticmethod
    def slices_of(rows: int, wanted: int) -> int:
        """Return the number of slices of so many rows in regions of ``wanted`` rows."""
        return max(1, ceil(rows / (_REGIONS * wanted)))

    def write(self, number: int, table: pa.Table) -> None:
        """Write the release of a region; the file is there as a whole or not at all."""
        labels, values = self._hashes(table)
        columns = {name: table.column(name).combine_chunks() for name in table.column_names}
        columns |= {LABELS: pa.array(labels), KEPT: pa.array(values)}
        slices = (labels % np.uint64(self.slices)).astype(np.int32)
        final = self.file(number)
        aside = final.with_suffix(".tmp")
        for path in (aside, final):
            remove(path)
        write_groups(aside, columns, slices, self.slices)
        seal(aside, self.run)
        aside.rename(final)

    def file(self, number: int) -> Path:
        """Return the file of a region."""
        return self.folder / f"{number}.arrow"

    def rows(self, number: int) -> int | None:
        """Return the number of released rows of a region, None if it is not finished.

        A file that this run did not write, or not so, is not opened.
        """
        file = self.file(number)
        if not is_sealed(file, self.run):
            return None
        with _opened(file) as reader:
            return int(starts_of(reader)[-1])

    def _hashes(self, table: pa.Table) -> list[npt.NDArray[np.uint64]]:
        """Return the hashes of the labels and of the kept columns of each row, uint64[n] each.

        Rows that follow each other with equal labels, as those of a class do, are hashed once.
        """
        request = self.call.request
        columns = {name: table.column(name).combine_chunks() for name in table.column_names}
        labels = {name: columns[name] for name in request.quasi}
        starts = _runs(list(labels.values()))
        first = {name: values.take(pa.array(starts)) for name, values in labels.items()}
        kept = {
            n: values for n, values in columns.items() if n not in labels and n != request.entity
        }
        label_hashes = _hashed(first, label_hash(request))
        of_row = np.repeat(label_hashes, np.diff(starts, append=table.num_rows))
        return [of_row, _hashed(kept or labels, self.call.kept_hash)]

    @property
    def _files(self) -> dict[int, Path]:
        """Return the file of each region by number."""
        return {number: self.file(number) for number in self.numbers}

    def _schema(self, columns: Sequence[int] = ()) -> pa.Schema:
        """Return the schema of the files, or of some columns."""
        with _opened(next(iter(self._files.values())), columns) as reader:
            return reader.schema.remove_metadata()

    def every(self) -> "Batches":
        """Return the released rows in no order, with the columns LABELS and REGION_FILE."""
        return self._every(())

    def every_class(self) -> "Batches":
        """Return the columns LABELS, KEPT and REGION_FILE alone."""
        return self._every([self._schema().get_field_index(name) for name in (LABELS, KEPT)])

    def _every(self, columns: Sequence[int]) -> "Batches":
        schema = self._schema(columns).append(pa.field(REGION_FILE, pa.int32()))
        return Batches(schema, partial(self._rows, columns))

    def _rows(self, columns: Sequence[int]) -> Iterator[pa.RecordBatch]:
        for number, file in self._files.items():
            with _opened(file, columns) as reader:
                rows = read_groups(reader, range(self.slices)).combine_chunks()
            region = pa.array(np.full(rows.num_rows, number, np.int32))
            yield from rows.append_column(REGION_FILE, region).to_batches(ROW_GROUP)

    def ordered(self, rows: int) -> "Batches":
        """Return the released rows in their order; rows: their number.

        To read them raises AnonError for rows in another order, and for another number.
        """
        return Batches(self._schema(), partial(self._ordered, rows))

    def _ordered(self, rows: int) -> Iterator[pa.RecordBatch]:
        function, files = self.call.request.function, list(self._files.values())
        rows_given = 0
        with ThreadPoolExecutor(1) as pool, RowsDone(function, "written", rows) as done:
            coming = pool.submit(_sorted, files, 0)
            for number in range(self.slices):
                slice_rows = coming.result()
                if number + 1 < self.slices:
                    coming = pool.submit(_sorted, files, number + 1)
                require_hash_order(function, *_row_hashes(slice_rows))
                rows_given += slice_rows.num_rows
                done.advance(slice_rows.num_rows)
                yield from slice_rows.to_batches(max_chunksize=ROW_GROUP)
        if rows_given != rows:
            raise AnonError(
                function,
                "every row of the parts must be written",
                f"{rows_given:,} of {rows:,}",
                "nothing was released; please report this",
            )


def _hashed(columns: Mapping[str, pa.Array], expression: str) -> npt.NDArray[np.uint64]:
    (values,) = evaluated(columns, sql_types(list(columns.values())), [expression])
    hashes: npt.NDArray[np.uint64] = integers(values).astype(np.uint64)
    return hashes


def _runs(columns: Sequence[pa.Array]) -> npt.NDArray[np.int64]:
    """Return the rows at which a value differs from the row before, the first row included.

    Only dictionaries are compared; every row is one where a column is none.
    """
    rows = len(columns[0])
    begins = np.zeros(rows, np.bool_)
    begins[:1] = True
    for values in columns:
        if not pa.types.is_dictionary(values.type):
            return np.arange(rows)
        codes = integers(values.indices.fill_null(-1))
        begins[1:] |= codes[1:] != codes[:-1]
    return np.flatnonzero(begins)


def _only(rows: ArrowRows, names: Sequence[str]) -> "Batches":
    schema = pa.schema([rows.schema.field(name) for name in names])
    return Batches(schema, lambda: (batch.select(names) for batch in rows))


@dataclass(frozen=True)
class Batches:
    """Record batches as a relation for DuckDB; each scan asks for them anew."""

    schema: pa.Schema
    batches: Callable[[], Iterator[pa.RecordBatch]]

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.batches()

    def only(self, names: Sequence[str]) -> "Batches":
        """Return the same of some columns."""
        return _only(self, names)

    def __arrow_c_stream__(self, requested: object = None) -> Any:
        reader = pa.RecordBatchReader.from_batches(self.schema, iter(self))
        return reader.__arrow_c_stream__(requested)


def _sorted(files: Iterable[Path], number: int) -> pa.Table:
    """Return the rows of a slice in their order."""
    slice_rows = one_table([_slice(file, number) for file in files])
    classes, rows = _row_hashes(slice_rows)
    begins = _begins(classes)  # the rows of a class follow each other in each file
    many = np.diff(begins, append=len(classes))
    runs = kernels.orders.by_hash(classes[begins])
    begins, many = begins[runs], many[runs]
    ends = np.cumsum(many)
    order = (np.repeat(begins - ends + many, many) + np.arange(len(classes))).astype(np.int32)
    starts = np.append(_begins(classes[order]), len(classes))
    return slice_rows.take(pa.array(kernels.hashing.arrange(order, starts, rows)))


def _begins(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Return the rows whose hash differs from that of the row before, the first row included."""
    return np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1])[: len(hashes)])


def _row_hashes(slice_rows: pa.Table) -> list[npt.NDArray[np.uint64]]:
    """Return the hashes of the labels and of the kept columns of each row, uint64[n] each."""
    return [
        integers(slice_rows.column(name).chunk(0))
        if slice_rows.num_rows
        else np.zeros(0, np.uint64)
        for name in (LABELS, KEPT)
    ]


def _slice(file: Path, number: int) -> pa.Table:
    with _opened(file) as reader:
        return read_groups(reader, [number])


def _opened(
    file: Path, columns: Sequence[int] = ()
) -> AbstractContextManager[pa.RecordBatchFileReader]:
    return open_groups(file, columns, end(file))


@dataclass(frozen=True)
class RegionFiles:
    """What the release of a region needs: the call, the table's domain, the rows of regions.

    regions: the group and the part of each region by number.
    """

    call: PartsCall
    domain: Domain
    rows: RegionRows
    finished: FinishedRegions
    regions: Sequence[tuple[Group, int]]

    def release(self, number: int, rows: int) -> int:
        """Write the release of a region of so many rows and return its number of rows.

        The entity is among its columns, for the check of the whole. Raises AnonError if the release
        is not legal.
        """
        request = self.call.request
        table = self.rows.read(*self.regions[number])
        if table.num_rows != rows:
            raise AnonError(
                request.function,
                "a part must hold the rows that were counted",
                f"{table.num_rows:,} of {rows:,}",
                "nothing was released; run it again",
            )
        if request.entity is not None:
            request = replace(request, kept=(*request.kept, request.entity))
        request = replace(request, threads=1)
        released = release_table(table, request, self.call.paths, self.domain, coded=True)
        if released.num_rows > rows or (released.num_rows < rows and request.suppressed != "drop"):
            raise AnonError(
                request.function,
                "every row of a part must be released once",
                f"{released.num_rows:,} of {rows:,}",
                "nothing was released; please report this",
            )
        self.finished.write(number, released)
        return int(released.num_rows)


class SequentialReader:
    """A relation for DuckDB whose scans read the next ``rows`` rows each."""

    def __init__(self, batches: Batches, rows: int):
        self.schema, self.rows = batches.schema, rows
        self._coming = iter(batches)
        self._begun: pa.RecordBatch | None = None  # the rest of a batch

    def __arrow_c_stream__(self, requested: object = None) -> Any:
        reader = pa.RecordBatchReader.from_batches(self.schema, iter(self))
        return reader.__arrow_c_stream__(requested)

    def only(self, names: Sequence[str]) -> Batches:
        """Return the same of some columns; each iteration reads the next rows."""
        return _only(self, names)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
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
