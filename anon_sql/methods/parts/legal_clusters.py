"""Turn dense clusters into legal ones, and place noise: DOP, section IV-A.

The paper attaches clusters below k rows to their nearest valid neighbour, keeps noise as a class
where it is legal and suppresses it otherwise. Departure: illegal noise joins its nearest clusters
unless ``noise`` is 'suppress', since suppressed rows may be shown only where they are legal.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql.core.constraints import Constraint
from anon_sql.core.interrupt import check
from anon_sql.methods.parts.density import EXACT, Density

NOISE = ("class", "split", "suppress")
Ids = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Clusters:
    """Legal clusters of a table's rows.

    ids: int32[n], -1 for suppressed noise. whole: bool[n], rows of a cluster that is not cut
    further. joined: number of DBSCAN's clusters that were joined to another.
    """

    ids: Ids
    whole: npt.NDArray[np.bool_]
    joined: int


def legal_clusters(function: str, density: Density, constraint: Constraint, noise: str) -> Clusters:
    """Return legal clusters of a table's rows.

    Noise is a cluster where it is legal and leaves enough rows, and joins others where it is not.
    Where all rows are noise, they are one cluster.
    """
    from anon_sql.kernels.cluster.linkage import nearest_cluster

    of_point = density.clusters.copy()
    if (of_point < 0).all():
        of_point[:] = 0
    noisy_points = of_point < 0
    noisy_rows = noisy_points[density.place]
    rest = constraint.allows(np.flatnonzero(~noisy_rows))
    legal = constraint.allows(np.flatnonzero(noisy_rows))
    legal &= rest or constraint.rules is not None  # with rules, ``protect`` merges noise and rest
    if not legal and not (noise == NOISE[2] and rest):
        of_point[noisy_points] = nearest_cluster(
            density.points, of_point, np.flatnonzero(noisy_points)
        )
    joined = join_illegal(function, density, of_point, constraint)
    if legal:
        of_point[noisy_points] = of_point.max() + 1
    whole = noisy_rows & legal & (noise != NOISE[1])
    return Clusters(of_point[density.place], whole, joined)


def join_illegal(function: str, density: Density, of_point: Ids, constraint: Constraint) -> int:
    """Join clusters of distinct rows, int32[u], until each is legal; return how many were joined.

    ``of_point`` is changed in place. The smallest illegal cluster comes first, and joins the
    nearest with which it is legal (single linkage). Where there is none, all become one.
    """
    from anon_sql.kernels.cluster.linkage import single_linkage

    ids = of_point[density.place]
    count = int(ids.max()) + 1
    rows = [np.flatnonzero(ids == own) for own in range(count)]
    illegal = ~constraint.legal(ids, count)
    nearest, joined = np.empty(count), 0
    for own in sorted(np.flatnonzero(illegal), key=lambda own: len(rows[own])):
        check(function)
        if not illegal[own]:
            continue  # another has joined it
        single_linkage(density.points, of_point, np.flatnonzero(of_point == own), nearest)
        order = np.argsort(np.rint(np.sqrt(nearest) / EXACT), kind="stable")
        for other in order[np.isfinite(nearest[order]) & (order != own)]:
            both = np.append(rows[other], rows[own])
            if constraint.allows(both):
                rows[other], illegal[other] = both, False
                of_point[of_point == own] = other
                joined += 1
                break
        else:
            of_point[of_point >= 0] = 0
            return count - 1
    return joined
