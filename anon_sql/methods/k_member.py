"""k-member clustering: classes of k rows, each grown by the row that costs it least.

Source: Byun et al. 2007, "Efficient k-anonymization using clustering techniques". Loss is NCP
here as everywhere, where the paper counts a category without a hierarchy as all or nothing; the
distance to the row a class begins with is the NCP of the two. The rows left at the end look at the
classes as they were before any of them joined, so that their order is of no matter.
"""

from anon_sql.joining import place_suppressed
from anon_sql.methods import Call, Facts, Partition, method
from anon_sql.table import QuasiTable


@method(
    "k_member",
    facts=Facts(
        what="Grows classes of k rows one by one, each by the row that costs it least.",
        paper="Byun et al. 2007",
        cost="n^2",
    ),
)
def k_member(table: QuasiTable, call: Call) -> Partition:
    """Classes of k rows, a few of them with more. Time grows with the square of the rows."""
    from anon_sql.kernels import k_member as kernel

    grown = kernel.k_member(
        table.points, table.model, call.constraint.smallest, seed=call.seed, workers=call.workers
    )
    return Partition(place_suppressed(table, grown, call.constraint, "keep", call.workers))
