"""A connection that was opened before a fork is refused in the child; one of its own works."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

START = """
import os, sys, threading, time
import anon_sql
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.errors import error_text

def people(con):
    con.execute("SET enable_progress_bar = false")
    con.execute("CREATE TABLE people AS SELECT i % 60 AS age, i % 3 AS city FROM range(600) t(i)")
    return con

def released(con):
    return con.execute("FROM mondrian('people', k := 10, quasi := ['age', 'city'])").fetchall()

def in_child(work):
    child = os.fork()
    if child == 0:
        print(work(), flush=True)
        sys.exit(0)  # with the end of an interpreter, as a worker of a server ends
    print(os.waitpid(child, 0)[1], flush=True)

con = people(anon_sql.connect())
rows = sorted(released(con))
"""
REFUSED = (
    "anon_sql: a connection must be used by the process that opened it, got one opened before a "
    "fork; open one in the child"
)


def lines(code):
    """Return what a script prints, line by line."""
    run = subprocess.run(
        [sys.executable, "-c", START + code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.stderr == ""
    assert run.returncode == 0
    return run.stdout.splitlines()


@pytest.mark.parametrize("used", ["released(con)", "released(con.cursor())"])
def test_a_connection_of_the_parent_is_refused_in_one_sentence(used):
    code = f"""
def work():
    try:
        return {used}
    except Exception as error:
        return error_text(error)
in_child(work)
print(sorted(released(con)) == rows)
"""
    assert lines(code) == [REFUSED, "0", "True"]


def test_a_connection_of_the_parent_cannot_be_registered_again():
    code = """
def work():
    try:
        anon_sql.register(con)
    except AnonError as error:
        return error
in_child(work)
"""
    assert lines(code) == [REFUSED, "0"]


def test_a_child_releases_with_a_connection_of_its_own():
    code = "in_child(lambda: sorted(released(people(anon_sql.connect()))) == rows)"
    assert lines(code) == ["True", "0"]


def test_a_child_does_not_wait_for_locks_that_threads_of_the_parent_held():
    code = """
from anon_sql.core import printing, pseudonyms
from anon_sql.hosts.duckdb import binding, register, registry, rows as row_buffers
from anon_sql.methods import method
locks = [printing._opening, pseudonyms._lock, binding._lookup_lock, register._installing,
         registry._lock, row_buffers._lock, method._loading]
held = threading.Event()
def hold():
    for lock in locks:
        lock.__enter__()
    held.set()
    time.sleep(600)
threading.Thread(target=hold, daemon=True).start()
held.wait()
in_child(lambda: sorted(released(people(anon_sql.connect()))) == rows)
os._exit(0)
"""
    assert lines(code) == ["True", "0"]


def test_a_fork_waits_until_a_thread_has_compiled_its_kernel():
    code = """
from anon_sql.kernels.numba_internals import _compiling as global_compiler_lock
held = threading.Event()
def hold():
    with global_compiler_lock:
        held.set()
        time.sleep(0.5)
threading.Thread(target=hold).start()
held.wait()
import numba
in_child(lambda: numba.njit(lambda x: 2 * x)(2))
"""
    assert lines(code) == ["4", "0"]
