"""(α,k)-anonymity: no sensitive value has a large share of a class."""

from dataclasses import dataclass
from math import floor

import numpy as np

from anon_sql.core.parameters import Number, OrNull, param
from anon_sql.errors import AnonError, Argument, Parameter
from anon_sql.privacy.class_values import ClassValues, Floats, Ints, TableValues
from anon_sql.privacy.model import ROUNDING, ShareModel, Shares


@dataclass(frozen=True)
class MaxShare(ShareModel):
    """Every value has at most a share α of a class.

    NULL is a value: to learn that a person has no value is a disclosure too.
    """

    name = "max_share"
    title = "(α,k)-anonymity"
    reference = "Wong et al. 2006"
    broken = "One sensitive value has a larger share of a person's group than allowed."
    named_with = ("max_share",)
    worst = "The largest share of a sensitive value in a class"

    max_share: float | None = param(
        None,
        OrNull(Number(0, 1)),
        "largest allowed share of a sensitive value in a class, 0…1; missing values count as one "
        "value",
        null="none",
        bound=True,
    )

    def most(self, shares: Shares) -> Shares:
        return np.where(shares > 0, self.level, 0.0)

    def measure(self, values: ClassValues, table: TableValues) -> Floats:
        """Return the largest share of a value in each class."""
        return np.maximum.reduceat(values.counts / values.sizes[values.class_of], values.starts)

    def of_table(self, counts: Ints, non_null: int) -> float:
        return float(counts.max(initial=0) / max(counts.sum(), 1))


@dataclass(frozen=True)
class OneOfL(MaxShare):
    """No value has more than 1/l of a class, as a transparent release with l requires."""

    named_with = ("l",)

    def refusal(self, function: str, column: str, reached: float) -> AnonError:
        largest_l = floor(1 / reached + ROUNDING)
        return AnonError(
            function,
            Parameter("l")
            + f" must be at most {largest_l} in a transparent release, because one value of "
            + f"{column} has {reached:.1%} of the rows",
            Argument("l", round(1 / self.level)),
        )
