"""Dense clusters that may be classes, and what becomes of noise: DOP, section IV-A.

The paper attaches clusters below k rows to their nearest valid neighbour, keeps noise as a class
where that is legal and masks it where it is not. Masked rows that may not be shown together are no
way out, so illegal noise joins its nearest clusters here unless ``noise`` is 'suppress'.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql.constraints import Constraint
from anon_sql.density import EXACT, Density
from anon_sql.interrupt import check

NOISE = ("class", "split", "suppress")
Ids = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Clusters:
    """ids: int32[n], -1 for suppressed noise. whole: bool[n], rows of a cluster that is not cut.
    joined: how many clusters of DBSCAN went into another."""

    ids: Ids
    whole: npt.NDArray[np.bool_]
    joined: int


def legal_clusters(function: str, density: Density, constraint: Constraint, noise: str) -> Clusters:
    """Clusters of a table's rows, each of which may be a class. Where all is noise, it is one."""
    from anon_sql.kernels.linkage import nearest_cluster

    spots = density.clusters.copy()
    if (spots < 0).all():
        spots[:] = 0
    lost = spots < 0
    alone = lost[density.place]
    legal = constraint.allows(np.flatnonzero(alone))
    if not legal and not (noise == NOISE[2] and constraint.allows(np.flatnonzero(~alone))):
        spots[lost] = nearest_cluster(density.points, spots, np.flatnonzero(lost))
    joined = join_illegal(function, density, spots, constraint)
    if legal:
        spots[lost] = spots.max() + 1
    whole = alone & legal & (noise != NOISE[1])
    return Clusters(spots[density.place], whole, joined)


def join_illegal(function: str, density: Density, spots: Ids, constraint: Constraint) -> int:
    """Join clusters of int32[u] distinct rows until each is legal; how many went into another.

    The smallest comes first, and joins the nearest with which it is legal (single linkage). Where
    there is none, all become one.
    """
    from anon_sql.kernels.linkage import single_linkage

    ids = spots[density.place]
    count = int(ids.max()) + 1
    rows = [np.flatnonzero(ids == own) for own in range(count)]
    illegal = ~constraint.legal(ids, count)
    nearest, joined = np.empty(count), 0
    for own in sorted(np.flatnonzero(illegal), key=lambda own: len(rows[own])):
        check(function)
        if not illegal[own]:
            continue  # another has joined it
        single_linkage(density.points, spots, np.flatnonzero(spots == own), nearest)
        order = np.argsort(np.rint(np.sqrt(nearest) / EXACT), kind="stable")
        for other in order[np.isfinite(nearest[order]) & (order != own)]:
            both = np.append(rows[other], rows[own])
            if constraint.allows(both):
                rows[other], illegal[other] = both, False
                spots[spots == own] = other
                joined += 1
                break
        else:
            spots[spots >= 0] = 0
            return count - 1
    return joined
