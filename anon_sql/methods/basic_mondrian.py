"""Basic Mondrian: cuts along hierarchies.

Source: LeFevre, DeWitt, Ramakrishnan 2006, "Mondrian multidimensional k-anonymity", strict
partitioning, with the categorical cut as M-COF cites it: a node of the hierarchy is replaced by
its children, each of which has k rows or none. A number is cut at its median, text without a
hierarchy into its values, NULL away from values. Width is the share of leaves below the node, the
normalized range, or the share of distinct values; the widest column that can be cut is cut. The
published Python version checks one half of a cut only.
"""

from anon_sql.methods import Call, Facts, Partition, method
from anon_sql.table import QuasiTable


@method(
    "basic_mondrian",
    facts=Facts(
        what="Cuts a hierarchy's node into its children and a number at its median.",
        paper="LeFevre, DeWitt and Ramakrishnan 2006",
        cost="n log n",
    ),
)
def basic_mondrian(table: QuasiTable, call: Call) -> Partition:
    """Classes of at least k rows; the node reached is the lowest common ancestor of a class."""
    from anon_sql.kernels import basic_mondrian as kernel

    leaves = kernel.basic_mondrian(
        table.points, table.model, call.constraint.smallest, call.workers
    )
    return Partition(leaves.classes())
