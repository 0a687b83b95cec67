"""placeholder"""

from anon_sql.methods import Call, Partition, method
from anon_sql.options import Choice, Number, Whole
from anon_sql.table import QuasiTable


@method(
    "rayden",
    alpha=Number(0),
    vantage=Choice(("random", "max_spread", "farthest")),
    cut=Choice(("balanced", "median", "aligned")),
    tries=Whole(1),
    repair=Choice(("cap", "merge")),
    variant=Choice(("rayden", "tang", "pyod")),
    unrecovered=Choice(("return", "suppress")),
)
def rayden(table: QuasiTable, call: Call) -> Partition:
    from anon_sql.kernels.vp_tree import vp_partition
    o = call.options
    leaves = vp_partition(table.points, call.constraint.k, metric="gower", vantage=o["vantage"], cut=o["cut"], tries=o["tries"], seed=call.seed, workers=call.workers)
    return Partition(leaves.classes())
