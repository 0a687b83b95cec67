"""Decide which rows are outliers by their COF: those above a threshold of their class or of all.

Sources: Haruna et al. 2026 (RAYDEN), whose threshold is mean + alpha standard deviations of a
class; Kara and Eyüpoğlu 2023 (M-COF) give none.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anon_sql.core.options import Number, OrNull

if TYPE_CHECKING:
    from anon_sql.kernels.tree.leaf_order import Leaves

ALPHA = Number(0)
THRESHOLD = OrNull(Number(0))


def outlying(
    scores: npt.NDArray[np.float64], leaves: "Leaves", options: Mapping[str, Any]
) -> npt.NDArray[np.bool_]:
    """Return which rows are outliers, bool[n].

    scores: float64[n], COF of each row within its leaf. options: ``threshold`` is the COF above
    which a row is an outlier; where it is None, ``alpha`` gives each leaf its own, and a row of
    infinite COF is an outlier. Scores are compared with ``threshold`` as they are, without the
    tolerance of the other rule, so that a user can repeat the comparison in SQL.
    """
    from anon_sql.kernels.loss.cof import outliers

    threshold = options["threshold"]
    if threshold is None:
        return outliers(scores, leaves, options["alpha"])
    return np.asarray(scores > threshold, dtype=np.bool_)
