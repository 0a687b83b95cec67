"""Basic Mondrian: strict cuts along hierarchies.

Source: LeFevre, DeWitt and Ramakrishnan 2006, "Mondrian multidimensional k-anonymity", strict
partitioning, with the categorical cut as M-COF cites it: a node of the hierarchy is replaced by its
children, each of which has k rows or none. A number is cut at its median, text without a hierarchy
into its values, NULL from values. The width of a column is the share of leaves below the node, the
normalized range, or the share of distinct values; the widest column that can be cut is cut.
Departure: the published Python version tests one half of a cut only.
"""

from anon_sql.core.table import QuasiTable
from anon_sql.methods import Call, Facts, Partition, method


@method(
    "basic_mondrian",
    facts=Facts(
        what="Cuts a hierarchy's node into its children and a number at its median.",
        paper="LeFevre, DeWitt and Ramakrishnan 2006",
        cost="n log n",
    ),
)
def basic_mondrian(table: QuasiTable, call: Call) -> Partition:
    """Return classes of at least k rows; a label is the lowest common ancestor of its class."""
    from anon_sql.kernels.tree import basic_mondrian as kernel

    leaves = kernel.basic_mondrian(
        table.points, table.model, call.constraint.smallest, call.workers
    )
    return Partition(leaves.classes())
