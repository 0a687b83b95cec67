"""Distances are rounded whole numbers; random numbers are splitmix64's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.kernels.distance import (
    EUCLID,
    GOWER,
    METRICS,
    draw,
    draw_below,
    key,
    keys_to,
    measure_of,
)
from tests.drawing import examples

pytestmark = pytest.mark.quick

ALONE = measure_of("gower", 1, None)


def twin_key(a, b, metric, weights=None):
    most = weights or [1.0] * len(a)
    differences = [min(abs(x - y), w) for x, y, w in zip(a, b, most, strict=True)]
    if metric == EUCLID:
        return round(math.sqrt(sum(x * x for x in differences)) * 1e9)
    return round(sum(differences) / len(differences) * 1e9)


values = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0, 3.0, 17.0]))
pairs = st.integers(1, 12).flatmap(
    lambda d: st.tuples(*[st.lists(values, min_size=d, max_size=d)] * 2)
)


@examples(100)
@given(pairs, st.sampled_from([GOWER, EUCLID]))
def test_key_is_the_twins(pair, metric):
    points = np.array(pair)
    for weights in (None, [1.0, *np.linspace(0, 0.9, points.shape[1] - 1)]):
        how = measure_of(METRICS[metric], points.shape[1], weights and np.array(weights))
        assert key(points, 0, 1, how) == twin_key(*pair, metric, weights) == key(points, 1, 0, how)
        assert key(points, 0, 0, how) == 0


def test_null_is_near_null_and_far_from_all_else():
    points = np.array([[3.0], [3.0], [0.0], [1.0]])
    assert [key(points, 0, row, ALONE) for row in range(4)] == [0, 0, 10**9, 10**9]


def test_distances_that_differ_by_rounding_alone_are_ties():
    points = np.array([[0.0], [0.1 + 0.2], [0.3]])
    assert points[1, 0] != points[2, 0]
    assert key(points, 0, 1, ALONE) == key(points, 0, 2, ALONE)


@pytest.mark.parametrize("metric", [GOWER, EUCLID])
def test_keys_to_follows_the_rows_given(metric):
    points = np.random.default_rng(1).random((20, 3))
    rows, out = np.array([7, 3, 19, 3], np.int32), np.empty(4, np.int64)
    keys_to(points, rows, 5, measure_of(METRICS[metric], 3, None), out)
    assert out.tolist() == [twin_key(points[row], points[5], metric) for row in rows]


def test_draws_are_splitmix64():
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert [int(draw(np.uint64(0), np.uint64(at))) for at in (1, 2, 3)] == published
    below = [draw_below(np.uint64(9), np.uint64(at), 7) for at in range(500)]
    assert set(below) == set(range(7))
