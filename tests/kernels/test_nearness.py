"""The class of least increase by another: numbers, sets, hierarchies and NULL."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.kernels import distance, hashing
from tests.drawing import examples
from tests.kernels.test_mondrian import VALUES
from tests.loss import NULL, model_of, ncp

pytestmark = pytest.mark.quick

kinds_of = st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=4)
tables = kinds_of.flatmap(
    lambda kinds: st.tuples(
        st.just(kinds),
        st.lists(
            st.tuples(*(st.sampled_from(VALUES[kind]) for kind in kinds)), min_size=2, max_size=30
        ),
        st.lists(st.integers(0, 5), min_size=30, max_size=30),
    )
)


def prepared(kinds, points, classes):
    model = model_of(kinds, points)
    order, starts = hashing.group(classes, int(classes.max()) + 1)
    return model, starts, distance.profiles(points, model, order, starts)


def numbered(classes):
    """Class ids from 0 without gaps."""
    return np.unique(classes, return_inverse=True)[1].astype(np.int32)


@examples(200)
@given(tables)
def test_loss_of_two_classes_together(table):
    kinds, rows, given_ = table
    points, classes = np.array(rows), numbered(given_[: len(rows)])
    model, _, known = prepared(kinds, points, classes)
    for a in range(classes.max() + 1):
        for b in range(classes.max() + 1):
            union = points[(classes == a) | (classes == b)]
            assert distance.loss(a, b, model, *known) == pytest.approx(ncp(kinds, model, union))


@examples(200)
@given(tables)
def test_the_nearest_grows_least_and_the_first_wins_a_tie(table):
    kinds, rows, given_ = table
    points, classes = np.array(rows), numbered(given_[: len(rows)])
    model, starts, known = prepared(kinds, points, classes)
    ids = np.arange(classes.max() + 1)
    short, targets = ids[ids % 2 == 1], ids[ids % 2 == 0]
    found = distance.nearest(short, targets, model, starts, *known)
    for a, got in zip(short, found, strict=True):
        increase = []
        for b in targets:
            alone, union = points[classes == b], points[(classes == a) | (classes == b)]
            grown = len(union) * ncp(kinds, model, union) - len(alone) * ncp(kinds, model, alone)
            increase.append(round(grown, 7))
        assert got == targets[increase.index(min(increase))]


def test_null_beside_values_costs_all_and_alone_nothing():
    """Worked out by hand: classes of one number, of NULLs, and of both, in each kind of column."""
    for kind, (one, other) in {
        "number": (0.0, 0.25),
        "set": (0.0, 2.0),
        "tree": (0.0, 1.0),
    }.items():
        null = NULL[kind]
        points = np.array([[one], [one], [other], [null], [null]])
        classes = np.array([0, 0, 1, 2, 2], dtype=np.int32)
        model, starts, known = prepared([kind], points, classes)
        near = {"number": 0.25, "set": 2 / 3, "tree": 2 / 5}[kind]
        assert distance.loss(0, 1, model, *known) == pytest.approx(near)
        assert distance.loss(2, 2, model, *known) == 0.0
        assert distance.loss(0, 2, model, *known) == 1.0
        # 3 rows at ``near`` are less than 4 rows at 1.
        assert distance.nearest(np.array([0]), np.array([1, 2]), model, starts, *known) == [1]
