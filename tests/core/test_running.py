"""Work runs aside or in threads, can be stopped, and shows its progress and that kernels compile.

A test that starts and ends the timer of the kernels is for numba a thread that compiles.
"""

import threading

import pytest

from anon_sql.core import listening, running, stopping
from anon_sql.core.running import Progress, Workers, aside
from anon_sql.errors import AnonError
from anon_sql.kernels import ahead
from anon_sql.kernels.kernel import timer

pytestmark = pytest.mark.quick


def test_what_is_done_aside_returns_or_raises():
    assert aside("f", lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        aside("f", lambda: 1 // 0)


def test_a_stop_does_not_wait_for_what_is_done_aside():
    begun, goes_on, ended = threading.Event(), threading.Event(), threading.Event()

    def endless():
        begun.set()
        goes_on.wait(60)
        ended.set()

    def stop():
        begun.wait(60)
        stopping.request_all()

    threading.Thread(target=stop).start()
    with (
        stopping.call("database", 1),
        pytest.raises(AnonError, match="f: stopped on request; nothing was released"),
    ):
        aside("f", endless)
    assert not ended.is_set()
    goes_on.set()
    assert ended.wait(60)
    assert aside("f", lambda: 3) == 3


class Heard:
    """The steps of a call, and an event for the first one with and without compilation."""

    def __init__(self):
        self.steps = []
        self.compiles, self.works = threading.Event(), threading.Event()

    def take(self, step):
        self.steps.append(step)
        (self.compiles if step.compiles else self.works).set()

    def compile_a_kernel(self):
        self.works.clear()
        timer.start()
        try:
            assert self.compiles.wait(60)
        finally:
            timer.end()


@pytest.fixture
def heard(monkeypatch):
    monkeypatch.setattr(listening, "STEP_SECONDS", 0.0)
    monkeypatch.setattr(running, "TICK", 0.01)
    monkeypatch.setattr(ahead, "compiled", lambda: (7, 31))
    heard = Heard()
    with stopping.call() as stop:
        stop.function = "rayden"
        stop.listener = listening.Listener(heard.take)
        yield heard
        stop.listener.close()


def test_compilation_is_a_step_of_its_own_and_the_work_is_told_again_after_it(heard):
    with Progress("rayden", 2) as bar:
        bar.advance(1)
        heard.compile_a_kernel()
        assert heard.works.wait(60)
        compiling = next(step for step in heard.steps if step.compiles)
        assert (compiling.function, compiling.done, compiling.total) == ("rayden", 7, 31)
        assert compiling.note == "compiling kernels, once on this machine: 7 of 31"
        last = heard.steps[-1]
        assert (last.done, last.total, last.note) == (1, 2, "")


def test_a_kernel_that_a_thread_of_a_pool_compiles_is_told(heard):
    Workers("rayden", 2).map(lambda at: at or heard.compile_a_kernel(), [(0,), (1,)], [0, 0])
    assert any(step.compiles for step in heard.steps)


def test_finished_work_is_not_the_last_step_while_the_function_still_works(heard):
    with Progress("rayden", 2) as bar:
        bar.advance(2)
    done, last = heard.steps[-2:]
    assert done.finished
    assert (last.function, last.total) == ("rayden", None)


def test_no_kernel_waits_for_who_listens(heard):
    goes_on = threading.Event()
    take = heard.take

    def slow(step):
        take(step)
        goes_on.wait(60)

    stopping.current().listener.callback = slow
    heard.compile_a_kernel()
    assert not goes_on.is_set()
    goes_on.set()


def test_without_compilation_there_is_no_step_of_it(heard):
    Workers("rayden", 2).map(
        lambda at: at, [(0,), (1,)], [running.MIN_THREADED_WORK, running.MIN_THREADED_WORK]
    )
    assert not any(step.compiles for step in heard.steps)


@pytest.mark.parametrize("inner", [False, True])
def test_compilation_has_a_bar_on_a_terminal(monkeypatch, inner):
    drawn, seen = [], threading.Event()

    def draw(progress, step):
        drawn.append(step.note)
        seen.set()

    monkeypatch.setattr(running, "TICK", 0.01)
    monkeypatch.setattr(running, "PATIENCE", -1.0)
    monkeypatch.setattr(ahead, "compiled", lambda: (7, 31))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(Progress, "draw", draw)

    def compiles():
        timer.start()
        try:
            return seen.wait(60)
        finally:
            timer.end()

    with stopping.call():
        if inner:
            with Progress("rayden", 2):
                assert compiles()
        else:
            assert compiles()
        assert set(drawn) == {"compiling kernels, once on this machine: 7 of 31"}
        drawn.clear()
        seen.clear()
        with running.silent():
            timer.start()
            timer.end()
        assert drawn == []
