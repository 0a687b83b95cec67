"""Find the smallest sets of columns that single rows out (minimal sample uniques).

As SUDA2 looks for them (Elliot, Manning and Ford 2002; Manning, Haglin and Keane 2008): a set of
columns is a minimal unique of a row if no other row has its values in these columns, and no smaller
set of them singles the row out. The search goes by size instead of recursively by value. Rows that
a subset singles out are left out of the search in a set: they are not minimal there, and since they
differ from every row in the subset, they make no other row less unique.

Count the rows that each column singles out, alone and with the others, by hashes of values. A mark
is a hash of 64 bits of a value, so that a column of any type is uint64[n]. Equal values have equal
marks; that two of a million different values have the same mark happens once in 30 million tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core import stopping
from anon_sql.core.parameters import Anything, Columns, declare, param
from anon_sql.errors import AnonError, Argument, Parameter
from anon_sql.measures.uniqueness import Codes, Numbered

NAME = "unique_combinations"


@dataclass(frozen=True)
class Combinations:
    """The parameters of ``unique_combinations``."""

    max_columns: int = param(3, Anything(), "maximum number of columns in a combination")
    columns: Any = param(
        None, Columns(), "columns to search", null="all except the declared identifiers"
    )


declare(NAME, Combinations)
COMBINATION = pa.struct(
    [
        ("columns", pa.list_(pa.string())),
        ("size", pa.int32()),
        ("rows", pa.int64()),
        ("share", pa.float64()),
        ("score", pa.float64()),
    ]
)
MOST = 200_000  # sets of columns that are looked at
MOST_CELLS = 20_000_000_000  # rows times sets
Packed = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]


def unique_combinations(columns: Mapping[str, Codes], rows: int, most: int) -> pa.Array:
    """Return an array of ``COMBINATION``, the highest score first.

    columns: a number for each distinct value of a column, int64[n]. most: largest number of columns
    in a set. The score of a set is the share of its rows' scores in those of all sets. The score
    of a row in a set of s of n columns is (n - s)(n - s - 1) … (n - most + 1), as in SUDA, so a row
    that few columns single out counts more. Raises AnonError if there are too many sets.
    """
    names = list(columns)
    most = min(most, len(names))
    _require_few(len(names), rows, most)
    counts = minimal_uniques(list(columns.values()), rows, most)
    found = sorted(
        (
            (_weight(len(names), len(chosen), most) * number, chosen)
            for chosen, number in counts.items()
        ),
        key=lambda each: (-each[0], len(each[1]), each[1]),
    )
    total = sum(score for score, _ in found)
    return pa.array(
        [
            {
                "columns": [names[at] for at in chosen],
                "size": len(chosen),
                "rows": counts[chosen],
                "share": counts[chosen] / rows,
                "score": score / total,
            }
            for score, chosen in found
        ],
        COMBINATION,
    )


def minimal_uniques(columns: Sequence[Codes], rows: int, most: int) -> dict[tuple[int, ...], int]:
    """Return the number of rows of which a set of columns is a minimal unique, where there is one.

    The keys are indices of columns in ascending order.
    """
    numbered = [Numbered.of(codes) for codes in columns]
    found: dict[tuple[int, ...], int] = {}
    single: dict[
        tuple[int, ...], Packed
    ] = {}  # rows that a set singles out, minimal or not, by bits
    for size in range(1, most + 1):
        larger: dict[tuple[int, ...], Packed] = {}
        for first in combinations(range(len(columns)), size - 1):
            stopping.check(NAME)
            together = reduce(Numbered.beside, (numbered[at] for at in first)) if first else None
            for last in range(first[-1] + 1 if first else 0, len(columns)):
                stopping.check(NAME)
                chosen = (*first, last)
                known = _known(single, chosen, rows)
                unique = _unique(together, numbered[last], known)
                if number := int(unique.sum()):
                    found[chosen] = number
                if size < most:
                    larger[chosen] = np.packbits(unique | known)
        single = larger
    return found


def _unique(together: Numbered | None, last: Numbered, known: Flags) -> Flags:
    """Return which rows a set singles out, and no subset of it; known: those of subsets."""
    if together is None:
        return last.unique()
    left = np.flatnonzero(~known)
    if 2 * len(left) > len(known):  # to look at all rows is faster
        return together.beside(last).unique() & ~known
    unique = np.zeros(len(known), dtype=np.bool_)
    unique[left] = together.of_rows(left).beside(last.of_rows(left)).unique()
    return unique


def _known(single: Mapping[tuple[int, ...], Packed], chosen: tuple[int, ...], rows: int) -> Flags:
    """Return which rows a subset with one column less singles out, bool[n]."""
    if len(chosen) == 1:
        return np.zeros(rows, dtype=np.bool_)
    smaller = [single[chosen[:at] + chosen[at + 1 :]] for at in range(len(chosen))]
    return np.unpackbits(np.bitwise_or.reduce(smaller), count=rows).astype(np.bool_)


def _weight(columns: int, size: int, most: int) -> int:
    """Return the score of a row in a set of a size."""
    return prod(columns - at for at in range(size, most))


def _require_few(columns: int, rows: int, most: int) -> None:
    """Raise AnonError if there are too many sets to look at."""
    sets = sum(comb(columns, size) for size in range(1, most + 1))
    if sets > MOST or sets * rows > MOST_CELLS:
        raise AnonError(
            NAME,
            f"the sets of columns must be at most {min(MOST, MOST_CELLS // max(rows, 1)):,}",
            f"{sets:,} of up to {most} of {columns} columns",
            "lower "
            + Parameter("max_columns")
            + " or name fewer columns in "
            + Argument("columns", [...]),
        )


Marks = npt.NDArray[np.uint64]
_FIRST = 4_096  # rows by which the number of marks of a column is judged
_MANY = 8  # columns from which on it pays to look for rows that half of them single out


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
    sizes = _sizes(marks)
    return Counts(len(sizes), int((sizes == 1).sum()), int((sizes.astype(np.float64) ** 2).sum()))


def _sizes(marks: Marks) -> npt.NDArray[np.int64]:
    """Return how many rows each mark has; by a hash table where the first rows have few marks."""
    if len(marks) > _FIRST and len(np.unique(marks[:_FIRST])) < _FIRST / 4:
        return np.sort(pc.value_counts(pa.array(marks)).field("counts").to_numpy())
    ordered = np.sort(marks)
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    return np.sort(np.diff(np.append(starts, len(ordered))))


def unique_count(marks: Marks) -> int:
    """Return the number of rows whose mark no other row has."""
    if len(marks) < 2:
        return len(marks)
    ordered = np.sort(marks)
    differs = ordered[1:] != ordered[:-1]
    inner = int((differs[1:] & differs[:-1]).sum())
    return inner + int(differs[0]) + int(differs[-1])


def _shared(marks: Marks) -> npt.NDArray[np.intp]:
    """Return the rows whose mark another row has too."""
    ordered = np.sort(marks)
    several = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not len(several):
        return np.zeros(0, dtype=np.intp)
    at = np.minimum(np.searchsorted(several, marks), len(several) - 1)
    return np.flatnonzero(several[at] == marks)


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
        total, others = self.of(chosen), set(chosen)
        shared = _shared(total) if others else np.arange(self._rows)
        unique = self._rows - len(shared)
        found = {
            at: unique_count(total[shared] + self._mixed(at, shared))
            for at in range(len(self._columns))
            if at not in others
        }
        halves = ((chosen[::2], chosen[1::2]), (chosen[1::2], chosen[::2]))
        for part, rest in halves if len(chosen) > _MANY else ((chosen, ()),):
            # What is unique on the rest stays so without a column of the part, and what is not can
            # only be like another row that is not.
            left = _shared(self.of(rest)) if rest else np.arange(self._rows)
            for at in part:
                without = (
                    unique_count(total[left] - self._mixed(at, left)) if len(chosen) > 1 else 0
                )
                found[at] = unique - (self._rows - len(left)) - without
        return [found[at] for at in range(len(self._columns))]

    def _mixed(self, at: int, rows: npt.NDArray[np.intp] | slice = slice(None)) -> Marks:
        """Return the marks of a column, mixed so that columns do not cancel each other out."""
        salt = np.uint64((at + 1) * 0x9E3779B97F4A7C15 % 2**64)
        mixed = self._columns[at][rows] ^ salt
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed ^= mixed >> np.uint64(shift)
            mixed *= np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
        return mixed
