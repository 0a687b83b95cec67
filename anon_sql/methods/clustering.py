"""Cluster rows of a table: k-member and OKA.

- k-member clustering: classes of k rows, each grown by the row of least increase of loss. Source:
  Byun et al. 2007, "Efficient k-anonymization using clustering techniques". Departures: the loss is
  NCP, where the paper counts a category without a hierarchy as all or nothing, and so is the
  distance to the row with which a class begins. The rows left at the end compare the classes as
  they were before any of them joined, so that the result does not depend on their order.
- OKA: one pass of k-means over sorted rows, then classes above k give rows to those below. Source:
  Lin and Wei 2008, "An efficient clustering method for k-anonymization". Departures: the centre of
  a text column is a running majority vote (``kernels.oka``); centres are fixed while rows are given
  away; rows left when no class is below k go to the nearest class, as in the paper. The authors'
  description can leave a class below k if these rows run out; with n // k classes this cannot
  happen.
"""

from anon_sql import kernels
from anon_sql.core.parameters import NoOptions
from anon_sql.core.table import QuasiTable
from anon_sql.methods.method import BY_NODES, NOT_DROPPED, Call, Partition, method
from anon_sql.methods.suppressed_rows import place_suppressed


@method(
    "k_member",
    what="Grows classes of k rows one by one, each by the row that costs it least.",
    paper="Byun et al. 2007",
    doi="10.1007/978-3-540-71703-4_18",
    cost="n^2",
    quadratic=True,
    notes={
        "suppressed": NOT_DROPPED,
        "seed": "Only the first row is chosen at random.",
        "hierarchy": BY_NODES,
    },
)
def k_member(table: QuasiTable, call: Call[NoOptions]) -> Partition:
    """Return classes of k rows, a few with more. Time grows with the square of the rows."""
    grown = kernels.k_member.k_member(
        table.points, table.model, call.constraint.smallest, seed=call.seed, workers=call.workers
    )
    return Partition(place_suppressed(table, grown, call.constraint, call.workers, released=True))


@method(
    "oka",
    what="One pass of k-means, then classes above k give rows to those below.",
    paper="Lin and Wei 2008",
    doi="10.1145/1379287.1379297",
    cost="n^2 / k",
    quadratic=True,
    notes={"suppressed": NOT_DROPPED, "hierarchy": BY_NODES},
)
def oka(table: QuasiTable, call: Call[NoOptions]) -> Partition:
    """Return classes of at least k rows. Time grows with the square of the rows, divided by k."""
    return Partition(
        kernels.oka.oka(
            table.points,
            table.model,
            call.constraint.smallest,
            seed=call.seed,
            workers=call.workers,
        )
    )
