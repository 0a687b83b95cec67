"""Pack rows into bytes that Spark moves as one value, and unpack them.

Spark converts each row between its own form and Arrow's at every step in Python, and shuffles rows
one by one. Packed rows are converted once on their way in and once on their way out.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

PACKED, ROWS = "packed", "rows"  # the columns of packed rows, and of their number
BATCH = 50_000  # rows that go back to Spark at a time
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


def grouped(
    rows: pa.Table, of_row: npt.NDArray[np.int32], groups: int
) -> Iterator[tuple[int, pa.Table]]:
    """Return the number and the rows of each group that has any, in their order.

    of_row: int32[n], the group of each row.
    """
    from anon_sql.kernels.hash.grouping import group

    order, starts = group(of_row, groups)
    sorted_rows = rows.take(pa.array(order)).combine_chunks()
    return (
        (number, sorted_rows.slice(start, end - start))
        for number, (start, end) in enumerate(pairwise(starts.tolist()))
        if end > start
    )


def packed(rows: pa.Table) -> bytes:
    """Return rows as one value."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=_OPTIONS) as writer:
        writer.write_table(rows)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def unpacked(batch: pa.RecordBatch) -> Iterator[pa.Table]:
    """Give the packed rows of a batch of Spark."""
    for value in batch.column(PACKED).drop_null():
        with pa.ipc.open_stream(value.as_buffer()) as reader:
            yield reader.read_all()


@dataclass(frozen=True)
class Unpacking:
    """A function that Spark calls with packed rows, and that returns the rows.

    schema: of the rows.
    """

    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of every packed value."""
        for batch in batches:
            for rows in unpacked(batch):
                yield from rows.cast(self.schema).to_batches(BATCH)
