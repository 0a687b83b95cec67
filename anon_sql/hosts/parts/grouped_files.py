"""Keep rows in Arrow files by group, a record batch each: rows by leaf, or releases by slice."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_STARTS = b"starts"
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


def write_groups(
    file: Path, columns: Mapping[str, pa.Array], of_row: npt.NDArray[np.int32], groups: int
) -> None:
    """Write rows sorted by group; of_row: int32[n], the group of each row, below ``groups``."""
    from anon_sql.kernels.hash.grouping import group

    order, starts = group(of_row, groups)
    rows = pa.array(order)
    batch = pa.RecordBatch.from_pydict({name: held.take(rows) for name, held in columns.items()})
    schema = batch.schema.with_metadata({_STARTS: starts.tobytes()})
    with (
        pa.OSFile(str(file), "wb") as out,
        pa.ipc.new_file(out, schema, options=_OPTIONS) as writer,
    ):
        for start, end in pairwise(starts):
            writer.write_batch(batch.slice(start, end - start))


@contextmanager
def open_groups(
    file: Path, columns: Sequence[int] = (), end: int | None = None
) -> Iterator[pa.RecordBatchFileReader]:
    """Give the reader of a file; its batch i is group i.

    columns: those to read, all if (). end: number of bytes, if others follow.
    """
    options = pa.ipc.IpcReadOptions(included_fields=list(columns))
    with (
        pa.memory_map(str(file)) as held,
        pa.ipc.open_file(held, footer_offset=end, options=options) as reader,
    ):
        yield reader


def starts_of(reader: pa.RecordBatchFileReader) -> npt.NDArray[np.int64]:
    """Return int64[groups + 1], the row at which each group begins."""
    return np.frombuffer(reader.schema.metadata[_STARTS], np.int64)


def read_groups(reader: pa.RecordBatchFileReader, groups: Iterable[int]) -> pa.Table:
    """Return the rows of some groups."""
    batches = [reader.get_batch(each) for each in groups]
    return pa.Table.from_batches(batches, reader.schema).replace_schema_metadata()
