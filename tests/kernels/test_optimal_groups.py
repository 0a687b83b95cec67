"""The cut of an order loses what the best of all cuts loses."""

from functools import lru_cache

import numpy as np
import pytest

from anon_sql.kernels.loss import NUMBER, SET, TREE
from anon_sql.kernels.order_cuts import K_UNITS, MAX_EXACT_K, NO_PRICES, optimal_groups
from tests.kernels.losses import loss, table

pytestmark = pytest.mark.quick

MIXED = [NUMBER, SET, TREE, SET, NUMBER]


def least(points, model, order, k, places=None):
    """The least loss of all ways to cut the order, by trying each first group."""
    places = set(range(len(order) + 1)) if places is None else places

    @lru_cache(None)
    def after(start):
        if start == len(order):
            return 0.0
        ends = [
            end for end in range(start + k, min(start + 2 * k, len(order) + 1)) if end in places
        ]
        return min(
            (loss(points, model, order[start:end]) + after(end) for end in ends), default=np.inf
        )

    return after(0)


def total(points, model, order, starts):
    return sum(loss(points, model, part) for part in np.split(order, starts[1:-1]))


def check(points, model, order, k, starts):
    assert (starts[0], starts[-1]) == (0, len(order))
    sizes = np.diff(starts)
    assert sizes.min() >= k
    assert sizes.max() <= max(2 * k - 1, 0)


@pytest.mark.parametrize("kinds", [[NUMBER], [SET], [TREE], MIXED])
@pytest.mark.parametrize("k", [1, 2, 3, 7, 16])
def test_no_cut_loses_less(kinds, k):
    for seed, n in enumerate([k, k + 1, 2 * k - 1, 2 * k, 3 * k, 61 + k]):
        points, model = table(n, kinds, seed)
        order = np.random.default_rng(seed).permutation(n).astype(np.int32)
        starts, cost = optimal_groups(points, order, model, k, NO_PRICES)
        check(points, model, order, k, starts)
        best = least(points, model, order, k)
        assert total(points, model, order, starts) == pytest.approx(best, abs=1e-4)
        assert cost == pytest.approx(best, abs=1e-4)


def test_every_size_from_k_to_3k():
    for n in range(5, 16):
        points, model = table(n, MIXED, n)
        order = np.arange(n, dtype=np.int32)
        starts, _ = optimal_groups(points, order, model, 5, NO_PRICES)
        check(points, model, order, 5, starts)


def test_equal_rows_lose_nothing():
    points, model = table(1, MIXED, 0, nulls=0)
    points = np.repeat(points, 50, axis=0)
    starts, cost = optimal_groups(points, np.arange(50, dtype=np.int32), model, 8, NO_PRICES)
    check(points, model, np.arange(50), 8, starts)
    assert cost == 0


def test_nulls_alone_lose_nothing_and_beside_values_all():
    points, model = table(8, MIXED, 1, nulls=0)
    points[:4] = model.null
    _, cost = optimal_groups(points, np.arange(8, dtype=np.int32), model, 4, NO_PRICES)
    assert cost == pytest.approx(loss(points, model, np.arange(4, 8)), abs=1e-5)
    mixed = np.array([0, 4, 1, 5, 2, 6, 3, 7], dtype=np.int32)
    assert optimal_groups(points, mixed, model, 4, NO_PRICES)[1] == pytest.approx(
        8 * model.weight.sum()
    )


def test_many_categories_and_many_columns():
    points, model = table(90, [SET, NUMBER], 2, categories=1000)
    order = np.arange(90, dtype=np.int32)
    starts, cost = optimal_groups(points, order, model, 20, NO_PRICES)
    assert cost == pytest.approx(least(points, model, order, 20), abs=1e-4)
    points, model = table(60, MIXED * 8, 3)
    starts, cost = optimal_groups(points, order[:60], model, 6, NO_PRICES)
    check(points, model, order[:60], 6, starts)
    assert cost == pytest.approx(least(points, model, order[:60], 6), abs=1e-3)


@pytest.mark.parametrize(
    ("k", "n"), [(MAX_EXACT_K + 1, 1100), (700, 1399), (700, 1400), (MAX_EXACT_K + 1, 1710)]
)
def test_a_large_k_is_cut_at_some_places_only(k, n):
    points, model = table(n, [NUMBER, SET, TREE], n, nulls=0.001)
    points[:, 0] = np.sort(points[:, 0])
    order = np.arange(n, dtype=np.int32)
    starts, _ = optimal_groups(points, order, model, k, NO_PRICES)
    check(points, model, order, k, starts)
    units = n * K_UNITS // k
    places = frozenset([n] + [u * k // K_UNITS for u in range(units)])
    best = least(points, model, order, k, places)
    assert set(starts.tolist()) <= places
    assert total(points, model, order, starts) == pytest.approx(best, rel=0.01)


def test_groups_of_a_very_large_k_keep_their_size():
    points, model = table(30_000, [NUMBER, SET], 5)
    order = np.arange(30_000, dtype=np.int32)
    for k in (513, 1000, 4999, 9999, 14_999):
        check(points, model, order, k, optimal_groups(points, order, model, k, NO_PRICES)[0])


def test_a_price_moves_the_cut():
    """Two values alternate by threes; a group of one value only costs more than a wider group."""
    points, model = table(24, [NUMBER], 3)
    points = np.arange(24.0)[:, None] // 3 / 7
    order = np.arange(24, dtype=np.int32)
    plain, _ = optimal_groups(points, order, model, 3, NO_PRICES)
    assert plain.tolist() == list(range(0, 25, 3))
    prices = np.zeros((3, 24), np.float32)
    prices[0] = 9.0
    priced, cost = optimal_groups(points, order, model, 3, prices)
    assert set(np.diff(priced)) <= {4, 5}
    assert cost == pytest.approx(total(points, model, order, priced), abs=1e-5)
