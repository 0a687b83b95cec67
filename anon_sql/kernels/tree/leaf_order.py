"""Hold a partition as kernels use it: the rows leaf by leaf."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Leaves:
    """A partition in tree order.

    order: int32[n], rows leaf by leaf, ascending within a leaf. starts: int64[leaves + 1], where
    each leaf begins in ``order``.
    """

    order: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, classes: npt.NDArray[np.int32 | np.int64]) -> "Leaves":
        """Return the leaves of class ids int[n], which run from 0 without gaps."""
        order = np.argsort(classes, kind="stable").astype(np.int32)
        counts = np.bincount(classes) if len(classes) else np.zeros(0, np.int64)
        return cls(order, np.concatenate(([0], np.cumsum(counts))).astype(np.int64))

    def classes(self) -> npt.NDArray[np.int32]:
        """Return the class id of every row, int32[n]."""
        classes = np.empty(len(self.order), np.int32)
        leaf = np.arange(len(self.starts) - 1, dtype=np.int32)
        classes[self.order] = np.repeat(leaf, np.diff(self.starts))
        return classes
