"""Distances of clusters, against all pairs of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.kernels.distance import nearest_cluster, single_linkage
from tests.drawing import examples

pytestmark = pytest.mark.quick

rows = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(-1, 3)), min_size=2, max_size=20
)


def plain(points, clusters, own, count):
    return [
        min(
            (
                ((points[a] - points[b]) ** 2).sum()
                for a in own
                for b in np.flatnonzero(clusters == c)
            ),
            default=np.inf,
        )
        for c in range(count)
    ]


@examples(200)
@given(rows)
def test_the_least_distance_of_any_two_rows(table):
    points = np.array([row[:2] for row in table], dtype=np.float64)
    clusters = np.array([row[2] for row in table], dtype=np.int32)
    count = max(int(clusters.max()) + 1, 1)
    nearest = np.empty(count)
    own = np.flatnonzero(clusters == clusters[0])
    single_linkage(points, clusters, own, nearest)
    assert nearest.tolist() == plain(points, clusters, own, count)


@examples(200)
@given(rows)
def test_each_row_finds_its_nearest_cluster(table):
    points = np.array([row[:2] for row in table], dtype=np.float64)
    clusters = np.array([row[2] for row in table], dtype=np.int32)
    clusters[0] = 0
    lost = np.flatnonzero(clusters < 0)
    wanted = [int(np.argmin(plain(points, clusters, [row], clusters.max() + 1))) for row in lost]
    assert nearest_cluster(points, clusters, lost).tolist() == wanted
