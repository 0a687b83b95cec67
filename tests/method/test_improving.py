"""Improved classes lose less, keep their sizes, and depend on seed and rounds alone."""

import time

import numpy as np
import pyarrow as pa
import pytest

from anon_sql.core import stopping, table
from anon_sql.core.running import Progress, Workers
from anon_sql.errors import AnonError
from anon_sql.methods import searching
from anon_sql.methods.searching import improve
from tests.kernels.test_class_state import every_kind, twin_ncp

pytestmark = pytest.mark.quick


def made(n, seed=1, **columns):
    """A table of two numbers, one with NULLs, and two sets, or of the columns given."""
    rng = np.random.default_rng(seed)
    if not columns:
        columns = {
            "age": pa.array(rng.integers(18, 90, n), mask=rng.random(n) < 0.05),
            "pay": pa.array(np.exp(rng.normal(0, 1, n))),
            "city": pa.array([f"c{x}" for x in np.minimum(rng.geometric(0.1, n), 60)]),
            "sex": pa.array(["f", "m"]).take(pa.array(rng.integers(0, 2, n))),
        }
    types = {
        name: "VARCHAR" if pa.types.is_string(values.type) else "DOUBLE"
        for name, values in columns.items()
    }
    hashes = pa.array(np.zeros(n, np.uint64))
    return table.read_table("t", types, columns, hashes, Workers("t"))


def runs(t, k):
    """Classes of k rows or more in the order of the first column."""
    order = np.argsort(t.points[:, 0], kind="stable")
    classes = np.empty(t.rows, np.int32)
    classes[order] = np.minimum(np.arange(t.rows) // k, t.rows // k - 1)
    return classes


def gcp(points, model, classes):
    parts = [np.flatnonzero(classes == at) for at in range(classes.max() + 1)]
    return sum(len(rows) * twin_ncp(points, model, rows) for rows in parts) / points.size


def improved(t, classes, k, threads=1, seed=1, rounds=2, seconds=None):
    return improve(
        t, classes, k, seed=seed, workers=Workers("t", threads), rounds=rounds, seconds=seconds
    )


def test_loss_falls_and_is_what_the_rows_say():
    t = made(1203)
    classes = runs(t, 6)
    before = classes.copy()
    found = improved(t, classes, 6)
    assert (classes == before).all()
    assert found.start == pytest.approx(gcp(t.points, t.model, classes))
    assert found.loss == pytest.approx(gcp(t.points, t.model, found.classes))
    assert found.loss < 0.8 * found.start
    sizes = np.bincount(found.classes)
    assert (found.rounds, found.classes.dtype) == (2, np.int32)
    assert (sizes.min() >= 6, sizes.max() <= 11) == (True, True)


def test_threads_do_not_show_and_seeds_do(monkeypatch):
    monkeypatch.setattr(searching, "GROUP_ROWS", 200)  # many groups
    t = made(1000)
    classes = runs(t, 5)
    alone = improved(t, classes, 5)
    for threads in (2, 3):
        assert (improved(t, classes, 5, threads).classes == alone.classes).all()
    assert (improved(t, classes, 5, seed=2).classes != alone.classes).any()
    assert (improved(t, classes, 5, seed=-(2**70)).classes != alone.classes).any()


def test_more_rounds_never_lose_more():
    t = made(900, 3)
    classes = runs(t, 9)
    losses = [improved(t, classes, 9, rounds=rounds).loss for rounds in (0, 1, 2, 4)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[1] < losses[0]


@pytest.mark.parametrize("k", [2, 7])
def test_every_kind_of_column(k):
    points, model = every_kind(300, 8)
    t = made(300)
    t.__dict__.update(points=points, model=model)
    found = improved(t, runs(t, k), k, rounds=3)
    assert found.loss == pytest.approx(gcp(points, model, found.classes))
    assert found.loss < found.start


def test_many_columns_and_many_categories():
    rng = np.random.default_rng(4)
    n = 400
    near = rng.integers(0, 8, n)
    sets = {
        f"s{at}": pa.array([f"v{x}" for x in near * 50 + rng.integers(0, 25, n)])
        for at in range(20)
    }
    numbers = {f"n{at}": pa.array(near + rng.random(n)) for at in range(20)}
    t = made(n, **sets, **numbers)
    classes = (rng.permutation(n) // 4 % 100).astype(np.int32)
    found = improved(t, classes, 4, rounds=3)
    assert t.model.values.max() > 128
    assert found.loss == pytest.approx(gcp(t.points, t.model, found.classes))
    assert found.loss < 0.9 * found.start


def test_one_column_is_put_in_order():
    t = made(240, a=pa.array(np.random.default_rng(1).random(240)))
    classes = (np.arange(240) // 4).astype(np.int32)
    best = gcp(t.points, t.model, runs(t, 4))
    found = improved(t, classes, 4, rounds=6)
    assert best * 0.9 < found.loss < 1.3 * best < 0.3 * found.start


def test_nothing_to_gain_ends_at_once():
    same = made(50, a=pa.array([1.0] * 50), b=pa.array(["x"] * 50))
    for t, k in ((same, 5), (made(12), 5), (made(7), 5), (made(5), 5)):
        classes = runs(t, k) if t is same else np.zeros(t.rows, np.int32)
        found = improved(t, classes, k, rounds=None)
        assert (found.classes == classes).all()
        assert (found.rounds, found.loss) == (0, found.start)


@pytest.mark.parametrize("n", [10, 11, 14, 15])
def test_two_or_three_classes(n):
    t = made(n, 2)
    classes = (np.random.default_rng(n).permutation(n) % (n // 5)).astype(np.int32)
    found = improved(t, classes, 5, rounds=None)
    sizes = np.bincount(found.classes)
    assert found.loss <= found.start
    assert (sizes.min() >= 5, sizes.max() <= 9) == (True, True)


def test_large_classes_are_left_alone():
    t = made(300, 5)
    classes = runs(t, 5)
    classes[classes < 10] = 0
    classes = np.unique(classes, return_inverse=True)[1].astype(np.int32)
    found = improved(t, classes, 5)
    assert ((found.classes == 0) == (classes == 0)).all()
    assert found.loss < found.start


def test_time_ends_it(monkeypatch):
    monkeypatch.setattr(searching, "GROUP_ROWS", 100)
    t = made(2000)
    classes = runs(t, 5)
    improved(t, classes, 5, rounds=1)
    assert (
        improved(t, classes, 5, rounds=None, seconds=0.0).loss
        == improved(t, classes, 5, rounds=0).loss
    )
    ticks = iter(range(10**9))

    class Clock:
        monotonic = staticmethod(lambda: float(next(ticks)))  # a second a look

    monkeypatch.setattr(searching, "time", Clock)
    found = improved(t, classes, 5, rounds=None, seconds=8.0)
    changed = {int(x) for x in classes[found.classes != classes]}
    assert (found.rounds, 0 < len(changed) < 399) == (0, True)
    assert found.loss == pytest.approx(gcp(t.points, t.model, found.classes))


def test_no_clock_without_seconds(monkeypatch):
    t = made(300)
    classes = runs(t, 5)
    wanted = improved(t, classes, 5).classes

    def asked():
        raise AssertionError("the clock was read")

    class Clock:
        monotonic = staticmethod(asked)

    monkeypatch.setattr(searching, "time", Clock)
    assert (improved(t, classes, 5).classes == wanted).all()


def test_stops_on_request():
    t = made(300)
    with stopping.call() as stop:
        stop.request()
        with pytest.raises(AnonError, match="stopped on request"):
            improved(t, runs(t, 5), 5)
    assert len(improved(t, runs(t, 5), 5).classes) == t.rows


def test_a_bar_shows_time_and_loss_on_a_terminal_alone(monkeypatch):
    for terminal in (False, True):
        monkeypatch.setattr("sys.stderr.isatty", lambda terminal=terminal: terminal)
        with Progress("anonymize", None, 30.0) as progress:
            progress.started = time.monotonic() - 7
            progress.note = "round 3, loss 0.03859"
            progress.advance(1)
            assert (progress.bar is not None) == terminal
            if terminal:
                task = progress.bar.tasks[0]
                assert task.description == "anonymize round 3, loss 0.03859"
                assert (task.total, int(task.completed)) == (30.0, 7)


def test_one_bar_over_many_maps(monkeypatch):
    with Progress("anonymize", 10) as progress:
        workers = Workers("anonymize", 2, progress)
        for _ in range(2):
            assert workers.map(abs, [(-1,), (2,)], [2, 3]) == [1, 2]
        assert progress.done == 10
