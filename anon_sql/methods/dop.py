"""DOP: clusters by density, each cut where a cut loses least, until no cut is allowed.

Source: Sharma, Kumar and Reddy, "A Density-Driven Anonymization Framework for Privacy Preservation
and Data Utility Optimization", section IV; its two phases are ``density`` and ``legal_clusters``,
and ``kernels.optimal_mondrian``. Departures:

- Where more than k is asked, the paper's cuts, both of whose sides are legal, are one of two tries;
  the other cuts for k alone, mends what is then illegal (``protecting``), and cuts on where both
  sides are legal.
  The one of less NCP is kept, whatever ``loss`` the cuts went by: that is what a release loses.
- Noise that is illegal joins its nearest clusters; ``noise := 'suppress'`` masks it as the paper
  does, where masked rows may be left out. Noise that is legal is a class whose rows may lie far
  apart, as in the paper; ``noise := 'split'`` cuts it like a cluster.
- ``loss := 'ncp'`` counts text too and weights a side by its rows; the paper's sum of ranges does
  neither.
"""

import numpy as np
import numpy.typing as npt

from anon_sql.density import density
from anon_sql.joining import dense as dense_ids
from anon_sql.legal_clusters import NOISE, legal_clusters
from anon_sql.merging import cheapest
from anon_sql.methods import Call, Facts, Partition, method
from anon_sql.options import Choice, OrNull, Positive, Whole
from anon_sql.protecting import protect
from anon_sql.table import QuasiTable

Classes = npt.NDArray[np.int32]


@method(
    "dop",
    facts=Facts(
        what="Dense clusters, each cut where a cut loses least, again and again.",
        paper="Sharma, Kumar and Reddy, undated",
        cost="n log n to n²",
    ),
    eps=OrNull(Positive()),
    min_samples=OrNull(Whole(1)),
    loss=Choice(("lil", "ncp")),
    noise=Choice(NOISE),
)
def dop(table: QuasiTable, call: Call) -> Partition:
    """Legal classes; stats: eps, min_samples, clusters, noise, joined, splits."""
    chosen, constraint, workers = call.options, call.constraint, call.workers
    min_samples = chosen["min_samples"] or constraint.k
    dense = density(call.function, table, chosen["eps"], min_samples, workers.threads)
    clusters = legal_clusters(call.function, dense, constraint, chosen["noise"])
    tries = [cut(table, call, clusters.ids, clusters.whole, asked=True)]
    if constraint.rules is not None:
        loose, splits = cut(table, call, clusters.ids, clusters.whole, asked=False)
        merged = protect(table, loose, constraint, workers)
        whole = np.isin(merged, merged[clusters.whole])
        again, more = cut(table, call, merged, whole, asked=True)
        tries.append((again, splits + more))
    best = cheapest(table, [classes for classes, _ in tries], workers)
    classes, splits = tries[best]
    stats = {
        "eps": dense.eps,
        "min_samples": min_samples,
        "clusters": int(dense.clusters.max()) + 1,
        "noise": int((dense.clusters[dense.place] < 0).sum()),
        "joined": clusters.joined,
        "splits": splits,
    }
    return Partition(classes, stats)


def cut(
    table: QuasiTable, call: Call, classes: Classes, whole: npt.NDArray[np.bool_], *, asked: bool
) -> tuple[Classes, int]:
    """The classes int32[n] cut as finely as may be, and how many cuts that took.

    -1 stays, and so do the rows marked in ``whole``, bool[n], as one class. asked: whether the
    sides of a cut must satisfy all that is asked, else have k rows.
    """
    from anon_sql.kernels.leaves import Leaves
    from anon_sql.kernels.optimal_mondrian import optimal_mondrian

    inside = (classes >= 0) & ~whole
    part = table.only(inside)
    before = dense_ids(classes[inside])
    leaves = optimal_mondrian(
        part.points,
        part.model,
        Leaves.of(before),
        call.constraint.smallest,
        call.constraint.only(inside).rules if asked else None,
        loss=call.options["loss"],
        workers=call.workers,
    )
    count = len(leaves.starts) - 1
    found = np.where(whole, np.int32(count), np.int32(-1))
    found[inside] = leaves.classes()
    return found, count - (int(before.max(initial=-1)) + 1)
