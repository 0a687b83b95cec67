"""Released rows of one class and the same kept values, which are alike: together they are a slot.

The raw rows of a slot are those with its kept values, told by a 64-bit hash. Slots are numbered
while rows come, so that the hashes of all rows are never in memory together.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql.audit.hashed import Marks
from anon_sql.audit.row_numbers import Known, Numbers
from anon_sql.core.labels.coverage import Ints

Whole = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Slots:
    """Slots by hash and class: each one's class, how many rows it has, and its raw rows first …
    last - 1 of ``rows``, int32[n] by hash. shown: the released rows, int32[m], slot by slot; empty
    where they were not asked for."""

    classes: Whole
    capacity: Ints
    first: Ints
    last: Ints
    rows: Whole
    shown: Whole


class Counted:
    """Some rows of both relations, as they come; all raw rows must come first."""

    def __init__(self, shown: bool) -> None:
        """shown: whether the released rows of each slot are asked for."""
        self._known, self._raw, self._often = Known(), Numbers(), np.empty(0, np.int64)
        self._shown = Numbers() if shown else None
        self._latest, self._values, self._owners = (np.empty(0, np.int32) for _ in range(3))
        self._sizes, self._count = np.empty(0, np.int64), 0

    def add_raw(self, marks: Marks) -> None:
        """Count raw rows; marks: hashes of their kept values."""
        self._raw.add(self._known.add(marks)[0])
        self._often = self._known.often

    def add_released(self, marks: Marks, classes: Whole) -> None:
        """Count released rows; classes: int32[…], ascending from call to call."""
        from anon_sql.kernels.legal.slot_numbers import number_slots

        numbers = self._known.add(marks)[0].astype(np.int32)
        more = np.full(self._known.count - len(self._latest), -1, np.int32)
        self._latest = np.append(self._latest, more)
        end = self._count + len(numbers)
        if end > len(self._sizes):  # in place, and little more than is needed
            for column in (self._values, self._owners, self._sizes):
                column.resize(end + end // 8, refcheck=False)
        found = (self._values, self._owners, self._sizes)
        slots, self._count = number_slots(numbers, classes, self._latest, *found, self._count)
        if self._shown is not None:
            self._shown.add(slots)

    @property
    def more(self) -> int:
        """How many released rows there are above the raw rows with their hash."""
        often = self._known.often
        often[: len(self._often)] -= 2 * self._often
        return int(np.maximum(often, 0).sum())

    def slots(self) -> Slots:
        """Return the slots of all rows."""
        from anon_sql.kernels.hash.grouping import group
        from anon_sql.kernels.order.hash_order import by_hash

        order = by_hash(self._known.marks)
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        rows, starts = group(place[self._raw.whole()], len(order))
        value = place[self._values[: self._count]]
        slots, _ = group(value, len(order))
        value = value[slots]
        shown = np.empty(0, np.int32)
        if self._shown is not None:
            at = np.empty(len(slots), np.int32)
            at[slots] = np.arange(len(slots), dtype=np.int32)
            shown, _ = group(at[self._shown.whole()], len(slots))
        classes, capacity = self._owners[slots], self._sizes[slots]
        return Slots(classes, capacity, starts[value], starts[value + 1], rows, shown)
