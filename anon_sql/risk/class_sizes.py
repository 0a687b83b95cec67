"""The classes of a sample by their size, as the estimators of population uniqueness take them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ClassSizes:
    """sizes: float64[z], ascending, each once; counts: float64[z], classes of that size.

    population: rows of the population, a whole number of at least that of the sample.
    """

    sizes: Floats
    counts: Floats
    population: float

    @property
    def rows(self) -> float:
        """Return the rows of the sample."""
        return float((self.sizes * self.counts).sum())

    @property
    def classes(self) -> float:
        return float(self.counts.sum())

    @property
    def fraction(self) -> float:
        """Return the sampling fraction."""
        return self.rows / self.population

    def of_size(self, size: int) -> float:
        """Return the number of classes of a size."""
        return float(self.counts[self.sizes == size].sum())


def class_sizes(rows: npt.NDArray[np.int64], population: float) -> ClassSizes:
    """Return the sizes of classes of int64[m] rows."""
    sizes, counts = np.unique(rows, return_counts=True)
    return ClassSizes(sizes.astype(np.float64), counts.astype(np.float64), float(round(population)))
