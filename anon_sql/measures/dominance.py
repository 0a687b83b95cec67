"""How much the most frequent sensitive value of a class dominates it; NULL is no value."""

import numpy as np
import numpy.typing as npt

from anon_sql.measures.spread import Spread


def dominance(spread: Spread) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return of each class how many values it has, int64[m], and the share of the most frequent one
    in its rows that have a value, float64[m]; 0 for a class of NULLs alone."""
    many = len(spread.starts)
    class_of, counts = spread.class_of[spread.known], spread.counts[spread.known]
    values = np.bincount(class_of, minlength=many)
    held = np.bincount(class_of, weights=counts, minlength=many)
    most = np.zeros(many)
    np.maximum.at(most, class_of, counts)
    return values, most / np.maximum(held, 1)
