"""Divide the rows of both relations into parts: rows with the same kept values are in one part."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql.audit.compared import Compared
from anon_sql.audit.hashed import Marks, Rows
from anon_sql.audit.slots import Counted
from anon_sql.core.labels.coverage import Ints

ROWS = 1_000_000  # of a part, unless more have one hash


@dataclass(frozen=True)
class Part:
    """Places of raw and of released rows, ascending."""

    raw: npt.NDArray[np.int32]
    released: npt.NDArray[np.int32]

    def counted(self, given: Compared, shown: bool) -> Counted:
        """Return the rows, counted; shown: as in ``Counted``."""
        found = Counted(shown)
        for rows in _blocks(self.raw):
            found.add_raw(given.raw_hashes(rows))
        for rows in _blocks(self.released):
            found.add_released(given.hashes(rows), given.class_of[rows])
        return found


def parts(given: Compared) -> Iterator[Part]:
    """Yield the rows whose hashes end alike."""
    count = _count(max(given.rows, given.shown))
    raw, starts = _divided(given.raw_hashes, given.rows, count)
    released, ends = _divided(given.hashes, given.shown, count)
    for at in range(count):
        yield Part(raw[starts[at] : starts[at + 1]], released[ends[at] : ends[at + 1]])


def _blocks(rows: npt.NDArray[np.int32]) -> Iterator[npt.NDArray[np.int32]]:
    for first in range(0, len(rows), ROWS):
        yield rows[first : first + ROWS]


def _count(rows: int) -> int:
    """Return into how many parts so many rows are divided, a power of two up to 256."""
    return min(1 << (max(rows - 1, 0) // ROWS).bit_length(), 256)


def _divided(
    hashes: Callable[[Rows], Marks], rows: int, parts: int
) -> tuple[npt.NDArray[np.int32], Ints]:
    """Return the rows part by part, ascending in each, and where the parts start."""
    from anon_sql.kernels.hash.grouping import group

    part = np.empty(rows, np.int32)
    for first in range(0, rows, ROWS):
        some = slice(first, first + ROWS)
        part[some] = hashes(some) & np.uint64(parts - 1)
    found: tuple[npt.NDArray[np.int32], Ints] = group(part, parts)
    return found
