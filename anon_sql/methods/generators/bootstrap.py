"""Mix records from real rows: a bootstrap that needs neither training nor another package.

Not from a paper. It preserves dependencies between columns only as far as near rows share them, and
yields no value that no row has; SDkA asks for CTGAN.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from anon_sql.errors import Argument, Words

Positions = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Attribute:
    """A released column.

    codes: int64[n], equal where values are, NULL has a code of its own. numbers: float64[n] of a
    number, date or time, NaN for NULL; None for other types.
    """

    name: str
    codes: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.float64] | None = None


@dataclass(frozen=True)
class RealRows:
    """n real rows, in an order that does not depend on the order in which they were scanned.

    sensitive: the column of sensitive values.
    """

    columns: Sequence[Attribute]
    sensitive: int

    @property
    def rows(self) -> int:
        return len(self.columns[0].codes)

    @cached_property
    def codes(self) -> npt.NDArray[np.int64]:
        """Return the codes of all columns, int64[n, d]."""
        return np.stack([column.codes for column in self.columns], axis=1)

    @cached_property
    def row_bytes(self) -> frozenset[bytes]:
        """Return every row as the bytes of its codes."""
        return frozenset(row.tobytes() for row in self.codes)

    def new(self, records: Positions) -> npt.NDArray[np.bool_]:
        """Return which records int32[m, d] differ from every real row, bool[m]."""
        codes = np.take_along_axis(self.codes, records.astype(np.int64), axis=0)
        return np.array([row.tobytes() not in self.row_bytes for row in codes], dtype=np.bool_)


class Generator(Protocol):
    """A model that learns from real rows when it is constructed.

    hint: what to change if it generates too few records.
    """

    hint: Words

    def draw(self, value: int, count: int, draw_number: int) -> Positions:
        """Return records of a sensitive value, int32[m, d], m at most about ``count``.

        A record has by column the position of the real row whose value it takes.

        value: code of the sensitive value that all records have.
        count: how many are needed.
        draw_number: the number of the draw for that value; each draws anew.
        """


_CANDIDATE_ROWS = 8  # rows drawn, of which the nearest gives the other values
_FREE_SHARE = 0.1  # share of the values taken from any row that has the sensitive value


class Bootstrap:
    """Generator that mixes the values of near rows.

    A record starts as a random row with the sensitive value. Each value of another column is
    replaced with probability 1/2 by that of a near row, whatever its sensitive value: the nearest
    by Gower's distance of a few random ones. A few values come from another row with the sensitive
    value.
    """

    hint = "leave fewer columns, or use " + Argument("generator", "ctgan")

    def __init__(self, function: str, real: RealRows, seed: int, epochs: int):
        self.real, self.seed = real, seed

    def draw(self, value: int, count: int, draw_number: int) -> Positions:
        rng = np.random.default_rng([self.seed, value, draw_number])
        rows = np.flatnonzero(self.real.columns[self.real.sensitive].codes == value)
        base = rows[rng.integers(0, len(rows), count)]
        candidates = rng.integers(0, self.real.rows, (count, _CANDIDATE_ROWS))
        nearest = candidates[np.arange(count), self._distance(base, candidates).argmin(axis=1)]
        shape = (count, len(self.real.columns))
        records = np.where(rng.random(shape) < 0.5, nearest[:, None], base[:, None])
        free = rows[rng.integers(0, len(rows), shape)]
        records = np.where(rng.random(shape) < _FREE_SHARE, free, records)
        records[:, self.real.sensitive] = base
        return records.astype(np.int32)

    def _distance(
        self, base: npt.NDArray[np.int64], candidates: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """Return Gower's distance of each row to its candidates, times d, float64[m, mates]."""
        total = np.zeros(candidates.shape)
        for column in self.real.columns:
            difference = (column.codes[base][:, None] != column.codes[candidates]).astype(
                np.float64
            )
            numbers = column.numbers
            if numbers is not None and np.isfinite(numbers).any():
                width = np.nanmax(numbers) - np.nanmin(numbers)
                gap = np.abs(numbers[base][:, None] - numbers[candidates]) / (width or 1.0)
                difference = np.where(np.isnan(gap), difference, gap)
            total += difference
        return total
