"""OKA: one pass of k-means over sorted rows, then classes above k give rows to those below.

Source: Lin and Wei 2008, "An efficient clustering method for k-anonymization". Departures: the
centre of a text column is a running majority vote (``kernels.cluster.oka``); centres are fixed
while rows are given away; rows left when no class is below k go to the nearest class, as in the
paper. The authors' description can leave a class below k where these rows run out; with n // k
classes this cannot happen.
"""

from anon_sql.core.table import QuasiTable
from anon_sql.methods import Call, Facts, Partition, method


@method(
    "oka",
    facts=Facts(
        what="One pass of k-means, then classes above k give rows to those below.",
        paper="Lin and Wei 2008",
        cost="n^2 / k",
    ),
)
def oka(table: QuasiTable, call: Call) -> Partition:
    """Return classes of at least k rows. Time grows with the square of the rows, divided by k."""
    from anon_sql.kernels.cluster import oka as kernel

    return Partition(
        kernel.oka(
            table.points,
            table.model,
            call.constraint.smallest,
            seed=call.seed,
            workers=call.workers,
        )
    )
