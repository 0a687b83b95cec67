"""Find columns that determine others, exactly or nearly.

An attacker who knows a person's age can compute the year of birth, so a column of these years adds
no fact about the person.

Each row is predicted from the other rows: from those with the same value of the key or, if there
are none, from the rows before and after it in the order of the key. A key that differs in nearly
every row therefore determines nothing by chance. The result is the share of errors that the key
avoids: lambda (Goodman and Kruskal 1954) with rows left out one by one.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.core import stopping

Ints = npt.NDArray[np.signedinteger[Any]]
NEARLY = 0.8  # share of the errors avoided from which on a key determines a column
SAMPLE_ROWS = 1 << 17  # of a larger table about so many are examined
MAX_PAIRED_COLUMNS = 12  # of fewer quasi-identifiers, pairs are examined too


def numbered(values: npt.NDArray[np.generic]) -> Ints:
    """Return a number for each distinct value from 0, in the order of the values."""
    numbers: Ints = np.unique(values, return_inverse=True)[1].reshape(-1)
    return numbers


def determines(key: Ints, value: Ints) -> bool:
    """Return whether a key determines a column; both: numbers from 0 of distinct values."""
    return avoided_errors(key, value) >= NEARLY


def avoided_errors(key: Ints, value: Ints) -> float:
    """Return the share of errors that a reader avoids who knows the key, 0…1.

    key, value: int64[n], numbers from 0 of distinct values. A reader without the key takes the most
    frequent value. A column of one value is not determined.
    """
    rows = len(key)
    usual = int(np.bincount(value, minlength=1).max()) if rows else 0
    if usual == rows:
        return 0.0
    modes = _modes(key, value)
    right = int(modes.rows[modes.rows - 1 > modes.next_rows].sum())
    size = np.bincount(key)
    right += int((_between(key, value) & (size[key] == 1)).sum())
    return max(0.0, (right - usual) / (rows - usual))


def mode(key: Ints, value: Ints) -> Ints:
    """Return the most frequent value of each key, -1 for a key that no row has."""
    values = np.full(int(key.max(initial=-1)) + 1, -1, np.int64)
    modes = _modes(key, value)
    values[modes.keys] = modes.values
    return values


class _Modes(NamedTuple):
    """The most frequent value of each distinct key, its rows, and the rows of the next value."""

    keys: Ints
    values: Ints
    rows: Ints
    next_rows: Ints


def _modes(key: Ints, value: Ints) -> _Modes:
    width = int(value.max(initial=0)) + 1
    once, often = np.unique(key.astype(np.int64) * width + value, return_counts=True)
    order = np.lexsort((-often, once // width))
    group, values, often = once[order] // width, once[order] % width, often[order]
    first = np.append(True, group[1:] != group[:-1])[: len(group)]
    second = np.append(np.where(first[1:], 0, often[1:]), 0)[: len(group)]
    return _Modes(group[first], values[first], often[first], second[first])


def _between(key: Ints, value: Ints) -> npt.NDArray[np.bool_]:
    """Return whether the row before or after a row, in the order of the key, has its value."""
    order = np.argsort(key, kind="stable")
    same = value[order][1:] == value[order][:-1]
    same_as_neighbour = np.zeros(len(key), np.bool_)
    same_as_neighbour[order[1:]] |= same
    same_as_neighbour[order[:-1]] |= same
    return same_as_neighbour


def keys_of(columns: Mapping[str, Ints]) -> Iterator[tuple[tuple[str, ...], Ints]]:
    """Yield the numbers of each column, and of each pair whose values repeat in most rows.

    columns: numbers from 0 of distinct values, by name.
    """
    for name, values in columns.items():
        yield (name,), values
    for first, second in combinations(columns, 2) if len(columns) <= MAX_PAIRED_COLUMNS else ():
        stopping.check()
        width = int(columns[second].max(initial=0)) + 1
        together = numbered(columns[first].astype(np.int64) * width + columns[second])
        if int(together.max(initial=0)) < len(together) / 2:
            yield (first, second), together
