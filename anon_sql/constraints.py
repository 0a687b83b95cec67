"""May these rows be a class? All rules are closed under union, so merging mends every class."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anon_sql.errors import AnonError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class Constraint:
    """k: the smallest number of rows in a class."""

    k: int

    def require(self, function: str, rows: int) -> None:
        """Raise AnonError where not even the whole table would be a legal class."""
        if rows < self.k:
            raise AnonError(
                function, f"k must be at most the number of rows, {rows}", f"k := {self.k}"
            )

    def legal(self, sizes: "npt.NDArray[np.int64]") -> "npt.NDArray[np.bool_]":
        """For each class of ``sizes`` rows: may it be released?"""
        return sizes >= self.k
