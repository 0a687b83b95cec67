"""MDAV is what a plain version of the paper's algorithm gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.kernels.microaggregation import mdav, points_of

pytestmark = pytest.mark.quick


def twin(x, k):
    """MDAV as published; ties go to the first row."""
    left, classes, at = list(range(len(x))), np.zeros(len(x), int), 0

    def farthest(point):
        return left[int(np.argmax([((x[row] - point) ** 2).sum() for row in left]))]

    def take(row):
        near = sorted(left, key=lambda other: ((x[other] - x[row]) ** 2).sum())[:k]
        classes[near] = at
        left[:] = [other for other in left if other not in near]

    while len(left) >= 2 * k:
        first = farthest(x[left].mean(axis=0))
        take(first)
        at += 1
        if len(left) >= 2 * k:
            second = farthest(x[first])
            take(second)
            at += 1
    classes[left] = at
    return classes


@given(st.integers(1, 40), st.integers(1, 4), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_it_is_the_published_algorithm(rows, columns, k, seed):
    x = np.random.default_rng(seed).normal(size=(rows, columns))
    assert mdav(points_of(x), min(k, rows)).tolist() == twin(x, min(k, rows)).tolist()


@given(st.integers(1, 40), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_a_category_is_a_column_for_each_of_its_values(rows, k, seed):
    points, x = mixed(rows, seed)
    assert mdav(points, min(k, rows)).tolist() == twin(x, min(k, rows)).tolist()


def mixed(rows, seed):
    """Two columns of numbers and two of categories, as points and as a column for each axis."""
    pick = np.random.default_rng(seed)
    numbers, square = pick.normal(size=(rows, 2)), np.repeat([1.3, 0.7], [3, 5])
    codes = np.column_stack([pick.integers(0, 3, rows), pick.integers(3, 8, rows)])
    marks = (codes[:, :, None] == np.arange(8)).any(axis=1) * np.sqrt(square)
    return points_of(numbers, codes.astype(np.int32), square), np.hstack([numbers, marks])


@given(st.integers(1, 60), st.integers(1, 7), st.integers(0, 9), st.integers(0, 2**32 - 1))
def test_sizes(rows, k, more, seed):
    """Values repeat, so that distances tie."""
    x = np.random.default_rng(seed).integers(0, 3, size=(rows, 2)).astype(float)
    k = min(k, rows)
    sizes = np.bincount(mdav(points_of(x), k, more))
    assert sizes.sum() == rows
    assert k <= sizes.min()
    assert sizes.max() <= 2 * k - 1
