"""Codes of the rows as places among a column's different codes, which take half the memory."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.audit.compared import Raw
from anon_sql.audit.hashed import Rows
from anon_sql.core.labels.coverage import BLOCK, Coverage, Ints

Ranks = npt.NDArray[np.int32]


def ranked(column: Coverage) -> Coverage:
    """Return the same with the place of each code among the different ones, ascending, as code;
    codes, low, high, start, end: int32."""
    new = np.append(True, column.ordered[1:] != column.ordered[:-1])[: len(column.ordered)]
    codes = column.ordered[new]
    return replace(
        column,
        codes=_narrow(np.searchsorted(codes, column.codes)),
        low=_narrow(np.searchsorted(codes, column.low)),
        high=_narrow(np.searchsorted(codes, column.high, "right") - 1),
        start=_narrow(column.start),
        end=_narrow(column.end),
        flat=np.searchsorted(codes, column.flat),
    )


def _narrow(numbers: Ints) -> Any:
    return numbers.astype(np.int32)


def codes_of(raw: Raw, at: Rows, columns: Mapping[str, Coverage]) -> Ranks:
    """Return the codes of some raw rows, int32[n, d]."""
    places = [raw.places[name][at] for name in columns]
    codes = np.empty((len(places[0]), len(places)), dtype=np.int32)
    for first in range(0, len(codes), BLOCK):  # rows that stay in the cache
        rows = slice(first, first + BLOCK)
        for place, column in enumerate(columns.values()):
            codes[rows, place] = column.codes[places[place][rows]]
    return codes


def narrowest(raw: Raw, columns: Mapping[str, Coverage]) -> int:
    """Return the column in which labels cover the fewest rows."""
    covered = []
    for name, column in columns.items():
        rows = np.bincount(column.codes, weights=raw.often[name]).astype(np.int64)
        before = np.append(0, np.cumsum(rows))
        low = np.minimum(column.low, len(rows))
        many = before[np.maximum(column.high + 1, low)] - before[low]
        covered.append(int(many[column.label_of].sum()))
    return int(np.argmin(covered))
