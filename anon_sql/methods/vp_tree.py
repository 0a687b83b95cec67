"""CANON: a VP-tree over numeric quasi-identifiers, each leaf a class; and the tree as a step.

Source: Canbay, Sagiroglu and Vural 2022, "CANON", section VI and figure 3. The paper gives neither
distance nor scaling: the distance is Euclidean on columns scaled to [0, 1] by the table's range.
Departure: the median cut is made only if both sides keep k rows; the authors' code also drops sets
whose median distance is 0.
"""

from dataclasses import dataclass

from anon_sql import kernels
from anon_sql.core.columns import Numbers
from anon_sql.core.hierarchy.column import Hierarchical
from anon_sql.core.parameters import Choice, Whole, param
from anon_sql.core.table import QuasiTable
from anon_sql.errors import AnonError, Parameter
from anon_sql.methods.method import NOT_DROPPED, Call, Partition, method


@dataclass(frozen=True)
class VantagePoints:
    """How a VP-tree is grown."""

    vantage: str = param(
        "random",
        Choice(("random", "max_spread", "farthest")),
        "how to choose the vantage point: 'random', 'max_spread' or 'farthest'",
    )
    cut: str = param(
        "balanced",
        Choice(("balanced", "median", "aligned")),
        "where to cut: 'balanced', 'median' or 'aligned'",
    )
    tries: int = param(8, Whole(1), "number of vantage points tried for a median cut")


@method(
    "canon",
    takes=VantagePoints,
    what="A tree of balls around vantage points, its leaves as classes.",
    paper="Canbay, Sagiroglu and Vural 2022",
    doi="10.17694/bajece.1061910",
    cost="n log n",
    needs="numbers only",
    columns=(Numbers,),
    defaults={"cut": "median"},
    notes={
        "suppressed": NOT_DROPPED,
        "hierarchy": "It must not contain a quasi-identifier, because the distance needs numbers.",
    },
)
def canon(table: QuasiTable, call: Call[VantagePoints]) -> Partition:
    """Return classes of at least k rows. Raises AnonError for a column that is not numeric."""
    with_tree = [column.name for column in table.columns if isinstance(column, Hierarchical)]
    if with_tree:
        raise AnonError(
            call.function,
            "a quasi-identifier must have no hierarchy, because the distance needs numbers",
            f"one for {', '.join(with_tree)}",
            "use rayden, or leave its attribute out of the hierarchy",
        )
    text = [column.name for column in table.columns if not isinstance(column, Numbers)]
    if text:
        raise AnonError(
            call.function,
            "every quasi-identifier must be numeric",
            f"text in {', '.join(text)}",
            "use rayden, or leave them out of " + Parameter("quasi"),
        )
    leaves = kernels.vp_tree.vp_partition(
        table.points,
        call.constraint.smallest,
        metric="euclid",
        seed=call.seed,
        weights=table.model.weight,
        workers=call.workers,
        vantage=call.options.vantage,
        cut=call.options.cut,
        tries=call.options.tries,
    )
    return Partition(leaves.classes())


@method(
    "vp_partition",
    takes=VantagePoints,
    only=("k", "quasi", "seed", "hierarchy"),
    adds=("class_id",),
)
def vp_partition(table: QuasiTable, call: Call[VantagePoints]) -> Partition:
    """Return the leaves of the tree that ``rayden`` starts from."""
    leaves = kernels.vp_tree.vp_partition(
        table.points,
        call.constraint.smallest,
        metric="gower",
        seed=call.seed,
        workers=call.workers,
        vantage=call.options.vantage,
        cut=call.options.cut,
        tries=call.options.tries,
    )
    return Partition(leaves.classes())
