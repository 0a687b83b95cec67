"""Cluster rows by density, and turn clusters into legal ones: the first phase of DOP.

Source: Sharma, Kumar and Reddy, "A Density-Driven Anonymization Framework", section IV-A. The
clusters are those of DBSCAN. The paper gives neither the scaling of columns nor eps and
min_samples. Chosen here:

- Each column is scaled to [0, 1], text by its code, a hierarchy's leaf by its number; NULL is at 2.
- A column's squared difference is weighted by its share of the distinct values (equation 1).
- min_samples is k. eps is the 0.99 quantile of the distance to the k-th other row, so that noise is
  at most 1 %; if that is 0, the least distance between distinct rows.

The paper attaches clusters below k rows to their nearest valid neighbour, keeps noise as a class if
it is legal and suppresses it otherwise. Departure: illegal noise joins its nearest clusters unless
``noise`` is 'suppress', since suppressed rows may be shown only if they are legal.
"""

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.columns import distinct_rows
from anon_sql.core.running import Progress, aside
from anon_sql.core.stopping import check
from anon_sql.core.table import QuasiTable
from anon_sql.errors import not_installed
from anon_sql.methods.microaggregation import Standardized
from anon_sql.privacy.constraint import Constraint

CHECK_JOINS = 50  # between two tests for Ctrl-C
ClusterOf = npt.NDArray[np.int32]


def join_clusters(
    function: str,
    features: Standardized,
    clusters: ClusterOf,
    real: npt.NDArray[np.bool_],
    constraint: Constraint,
) -> tuple[ClusterOf, int]:
    """Return clusters int32[n] of at least k real rows, and how many were joined to another.

    If l > 1, a cluster also needs two sensitive values of real rows. The distance is that of the
    centres and is computed anew after each join. A single cluster may remain that is still short.

    function: name of the function, for errors.
    features: float64[n, f], from ``standardized``.
    clusters: int32[n], cluster of each row.
    real: bool[n], the real rows.
    constraint: of the real rows.
    """
    count = int(clusters.max()) + 1
    size = np.bincount(clusters, minlength=count).astype(np.float64)
    centre = np.zeros((count, features.shape[1]))
    np.add.at(centre, clusters, features)
    centre /= size[:, None]
    rows = np.bincount(clusters[real], minlength=count)
    cluster_values = _values(clusters[real], count, constraint)

    def short(cluster: int) -> bool:
        return bool(
            rows[cluster] < constraint.k
            or any(len(values[cluster]) < 2 for values in cluster_values)
        )

    waiting = [(int(rows[cluster]), cluster) for cluster in range(count) if short(cluster)]
    heapq.heapify(waiting)
    becomes, joined, remains = np.arange(count), 0, np.ones(count, dtype=np.bool_)
    with Progress(function, len(waiting)) as progress:
        progress.note = "joins clusters"
        while waiting and joined < count - 1:
            recorded_rows, cluster = heapq.heappop(waiting)
            progress.advance(1)
            if not remains[cluster] or recorded_rows != rows[cluster] or not short(cluster):
                continue
            if joined % CHECK_JOINS == 0:
                check(function)
            distance = ((centre - centre[cluster]) ** 2).sum(axis=1)
            distance[~remains] = np.inf
            distance[cluster] = np.inf
            nearest = int(distance.argmin())
            total = size[cluster] + size[nearest]
            centre[nearest] = (
                size[cluster] * centre[cluster] + size[nearest] * centre[nearest]
            ) / total
            size[nearest], rows[nearest] = total, rows[nearest] + rows[cluster]
            for values in cluster_values:
                values[nearest] |= values[cluster]
            remains[cluster], becomes[cluster], joined = False, nearest, joined + 1
            if short(nearest):
                heapq.heappush(waiting, (int(rows[nearest]), nearest))
    while (becomes[becomes] != becomes).any():
        becomes = becomes[becomes]
    _, dense = np.unique(becomes[clusters], return_inverse=True)
    return np.asarray(dense, np.int32).reshape(-1), joined


def _values(clusters: ClusterOf, count: int, constraint: Constraint) -> list[list[set[int]]]:
    """Return by sensitive column the values in each cluster; none where l is 1."""
    rules = constraint.rules
    if rules is None or rules.l <= 1:
        return []
    by_attribute = []
    for attribute in range(len(constraint.names)):
        value = rules.value[attribute][rules.keys[attribute]]
        values: list[set[int]] = [set() for _ in range(count)]
        for cluster, code in set(zip(clusters.tolist(), value.tolist(), strict=True)):
            if code < rules.non_null[attribute]:
                values[cluster].add(code)
        by_attribute.append(values)
    return by_attribute


EPS_QUANTILE = 0.99  # of the rows have enough neighbours within eps
DISTANCE_TOLERANCE = 1e-9  # distances that differ by less are equal
NULL_POSITION = 2.0

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
        raise not_installed(function, "scikit-learn must be installed", None, "ml") from None
    scaled = weighted(table)
    first, place = distinct_rows(function, scaled)
    points, counts = scaled[first], np.bincount(place)
    if eps is None:
        eps = aside(function, lambda: chosen_eps(points, counts, min_samples, threads))
    scan = DBSCAN(
        eps=eps + DISTANCE_TOLERANCE, min_samples=min_samples, algorithm="kd_tree", n_jobs=threads
    )
    fitted = aside(function, lambda: scan.fit(points, sample_weight=counts))
    return Density(points, place, fitted.labels_.astype(np.int32), eps)


def weighted(table: QuasiTable) -> Points:
    """Return points whose Euclidean distance is that of equation 2, float64[n, d]."""
    points = table.points.copy()
    distinct = np.ones(points.shape[1])
    for column in range(points.shape[1]):
        null = points[:, column] == table.model.null[column]
        distinct[column] = len(np.unique(points[:, column]))
        lowest, highest = (
            points[~null, column].min(initial=np.inf),
            points[~null, column].max(initial=0),
        )
        width = highest - lowest if highest > lowest else 1.0
        points[:, column] = np.where(null, NULL_POSITION, (points[:, column] - lowest) / width)
    return np.asarray(points * np.sqrt(distinct / distinct.sum()))


def chosen_eps(
    points: Points, counts: npt.NDArray[np.int64], min_samples: int, threads: int
) -> float:
    """Return the distance within which most rows have ``min_samples`` others.

    points: float64[u, d], distinct rows.
    counts: int64[u], rows of each.
    min_samples: as of DBSCAN.
    threads: for the search of neighbours.
    """
    from sklearn.neighbors import NearestNeighbors

    if len(points) == 1:
        return 1.0
    neighbours = min(min_samples, int(counts.sum()) - 1)
    tree = NearestNeighbors(algorithm="kd_tree", n_jobs=threads).fit(points)
    distances, rows = tree.kneighbors(points, min(neighbours + 1, len(points)))
    others_within = np.cumsum(counts[rows], axis=1) - 1
    needed = distances[np.arange(len(points)), np.argmax(others_within >= neighbours, axis=1)]
    eps = float(np.quantile(np.repeat(needed, counts), EPS_QUANTILE, method="higher"))
    return eps if eps > 0 else float(distances[:, 1].min())


NOISE = ("class", "split", "suppress")
Ids = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Clusters:
    """Legal clusters of a table's rows.

    ids: int32[n], -1 for suppressed noise. uncut: bool[n], rows of a cluster that is not cut
    further. joined: number of DBSCAN's clusters that were joined to another.
    """

    ids: Ids
    uncut: npt.NDArray[np.bool_]
    joined: int


def legal_clusters(function: str, density: Density, constraint: Constraint, noise: str) -> Clusters:
    """Return legal clusters of a table's rows.

    Noise is a cluster if it is legal and leaves enough rows; else it joins other clusters. If all
    rows are noise, they are one cluster.
    """
    of_point = density.clusters.copy()
    if (of_point < 0).all():
        of_point[:] = 0
    noisy_points = of_point < 0
    noisy_rows = noisy_points[density.place]
    others_legal = constraint.allows(np.flatnonzero(~noisy_rows))
    noise_legal = constraint.allows(np.flatnonzero(noisy_rows))
    noise_legal &= (
        others_legal or constraint.rules is not None
    )  # with rules, ``protect`` merges noise and others
    if not noise_legal and not (noise == NOISE[2] and others_legal):
        of_point[noisy_points] = kernels.distance.nearest_cluster(
            density.points, of_point, np.flatnonzero(noisy_points)
        )
    joined = join_illegal(function, density, of_point, constraint)
    if noise_legal:
        of_point[noisy_points] = of_point.max() + 1
    uncut = noisy_rows & noise_legal & (noise != NOISE[1])
    return Clusters(of_point[density.place], uncut, joined)


def join_illegal(function: str, density: Density, of_point: Ids, constraint: Constraint) -> int:
    """Join clusters of distinct rows, int32[u], until each is legal; return how many were joined.

    ``of_point`` is changed in place. The smallest illegal cluster comes first, and joins the
    nearest with which it is legal (single linkage). Where there is none, all become one.
    """
    ids = of_point[density.place]
    count = int(ids.max()) + 1
    rows = [np.flatnonzero(ids == cluster) for cluster in range(count)]
    illegal = ~constraint.legal(ids, count)
    nearest, joined = np.empty(count), 0
    for cluster in sorted(np.flatnonzero(illegal), key=lambda cluster: len(rows[cluster])):
        check(function)
        if not illegal[cluster]:
            continue  # another has joined it
        kernels.distance.single_linkage(
            density.points, of_point, np.flatnonzero(of_point == cluster), nearest
        )
        order = np.argsort(np.rint(np.sqrt(nearest) / DISTANCE_TOLERANCE), kind="stable")
        for neighbour in order[np.isfinite(nearest[order]) & (order != cluster)]:
            union = np.append(rows[neighbour], rows[cluster])
            if constraint.allows(union):
                rows[neighbour], illegal[neighbour] = union, False
                of_point[of_point == cluster] = neighbour
                joined += 1
                break
        else:
            of_point[of_point >= 0] = 0
            return count - 1
    return joined
