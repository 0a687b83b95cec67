"""Hashes of the values of one column, held in little memory."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.core.labels.coverage import Ints

Marks = npt.NDArray[np.uint64]
Rows = slice | npt.NDArray[Any]  # positions, or whether each row is meant
ALL = slice(None)


@dataclass(frozen=True)
class Hashed:
    """A 64-bit hash of each row's value, 0 for NULL.

    known: the different hashes if they are few, and then ``rows`` is the place of each row's hash;
    None: ``rows`` is the hashes themselves.
    """

    rows: npt.NDArray[Any]
    known: Marks | None = None

    def at(self, rows: Rows = ALL) -> Marks:
        """Return the hashes of some rows, uint64[…]."""
        held = self.rows[rows]
        return held if self.known is None else self.known[held]

    def taken(self, rows: Rows) -> "Hashed":
        """Return the same of some rows."""
        return Hashed(self.rows[rows], self.known)

    def coded(self) -> tuple[Marks, Ints]:
        """Return different hashes and the place of each row's among them."""
        if self.known is not None:
            return self.known, self.rows
        known, places = np.unique(self.rows, return_inverse=True)
        return known, places.reshape(-1)
