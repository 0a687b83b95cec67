"""Find the smallest sets of columns that make rows unique, and count unique rows by column.

The search follows SUDA2 (Elliot, Manning and Ford 2002; Manning, Haglin and Keane 2008). A set of
columns is a minimal unique of a row if no other row has its values in these columns, and no smaller
set makes the row unique. The search goes by size instead of recursively by value. Rows that a
subset makes unique are left out: they are not minimal in the set, and since they differ from every
row in the subset, they do not affect whether other rows are unique.

Columns of any type are represented by marks, which are 64-bit hashes of values. Equal values have
equal marks. Two of a million different values have the same mark once in 30 million tables.
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
MAX_SETS = 200_000  # of columns
MAX_CELLS = 20_000_000_000  # rows times sets
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
    scored = sorted(
        (
            (_weight(len(names), len(chosen), most) * number, chosen)
            for chosen, number in counts.items()
        ),
        key=lambda scored_set: (-scored_set[0], len(scored_set[1]), scored_set[1]),
    )
    total = sum(score for score, _ in scored)
    return pa.array(
        [
            {
                "columns": [names[i] for i in chosen],
                "size": len(chosen),
                "rows": counts[chosen],
                "share": counts[chosen] / rows,
                "score": score / total,
            }
            for score, chosen in scored
        ],
        COMBINATION,
    )


def minimal_uniques(columns: Sequence[Codes], rows: int, most: int) -> dict[tuple[int, ...], int]:
    """Return the number of rows of each set of columns that is a minimal unique of any row.

    The keys are indices of columns in ascending order.
    """
    numbered = [Numbered.of(codes) for codes in columns]
    unique_counts: dict[tuple[int, ...], int] = {}
    single: dict[
        tuple[int, ...], Packed
    ] = {}  # rows that a set singles out, minimal or not, by bits
    for size in range(1, most + 1):
        larger: dict[tuple[int, ...], Packed] = {}
        for first in combinations(range(len(columns)), size - 1):
            stopping.check(NAME)
            together = reduce(Numbered.beside, (numbered[i] for i in first)) if first else None
            for last in range(first[-1] + 1 if first else 0, len(columns)):
                stopping.check(NAME)
                chosen = (*first, last)
                unique_in_subset = _unique_in_subsets(single, chosen, rows)
                unique = _unique(together, numbered[last], unique_in_subset)
                if number := int(unique.sum()):
                    unique_counts[chosen] = number
                if size < most:
                    larger[chosen] = np.packbits(unique | unique_in_subset)
        single = larger
    return unique_counts


def _unique(together: Numbered | None, last: Numbered, unique_in_subset: Flags) -> Flags:
    """Return which rows a set singles out, and no subset of it; unique_in_subset: those of
    subsets."""
    if together is None:
        return last.unique()
    left = np.flatnonzero(~unique_in_subset)
    if 2 * len(left) > len(unique_in_subset):  # to look at all rows is faster
        return together.beside(last).unique() & ~unique_in_subset
    unique = np.zeros(len(unique_in_subset), dtype=np.bool_)
    unique[left] = together.of_rows(left).beside(last.of_rows(left)).unique()
    return unique


def _unique_in_subsets(
    single: Mapping[tuple[int, ...], Packed], chosen: tuple[int, ...], rows: int
) -> Flags:
    """Return the rows that a subset with one column less makes unique, bool[n]."""
    if len(chosen) == 1:
        return np.zeros(rows, dtype=np.bool_)
    smaller = [single[chosen[:i] + chosen[i + 1 :]] for i in range(len(chosen))]
    return np.unpackbits(np.bitwise_or.reduce(smaller), count=rows).astype(np.bool_)


def _weight(columns: int, size: int, most: int) -> int:
    """Return the score of a row in a set of a size."""
    return prod(columns - i for i in range(size, most))


def _require_few(columns: int, rows: int, most: int) -> None:
    """Raise AnonError if there are too many sets to look at."""
    sets = sum(comb(columns, size) for size in range(1, most + 1))
    if sets > MAX_SETS or sets * rows > MAX_CELLS:
        raise AnonError(
            NAME,
            f"the sets of columns must be at most {min(MAX_SETS, MAX_CELLS // max(rows, 1)):,}",
            f"{sets:,} of up to {most} of {columns} columns",
            "lower "
            + Parameter("max_columns")
            + " or name fewer columns in "
            + Argument("columns", [...]),
        )


Marks = npt.NDArray[np.uint64]
_PROBE_ROWS = 4_096  # rows by which the number of marks of a column is judged
_MIN_HALVED_COLUMNS = 8  # with more, rows that half of the columns make unique are searched first


@dataclass(frozen=True)
class Counts:
    """Counts of one column; NULL is a value.

    distinct: of values. unique: of rows whose value no other row has. pairs: of pairs of rows that
    share the value, each row with itself included. Fewer pairs mean that the column distinguishes
    more rows.
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
    """Return the number of rows of each mark, ascending; by a hash table if marks are few."""
    if len(marks) > _PROBE_ROWS and len(np.unique(marks[:_PROBE_ROWS])) < _PROBE_ROWS / 4:
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
    position = np.minimum(np.searchsorted(several, marks), len(several) - 1)
    return np.flatnonzero(several[position] == marks)


class CombinedMarks:
    """Marks of rows over several columns: the sum, modulo 2 to the 64th, of the mixed marks of the
    columns. A column is taken out of the sum by subtraction."""

    def __init__(self, columns: Sequence[Marks], rows: int) -> None:
        self._columns, self._rows = columns, rows

    def marks(self, chosen: Sequence[int]) -> Marks:
        """Return the marks of the rows over the columns with these indices, uint64[n]."""
        total = np.zeros(self._rows, dtype=np.uint64)
        for column in chosen:
            total += self._mixed(column)
        return total

    def unique_by(self, chosen: Sequence[int]) -> list[int]:
        """Return, for each column, the number of rows that it makes unique in addition.

        chosen: indices of the other columns. The figure of a column is the number of rows that are
        unique on it and the others, minus the number unique on the others alone.
        """
        total, others = self.marks(chosen), set(chosen)
        shared = _shared(total) if others else np.arange(self._rows)
        unique = self._rows - len(shared)
        added = {
            column: unique_count(total[shared] + self._mixed(column, shared))
            for column in range(len(self._columns))
            if column not in others
        }
        halves = ((chosen[::2], chosen[1::2]), (chosen[1::2], chosen[::2]))
        for part, rest in halves if len(chosen) > _MIN_HALVED_COLUMNS else ((chosen, ()),):
            # Rows that are unique on the rest stay unique without a column of the part. The other
            # rows can only equal each other.
            left = _shared(self.marks(rest)) if rest else np.arange(self._rows)
            for column in part:
                without = (
                    unique_count(total[left] - self._mixed(column, left)) if len(chosen) > 1 else 0
                )
                added[column] = unique - (self._rows - len(left)) - without
        return [added[column] for column in range(len(self._columns))]

    def _mixed(self, column: int, rows: npt.NDArray[np.intp] | slice = slice(None)) -> Marks:
        """Return the marks of a column, mixed so that columns do not cancel each other out."""
        salt = np.uint64((column + 1) * 0x9E3779B97F4A7C15 % 2**64)
        mixed = self._columns[column][rows] ^ salt
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed ^= mixed >> np.uint64(shift)
            mixed *= np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
        return mixed
