"""Legality of classes, compared with a plain implementation, and closed under union."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anon_sql.kernels.legality import contents, gap, union
from tests.drawing import examples
from tests.kernels.legal import asked, legal, made

pytestmark = pytest.mark.quick


def parts(rows, labels):
    classes = np.unique(labels[: len(rows)], return_inverse=True)[1].astype(np.int32)
    return classes, [
        [row for row, own in zip(rows, classes, strict=True) if own == at]
        for at in range(classes.max() + 1)
    ]


labels = st.lists(st.integers(0, 4), min_size=24, max_size=24)


@examples(400)
@given(asked(), labels)
def test_legal_as_the_definitions_say(table, given_labels):
    rows, how = table
    classes, groups = parts(rows, given_labels)
    found = made(rows, how).legal(classes, len(groups))
    assert found.tolist() == [legal(group, rows, how) for group in groups]


@examples(200)
@given(asked(), labels)
def test_a_union_of_legal_classes_is_legal(table, given_labels):
    rows, how = table
    how = {**how, "persons": False}
    classes, groups = parts(rows, given_labels)
    constraint = made(rows, how)
    kept = constraint.legal(classes, len(groups))[classes]
    assume(kept.any())
    together = np.where(kept, 0, -1).astype(np.int32)
    assert constraint.legal(together, 1)[0]


@examples(200)
@given(asked(), labels)
def test_persons_and_distinct_values_are_kept_by_unions(table, given_labels):
    rows, how = table
    how = {**how, "persons": True, "kind": "distinct", "t": 1.0}
    how |= dict.fromkeys(("beta", "delta", "max_share"))
    classes, groups = parts(rows, given_labels)
    constraint = made(rows, how)
    kept = constraint.legal(classes, len(groups))[classes]
    assume(kept.any())
    assert constraint.legal(np.where(kept, 0, -1).astype(np.int32), 1)[0]


@examples(200)
@given(asked(), st.lists(st.booleans(), min_size=24, max_size=24))
def test_bags_unite_as_their_rows_do(table, side):
    rows, how = table
    rules = made(rows, {**how, "l": 2}).rules
    marked = np.array(side[: len(rows)])
    for bag in range(len(rules.total)):
        left, right = (contents(rules, bag, np.flatnonzero(part)) for part in (marked, ~marked))
        whole = contents(rules, bag, np.arange(len(rows)))
        assert union(rules, left, right).tolist() == whole.tolist()


@examples(200)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(0, 40), st.integers(1, 5))
def test_sums_between_two_values_of_a_class(held, level, size):
    rules = made(
        [(at, "a", 0) for at, n in enumerate(held) for _ in range(n)],
        {"k": 1, "l": 1, "kind": "distinct", "c": 3.0, "t": 0.5, "persons": False},
    ).rules
    below = np.cumsum(held)
    for first in range(len(held)):
        for end in range(first, len(held)):
            plain = sum(abs(level - size * below[at]) for at in range(first, end))
            assert gap(rules, 0, float(level), float(size), first, end) == pytest.approx(plain)


@examples(200)
@given(asked(), labels)
def test_no_legal_class_has_fewer_rows_than_the_smallest(table, given_labels):
    rows, how = table
    classes, groups = parts(rows, given_labels)
    constraint = made(rows, how)
    kept = constraint.legal(classes, len(groups))
    assert all(len(groups[at]) >= constraint.smallest for at in np.flatnonzero(kept))


def test_nothing_is_asked_without_l_t_and_persons():
    assert (
        made(
            [(1, "a", 0)] * 3,
            {"k": 2, "l": 1, "kind": "entropy", "c": 3.0, "t": 1.0, "persons": False},
        ).rules
        is None
    )
