"""Measure how far a class moves the share of a sensitive value: δ-disclosure privacy."""

from dataclasses import dataclass

import numpy as np

from anon_sql.core.parameters import OrNull, Positive, param
from anon_sql.privacy.class_values import Floats, Held, Spread


@dataclass(frozen=True)
class DeltaDisclosure:
    """A class moves the share of no sensitive value far."""

    delta: float | None = param(
        None,
        OrNull(Positive()),
        "bound of |ln(share in a class / share in the table)| for every sensitive value",
        null="none",
        bound=True,
    )


def disclosure(values: Spread, held: Held) -> Floats:
    """Return the largest |ln(q / p)| of each class, float64[m]; infinity if it lacks a value.

    p: share of a value in the raw table; q: its share in the class. NULL is a value. Source:
    Brickell and Shmatikov 2008, definition 3, with the natural logarithm.
    """
    share = values.counts / values.sizes[values.class_of]
    moved = np.abs(np.log(share / (held.counts[values.places(held)] / held.rows)))
    distinct = np.bincount(values.class_of)
    furthest = np.maximum.reduceat(moved, values.starts)
    return np.where(distinct < len(held.keys), np.inf, furthest)
