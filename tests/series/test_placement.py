"""Cohorts of a leaf as without numba, and the counts by which a leaf is halved."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from anon_sql import kernels
from tests.series import plain_placement


def form(values, l):  # noqa: E741
    """Return cohorts of rows, which are in a random order, and the rest."""
    columns = len(values[0]) if len(values) else 1
    codes = np.array([[ord(one) for one in value] for value in values], np.int32)
    rows = np.arange(len(values), dtype=np.int32)
    found = kernels.cohorts.form(codes.reshape(len(values), columns), rows, l)
    made = [np.flatnonzero(found == at).tolist() for at in range(found.max(initial=-1) + 1)]
    return made, np.flatnonzero(found < 0).tolist()


def expected(counts, l):  # noqa: E741
    return kernels.cohorts.expected(np.array(counts, np.int64), l, 40)


@pytest.mark.parametrize("seed", range(40))
def test_form_as_without_numba(seed):
    draw = np.random.default_rng(seed)
    for _ in range(20):
        shape = (int(draw.integers(1, 30)), int(draw.integers(1, 3)))
        codes = (draw.random(shape) ** 2 * draw.integers(1, 7)).astype(int)
        values = [tuple("abcdefg"[at] for at in row) for row in codes]
        least = int(draw.integers(2, 4))
        plain, rest = plain_placement.form(values, least)
        made, waits = form(values, least)
        assert [sorted(cohort) for cohort in plain] == made
        assert sorted(rest) == waits


@pytest.mark.parametrize("l", [2, 3])
def test_a_leaf_without_a_frequent_value_makes_nobody_wait(l):  # noqa: E741
    for values in product("abc", repeat=6):
        made, rest = form([(value,) for value in values], l)
        if max(Counter(values).values()) * l <= 6:
            assert rest == []
        assert sorted([*rest, *(at for cohort in made for at in cohort)]) == list(range(6))
        assert all(len({values[at] for at in cohort}) == len(cohort) >= l for cohort in made)


def test_the_expected_share_is_that_of_halves_dealt_at_random():
    assert expected((6,), 2) == (1.0, 1.0)
    share, bare = expected((1,) * 12, 2)
    assert (share, bare) == (0.0, 0.0)
    share, _ = expected((7, 3, 2), 2)
    assert share > 1 / 12
