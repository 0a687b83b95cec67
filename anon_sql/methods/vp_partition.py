"""Register the VP-tree as a step, whose classes are used further in SQL."""

from anon_sql.core.options import Choice, Whole
from anon_sql.core.table import QuasiTable
from anon_sql.methods import Call, Partition, method


@method(
    "vp_partition",
    adds=("class_id",),
    vantage=Choice(("random", "max_spread", "farthest")),
    cut=Choice(("balanced", "median", "aligned")),
    tries=Whole(1),
)
def vp_partition(table: QuasiTable, call: Call) -> Partition:
    """Return the leaves of the tree that ``rayden`` starts from."""
    from anon_sql.kernels.tree import vp_tree

    leaves = vp_tree.vp_partition(
        table.points,
        call.constraint.smallest,
        metric="gower",
        seed=call.seed,
        workers=call.workers,
        **call.options,
    )
    return Partition(leaves.classes())
