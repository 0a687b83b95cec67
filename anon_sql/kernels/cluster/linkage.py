"""Compute single-linkage distances: the least distance between rows of two clusters."""

import numpy as np

from anon_sql.kernels.kernel import kernel


@kernel
def single_linkage(points, clusters, own, nearest):
    """Write the squared distance of rows ``own``, int64[m], to each cluster into nearest.

    points: float64[n, d]. clusters: int32[n], -1 for none. nearest: float64[clusters]. The rows'
    own cluster is measured too.
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


@kernel
def nearest_cluster(points, clusters, rows):
    """Return the cluster of the nearest row that has one, for rows int64[m]; ties to the lowest.

    Returns int64[m].
    """
    nearest = np.empty(clusters.max() + 1)
    found = np.empty(rows.size, np.int64)
    for at in range(rows.size):
        single_linkage(points, clusters, rows[at : at + 1], nearest)
        found[at] = np.argmin(np.rint(np.sqrt(nearest) * 1e9))
    return found
