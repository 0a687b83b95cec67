"""The VP-tree by itself, for those who go on with its classes in SQL."""

from anon_sql.methods import Call, Partition, method
from anon_sql.options import Choice, Whole
from anon_sql.table import QuasiTable


@method(
    "vp_partition",
    adds=("class_id",),
    vantage=Choice(("random", "max_spread", "farthest")),
    cut=Choice(("balanced", "median", "aligned")),
    tries=Whole(1),
)
def vp_partition(table: QuasiTable, call: Call) -> Partition:
    """The leaves of the tree that ``rayden`` starts from."""
    from anon_sql.kernels import vp_tree

    leaves = vp_tree.vp_partition(
        table.points,
        call.constraint.smallest,
        metric="gower",
        seed=call.seed,
        workers=call.workers,
        **call.options,
    )
    return Partition(leaves.classes())
