"""β-likeness: a class adds little to the share of a sensitive value."""

from dataclasses import dataclass

import numpy as np

from anon_sql.core.parameters import Choice, OrNull, Positive, param
from anon_sql.privacy.class_values import ClassValues, Floats, TableValues
from anon_sql.privacy.model import ShareModel, Shares

KINDS = ("enhanced", "basic")


@dataclass(frozen=True)
class BetaLikeness(ShareModel):
    """Basic β-likeness: (q - p) / p <= β, with p the share of a value in the table and q its share
    in a class; enhanced: (q - p) / p <= min(β, -ln p). NULL is a value.
    """

    name = "beta"
    title = "β-likeness"
    reference = "Cao and Karras 2012, definitions 2 and 3"
    broken = "A person's group makes a sensitive value more likely than allowed."
    named_with = ("beta", "delta")
    worst = "The largest relative gain of a sensitive value's share in a class"
    compares = True

    beta: float | None = param(
        None,
        OrNull(Positive()),
        "largest allowed relative increase of a sensitive value's share in a class over its share "
        "in the table, and never above -ln of the latter",
        null="none",
        bound=True,
    )
    beta_kind: str = param(
        "enhanced",
        Choice(KINDS),
        "'enhanced', or 'basic' without the limit of -ln of the share in the table",
    )

    def most(self, shares: Shares) -> Shares:
        if self.beta_kind == "basic":
            return np.asarray(shares * (1 + self.level))
        gain = -np.log(np.where(shares > 0, shares, 1.0))
        return np.asarray(shares * (1 + np.minimum(self.level, gain)))

    def measure(self, values: ClassValues, table: TableValues) -> Floats:
        """Return the smallest β of each class; infinity if no β is large enough.

        That can happen with the enhanced kind alone.
        """
        places = values.places(table)
        table_share = table.counts[places] / table.rows
        gain = values.counts / values.sizes[values.class_of] / table_share - 1
        over_limit = gain > -np.log(table_share) * (1 + 1e-12) + 1e-12
        over_limit &= self.beta_kind == "enhanced"
        return np.maximum.reduceat(
            np.where(over_limit, np.inf, np.maximum(gain, 0.0)), values.starts
        )
