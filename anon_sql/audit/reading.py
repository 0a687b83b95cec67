"""Hold the rows of an audit while they are read: little of each, since there are many.

Of the quasi-identifiers of a raw row and of the labels of a released one only a number is held:
which of the different values it is. They are told apart by 64-bit hashes.
"""

from collections.abc import Mapping
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql import kernels
from anon_sql.audit.compared import Hashed, Marks, Raw, ReleasedTable
from anon_sql.audit.persons import Known, Numbers

Columns = Mapping[str, pa.Array]
Hashes = Mapping[str, Marks]
FEW = 1 << 16  # different hashes up to which the rows of a column are held as numbers of them


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


class RawRows:
    """The raw rows of an audit, as they come."""

    def __init__(self) -> None:
        self.rows = 0
        self._values: dict[str, _Numbered] = {}
        self._marks: dict[str, _Marked] = {}
        self._lock = Lock()

    def add(self, rows: int, values: Columns, hashes: Hashes, marks: Hashes) -> None:
        """Hold more rows. values, hashes: of each quasi-identifier; marks: hashes of each other
        column."""
        with self._lock:
            self.rows += rows
            for name, column in values.items():
                batch = pa.record_batch([column], [name])
                self._values.setdefault(name, _Numbered()).add(hashes[name], batch)
            _hold(self._marks, marks)

    def raw(self, ascending: Mapping[str, bool], distinct: Mapping[str, pa.StructArray]) -> Raw:
        """Return the rows, which are held no longer; ascending, distinct: as in ``Raw``."""
        found, self._values = self._values, {}
        return Raw(
            {name: each.values()[name] for name, each in found.items()},
            {name: each.known.often for name, each in found.items()},
            {name: each.rows.array() for name, each in found.items()},
            {name: each.hashed() for name, each in self._marks.items()},
            ascending,
            distinct,
        )


class ReleasedRows:
    """The released rows of an audit, as they come."""

    def __init__(self) -> None:
        self.rows = 0
        self._classes = _Numbered()
        self._marks: dict[str, _Marked] = {}
        self._lock = Lock()

    def add(self, rows: int, labels: Columns, hashes: Hashes, marks: Hashes) -> None:
        """Hold more rows. labels, hashes: of each quasi-identifier; marks: hashes of each other
        column."""
        combined = np.zeros(rows, np.uint64)
        for name in labels:
            combined = kernels.hashing.mix(combined, hashes[name].view(np.int64))
        with self._lock:
            self.rows += rows
            if not labels:  # which is refused once all is read
                return
            self._classes.add(combined, pa.record_batch(list(labels.values()), list(labels)))
            _hold(self._marks, marks)

    def released(self, views: Mapping[str, Any]) -> ReleasedTable:
        """Return the classes and rows, which are held no longer; views: as in ``ReleasedTable``."""
        classes, self._classes = self._classes, _Numbered()
        sizes = classes.known.often
        order, _ = kernels.hashing.group(classes.rows.array().astype(np.int32), len(sizes))
        names = list(self._marks)
        marks = {name: self._marks.pop(name).hashed().select(order) for name in names}
        return ReleasedTable(classes.values(), sizes, marks, views)


def _hold(columns: dict[str, _Marked], marks: Hashes) -> None:
    for name, column in marks.items():
        columns.setdefault(name, _Marked()).add(column)
