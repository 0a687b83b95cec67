"""Measure how much a class adds to the share of a sensitive value: enhanced β-likeness."""

from dataclasses import dataclass

import numpy as np

from anon_sql.core.parameters import OrNull, Positive, param
from anon_sql.privacy.class_values import Floats, Held, Spread


@dataclass(frozen=True)
class BetaLikeness:
    """A class adds little to the share of a sensitive value."""

    beta: float | None = param(
        None,
        OrNull(Positive()),
        "largest relative gain of a sensitive value's share in a class over that in the table, "
        "also limited to -ln of the latter",
        null="none",
        bound=True,
    )


def likeness(values: Spread, held: Held) -> Floats:
    """Return the smallest β of each class, float64[m]; infinity where none is large enough.

    With p the share of a value in the raw table and q its share in a class, it is the largest of
    (q - p) / p. No β allows more than -ln p. NULL is a value. Source: Cao and Karras 2012,
    definition 3.
    """
    at = values.places(held)
    before = held.counts[at] / held.rows
    gain = values.counts / values.sizes[values.class_of] / before - 1
    beyond = gain > -np.log(before) * (1 + 1e-12) + 1e-12
    return np.maximum.reduceat(np.where(beyond, np.inf, np.maximum(gain, 0.0)), values.starts)
