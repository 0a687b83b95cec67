"""k-member clustering: classes of k rows, each grown by the row of least increase of loss.

Source: Byun et al. 2007, "Efficient k-anonymization using clustering techniques". Departures: the
loss is NCP, where the paper counts a category without a hierarchy as all or nothing, and so is the
distance to the row with which a class begins. The rows left at the end compare the classes as they
were before any of them joined, so that the result does not depend on their order.
"""

from anon_sql.core.table import QuasiTable
from anon_sql.methods import Call, Facts, Partition, method
from anon_sql.methods.parts.joining import place_suppressed


@method(
    "k_member",
    facts=Facts(
        what="Grows classes of k rows one by one, each by the row that costs it least.",
        paper="Byun et al. 2007",
        cost="n^2",
    ),
)
def k_member(table: QuasiTable, call: Call) -> Partition:
    """Return classes of k rows, a few with more. Time grows with the square of the rows."""
    from anon_sql.kernels.cluster import k_member as kernel

    grown = kernel.k_member(
        table.points, table.model, call.constraint.smallest, seed=call.seed, workers=call.workers
    )
    return Partition(place_suppressed(table, grown, call.constraint, "keep", call.workers))
