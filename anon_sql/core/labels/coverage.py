"""What the labels of a column cover, as stretches of codes, so that covering is a comparison."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.columns import Categories
from anon_sql.core.hierarchy.hierarchical import Hierarchical
from anon_sql.core.labels.read import Bools, Said

Ints = npt.NDArray[np.int64]
Places = npt.NDArray[Any]  # whole numbers
LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max  # LEAST is the code of NULL
BLOCK = 4096


@dataclass(frozen=True)
class Coverage:
    """One quasi-identifier: n values, and what the k labels of c classes cover of them.

    codes int64[n]: of the values, in their order. label_of int64[c]: of each class. shown: the
    labels, those of text once each. low, high int64[k]: the least and greatest code that a label
    covers: all of them for ``*``, that of NULL for NULL alone, none for what is malformed. start,
    end int64[k]: where the codes of a set with gaps stand in ``flat``, ascending. unknown bool[k]:
    the label names what the column or its hierarchy lacks. column: the values where they are not
    compared as numbers. said: the labels as they were read.
    """

    codes: Ints
    label_of: Ints
    shown: pa.Array
    low: Ints
    high: Ints
    start: Ints
    end: Ints
    flat: Ints
    unknown: Bools
    column: Categories | Hierarchical | None
    said: Said

    @cached_property
    def ordered(self) -> Ints:
        """The codes, ascending."""
        return np.sort(self.codes)

    @cached_property
    def idle(self) -> Bools:
        """Which labels cover no value of the column."""
        first = np.searchsorted(self.ordered, self.low)
        return np.asarray(first >= np.searchsorted(self.ordered, self.high, "right"))

    @cached_property
    def star(self) -> Bools:
        """Which classes have ``*``."""
        star: Bools = self.said.star[self.label_of]
        return star


def codes_of(columns: Sequence[Coverage], places: Sequence[Places] | None = None) -> Places:
    """Return the codes of all columns, row by row: [n, d], of the type of the codes.

    places: of each column which of its values each row has; None: the values are of the rows.
    """
    rows = len(columns[0].codes if places is None else places[0])
    codes = np.empty((rows, len(columns)), dtype=columns[0].codes.dtype)
    for first in range(0, rows, BLOCK):  # rows that stay in the cache
        some = slice(first, first + BLOCK)
        for at, column in enumerate(columns):
            codes[some, at] = column.codes[some if places is None else places[at][some]]
    return codes


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


def labels_of(columns: Sequence[Coverage]) -> tuple[Ints, ...]:
    """low, high, start, end int64[c, d] and flat, of all columns."""
    shift = np.cumsum([0, *(len(column.flat) for column in columns)]).tolist()
    places = [(column.label_of, by) for column, by in zip(columns, shift, strict=False)]
    paired = list(zip(columns, places, strict=True))
    return (
        np.column_stack([column.low[at] for column, (at, _) in paired]),
        np.column_stack([column.high[at] for column, (at, _) in paired]),
        np.column_stack([column.start[at] + by for column, (at, by) in paired]),
        np.column_stack([column.end[at] + by for column, (at, by) in paired]),
        np.concatenate([column.flat for column in columns]),
    )
