"""Cluster rows by density (DBSCAN): the first phase of DOP.

Source: Sharma, Kumar and Reddy, "A Density-Driven Anonymization Framework", section IV-A. The paper
gives neither the scaling of columns nor eps and min_samples. Chosen here:

- Each column is scaled to [0, 1], text by its code, a hierarchy's leaf by its number; NULL is at 2.
- A column's squared difference is weighted by its share of the distinct values (equation 1).
- min_samples is k. eps is the 0.99 quantile of the distance to the k-th other row, so that noise is
  at most 1 %; where that is 0, the least distance between distinct rows.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql.core.table import QuasiTable
from anon_sql.errors import not_installed

NEAR = 0.99  # of the rows have enough neighbours within eps
EXACT = 1e-9  # distances that differ by less are equal
NULL_PLACE = 2.0

Points = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Density:
    """Clusters of the distinct rows of a table.

    points: float64[u, d], distinct rows, weighted for Euclidean distance. place: int64[n], the
    distinct row of each row. clusters: int32[u], -1 for noise.
    """

    points: Points
    place: npt.NDArray[np.int64]
    clusters: npt.NDArray[np.int32]
    eps: float


def density(
    function: str, table: QuasiTable, eps: float | None, min_samples: int, threads: int
) -> Density:
    """Return the clusters of DBSCAN. Raises AnonError where scikit-learn is not installed."""
    try:
        from sklearn.cluster import DBSCAN
    except ImportError:
        raise not_installed(function, "scikit-learn must be installed", "none", "ml") from None
    scaled = weighted(table)
    points, place, counts = np.unique(scaled, axis=0, return_inverse=True, return_counts=True)
    if eps is None:
        eps = chosen_eps(points, counts, min_samples, threads)
    found = DBSCAN(
        eps=eps + EXACT, min_samples=min_samples, algorithm="kd_tree", n_jobs=threads
    ).fit(points, sample_weight=counts)
    return Density(points, place.reshape(-1), found.labels_.astype(np.int32), eps)


def weighted(table: QuasiTable) -> Points:
    """Return points whose Euclidean distance is that of equation 2, float64[n, d]."""
    points = table.points.copy()
    distinct = np.ones(points.shape[1])
    for column in range(points.shape[1]):
        null = points[:, column] == table.model.null[column]
        distinct[column] = len(np.unique(points[:, column]))
        least, most = (
            points[~null, column].min(initial=np.inf),
            points[~null, column].max(initial=0),
        )
        width = most - least if most > least else 1.0
        points[:, column] = np.where(null, NULL_PLACE, (points[:, column] - least) / width)
    return np.asarray(points * np.sqrt(distinct / distinct.sum()))


def chosen_eps(
    points: Points, counts: npt.NDArray[np.int64], min_samples: int, threads: int
) -> float:
    """Return the distance within which most rows have ``min_samples`` others.

    points: float64[u, d], distinct; counts: int64[u], rows of each.
    """
    from sklearn.neighbors import NearestNeighbors

    if len(points) == 1:
        return 1.0
    wanted = min(min_samples, int(counts.sum()) - 1)
    tree = NearestNeighbors(algorithm="kd_tree", n_jobs=threads).fit(points)
    distances, rows = tree.kneighbors(points, min(wanted + 1, len(points)))
    others = np.cumsum(counts[rows], axis=1) - 1
    enough = distances[np.arange(len(points)), np.argmax(others >= wanted, axis=1)]
    eps = float(np.quantile(np.repeat(enough, counts), NEAR, method="higher"))
    return eps if eps > 0 else float(distances[:, 1].min())
