"""The state of means tells exactly what moves cost, and no step leaves the allowed sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.kernels import microaggregation
from anon_sql.kernels.microaggregation import mdav
from tests.kernels.test_mdav import mixed

pytestmark = pytest.mark.quick


def twin_squares(x, classes):
    return sum(
        ((x[classes == at] - x[classes == at].mean(axis=0)) ** 2).sum() for at in set(classes)
    )


def made(rows, k, seed):
    pick = np.random.default_rng(seed)
    points, x = mixed(rows, seed)
    classes = mdav(points, k)
    return x, classes, microaggregation.means_of(points, classes, 2 * k), pick


DRAWN = (st.integers(6, 40), st.integers(2, 4), st.integers(0, 2**32 - 1))


@given(*DRAWN)
def test_costs_are_changes_of_the_sum_of_squares(rows, k, seed):
    rows = max(rows, 3 * k)
    x, classes, state, pick = made(rows, k, seed)
    assert microaggregation.squares(state) == pytest.approx(twin_squares(x, classes))
    order = np.argsort(classes, kind="stable")
    starts = np.searchsorted(classes[order], np.arange(classes.max() + 2))
    of_classes = microaggregation.squares_of(state.x, order.astype(np.int32), starts)
    assert of_classes == pytest.approx(twin_squares(x, classes))
    row = int(pick.integers(rows))
    others = np.flatnonzero(classes != classes[row])
    back = int(others[pick.integers(len(others))])
    here, there = classes[row], classes[back]
    moved, swapped = classes.copy(), classes.copy()
    moved[row], swapped[row], swapped[back] = there, there, here
    before = twin_squares(x, classes)
    out, inn = (microaggregation.product(state.x, row, state.sums[at]) for at in (here, there))
    assert microaggregation.move_cost(state, row, here, there, out, inn) == pytest.approx(
        twin_squares(x, moved) - before
    )
    assert microaggregation.swap_cost(state, row, back, here, there, out, inn) == pytest.approx(
        twin_squares(x, swapped) - before
    )


@given(*DRAWN)
def test_steps_keep_sizes_and_means(rows, k, seed):
    rows = max(rows, 3 * k)
    x, _, state, pick = made(rows, k, seed)
    near = np.array([pick.permutation(rows)[:5] for _ in range(rows)], np.int32)
    microaggregation.anneal(state, near, k, 2 * k - 1, 200, 0.5, 0.01, np.uint64(seed))
    check(x, state, k)
    before = microaggregation.squares(state)
    emptied = microaggregation.dissolve(state, near, 2 * k - 1)
    check(x, state, k)
    assert (state.size == 0).sum() == emptied
    assert microaggregation.squares(state) <= before + 1e-9


def check(x, state, k):
    sizes = np.bincount(state.home, minlength=len(state.size))
    assert sizes.tolist() == state.size.tolist()
    assert ((sizes == 0) | (sizes >= k)).all()
    assert sizes.max() < 2 * k
    for at in np.flatnonzero(sizes):
        own = state.members[at, : sizes[at]]
        assert sorted(own) == np.flatnonzero(state.home == at).tolist()
        sums = x[own].sum(axis=0)
        assert state.norm[at] == pytest.approx(sums @ sums)
        assert state.sums[at, :2] == pytest.approx(sums[:2])
        assert state.sums[at, 2:] == pytest.approx(sums[2:] * np.sqrt(state.x.square))
        assert (own[state.position[own]] == own).all()


def test_cold_annealing_only_gains():
    x, classes, state, pick = made(300, 5, 1)
    near = np.array([pick.permutation(300)[:20] for _ in range(300)], np.int32)
    microaggregation.anneal(state, near, 5, 9, 30_000, 1e-9, 1e-9, np.uint64(3))
    assert microaggregation.squares(state) < twin_squares(x, classes)
