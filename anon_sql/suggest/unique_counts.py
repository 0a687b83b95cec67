"""Count the rows that each column singles out, alone and with the others, by hashes of values.

A mark is a hash of 64 bits of a value, so that a column of any type is uint64[n]. Equal values have
equal marks; that two of a million different values have the same mark happens once in 30 million
tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Marks = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Counts:
    """Counts of one column; NULL is a value.

    distinct: of values. unique: of rows whose value no other row has. pairs: of pairs of rows that
    share the value, each row with itself included: the fewer, the more the column tells rows apart.
    """

    distinct: int
    unique: int
    pairs: int


def counts_of(marks: Marks) -> Counts:
    """Return the counts of a column."""
    if not len(marks):
        return Counts(0, 0, 0)
    ordered = np.sort(marks)
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    sizes = np.diff(np.append(starts, len(ordered)))
    return Counts(len(sizes), int((sizes == 1).sum()), int((sizes.astype(np.float64) ** 2).sum()))


def unique_count(marks: Marks) -> int:
    """Return the number of rows whose mark no other row has."""
    if len(marks) < 2:
        return len(marks)
    ordered = np.sort(marks)
    differs = ordered[1:] != ordered[:-1]
    inner = int((differs[1:] & differs[:-1]).sum())
    return inner + int(differs[0]) + int(differs[-1])


class Together:
    """Marks of rows over several columns: the sum, modulo 2 to the 64th, of the mixed marks of the
    columns. A column is taken out of the sum by subtraction."""

    def __init__(self, columns: Sequence[Marks], rows: int) -> None:
        self._columns, self._rows = columns, rows

    def of(self, chosen: Sequence[int]) -> Marks:
        """Return the marks of the rows over the columns with these indices, uint64[n]."""
        total = np.zeros(self._rows, dtype=np.uint64)
        for at in chosen:
            total += self._mixed(at)
        return total

    def unique_by(self, chosen: Sequence[int]) -> list[int]:
        """Return for each column how many rows it adds to those that are unique.

        chosen: indices of the columns that count as the others. The figure of a column is the
        number of rows that are unique on it and the others, minus those unique on the others.
        """
        whole, taken = self.of(chosen), set(chosen)
        unique = unique_count(whole) if taken else 0
        found = []
        for at in range(len(self._columns)):
            if at not in taken:
                found.append(unique_count(whole + self._mixed(at)) - unique)
            elif len(taken) == 1:
                found.append(unique)
            else:
                found.append(unique - unique_count(whole - self._mixed(at)))
        return found

    def _mixed(self, at: int) -> Marks:
        """Return the marks of a column, mixed so that columns do not cancel each other out."""
        salt = np.uint64((at + 1) * 0x9E3779B97F4A7C15 % 2**64)
        mixed = self._columns[at] ^ salt
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed ^= mixed >> np.uint64(shift)
            mixed *= np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
        return mixed
