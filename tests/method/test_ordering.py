"""The order and its cut do not depend on the number of threads, for tables of every shape."""

from types import SimpleNamespace

import numpy as np
import pytest

from anon_sql.core.running import Workers
from anon_sql.kernels.loss import NUMBER, SET, TREE
from anon_sql.methods import ordering, searching
from anon_sql.methods.ordering import curve_order, cut_order, pieces
from anon_sql.methods.searching import better_orders
from tests.kernels.losses import loss, table

pytestmark = pytest.mark.quick

MIXED = [NUMBER, SET, TREE, SET, NUMBER]


def shaped(points, model):
    return SimpleNamespace(points=points, model=model, rows=len(points))


def both(rows, k, threads=1):
    """Classes and loss of the curve and of better orders."""
    workers = Workers("test", threads)
    order = curve_order(rows, workers)
    orders = [order, *better_orders(rows, order, k, workers)]
    return [cut_order(rows, o, k, workers) for o in orders]


def test_pieces():
    assert pieces(5, 10) == [(0, 5)]
    assert pieces(20, 10) == [(0, 10), (10, 20)]
    assert pieces(29, 10) == [(0, 10), (10, 29)]


@pytest.mark.parametrize("kinds", [[NUMBER], [SET], [TREE], MIXED, [NUMBER] * 70, MIXED * 14])
@pytest.mark.parametrize(("n", "k"), [(5, 5), (7, 4), (8, 4), (12, 4), (500, 7), (300, 250)])
def test_classes_of_k_to_2k(kinds, n, k):
    points, model = table(n, kinds, n)
    for classes, _ in both(shaped(points, model), k):
        sizes = np.bincount(classes)
        assert sizes.sum() == n
        assert sizes.min() >= k
        assert sizes.max() < 2 * k


def test_the_loss_told_is_the_loss():
    points, model = table(400, MIXED, 1)
    for classes, lost in both(shaped(points, model), 6):
        rows = [np.flatnonzero(classes == at) for at in range(classes.max() + 1)]
        assert lost == pytest.approx(sum(loss(points, model, part) for part in rows), abs=1e-2)


def test_one_column_is_sorted():
    points, model = table(300, [NUMBER], 2)
    order = curve_order(shaped(points, model), Workers("test"))
    assert (np.diff(points[order, 0]) >= 0).all()


def test_equal_rows_keep_their_positions():
    points, model = table(1, MIXED, 3)
    rows = shaped(np.repeat(points, 40, axis=0), model)
    assert curve_order(rows, Workers("test")).tolist() == list(range(40))


def test_small_sets_come_first():
    points, model = table(600, [NUMBER, SET, SET], 4, nulls=0, categories=2)
    order = curve_order(shaped(points, model), Workers("test"))
    pairs = points[order][:, 1:]
    assert (np.abs(np.diff(pairs, axis=0)).sum(axis=1) > 0).sum() == 3  # four runs


def test_threads_do_not_show(monkeypatch):
    monkeypatch.setattr(ordering, "JOB_ROWS", 700)
    monkeypatch.setattr(ordering, "CHUNK_ROWS", 300)
    monkeypatch.setattr(ordering, "WINDOW_ROWS", (16, 64))
    monkeypatch.setattr(searching, "JOB_ROWS", 700)
    monkeypatch.setattr(searching, "PIECE_ROWS", 500)
    monkeypatch.setattr(searching, "WAITING_ROWS", (16, 64))
    points, model = table(5000, MIXED, 5)
    rows = shaped(points, model)
    alone = both(rows, 9)
    for threads in (2, 4):
        for (found, lost), (classes, least) in zip(both(rows, 9, threads), alone, strict=True):
            assert found.tolist() == classes.tolist()
            assert lost == least


def test_parts_sort_as_one(monkeypatch):
    points, model = table(3000, MIXED, 6)
    rows = shaped(points, model)
    whole = curve_order(rows, Workers("test"))
    monkeypatch.setattr(ordering, "JOB_ROWS", 100)
    assert curve_order(rows, Workers("test")).tolist() == whole.tolist()


def test_near_rows_stay_together():
    points, model = table(4000, MIXED, 7)
    rows, workers = shaped(points, model), Workers("test")
    curve, *better = (lost for _, lost in both(rows, 5))
    assert len(better) == 3
    assert max(better) < curve
    assert curve < 0.7 * cut_order(rows, np.arange(4000, dtype=np.int32), 5, workers)[1]
