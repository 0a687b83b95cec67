"""Gower's distance over the columns present in both rows."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.kernels.distance import gower_pairs
from tests.drawing import examples

pytestmark = pytest.mark.quick


def twin_gower(a, b, numeric, ranges):
    parts = []
    for x, y, number, width in zip(a, b, numeric, ranges, strict=True):
        if math.isnan(x) or math.isnan(y):
            continue
        if number:
            parts.append(abs(x - y) / width if width > 0 else 0.0)
        else:
            parts.append(float(x != y))
    return sum(parts) / len(parts) if parts else math.nan


columns = st.lists(
    st.tuples(
        st.sampled_from([0.0, 1.0, 2.5, -4.0, math.nan]),
        st.sampled_from([0.0, 1.0, 2.5, -4.0, math.nan]),
        st.booleans(),
        st.sampled_from([0.0, 1.0, 6.5]),
    ),
    min_size=1,
    max_size=6,
)


@examples(100)
@given(columns)
def test_distance_is_the_twins(values):
    a, b, numeric, ranges = map(list, zip(*values, strict=True))
    found = gower_pairs([a], [b], numeric, ranges)
    np.testing.assert_allclose(found, [twin_gower(a, b, numeric, ranges)], rtol=1e-14)
    np.testing.assert_array_equal(found, gower_pairs([b], [a], numeric, ranges))


def test_missing_columns_do_not_count():
    a, b = [[1.0, 0.0, math.nan]], [[3.0, math.nan, 5.0]]
    assert gower_pairs(a, b, [True, False, True], [4.0, 1.0, 1.0]).tolist() == [0.5]
    assert np.isnan(gower_pairs([[math.nan]], [[1.0]], [True], [1.0])).all()
    assert gower_pairs(np.empty((0, 2)), np.empty((0, 2)), [True, False], [1.0, 1.0]).size == 0


def test_equals_the_gower_package_on_mixed_data():
    package = pytest.importorskip("gower")
    rng = np.random.default_rng(4)
    numbers = rng.integers(1, 50, (30, 2)).astype(float)
    points = np.column_stack([numbers, rng.integers(0, 4, (30, 2)), np.full(30, 2.0)])
    numeric = [True, True, False, False, True]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = package.gower_matrix(points, cat_features=[not number for number in numeric])
    left, right = np.indices(theirs.shape)
    found = gower_pairs(points[left.ravel()], points[right.ravel()], numeric, np.ptp(points, 0))
    np.testing.assert_allclose(found, theirs.ravel(), atol=1e-6)  # it computes in float32
