"""Define the table that a generator learns from, and what a generator is."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

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

    sensitive: the column that holds the values of which records are wanted.
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
    def known(self) -> frozenset[bytes]:
        """Return every row as the bytes of its codes."""
        return frozenset(row.tobytes() for row in self.codes)

    def new(self, records: Positions) -> npt.NDArray[np.bool_]:
        """Return which records int32[m, d] differ from every real row, bool[m]."""
        held = np.take_along_axis(self.codes, records.astype(np.int64), axis=0)
        return np.array([row.tobytes() not in self.known for row in held], dtype=np.bool_)


class Generator(Protocol):
    """A model that learns from real rows when it is constructed.

    hint: what to change where it finds too few records.
    """

    hint: str

    def draw(self, value: int, count: int, at: int) -> Positions:
        """Return records of a sensitive value, int32[m, d], m at most about ``count``.

        A record holds by column the position of the real row whose value it takes. All have the
        sensitive value of code ``value``. at: the number of the draw for that value; each draws
        anew.
        """
