"""A second process that compiles the end of what a first call needs."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from anon_sql.kernels import ahead, numba_internals, parallel
from tests import first_calls

needs_two = pytest.mark.skipif(not ahead._can_share(), reason="one processor, or no lock of numba")
MISSING = [Path(f"nowhere/{number}") for number in range(ahead.FEWEST)]

RELEASE = """
import sys
import anon_sql
from anon_sql.kernels import ahead
ours = []
start = ahead._process
ahead._process = lambda *given: ours.append(start(*given)) or ours[-1]
con = anon_sql.connect()
con.execute('SET enable_progress_bar = false')
con.execute("CREATE TABLE t AS SELECT i % 90 AS a, i * 7 % 50 AS b FROM range(1000) AS r(i)")
print(con.execute("SELECT hash(list(r)) FROM rayden('t', k := 5, quasi := ['a', 'b']) AS r").fetchall())
print(len(ours), [each.poll() is None for each in ours])
"""

LISTENED = """
import json
import anon_sql
con = anon_sql.connect()
con.execute('SET enable_progress_bar = false')
con.execute("CREATE TABLE t AS SELECT i % 90 AS a, i * 7 % 50 AS b FROM range(1000) AS r(i)")
steps = []
with anon_sql.listen(lambda step: steps.append((step.compiles, step.done, step.total)), con):
    con.execute("FROM rayden('t', k := 5, quasi := ['a', 'b'])").fetchall()
print(json.dumps(steps))
"""


@pytest.mark.quick
def test_the_list_names_kernels_and_their_types():
    listed = json.loads(ahead.FILE.read_text(encoding="utf-8"))
    for name, kinds in listed["kernels"]:
        assert ahead.kernel_called(name).py_func.__name__ == name.partition(".")[2]
        assert [ahead.text_of(ahead.type_of(kind)) for kind in kinds] == kinds
    assert set(listed["calls"]) == set(first_calls.calls())
    for places in listed["calls"].values():
        assert places
        assert len(places) == len(set(places))


@pytest.mark.quick
def test_a_type_that_the_list_cannot_hold_is_refused():
    from numba import types

    with pytest.raises(ValueError, match="int64"):
        ahead.text_of(types.Optional(types.int64))


@pytest.mark.slow
def test_the_list_is_what_calls_compile():
    assert first_calls.written(first_calls.record()) == ahead.FILE.read_text(encoding="utf-8")


@pytest.mark.quick
def test_no_process_is_started_where_all_is_compiled(monkeypatch):
    monkeypatch.setattr(ahead, "_begun", set())
    monkeypatch.setattr(ahead, "_process", lambda *given: pytest.fail("a process"))
    monkeypatch.setattr(ahead, "_missing", lambda kernels: MISSING[1:])
    with ahead.beside("rayden", False):
        pass


@pytest.mark.quick
def test_kernels_are_counted_while_a_call_runs_and_never_all_of_them(monkeypatch, tmp_path):
    files = [tmp_path / name for name in ("one", "two", "two")]
    monkeypatch.setattr(ahead, "_begun", set())
    monkeypatch.setattr(ahead, "_missing", lambda kernels: files)
    assert ahead.compiled() == (0, None)
    with ahead.beside("rayden", False):
        assert ahead.compiled() == (0, 2)
        for file in files:
            file.touch()
            assert ahead.compiled() == (1, 2)
    assert ahead.compiled() == (0, None)


@pytest.mark.slow
@pytest.mark.skipif(not numba_internals.TELLS, reason="numba does not tell when it compiles")
def test_a_first_call_counts_the_kernels_and_the_second_shows_nothing_of_them(tmp_path):
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    run = [sys.executable, "-c", LISTENED]
    first, second = (
        json.loads(subprocess.run(run, env=env, capture_output=True, check=True).stdout)
        for _ in range(2)
    )
    counts = [(done, total) for compiles, done, total in first if compiles]
    assert len({total for _, total in counts}) == 1
    assert counts == sorted(counts)
    assert all(done < total for done, total in counts)
    assert counts[-1][0] > counts[0][0]
    assert not any(compiles for compiles, _, _ in second)
    for steps in (first, second):
        _, done, total = steps[-1]
        assert total is None or done < total


@pytest.mark.quick
@needs_two
def test_no_process_is_started_where_processes_share_the_work_already(monkeypatch, tmp_path):
    monkeypatch.setattr(parallel, "_shared", [tmp_path])
    assert not ahead._can_share()


@pytest.mark.quick
@needs_two
@pytest.mark.parametrize("name", ["", "/opt/uwsgi", None])
def test_no_process_is_started_where_the_program_is_not_python(monkeypatch, name):
    monkeypatch.setattr(sys, "executable", name)
    assert not ahead._can_share()


@pytest.mark.quick
@needs_two
def test_a_process_that_cannot_be_started_is_missed_by_nobody(monkeypatch):
    monkeypatch.setattr(ahead, "_begun", set())
    monkeypatch.setattr(ahead, "_missing", lambda kernels: MISSING)
    monkeypatch.setattr(sys, "executable", "/nowhere/python3")
    with ahead.beside("rayden", False):
        assert parallel._shared == []


@pytest.mark.quick
@needs_two
def test_a_folder_for_temporary_files_that_is_missing_is_missed_by_nobody(monkeypatch, tmp_path):
    monkeypatch.setattr(ahead, "_begun", set())
    monkeypatch.setattr(ahead, "_missing", lambda kernels: MISSING)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with ahead.beside("rayden", False):
        assert parallel._shared == []


@pytest.mark.quick
@needs_two
def test_the_process_ends_with_the_call_even_if_that_fails(monkeypatch):
    monkeypatch.setattr(ahead, "_begun", set())
    monkeypatch.setattr(ahead, "_missing", lambda kernels: MISSING)
    waits = [sys.executable, "-c", "import time; time.sleep(600)"]
    other = subprocess.Popen(waits)
    monkeypatch.setattr(ahead, "_process", lambda *given: other)

    def fail():
        with ahead.beside("rayden", False):
            folder = parallel._shared[0]
            assert folder.is_dir()
            raise RuntimeError(str(folder))

    with pytest.raises(RuntimeError) as failed:
        fail()
    assert other.returncode is not None
    assert parallel._shared == []
    assert not os.path.exists(str(failed.value))


@pytest.mark.long
@needs_two
def test_the_release_is_the_same(tmp_path):
    """With an empty cache, in both ways; the second process has compiled something."""
    said = {}
    for plain in ("", "1"):
        cache = tmp_path / f"cache{plain}"
        env = os.environ | {"NUMBA_CACHE_DIR": str(cache), numba_internals.VARIABLE: plain}
        run = [sys.executable, "-c", RELEASE]
        done = subprocess.run(run, env=env, capture_output=True, text=True, check=True)
        said[plain] = done.stdout.splitlines()
    assert said[""][0] == said["1"][0]
    assert (said[""][1], said["1"][1]) == ("1 [False]", "0 []")


@pytest.mark.slow
@needs_two
def test_the_second_process_compiles_from_the_end(tmp_path):
    cache = tmp_path / "cache"
    env = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    call = [sys.executable, "-m", "anon_sql.kernels.ahead", "rayden", str(tmp_path)]
    other = subprocess.Popen(call, env=env)
    last = [name.replace(".", "/", 1) for name, _ in ahead._listed()["rayden"][-3:]]
    try:
        for _ in range(600):
            found = [path.name.split("-")[0].replace(".", "/", 1) for path in cache.rglob("*.nbi")]
            if any(name in found for name in last) or other.poll() is not None:
                break
            with pytest.raises(subprocess.TimeoutExpired):
                other.wait(0.2)
    finally:
        other.kill()
        other.wait()
    assert any(name in found for name in last), found
