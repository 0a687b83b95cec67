"""Store the rows of an audit compactly while they are read.

Equal rows are stored once with their number, unless most rows are distinct. Quasi-identifiers and
labels are stored as positions among the distinct values, which are told apart by 64-bit hashes.
"""

from collections.abc import Mapping
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import kernels
from anon_sql.audit.compared import ALL, Hashed, Marks, Raw, ReleasedTable, Rows, weighed
from anon_sql.audit.persons import NumberBuffer, NumberedHashes

Columns = Mapping[str, pa.Array]
Hashes = Mapping[str, Marks]
_ROW_OF = None  # the key of the stored row of each row, beside names of identifiers
MAX_DISTINCT_HASHES = 1 << 16  # a column with more is stored as hashes, not as positions
PROBE_ROWS = 1 << 18  # rows after which it is decided whether most are distinct
BATCH_ROWS, BATCH_BYTES = 1 << 14, 16 << 20  # small chunks are joined up to this size


class ChunkBuffer:
    """Joins small chunks, because each addition has a fixed cost."""

    def __init__(self) -> None:
        self._chunks: list[pa.StructArray] = []
        self._rows = self._bytes = 0
        self._lock = Lock()

    def add(self, chunk: pa.StructArray) -> pa.StructArray | None:
        """Add a chunk; return all buffered rows once they are many."""
        with self._lock:
            self._chunks.append(chunk)
            self._rows, self._bytes = self._rows + len(chunk), self._bytes + chunk.nbytes
            return self._all() if self._rows >= BATCH_ROWS or self._bytes >= BATCH_BYTES else None

    def rest(self) -> pa.StructArray | None:
        """Return the buffered rows, None if there are none."""
        with self._lock:
            return self._all() if self._chunks else None

    def _all(self) -> pa.StructArray:
        rows = pa.concat_arrays(self._chunks)
        self._chunks, self._rows, self._bytes = [], 0, 0
        return rows


class _DistinctRows:
    """Finds the rows that differ from all before them, and counts how often each arrived.

    Once more than half of the rows are distinct, each further row counts as distinct.
    """

    def __init__(self, together: bool) -> None:
        """together: whether equal rows are held once."""
        self.rows, self.distinct = 0, 0
        self._hashes = NumberedHashes() if together else None
        self._often = np.empty(0, np.int32)

    def add(self, marks: Marks) -> tuple[Rows, npt.NDArray[Any]]:
        """Return the positions of new rows, and the stored row of each row; marks: row hashes."""
        self.rows += len(marks)
        if self._hashes is None:
            first = self.distinct
            self.distinct += len(marks)
            return ALL, np.arange(first, self.distinct, dtype=np.int32)
        numbers, new = self._hashes.add(marks)
        self.distinct = self._hashes.count
        if self.rows >= PROBE_ROWS and self.distinct > self.rows // 2:
            self._often, self._hashes = self._hashes.often.astype(np.int32), None
        return new, numbers

    def weights(self) -> npt.NDArray[np.int32]:
        """Return how many rows each stored row stands for."""
        if self._hashes is not None:
            return self._hashes.often.astype(np.int32)
        return np.append(self._often, np.ones(self.distinct - len(self._often), np.int32))


class _DistinctValues:
    """The distinct values of a column, or of several together, and the position of each row's."""

    def __init__(self) -> None:
        self.rows = NumberBuffer()
        self.hashes = NumberedHashes()
        self._values: list[pa.RecordBatch] = []

    def add(self, marks: Marks, values: pa.RecordBatch) -> None:
        """Add rows; marks: a hash of each."""
        numbers, new = self.hashes.add(marks)
        self.rows.add(numbers)
        if len(new) or not self._values:
            self._values.append(values.take(pa.array(new)))

    def values(self) -> dict[str, pa.Array]:
        """Return the distinct values by column, in the order of their numbers."""
        table, self._values = pa.Table.from_batches(self._values), []
        return {name: table[name].combine_chunks() for name in table.column_names}


class _Marked:
    """The hashes of a column."""

    def __init__(self) -> None:
        self._rows = NumberBuffer()
        self._hashes: NumberedHashes | None = NumberedHashes()

    def add(self, marks: Marks) -> None:
        if self._hashes is None:
            self._rows.add(marks)
            return
        self._rows.add(self._hashes.add(marks)[0])
        if self._hashes.count > MAX_DISTINCT_HASHES:
            self._rows.decode(self._hashes.marks)
            self._hashes = None

    def hashed(self) -> Hashed:
        """Return all rows; the object must not be used afterwards."""
        return Hashed(self._rows.array(), None if self._hashes is None else self._hashes.marks)


class _Side:
    """The rows of one relation, which are added in batches."""

    def __init__(self, together: bool) -> None:
        """together: whether equal rows are held once."""
        self._distinct_rows = _DistinctRows(together)
        self._marks: dict[str, _Marked] = {}
        self._of_all_rows: dict[
            str | None, NumberBuffer
        ] = {}  # of every row: identifiers, and ``_ROW_OF``
        self._lock = Lock()

    @property
    def rows(self) -> int:
        return self._distinct_rows.rows

    @property
    def distinct(self) -> int:
        return self._distinct_rows.distinct

    def add(
        self,
        rows: int,
        values: Columns,
        hashes: Hashes,
        marks: Hashes,
        identifiers: Hashes | None = None,
    ) -> None:
        """Add rows. values, hashes: of each quasi-identifier, its values or labels and their
        hashes; marks: hashes of each other column; identifiers: hashes of columns that are stored
        for every row."""
        quasi_hashes = _mixed(rows, hashes)
        together = _mixed(rows, marks, quasi_hashes)
        with self._lock:
            new, row_of = self._distinct_rows.add(together)
            if identifiers:
                self._of_all_rows.setdefault(_ROW_OF, NumberBuffer()).add(row_of)
                for name, column in identifiers.items():
                    self._of_all_rows.setdefault(name, NumberBuffer()).add(column)
            if not isinstance(new, slice) and len(new) < rows:
                if not len(new):
                    return
                positions = pa.array(new)
                values = {name: column.take(positions) for name, column in values.items()}
                hashes = {name: column[new] for name, column in hashes.items()}
                marks = {name: column[new] for name, column in marks.items()}
                quasi_hashes = quasi_hashes[new]
            self._hold(quasi_hashes, values, hashes)
            for name, column in marks.items():
                self._marks.setdefault(name, _Marked()).add(column)

    def _hold(self, quasi_hashes: Marks, values: Columns, hashes: Hashes) -> None:
        """Store the quasi-identifiers of distinct rows; quasi_hashes: a hash of all of them."""
        raise NotImplementedError


class RawRows(_Side):
    """The raw rows of an audit."""

    def __init__(self, together: bool = True) -> None:
        super().__init__(together)
        self._values: dict[str, _DistinctValues] = {}

    def _hold(self, quasi_hashes: Marks, values: Columns, hashes: Hashes) -> None:
        for name, column in values.items():
            batch = pa.record_batch([column], [name])
            self._values.setdefault(name, _DistinctValues()).add(hashes[name], batch)

    def raw(self, ascending: Mapping[str, bool], distinct: Mapping[str, pa.StructArray]) -> Raw:
        """Return the rows, and forget them; ascending, distinct: as in ``Raw``."""
        columns, self._values = self._values, {}
        weights = self._distinct_rows.weights()
        places = {name: column.rows.array() for name, column in columns.items()}
        of_all_rows = {name: column.array() for name, column in self._of_all_rows.items()}
        row_of = of_all_rows.pop(_ROW_OF, np.empty(0, np.int32)).astype(np.int32, copy=False)
        identifiers = {
            str(name): column.astype(np.uint64, copy=False) for name, column in of_all_rows.items()
        }
        return Raw(
            {name: column.values()[name] for name, column in columns.items()},
            {n: weighed(rows, weights, columns[n].hashes.count) for n, rows in places.items()},
            places,
            weights,
            {name: column.hashed() for name, column in self._marks.items()},
            ascending,
            distinct,
            identifiers,
            row_of,
        )


class ReleasedRows(_Side):
    """The released rows of an audit."""

    def __init__(self, together: bool = True) -> None:
        super().__init__(together)
        self._classes = _DistinctValues()

    def _hold(self, quasi_hashes: Marks, values: Columns, hashes: Hashes) -> None:
        if values:  # a release without quasi-identifiers is refused once all rows are read
            self._classes.add(quasi_hashes, pa.record_batch(list(values.values()), list(values)))

    def released(self, views: Mapping[str, Any]) -> ReleasedTable:
        """Return the classes and rows, and forget them; views: as in ``ReleasedTable``."""
        classes, self._classes = self._classes, _DistinctValues()
        class_of, weights = classes.rows.array().astype(np.int32), self._distinct_rows.weights()
        sizes = weighed(class_of, weights, classes.hashes.count)
        order, _ = kernels.hashing.group(class_of, len(sizes))
        names = list(self._marks)
        marks = {name: self._marks.pop(name).hashed().select(order) for name in names}
        labels = classes.values()
        return ReleasedTable(labels, sizes, class_of[order], weights[order], marks, views)


def _mixed(rows: int, columns: Hashes, hashes: Marks | None = None) -> Marks:
    """Return a hash of each row over some columns; hashes: of further columns, which are mixed
    in."""
    hashes = np.zeros(rows, np.uint64) if hashes is None else hashes
    for column in columns.values():
        hashes = kernels.hashing.mix(hashes, column.view(np.int64))
    return hashes
