"""Find the smallest sets of columns that single rows out (minimal sample uniques).

As SUDA2 looks for them (Elliot, Manning and Ford 2002; Manning, Haglin and Keane 2008): a set of
columns is a minimal unique of a row if no other row has its values in these columns, and no smaller
set of them singles the row out. The search goes by size instead of recursively by value. Rows
that a subset singles out are left out of the search in a set: they are not minimal there, and
since they differ from every row in the subset, they make no other row less unique.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import combinations
from math import comb, prod

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core import interrupt
from anon_sql.errors import AnonError
from anon_sql.measures.uniqueness import Codes, Numbered

NAME = "unique_combinations"
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
            interrupt.check(NAME)
            together = reduce(Numbered.beside, (numbered[at] for at in first)) if first else None
            for last in range(first[-1] + 1 if first else 0, len(columns)):
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
    unique[left] = together.at(left).beside(last.at(left)).unique()
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
            "lower max_columns or name fewer columns in columns := […]",
        )
