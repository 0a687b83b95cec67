"""Count the sensitive values and the persons of a class, as bags (multisets) of keys.

Without persons a key is a sensitive value. With persons a key is a pair of value and person, which
counts once however many rows share it; the last bag then holds the persons themselves.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.order.sort_codes import sort_codes

DISTINCT, ENTROPY, RECURSIVE = 0, 1, 2
COUNT = np.int64(2**32 - 1)  # mask of the bits that hold a count


class Rules(NamedTuple):
    """What k, l, t, beta and delta require of a class, and the table's own counts, in b bags.

    There is one bag for each sensitive column. k: least number of rows, or of persons where there
    are any. l, kind, c: diversity; l = 1 requires nothing. t: largest distance; t = 1 requires
    nothing.

    keys: int32[b, n], key of each row. value: int32[b, …], value of each key, ascending with the
    key. pairs: whether a key counts once. known: int64[b], number of values that are not NULL;
    values are numbered in ascending order, NULL last. ordered: bool[b], whether the distance goes
    by rank or treats all pairs of values alike.

    held: int64[b, …], count of each value in the table; total: int64[b], their sum. below:
    float64[b, …], count of values up to and including each; area: float64[b, …], sum of ``below``
    over the values before each. least, most: float64[b, …], bounds on the share of each value, not
    in the bag of the persons; of width 0 where there are none. persons: whether the last bag is
    that of the persons.
    """

    k: int
    l: float  # noqa: E741 - the field's name for it
    kind: int
    c: float
    t: float
    keys: npt.NDArray[np.int32]
    value: npt.NDArray[np.int32]
    pairs: bool
    known: npt.NDArray[np.int64]
    ordered: npt.NDArray[np.bool_]
    held: npt.NDArray[np.int64]
    total: npt.NDArray[np.int64]
    below: npt.NDArray[np.float64]
    area: npt.NDArray[np.float64]
    least: npt.NDArray[np.float64]
    most: npt.NDArray[np.float64]
    persons: bool


@kernel
def contents(rules, bag, rows):
    """Return the bag of rows int32[m]: int64[…], ascending, each a key above 32 bits of count."""
    keys = np.empty(rows.size, np.int32)
    for at in range(rows.size):
        keys[at] = rules.keys[bag, rows[at]]
    sort_codes(keys)
    held = np.empty(keys.size, np.int64)
    size = 0
    for at in range(keys.size):
        if at > 0 and keys[at] == keys[at - 1]:
            held[size - 1] += not rules.pairs
        else:
            held[size] = (np.int64(keys[at]) << 32) + 1
            size += 1
    return held[:size].copy()


@kernel
def union(rules, a, b):
    """Return the bag of the union of the disjoint row sets that bags a and b describe."""
    both = np.empty(a.size + b.size, np.int64)
    i = j = size = 0
    while i < a.size or j < b.size:
        left = a[i] >> 32 if i < a.size else np.int64(2**31)
        right = b[j] >> 32 if j < b.size else np.int64(2**31)
        both[size] = a[i] if left <= right else b[j]
        if left == right and not rules.pairs:
            both[size] += b[j] & COUNT
        i += 1 if left <= right else 0
        j += 1 if right <= left else 0
        size += 1
    return both[:size]


@kernel
def fold(rules, bag, held, values, counts):
    """Write the values of a bag, ascending, and their counts; return how many values there are."""
    size = 0
    for at in range(held.size):
        value, count = rules.value[bag, held[at] >> 32], held[at] & COUNT
        if size > 0 and values[size - 1] == value:
            counts[size - 1] += count
        else:
            values[size], counts[size] = value, count
            size += 1
    return size


def nothing_asked(rows: int) -> Rules:
    """Return rules without a bag, which every class of the rows satisfies."""
    none = np.zeros((0, 1))
    return Rules(
        k=1, l=1.0, kind=DISTINCT, c=3.0, t=1.0,
        keys=np.zeros((0, rows), np.int32), value=none.astype(np.int32), pairs=False,
        known=np.zeros(0, np.int64), ordered=np.zeros(0, np.bool_),
        held=none.astype(np.int64), total=np.zeros(0, np.int64),
        below=none, area=none, least=none[:, :0], most=none[:, :0], persons=False,
    )  # fmt: skip
