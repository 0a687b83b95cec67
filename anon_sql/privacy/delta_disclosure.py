"""δ-disclosure privacy: a class moves the share of no sensitive value far."""

from dataclasses import dataclass

import numpy as np

from anon_sql.core.parameters import OrNull, Positive, param
from anon_sql.privacy.class_values import ClassValues, Floats, TableValues
from anon_sql.privacy.model import ShareModel, Shares


@dataclass(frozen=True)
class DeltaDisclosure(ShareModel):
    """|ln(q / p)| < δ for every value of the table, so that a class lacks no value.

    p and q are as for β-likeness, with the natural logarithm. NULL is a value. The bounds are
    irrational, so that no share equals them.
    """

    name = "delta"
    title = "δ-disclosure privacy"
    reference = "Brickell and Shmatikov 2008, definition 3"
    broken = "A person's group says more about a sensitive value than allowed."
    named_with = ("beta", "delta")
    worst = "The largest |ln(share in a class / share in the table)| of a sensitive value"
    compares = True

    delta: float | None = param(
        None,
        OrNull(Positive()),
        "upper bound on |ln(share in a class / share in the table)| of every sensitive value",
        null="none",
        bound=True,
    )

    def least(self, shares: Shares) -> Shares:
        return np.asarray(shares * np.exp(-self.level))

    def most(self, shares: Shares) -> Shares:
        return np.asarray(shares * np.exp(self.level))

    def measure(self, values: ClassValues, table: TableValues) -> Floats:
        """Return the largest |ln(q / p)| of each class; infinity if a class lacks a value."""
        share = values.counts / values.sizes[values.class_of]
        log_ratio = np.abs(np.log(share / (table.counts[values.places(table)] / table.rows)))
        distinct = np.bincount(values.class_of)
        largest = np.maximum.reduceat(log_ratio, values.starts)
        return np.where(distinct < len(table.keys), np.inf, largest)
