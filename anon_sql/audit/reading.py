"""Hold the rows of an audit while they are read: little of each, since there are many.

Equal rows are held once with their number, unless most rows are different. Of the
quasi-identifiers of a raw row and of the labels of a released one only a number is held: which of
the different values it is. They are told apart by 64-bit hashes.
"""

from collections.abc import Mapping
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import kernels
from anon_sql.audit.compared import ALL, Hashed, Marks, Raw, ReleasedTable, Rows, weighed
from anon_sql.audit.persons import Known, Numbers

Columns = Mapping[str, pa.Array]
Hashes = Mapping[str, Marks]
_HELD = None  # the key of the number of the held row
FEW = 1 << 16  # different hashes up to which the rows of a column are held as numbers of them
SOME = 1 << 18  # rows after which it is seen whether most are different
WAITING, WAITING_BYTES = 1 << 14, 16 << 20  # rows that are added together


class Waiting:
    """Rows that came and are to be added together, which takes less than one chunk at a time."""

    def __init__(self) -> None:
        self._chunks: list[pa.StructArray] = []
        self._rows = self._bytes = 0
        self._lock = Lock()

    def add(self, chunk: pa.StructArray) -> pa.StructArray | None:
        """Wait with more rows; return all that wait once they are many."""
        with self._lock:
            self._chunks.append(chunk)
            self._rows, self._bytes = self._rows + len(chunk), self._bytes + chunk.nbytes
            return self._all() if self._rows >= WAITING or self._bytes >= WAITING_BYTES else None

    def rest(self) -> pa.StructArray | None:
        """Return the rows that still wait, None if there are none."""
        with self._lock:
            return self._all() if self._chunks else None

    def _all(self) -> pa.StructArray:
        found = pa.concat_arrays(self._chunks)
        self._chunks, self._rows, self._bytes = [], 0, 0
        return found


class _Different:
    """Which rows differ from all before them, and how often each came.

    Once more than half of the rows are different, each further row counts as different.
    """

    def __init__(self, together: bool) -> None:
        """together: whether equal rows are held once."""
        self.rows, self.held = 0, 0
        self._known = Known() if together else None
        self._often = np.empty(0, np.int32)

    def add(self, marks: Marks) -> tuple[Rows, npt.NDArray[Any]]:
        """Count more rows; return which of them are to be held, and which held one each is.

        marks: a hash of each row.
        """
        self.rows += len(marks)
        if self._known is None:
            first = self.held
            self.held += len(marks)
            return ALL, np.arange(first, self.held, dtype=np.int32)
        numbers, new = self._known.add(marks)
        self.held = self._known.count
        if self.rows >= SOME and self.held > self.rows // 2:
            self._often, self._known = self._known.often.astype(np.int32), None
        return new, numbers

    def weights(self) -> npt.NDArray[np.int32]:
        """Return how many rows each one stands for."""
        if self._known is not None:
            return self._known.often.astype(np.int32)
        return np.append(self._often, np.ones(self.held - len(self._often), np.int32))


class _Numbered:
    """The different values of a column, or of several together, and which of them each row has."""

    def __init__(self) -> None:
        self.rows = Numbers()
        self.known = Known()
        self._values: list[pa.RecordBatch] = []

    def add(self, marks: Marks, values: pa.RecordBatch) -> None:
        """Hold more rows; marks: a hash of each."""
        numbers, new = self.known.add(marks)
        self.rows.add(numbers)
        if len(new) or not self._values:
            self._values.append(values.take(pa.array(new)))

    def values(self) -> dict[str, pa.Array]:
        """Return the different values by column, in the order of their numbers."""
        found, self._values = pa.Table.from_batches(self._values), []
        return {name: found[name].combine_chunks() for name in found.column_names}


class _Marked:
    """The hashes of a column, as the rows come."""

    def __init__(self) -> None:
        self._rows = Numbers()
        self._known: Known | None = Known()

    def add(self, marks: Marks) -> None:
        """Hold more rows."""
        if self._known is None:
            self._rows.add(marks)
            return
        self._rows.add(self._known.add(marks)[0])
        if self._known.count > FEW:
            self._rows.decode(self._known.marks)
            self._known = None

    def hashed(self) -> Hashed:
        """Return all rows and hold them no longer."""
        return Hashed(self._rows.array(), None if self._known is None else self._known.marks)


class _Side:
    """The rows of one relation, as they come; held: how many of them are held."""

    def __init__(self, together: bool) -> None:
        """together: whether equal rows are held once."""
        self._different = _Different(together)
        self._marks: dict[str, _Marked] = {}
        self._every: dict[str | None, Numbers] = {}  # of every row: identifiers, and ``_HELD``
        self._lock = Lock()

    @property
    def rows(self) -> int:
        return self._different.rows

    @property
    def held(self) -> int:
        return self._different.held

    def add(
        self,
        rows: int,
        values: Columns,
        hashes: Hashes,
        marks: Hashes,
        identifiers: Hashes | None = None,
    ) -> None:
        """Hold more rows. values, hashes: of each quasi-identifier, its values or labels; marks:
        hashes of each other column; identifiers: of columns that are held for every row."""
        own = _mixed(rows, hashes)
        together = _mixed(rows, marks, own)
        with self._lock:
            some, held = self._different.add(together)
            if identifiers:
                self._every.setdefault(_HELD, Numbers()).add(held)
                for name, column in identifiers.items():
                    self._every.setdefault(name, Numbers()).add(column)
            if not isinstance(some, slice) and len(some) < rows:
                if not len(some):
                    return
                at = pa.array(some)
                values = {name: column.take(at) for name, column in values.items()}
                hashes = {name: column[some] for name, column in hashes.items()}
                marks = {name: column[some] for name, column in marks.items()}
                own = own[some]
            self._hold(own, values, hashes)
            for name, column in marks.items():
                self._marks.setdefault(name, _Marked()).add(column)

    def _hold(self, own: Marks, values: Columns, hashes: Hashes) -> None:
        """Hold the quasi-identifiers of rows; own: a hash of all of them."""
        raise NotImplementedError


class RawRows(_Side):
    """The raw rows of an audit, as they come."""

    def __init__(self, together: bool = True) -> None:
        super().__init__(together)
        self._values: dict[str, _Numbered] = {}

    def _hold(self, own: Marks, values: Columns, hashes: Hashes) -> None:
        for name, column in values.items():
            batch = pa.record_batch([column], [name])
            self._values.setdefault(name, _Numbered()).add(hashes[name], batch)

    def raw(self, ascending: Mapping[str, bool], distinct: Mapping[str, pa.StructArray]) -> Raw:
        """Return the rows, which are held no longer; ascending, distinct: as in ``Raw``."""
        found, self._values = self._values, {}
        weights = self._different.weights()
        places = {name: each.rows.array() for name, each in found.items()}
        every = {name: each.array() for name, each in self._every.items()}
        held = every.pop(_HELD, np.empty(0, np.int32)).astype(np.int32, copy=False)
        identifiers = {
            str(name): each.astype(np.uint64, copy=False) for name, each in every.items()
        }
        return Raw(
            {name: each.values()[name] for name, each in found.items()},
            {n: weighed(rows, weights, found[n].known.count) for n, rows in places.items()},
            places,
            weights,
            {name: each.hashed() for name, each in self._marks.items()},
            ascending,
            distinct,
            identifiers,
            held,
        )


class ReleasedRows(_Side):
    """The released rows of an audit, as they come."""

    def __init__(self, together: bool = True) -> None:
        super().__init__(together)
        self._classes = _Numbered()

    def _hold(self, own: Marks, values: Columns, hashes: Hashes) -> None:
        if values:  # without, it is refused once all is read
            self._classes.add(own, pa.record_batch(list(values.values()), list(values)))

    def released(self, views: Mapping[str, Any]) -> ReleasedTable:
        """Return the classes and rows, which are held no longer; views: as in ``ReleasedTable``."""
        classes, self._classes = self._classes, _Numbered()
        class_of, weights = classes.rows.array().astype(np.int32), self._different.weights()
        sizes = weighed(class_of, weights, classes.known.count)
        order, _ = kernels.hashing.group(class_of, len(sizes))
        names = list(self._marks)
        marks = {name: self._marks.pop(name).hashed().select(order) for name in names}
        found = classes.values()
        return ReleasedTable(found, sizes, class_of[order], weights[order], marks, views)


def _mixed(rows: int, columns: Hashes, found: Marks | None = None) -> Marks:
    """Return a hash of each row over some columns, and over what was found before."""
    found = np.zeros(rows, np.uint64) if found is None else found
    for column in columns.values():
        found = kernels.hashing.mix(found, column.view(np.int64))
    return found
