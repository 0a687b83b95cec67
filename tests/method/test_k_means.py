"""k-means: plain groups are found, and the seed decides."""

import numpy as np
import pytest

from anon_sql.methods.microaggregation import k_means, standardized
from tests.oracles import table_of

pytestmark = pytest.mark.quick

pytest.importorskip("sklearn", reason="needs the extra ml")


def test_groups_that_are_far_apart():
    draw = np.random.default_rng(3)
    group = draw.integers(0, 2, 200)
    features = (draw.normal(0, 0.1, (200, 3)) + 50 * group[:, None]).astype(np.float32)
    found = k_means("sdka", features, 2, 42)
    assert len({(int(a), int(b)) for a, b in zip(found, group, strict=True)}) == 2


def test_more_centres_than_distinct_rows():
    features = np.repeat(np.eye(3, dtype=np.float32), 10, axis=0)
    assert sorted(np.bincount(k_means("sdka", features, 12, 42))) == [10, 10, 10]
    same = np.zeros((9, 2), np.float32)
    assert k_means("sdka", same, 4, 42).tolist() == [0] * 9


def test_every_row_is_nearest_to_its_own_centre_or_steps_ran_out():
    features = np.random.default_rng(1).normal(size=(300, 4)).astype(np.float32)
    first, again = (k_means("sdka", features, 5, seed) for seed in (1, 1))
    assert np.array_equal(first, again)
    centres = np.stack([features[first == c].mean(axis=0) for c in range(5)])
    nearest = ((features[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == first).mean() > 0.95


def test_a_quasi_identifier_has_variance_one():
    points = np.random.default_rng(1).random((50, 2))
    points[:5, 1] = 0.0
    assert standardized(table_of(points)).var(axis=0) == pytest.approx([1, 1], rel=1e-5)
    points[:, 0] = 0.5  # one value
    assert standardized(table_of(points)).var(axis=0) == pytest.approx([0, 1], rel=1e-5)
