"""Numbers for the hashes of rows that come a few at a time, and the numbers of all rows."""

from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.audit.hashed import Marks
from anon_sql.core.labels.coverage import Ints


class Numbers:
    """A number of each row, as the rows come."""

    def __init__(self) -> None:
        self._held: npt.NDArray[Any] = np.empty(0, np.uint8)
        self._rows = 0

    def add(self, numbers: npt.NDArray[Any]) -> None:
        """Hold the numbers of more rows, in a type that is wide enough for all."""
        self._held = self._held.astype(
            np.promote_types(self._held.dtype, numbers.dtype), copy=False
        )
        end = self._rows + len(numbers)
        if end > len(self._held):  # in place, and little more than is needed
            self._held.resize(end + end // 8, refcheck=False)
        self._held[self._rows : end] = numbers
        self._rows = end

    def decode(self, known: Marks) -> None:
        """Replace each number by what it stands for."""
        self._held = known[self.whole()]

    def whole(self) -> npt.NDArray[Any]:
        """Return the numbers of all rows."""
        self._held.resize(self._rows, refcheck=False)
        return self._held


class Known:
    """Different hashes, numbered as they come, and how often each came."""

    def __init__(self) -> None:
        self.count = 0
        self._known, self._often = np.empty(0, np.uint64), np.empty(0, np.int64)
        self._slots = np.empty(0, np.int32)

    def add(self, marks: Marks) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
        """Return the number of each hash, as narrow as it can be, and the positions of new ones."""
        from anon_sql.kernels.hash.numbering import number_more

        if self.count + len(marks) > len(self._known):
            self._grow(2 * (self.count + len(marks)))
        numbers, new = number_more(marks, self._known, self._often, self._slots, self.count)
        self.count += len(new)
        return numbers.astype(np.min_scalar_type(self.count)), new

    def _grow(self, size: int) -> None:
        """Make room for so many hashes."""
        from anon_sql.kernels.hash.numbering import number_more

        known, often = self.marks, self.often
        self._known, self._often = np.empty(size, np.uint64), np.empty(size, np.int64)
        self._slots = np.full(1 << (2 * size).bit_length(), -1, np.int32)
        number_more(known, self._known, self._often, self._slots, 0)
        self._often[: self.count] = often

    @property
    def marks(self) -> Marks:
        return self._known[: self.count].copy()

    @property
    def often(self) -> Ints:
        return self._often[: self.count].copy()
