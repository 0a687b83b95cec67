"""DOP: density-based clusters, each cut where a cut loses least, until no cut is allowed.

Source: Sharma, Kumar and Reddy, "A Density-Driven Anonymization Framework for Privacy Preservation
and Data Utility Optimization", section IV. Its two phases are ``density`` with ``legal_clusters``,
and ``kernels.optimal_mondrian``. Departures:

- Where more than k is required, the paper's cuts, both of whose sides are legal, are one of two
  attempts. The other cuts for k alone, merges illegal classes (``legal_classes``), and cuts again
  where both sides are legal. The attempt of less NCP is kept, whichever ``loss`` chose its cuts,
  since NCP is what a release loses.
- Illegal noise joins its nearest clusters; ``noise := 'suppress'`` suppresses it as in the paper,
  where the other rows can be released. Legal noise is a class whose rows may lie far apart, as in
  the paper; ``noise := 'split'`` cuts it like a cluster.
- ``loss := 'ncp'`` counts text too and weights a side by its rows; the paper's sum of ranges does
  neither. It always cuts noise like a cluster, since no cut of a class increases its NCP.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.parameters import Choice, OrNull, Positive, Whole, param
from anon_sql.core.table import QuasiTable
from anon_sql.errors import Argument
from anon_sql.methods.clusters import NOISE, density, legal_clusters
from anon_sql.methods.legal_classes import cheapest, protect
from anon_sql.methods.method import BY_NODES, NO_CHOICE, Call, Partition, method
from anon_sql.methods.suppressed_rows import dense as dense_ids

Classes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Dop:
    """The parameters of ``dop``."""

    eps: float | None = param(
        None,
        OrNull(Positive()),
        "rows within this distance of each other are neighbours",
        null="a distance that leaves at most 1 % noise",
    )
    min_samples: int | None = param(
        None,
        OrNull(Whole(1)),
        "number of neighbours that make a row dense, itself included",
        null="k",
    )
    loss: str = param(
        "lil",
        Choice(("lil", "ncp")),
        "loss to reduce: 'lil' (range of the numeric columns, as in the paper) or 'ncp' (loss of "
        "all columns)",
    )
    noise: str = param(
        "class",
        Choice(NOISE),
        "what becomes of noise: 'class' makes it one class, 'split' also cuts that class like a "
        "cluster, as 'ncp' always does; with both, noise that is not a legal class joins the "
        "nearest clusters. 'suppress' suppresses it",
    )


@method(
    "dop",
    takes=Dop,
    what="Dense clusters, each cut where a cut loses least, again and again.",
    paper="Sharma, Kumar and Reddy, undated",
    cost="n log n to n²",
    quadratic=True,
    notes={
        "suppressed": "Rows are suppressed only by "
        + Argument("noise", "suppress")
        + ": 'drop' is refused if a class is * in every quasi-identifier for another "
        "reason.",
        "seed": NO_CHOICE,
        "hierarchy": BY_NODES,
    },
)
def dop(table: QuasiTable, call: Call[Dop]) -> Partition:
    """Return legal classes; stats: eps, min_samples, clusters, noise, joined, splits.

    Phase 1 (section IV-A) is ``density`` and ``legal_clusters``, phase 2 (section IV-B) is ``cut``.
    """
    options, constraint, workers = call.options, call.constraint, call.workers
    min_samples = options.min_samples or constraint.k
    dense = density(call.function, table, options.eps, min_samples, workers.threads)
    noise = "split" if options.loss == "ncp" and options.noise == "class" else options.noise
    clusters = legal_clusters(call.function, dense, constraint, noise)
    attempts = [cut(table, call, clusters.ids, clusters.uncut, all_rules=True)]
    if constraint.rules is not None:
        cut_for_k, splits = cut(table, call, clusters.ids, clusters.uncut, all_rules=False)
        merged = protect(table, cut_for_k, constraint, workers)
        uncut = np.isin(merged, merged[clusters.uncut])
        cut_again, more_splits = cut(table, call, merged, uncut, all_rules=True)
        attempts.append((cut_again, splits + more_splits))
    best = cheapest(table, [classes for classes, _ in attempts], workers)
    classes, splits = attempts[best]
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
    table: QuasiTable,
    call: Call[Any],
    classes: Classes,
    uncut: npt.NDArray[np.bool_],
    *,
    all_rules: bool,
) -> tuple[Classes, int]:
    """Return the classes int32[n], cut as finely as allowed, and the number of cuts.

    classes: int32[n], the clusters; -1 stays.
    uncut: bool[n], rows that stay one class.
    all_rules: whether the sides of a cut must satisfy the whole constraint, else k alone.
    """
    inside = (classes >= 0) & ~uncut
    part = table.only(inside)
    cluster_ids = dense_ids(classes[inside])
    leaves = kernels.optimal_mondrian.optimal_mondrian(
        part.points,
        part.model,
        kernels.sides.Leaves.of(cluster_ids),
        call.constraint.smallest,
        call.constraint.only(inside).rules if all_rules else None,
        loss=call.options.loss,
        workers=call.workers,
    )
    count = len(leaves.starts) - 1
    cut_classes = np.where(uncut, np.int32(count), np.int32(-1))
    cut_classes[inside] = leaves.classes()
    return cut_classes, count - (int(cluster_ids.max(initial=-1)) + 1)
