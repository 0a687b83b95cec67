"""Whoever listens hears the calls of one connection, and a stopped one ends in one message."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pandas as pd
import pytest

import anon_sql
from anon_sql import AnonError, frames
from anon_sql.core import listening, running
from tests.hosts.test_interrupting import MEASURES, RELEASE, TABLE
from tests.seams import LONG, Seam

pytestmark = [pytest.mark.quick, pytest.mark.oldest]
STOPPED = "stopped on request; nothing was released"


@pytest.fixture
def t(con):
    con.execute(f"CREATE TABLE t AS {TABLE}")
    return con


@pytest.fixture(autouse=True)
def every_step(monkeypatch):
    monkeypatch.setattr(listening, "STEP_SECONDS", 0.0)


def test_steps_of_a_release(t):
    steps = []
    with anon_sql.listen(steps.append, t):
        t.execute(RELEASE).fetchall()
    assert {step.function for step in steps} == {"rayden"}
    counted = [step for step in steps if step.total]
    assert all(0 <= step.done <= step.total for step in counted)
    assert any(step.done == step.total for step in counted)
    assert [step.seconds for step in steps] == sorted(step.seconds for step in steps)
    before = len(steps)
    t.execute(RELEASE).fetchall()
    assert len(steps) == before


@pytest.mark.parametrize("statement", MEASURES, ids=lambda each: each[5:].partition("(")[0])
def test_measures_and_audit_are_heard(t, statement):
    t.execute(f"CREATE TABLE r AS {RELEASE}")
    steps = []
    with anon_sql.listen(steps.append, t):
        t.execute(statement).fetchall()
    assert statement[5:].partition("(")[0] in {step.function for step in steps}


def test_an_audit_counts_its_steps(t):
    t.execute(f"CREATE TABLE r AS {RELEASE}")
    steps = []
    with anon_sql.listen(steps.append, t):
        t.execute("FROM audit('t', 'r', k := 3, quasi := ['a', 'b'])").fetchall()
    counted = [step for step in steps if step.total]
    assert {step.total for step in counted} == {6}
    assert {step.note for step in counted} == {
        *("reads the labels of a", "reads the labels of b", "compares columns", "compares rows"),
        *("counts values", "measures classes"),
    }
    assert counted[-1].done == 6


def test_frames_are_heard_without_a_connection(t):
    data = t.sql("FROM t").df()
    steps = []
    with anon_sql.listen(steps.append):
        made = frames.rayden(data, k=3, quasi=["a", "b"], keep=["illness"])
    assert {step.function for step in steps} == {"rayden"}
    steps.clear()
    with anon_sql.listen(steps.append):
        frames.audit(data, made, k=3, quasi=["a", "b"], keep=["illness"])
    assert "audit" in {step.function for step in steps}
    assert isinstance(made, pd.DataFrame)


def test_another_connection_is_not_heard(t):
    other = anon_sql.register(t.cursor())
    steps = []
    with anon_sql.listen(steps.append, t):
        other.execute(RELEASE).fetchall()
    assert steps == []


def stops(t, stop):
    """Listen to a release that ``stop`` stops as it begins; return the error."""
    done = threading.Event()

    def once(step):
        if not done.is_set():
            done.set()
            stop()

    def listened():
        with anon_sql.listen(once, t):
            for _ in range(200):
                t.execute(RELEASE).fetchall()

    with pytest.raises(AnonError) as caught:
        listened()
    assert done.is_set()
    assert len(t.execute(RELEASE).fetchall()) == 400
    return str(caught.value)


def test_interrupt_ends_in_one_message(t):
    assert stops(t, lambda: anon_sql.interrupt(t)) == f"rayden: {STOPPED}"


def test_duckdbs_own_interrupt_is_the_same(t):
    assert stops(t, t.interrupt) == f"rayden: {STOPPED}"


def test_ctrl_c_is_the_same(t):
    assert stops(t, lambda: os.kill(os.getpid(), signal.SIGINT)) == f"rayden: {STOPPED}"


@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt(), duckdb.InterruptException("x"), RuntimeError("Query interrupted")],
)
def test_whatever_says_that_it_was_stopped(t, error):
    with pytest.raises(AnonError, match=f"^listen: {STOPPED}$"), anon_sql.listen(print, t):
        raise error


def test_other_errors_are_left_as_they_are(t):
    with pytest.raises(RuntimeError, match=r"^another$"), anon_sql.listen(print, t):
        raise RuntimeError("another")
    with pytest.raises(duckdb.CatalogException), anon_sql.listen(print, t):
        t.execute("FROM nothing")


def test_a_callback_that_fails_does_not_end_the_call(t):
    rows = []

    def failing(step):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), anon_sql.listen(failing, t):
        rows += t.execute(RELEASE).fetchall()
    assert len(rows) == 400


def test_a_connection_without_the_functions():
    with (
        duckdb.connect() as plain,
        pytest.raises(AnonError, match=r"^listen: the connection must be registered"),
        anon_sql.listen(print, plain),
    ):
        pass


def test_no_bar_is_drawn_where_somebody_listens(t, monkeypatch):
    monkeypatch.setattr(running, "PATIENCE", -1.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    drawn = []
    monkeypatch.setattr("rich.progress.Progress.start", drawn.append)
    with anon_sql.listen(lambda step: None, t):
        t.execute(RELEASE).fetchall()
    assert drawn == []


def test_a_stop_while_a_thread_works_for_the_call(t, monkeypatch):
    seam = Seam.at(monkeypatch, running, "check")

    def listened():
        with anon_sql.listen(lambda step: None, t):
            t.execute(RELEASE).fetchall()

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(listened)
        seam.arrived()
        anon_sql.interrupt(t)
        seam.go()
        with pytest.raises(AnonError, match=STOPPED):
            answer.result(LONG)
