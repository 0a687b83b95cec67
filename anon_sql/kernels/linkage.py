"""How near clusters lie: the least distance between a row of one and a row of another."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def single_linkage(points, clusters, own, nearest):
    """Squared distance of rows to clusters, written in nearest: float64[clusters].

    points float64[n, d]; clusters int32[n], the cluster of each row, -1 for none; own int64[m]: the
    rows that are measured, and a cluster of theirs is measured too.
    """
    nearest[:] = np.inf
    for other in range(points.shape[0]):
        cluster = clusters[other]
        if cluster < 0:
            continue
        for row in own:
            total = 0.0
            for c in range(points.shape[1]):
                total += (points[row, c] - points[other, c]) ** 2
                if total >= nearest[cluster]:
                    break
            nearest[cluster] = min(nearest[cluster], total)


@njit(cache=True, nogil=True)
def nearest_cluster(points, clusters, rows):
    """The cluster of the nearest row that has one, int64[m], for rows int64[m]; ties: lowest."""
    nearest = np.empty(clusters.max() + 1)
    found = np.empty(rows.size, np.int64)
    for at in range(rows.size):
        single_linkage(points, clusters, rows[at : at + 1], nearest)
        found[at] = np.argmin(np.rint(np.sqrt(nearest) * 1e9))
    return found
