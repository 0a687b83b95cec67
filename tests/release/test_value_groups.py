"""Groups of values of invariant releases, against plain enumeration."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.pipeline.value_groups import (
    broken_classes,
    earlier_groups,
    first_groups,
    large_groups,
)
from tests.drawing import examples


def cost(groups, counts, k):
    return sum(
        n / np.sqrt(max(1, min(n // k, *(counts[v] for v in group))))
        for group in groups
        for n in [sum(counts[v] for v in group)]
    )


@examples(100)
@given(st.lists(st.integers(1, 60), max_size=9), st.integers(2, 4), st.integers(1, 12))
def test_first_groups_cost_least_of_all_cuts(many, least, k):
    counts = {bytes([65 + at]): n for at, n in enumerate(many)}
    found = first_groups(counts, least, k)
    values = sorted(counts, key=lambda value: (-counts[value], value))
    assert sorted(v for group in found for v in group) == sorted(values)
    if len(values) < 2 * least:
        assert len(found) == bool(values)
        return
    best = min(
        cost(groups, counts, k)
        for some in range(len(values) // least)
        for cuts in combinations(range(1, len(values)), some)
        for groups in [[values[a:b] for a, b in zip((0, *cuts), (*cuts, len(values)), strict=True)]]
        if all(least <= len(group) < 2 * least for group in groups)
    )
    assert all(least <= len(group) < 2 * least for group in found)
    assert np.isclose(cost(found, counts, k), best)


@examples(60)
@given(st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), max_size=6))
def test_earlier_groups_are_never_apart(shown):
    groups = earlier_groups([{value.encode() for value in values} for values in shown])
    assert sorted(v for g in groups for v in g) == sorted({v.encode() for s in shown for v in s})
    for values in shown:
        held = {value.encode() for value in values}
        assert all(held >= set(group) or not held & set(group) for group in groups)


def test_small_groups_join():
    counts = {b"a": 9, b"b": 3, b"c": 1, b"d": 1}
    assert large_groups([[b"a"], [b"b"], [b"c", b"d"]], counts, 3) == [[b"a"], [b"b", b"c", b"d"]]
    assert large_groups([[b"a"], [b"b"]], counts, 10) == [[b"a", b"b"]]


def test_classes_that_show_a_part_of_a_group():
    groups = np.array([0, 0, 1, 1, 0, 0, 1, 0], np.int32)
    values = np.array([0, 1, 2, 3, 0, 1, 2, 4], np.int32)  # 4 is NULL
    classes = np.array([0, 0, 1, 1, 2, 2, 2, 2], np.int32)
    assert broken_classes(classes, groups, values, 4) == 1
    assert broken_classes(np.zeros(8, np.int32), groups, values, 4) == 0
