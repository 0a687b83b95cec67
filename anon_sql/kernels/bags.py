"""What the rows of a class hold of sensitive values and of persons, and what is asked of it.

A *bag* holds keys with their counts. Without persons a key is a sensitive value. With persons it is
a value and a person, which count once however many rows they have together; the last bag then
holds the persons themselves.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

DISTINCT, ENTROPY, RECURSIVE = 0, 1, 2
COUNT = np.int64(2**32 - 1)  # the bits of a count


class Rules(NamedTuple):
    """What is asked of a class, and what the table holds, in b bags, one a sensitive column.

    k: rows, or persons where there are any. l, c, kind: diversity; an l of 1 asks nothing. t: the
    largest distance; 1 asks nothing. keys: int32[b, n], of each row. value: int32[b, …], the value
    of each key, ascending with it. pairs: whether keys count once. known: int64[b], how many values
    are not NULL; they are numbered as they sort, and NULL comes after them. ordered: bool[b],
    distance by rank, or every move alike. held: int64[b, …], how often a value is in the table, and
    total: int64[b], all of them. below: float64[b, …], values up to and with one; area: float64[b,
    …], the sum of below before one. persons: whether the last bag is the persons'.
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
    persons: bool


@njit(cache=True, nogil=True)
def contents(rules, bag, rows):
    """The bag of some rows: int64[…] of its keys, ascending, each above its count (32 bits)."""
    keys = np.sort(rules.keys[bag][rows])
    held = np.empty(keys.size, np.int64)
    size = 0
    for at in range(keys.size):
        if at > 0 and keys[at] == keys[at - 1]:
            held[size - 1] += not rules.pairs
        else:
            held[size] = (np.int64(keys[at]) << 32) + 1
            size += 1
    return held[:size].copy()


@njit(cache=True, nogil=True)
def union(rules, a, b):
    """The bag of the rows of two bags."""
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


@njit(cache=True, nogil=True)
def fold(rules, bag, held, values, counts):
    """Write the values of a bag, ascending, and their counts; how many there are."""
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
    """Rules of no bag for so many rows."""
    none = np.zeros((0, 1))
    return Rules(
        k=1, l=1.0, kind=DISTINCT, c=3.0, t=1.0,
        keys=np.zeros((0, rows), np.int32), value=none.astype(np.int32), pairs=False,
        known=np.zeros(0, np.int64), ordered=np.zeros(0, np.bool_),
        held=none.astype(np.int64), total=np.zeros(0, np.int64),
        below=none, area=none, persons=False,
    )  # fmt: skip
