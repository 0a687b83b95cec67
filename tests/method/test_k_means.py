"""k-means: plain groups are found, and the seed decides."""

import numpy as np
import pytest

from anon_sql.core.running import Workers
from anon_sql.errors import AnonError
from anon_sql.methods import microaggregation
from anon_sql.methods.microaggregation import MAX_STEPS, k_means, standardized
from tests.oracles import table_of

pytestmark = pytest.mark.quick

pytest.importorskip("threadpoolctl", reason="needs the extra ml")
ONE, TWO = Workers("sdka"), Workers("sdka", 2)


def test_groups_that_are_far_apart():
    draw = np.random.default_rng(3)
    group = draw.integers(0, 2, 200)
    features = (draw.normal(0, 0.1, (200, 3)) + 50 * group[:, None]).astype(np.float32)
    found = k_means(features, 2, 42, ONE)
    assert len({(int(a), int(b)) for a, b in zip(found, group, strict=True)}) == 2


def test_more_centres_than_distinct_rows():
    features = np.repeat(np.eye(3, dtype=np.float32), 10, axis=0)
    assert sorted(np.bincount(k_means(features, 12, 42, ONE))) == [10, 10, 10]
    same = np.zeros((9, 2), np.float32)
    assert k_means(same, 4, 42, ONE).tolist() == [0] * 9


def test_every_row_is_nearest_to_its_own_centre_or_steps_ran_out():
    features = np.random.default_rng(1).normal(size=(300, 4)).astype(np.float32)
    first, again = (k_means(features, 5, 1, workers) for workers in (ONE, ONE))
    assert np.array_equal(first, again)
    centres = np.stack([features[first == c].mean(axis=0) for c in range(5)])
    nearest = ((features[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == first).mean() > 0.95


def lloyd(features, centres):
    """Return the cluster of each row by the steps as they are written down, all distances at once."""
    rows, clusters = features.astype(float), np.full(len(features), -1)
    for _ in range(MAX_STEPS):
        before = clusters
        clusters = ((rows[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)  # the first of ties
        if np.array_equal(before, clusters):
            break
        for at in set(clusters.tolist()):
            centres[at] = rows[clusters == at].mean(axis=0)
    return np.unique(clusters, return_inverse=True)[1]


@pytest.mark.parametrize("seed", range(4))
def test_as_the_algorithm_is_written_with_one_thread_and_two(monkeypatch, seed):
    draw = np.random.default_rng(seed)
    features = np.unique(draw.integers(0, 40, (900, 3)), axis=0).astype(np.float32)
    chosen = np.random.default_rng(seed).permutation(len(features))[:60]
    found = k_means(features, 60, seed, ONE)
    assert (found == lloyd(features, features[chosen].astype(float))).mean() > 0.99  # float32 ties
    monkeypatch.setattr(microaggregation, "CHECK_CELLS", 5000)  # some ten blocks
    monkeypatch.setattr("anon_sql.core.running.MIN_THREADED_WORK", 1)
    assert np.array_equal(k_means(features, 60, seed, TWO), k_means(features, 60, seed, ONE))


def test_a_centre_without_rows_stays():
    features = np.array([[0.0], [1.0]], np.float32)
    centres = np.array([[0.0], [9.0], [1.0]], np.float32)
    found = microaggregation._means(features, np.array([0, 2], np.int32), centres)
    assert found.tolist() == [[0.0], [9.0], [1.0]]


def test_it_stops_between_blocks(monkeypatch):
    looks = []

    def stopped(function):
        looks.append(function)
        if len(looks) == 5:
            raise AnonError(function, "stopped on request")

    monkeypatch.setattr(microaggregation, "CHECK_CELLS", 100)
    monkeypatch.setattr("anon_sql.core.running.check", stopped)
    with pytest.raises(AnonError, match="sdka: stopped on request"):
        k_means(np.random.default_rng(1).random((90, 2)).astype(np.float32), 10, 1, ONE)


def test_a_quasi_identifier_has_variance_one():
    points = np.random.default_rng(1).random((50, 2))
    points[:5, 1] = 0.0
    assert standardized(table_of(points)).var(axis=0) == pytest.approx([1, 1], rel=1e-5)
    points[:, 0] = 0.5  # one value
    assert standardized(table_of(points)).var(axis=0) == pytest.approx([0, 1], rel=1e-5)
