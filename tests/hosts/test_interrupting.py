"""A stop belongs to one call: it ends what runs on one connection, and nothing else."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from weakref import WeakSet

import duckdb
import pytest

import anon_sql
from anon_sql import AnonError
from anon_sql.core import running, stopping
from anon_sql.hosts.duckdb import rows
from anon_sql.hosts.parts import release as parts
from anon_sql.pipeline import compute
from tests.seams import LONG, Seam

pytestmark = [pytest.mark.quick, pytest.mark.oldest]

TABLE = (
    "SELECT range % 40 AS a, range % 7 AS b, ['flu', 'none'][1 + range % 2] AS illness "
    "FROM range(400)"
)
RELEASE = "FROM rayden('t', k := 3, quasi := ['a', 'b'], keep := 'illness')"
STOPPED = "stopped on request|INTERRUPT"  # DuckDB's own may come first


@pytest.fixture
def t(con):
    con.execute(f"CREATE TABLE t AS {TABLE}")
    return con


@contextmanager
def stopped(con, statement, seam, *, by=anon_sql.interrupt, match=STOPPED):
    """Run a statement in a thread, and stop its connection once it has come to a seam."""
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(lambda: con.execute(statement).fetchall())
        seam.arrived()
        by(con)
        yield
        seam.go()
        with pytest.raises(duckdb.Error, match=match):
            answer.result(LONG)


@pytest.mark.parametrize(
    ("module", "name"),
    [(rows, "start"), (running, "check"), (compute, "require_true"), (compute, "check")],
    ids=["before the first row", "between kernels", "in the check of labels", "in the last check"],
)
def test_a_release_stops_and_its_connection_works_again(t, monkeypatch, module, name):
    other = anon_sql.register(t.cursor())
    with stopped(t, f"CREATE TABLE r AS {RELEASE}", Seam.at(monkeypatch, module, name)):
        assert len(other.execute(RELEASE).fetchall()) == 400
    assert t.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'r'").fetchall() == [
        (0,)
    ]
    assert len(t.execute(RELEASE).fetchall()) == 400


@pytest.mark.makes_functions
def test_while_rows_go_back(t):
    seam = Seam()

    def paused(values):
        seam.pause()
        return values

    t.create_function("paused", paused, ["BIGINT"], "BIGINT", type="arrow", side_effects=True)
    with stopped(t, f"CREATE TABLE r AS SELECT paused(1) {RELEASE}", seam):
        pass
    t.remove_function("paused")
    assert len(t.execute(RELEASE).fetchall()) == 400


MEASURES = {
    "FROM compare('t', methods := ['rayden'], ks := [3], quasi := ['a'], keep := ['*'])": stopping,
    "FROM attack_linking('t', 'r', sensitive := 'illness', quasi := ['a', 'b'])": running,
    "FROM attack_downcoding('t', 'r', quasi := ['a', 'b'])": stopping,
    "FROM composition('t', ['r'], sensitive := 'illness', quasi := ['a', 'b'])": stopping,
    "FROM unique_combinations('t')": stopping,
    "FROM suggest_roles('t')": stopping,
    "FROM audit('t', 'r', k := 3, quasi := ['a', 'b'])": stopping,
}


@pytest.mark.parametrize(
    ("statement", "module"), MEASURES.items(), ids=lambda each: str(each)[5:].partition("(")[0]
)
def test_measures_stop(t, monkeypatch, statement, module):
    t.execute(f"CREATE TABLE r AS {RELEASE}")
    seam = Seam.at(monkeypatch, module, "check")
    with stopped(t, statement, seam):
        assert seam.stop.requested
    assert t.execute(statement).fetchall()


def side_by_side(connections, times, monkeypatch):
    """Release on two connections in two threads, and stop the first while both run."""
    first = connections[0]
    meet, come, real = Barrier(3, timeout=LONG), WeakSet(), running.check

    def check(function):
        stop = stopping.current()
        if stop not in come:
            come.add(stop)
            meet.wait()  # both run
            meet.wait()  # one is stopped
        real(function)

    monkeypatch.setattr(running, "check", check)
    expected = None
    with ThreadPoolExecutor(2) as pool:
        for _ in range(times):
            running_now = [
                pool.submit(lambda con=con: con.execute(RELEASE).fetchall()) for con in connections
            ]
            meet.wait()
            anon_sql.interrupt(first)
            meet.wait()
            with pytest.raises(duckdb.Error, match=STOPPED):
                running_now[0].result(LONG)
            found = sorted(running_now[1].result(LONG))
            assert found == (expected or found)
            expected = found
    assert len(expected) == 400
    monkeypatch.undo()
    assert sorted(first.execute(RELEASE).fetchall()) == expected


@pytest.mark.parametrize(
    "times", [10, pytest.param(200, marks=pytest.mark.slow)], ids=["few", "many"]
)
@pytest.mark.parametrize("databases", [1, 2])
def test_the_stop_of_one_does_not_reach_the_other(t, monkeypatch, databases, times):
    with anon_sql.connect() as another:
        another.execute(f"CREATE TABLE t AS {TABLE}")
        other = anon_sql.register(t.cursor()) if databases == 1 else another
        side_by_side((t, other), times, monkeypatch)


def test_a_cursor_that_is_not_registered(t, monkeypatch):
    registered = anon_sql.register(t.cursor())
    cursor = t.cursor()
    with stopped(cursor, RELEASE, Seam.at(monkeypatch, running, "check")):
        pass
    monkeypatch.undo()
    assert len(cursor.execute(RELEASE).fetchall()) == 400

    with ThreadPoolExecutor(1) as pool:
        seam = Seam.at(monkeypatch, running, "check")
        answer = pool.submit(lambda: registered.execute(RELEASE).fetchall())
        seam.arrived()
        anon_sql.interrupt(cursor)  # nothing of it runs
        seam.go()
        assert len(answer.result(LONG)) == 400


def test_of_several_cursors_that_are_not_registered_none_is_stopped(t, monkeypatch):
    meet, come, real = Barrier(3, timeout=LONG), WeakSet(), running.check

    def check(function):
        if stopping.current() not in come:
            come.add(stopping.current())
            meet.wait()
            meet.wait()
        real(function)

    monkeypatch.setattr(running, "check", check)
    cursors = [t.cursor(), t.cursor()]
    with ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(lambda con=con: con.execute(RELEASE).fetchall()) for con in cursors]
        meet.wait()
        with pytest.raises(AnonError) as caught:
            anon_sql.interrupt(cursors[0])
        meet.wait()
        assert [len(answer.result(LONG)) for answer in answers] == [400, 400]
    assert str(caught.value) == (
        "interrupt: the connection must be registered where calls of several others run, "
        "got 2 of them; call anon_sql.register(cursor) before it is used"
    )


def test_a_connection_without_the_functions():
    with duckdb.connect() as plain:
        anon_sql.interrupt(plain)
        assert plain.execute("SELECT 1").fetchall() == [(1,)]


def test_duckdbs_own_interrupt_ends_the_statement_after_the_step(t, monkeypatch):
    seam = Seam.at(monkeypatch, running, "check")
    by = duckdb.DuckDBPyConnection.interrupt
    with stopped(t, RELEASE, seam, by=by, match="INTERRUPT"):
        pass


def test_a_release_in_parts_stops_and_leaves_nothing(t, monkeypatch, tmp_path):
    seam = Seam.at(monkeypatch, parts, "check_together")
    given = {"k": 3, "method": "mondrian", "part_rows": 100, "quasi": ["a", "b"], "keep": ["*"]}
    target = tmp_path / "r.parquet"
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(anon_sql.release, t, "t", into=str(target), **given)
        seam.arrived()
        anon_sql.interrupt(t)
        seam.go()
        with pytest.raises((AnonError, duckdb.InterruptException)):
            answer.result(LONG)
    assert list(tmp_path.iterdir()) == []
    assert anon_sql.release(t, "t", into=str(target), **given).rows == 400


def test_ctrl_c_in_the_main_thread(t, monkeypatch):
    before = signal.getsignal(signal.SIGINT)
    real, stops = running.check, []

    def pressed(function):
        if not stops:
            stops.append(stopping.current())
            os.kill(os.getpid(), signal.SIGINT)
        real(function)

    monkeypatch.setattr(running, "check", pressed)
    with pytest.raises((KeyboardInterrupt, RuntimeError, duckdb.Error)):
        t.execute(RELEASE).fetchall()
    assert stops[0].requested
    assert signal.getsignal(signal.SIGINT) is before
    assert len(t.execute(RELEASE).fetchall()) == 400


CHILD = """
import gc, signal, threading
import anon_sql, duckdb

def mine(number, frame): print("mine")

def there(): print(signal.getsignal(signal.SIGINT) is mine)

signal.signal(signal.SIGINT, mine)
first, second = anon_sql.connect(), anon_sql.connect()
there()
signal.raise_signal(signal.SIGINT)
anon_sql.unregister(first)
there()
anon_sql.unregister(second)
there()
third = anon_sql.register(first)
there()
del first, third
gc.collect()
there()
closed = anon_sql.connect()
closed.close()
there()
signal.raise_signal(signal.SIGINT)
there()
ends = [anon_sql.connect()]
thread = threading.Thread(target=ends.clear)
thread.start(); thread.join(); gc.collect()
signal.raise_signal(signal.SIGINT)
there()
"""


@pytest.mark.slow
def test_the_handler_that_was_there_returns_with_the_last_connection():
    done = subprocess.run(
        [sys.executable, "-c", CHILD], capture_output=True, text=True, check=True, timeout=LONG
    )
    assert done.stdout.split() == [
        *("False", "mine", "False", "True", "False", "True"),
        *("False", "mine", "True", "mine", "True"),
    ]
