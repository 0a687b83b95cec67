"""Find columns that determine others, exactly or nearly.

An attacker who knows a person's age computes the year of birth. A column of these years is then not
another fact about the person, but the age once more.

Each row is predicted from the other rows: from those with the same value of the key, or, if there
are none, from the rows before and after it in the order of the key. So a key that differs in nearly
every row determines nothing by chance. The result is the share of the errors of a reader without
the key that the key avoids, which is lambda (Goodman and Kruskal 1954) on rows left out one by one.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.core import stopping

Ints = npt.NDArray[np.signedinteger[Any]]
NEARLY = 0.8  # share of the errors avoided from which on a key determines a column
SOME = 1 << 17  # rows from which on only some are looked at
PAIRED = 12  # quasi-identifiers up to which two together are looked at, too


def numbered(values: npt.NDArray[np.generic]) -> Ints:
    """Return a number for each distinct value from 0, in the order of the values."""
    found: Ints = np.unique(values, return_inverse=True)[1].reshape(-1)
    return found


def determines(key: Ints, value: Ints) -> bool:
    """Return whether a key determines a column; both: numbers from 0 of distinct values."""
    return avoided(key, value) >= NEARLY


def avoided(key: Ints, value: Ints) -> float:
    """Return the share of errors that a reader avoids who knows the key, 0…1.

    key, value: int64[n], numbers from 0 of distinct values. A reader without the key takes the most
    frequent value. A column of one value is not determined.
    """
    rows = len(key)
    usual = int(np.bincount(value, minlength=1).max()) if rows else 0
    if usual == rows:
        return 0.0
    _, _, often, second = _modes(key, value)
    right = int(often[often - 1 > second].sum())
    size = np.bincount(key)
    right += int((_between(key, value) & (size[key] == 1)).sum())
    return max(0.0, (right - usual) / (rows - usual))


def mode(key: Ints, value: Ints) -> Ints:
    """Return the most frequent value of each key, -1 for a key that no row has."""
    found = np.full(int(key.max(initial=-1)) + 1, -1, np.int64)
    group, values, _, _ = _modes(key, value)
    found[group] = values
    return found


def _modes(key: Ints, value: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the different keys, the most frequent value of each, how many rows have it, and how
    many have the next one."""
    width = int(value.max(initial=0)) + 1
    once, often = np.unique(key.astype(np.int64) * width + value, return_counts=True)
    order = np.lexsort((-often, once // width))
    group, values, often = once[order] // width, once[order] % width, often[order]
    first = np.append(True, group[1:] != group[:-1])[: len(group)]
    second = np.append(np.where(first[1:], 0, often[1:]), 0)[: len(group)]
    return group[first], values[first], often[first], second[first]


def _between(key: Ints, value: Ints) -> npt.NDArray[np.bool_]:
    """Return whether the row before or after a row, in the order of the key, has its value."""
    order = np.argsort(key, kind="stable")
    same = value[order][1:] == value[order][:-1]
    found = np.zeros(len(key), np.bool_)
    found[order[1:]] |= same
    found[order[:-1]] |= same
    return found


def keys_of(columns: Mapping[str, Ints]) -> Iterator[tuple[tuple[str, ...], Ints]]:
    """Yield the numbers of each column, and of each two together that share values in most rows.

    columns: numbers from 0 of distinct values, by name.
    """
    for name, values in columns.items():
        yield (name,), values
    for one, other in combinations(columns, 2) if len(columns) <= PAIRED else ():
        stopping.check()
        width = int(columns[other].max(initial=0)) + 1
        together = numbered(columns[one].astype(np.int64) * width + columns[other])
        if int(together.max(initial=0)) < len(together) / 2:
            yield (one, other), together
