"""Top-down greedy: sets are split between two rows far apart, then sets below k grow to k.

Source: Xu et al. 2006, "Utility-based anonymization using local recoding", section 4.2. Where the
paper is silent: a row goes to the side whose |E| * NCP(E) grows less; sets below k are treated in
the order of the tree; the class that lends rows is the nearest that keeps k of its own, and lends
the rows of least loss together with the set.
"""

from anon_sql.core.table import QuasiTable
from anon_sql.methods import Call, Facts, Partition, method
from anon_sql.methods.parts.joining import dense


@method(
    "top_down",
    facts=Facts(
        what="Splits rows between two far apart, then makes classes below k whole.",
        paper="Xu et al. 2006",
        cost="n log n + (n / k)^2",
    ),
)
def top_down(table: QuasiTable, call: Call) -> Partition:
    """Return classes of at least k rows. Time grows with the square of the number of classes."""
    from anon_sql.kernels.cluster.regroup import regroup
    from anon_sql.kernels.tree import top_down as kernel

    k, points, model = call.constraint.smallest, table.points, table.model
    leaves = kernel.top_down(points, model, k, seed=call.seed, workers=call.workers)
    return Partition(dense(regroup(points, model, leaves.classes(), k, call.workers)))
