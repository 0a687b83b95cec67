"""DOP's distance, and its choice of eps."""

import sys

import numpy as np
import pytest

from anon_sql.errors import AnonError
from anon_sql.methods.clusters import chosen_eps, density, weighted
from tests.oracles import table_of

pytestmark = pytest.mark.quick


def plain_eps(points, k):
    """Return the distance within which 99 of 100 rows have their k-th other row, from all pairs."""
    apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    kth = np.sort(apart, axis=1)[:, min(k, len(points) - 1)]
    within = min(sorted(kth)[at] for at in range(len(kth)) if (at + 1) / len(kth) >= 0.99)
    return within if within > 0 else apart[apart > 0].min()


@pytest.mark.parametrize("k", [1, 3, 10, 1000])
@pytest.mark.parametrize("values", [2, 4, 1000])
def test_eps_is_that_of_all_pairs(k, values):
    points = np.random.default_rng(values).integers(0, values, (150, 2)) / values
    distinct, counts = np.unique(points, axis=0, return_counts=True)
    assert chosen_eps(distinct, counts, k, 1) == pytest.approx(plain_eps(points, k))


def test_columns_weigh_their_share_of_the_distinct_values():
    points = np.array([[0.0, 0.0], [0.25, 1.0], [0.5, 1.0], [1.0, 3.0]])
    weights = np.array([4 / 7, 3 / 7])
    scaled = points.copy()
    scaled[3, 1] = 2.0  # NULL
    assert weighted(table_of(points)) == pytest.approx(scaled * np.sqrt(weights))


def test_clusters_of_the_distinct_rows_are_those_of_all():
    from sklearn.cluster import DBSCAN

    points = np.random.default_rng(1).integers(0, 12, (300, 2)) / 11
    table = table_of(points)
    found = density("dop", table, 0.05, 4, 1)
    wanted = DBSCAN(eps=0.05 + 1e-9, min_samples=4).fit(weighted(table)).labels_
    pairs = set(zip(found.clusters[found.place].tolist(), wanted.tolist(), strict=True))
    assert len(pairs) == len(set(wanted.tolist())) == len({pair[0] for pair in pairs})
    assert (-1, -1) in pairs


def test_rows_that_are_all_equal_are_one_cluster():
    found = density("dop", table_of(np.full((20, 2), 0.5)), None, 5, 1)
    assert found.clusters.tolist() == [0]


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    with pytest.raises(AnonError, match=r"scikit-learn must be installed; .*anon-sql\[ml\]"):
        density("dop", table_of(np.zeros((4, 1))), None, 2, 1)
