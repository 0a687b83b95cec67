"""An interrupted release leaves no target, and a later call goes on where it was."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import pytest

import anon_sql
from anon_sql import AnonError
from anon_sql.hosts.parts import regions
from anon_sql.hosts.parts.workspace import Place, Target, Workspace
from tests.hosts.parts.test_in_parts import CALL, TABLE

pytestmark = pytest.mark.oldest


@pytest.fixture
def big(con):
    con.execute(TABLE.format(800))
    return con


def left_behind(folder):
    return [path.name for path in Path(folder).iterdir() if path.name.startswith(".anon-sql")]


def broken_off(monkeypatch, after):
    """Make the release of a region fail after so many have begun; it ends the other that runs."""
    real, calls = regions.release_table, []

    def failing(*given, **more):
        calls.append(1)
        if len(calls) > after:
            raise AnonError("test", "broken off")
        return real(*given, **more)

    monkeypatch.setattr(regions, "release_table", failing)
    return calls


def test_resume_goes_on_from_the_regions_that_are_done(big, tmp_path, monkeypatch):
    target = tmp_path / "o.parquet"
    given = {"into": str(target), "k": 5, "method": "mondrian", "part_rows": 100, **CALL}
    anon_sql.release(big, "big", **{**given, "into": "whole"})
    with monkeypatch.context() as patched:
        broken_off(patched, 4)
        with pytest.raises(AnonError, match="broken off"):
            anon_sql.release(big, "big", **given, resume=True)
    assert not target.exists()
    (folder,) = tmp_path.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    done = len(list((folder / "done").glob("*.arrow")))
    assert done >= 3
    for changed in ({"k": 6}, {"seed": 1}):
        with pytest.raises(AnonError, match="got other parameters"):
            anon_sql.release(big, "big", **{**given, **changed}, resume=True)
    big.execute("UPDATE big SET score = score + 1 WHERE id = 7")
    with pytest.raises(AnonError, match="got a source that differs"):
        anon_sql.release(big, "big", **given, resume=True)
    big.execute("UPDATE big SET score = score - 1 WHERE id = 7")
    with monkeypatch.context() as patched:
        calls = broken_off(patched, 1000)
        made = anon_sql.release(big, "big", **given, resume=True)
    assert len(calls) == made.parts - done
    assert list(tmp_path.iterdir()) == [target]
    assert big.execute(f"FROM '{target}'").fetchall() == big.table("whole").fetchall()


def test_an_error_without_resume_leaves_nothing(big, tmp_path, monkeypatch):
    broken_off(monkeypatch, 2)
    with pytest.raises(AnonError, match="broken off"):
        anon_sql.release(big, "big", into=str(tmp_path / "o.parquet"), k=5, part_rows=100, **CALL)
    assert list(tmp_path.iterdir()) == []


def test_one_call_at_a_time_writes_a_target(big, tmp_path):
    held = Workspace(Place(tmp_path, "o.parquet"))
    held.open(resume=False)
    with pytest.raises(AnonError, match="one call at a time may write a target"):
        anon_sql.release(big, "big", into=str(tmp_path / "o.parquet"), k=5, part_rows=100, **CALL)
    held.close(keep=False)
    assert list(tmp_path.iterdir()) == []


def test_targets_of_one_name_have_folders_of_their_own(tmp_path):
    place = Place(tmp_path, "release", shared=True)
    first, second = Workspace(place), Workspace(place)
    first.open(resume=False)
    second.open(resume=False)
    assert first.folder != second.folder
    (second.folder / "rows").mkdir()
    first.close(keep=False)
    second.close(keep=True)  # as a killed call leaves it
    third = Workspace(place)
    third.open(resume=True)
    assert third.folder == second.folder
    assert third.spill.is_dir()
    third.close(keep=True)
    third.open(resume=False)
    assert (third.folder, third.spill.exists()) == (second.folder, False)
    third.close(keep=False)
    assert list(tmp_path.iterdir()) == []


def test_databases_in_memory_release_into_tables_of_one_name(big, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    held = Workspace(Target(big, "release", overwrite=False).place())
    held.open(resume=False)
    given = {"k": 5, "method": "mondrian", "part_rows": 100, **CALL}
    assert anon_sql.release(big, "big", into="release", **given).rows == 800
    held.close(keep=False)
    assert list(tmp_path.iterdir()) == []


CHILD = """
import anon_sql, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from anon_sql.hosts.parts import regions
real = regions.release_table
def slow(*given, **more):
    found = real(*given, **more)
    print("region", flush=True)
    time.sleep(.3)
    return found
regions.release_table = slow
con = anon_sql.connect(sys.argv[1])
anon_sql.release(con, "big", into=sys.argv[2], k=5, method="mondrian", part_rows=100,
    resume=sys.argv[3] == "resume", quasi=["age"], sensitive="ill ness",
    identifiers=["id", "person"], keep=["*"])
"""


def child(database, target, resume, ends):
    """Start a release in a process, send it a signal after two regions, and wait for it."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(database), str(target), resume],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[3],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])},
    )
    for _ in range(2):
        process.stdout.readline()
    process.send_signal(ends)
    process.communicate(timeout=60)
    return process.returncode


@pytest.mark.slow
def test_a_kill_and_ctrl_c_leave_no_target_and_a_later_call_finishes(tmp_path):
    database, target = tmp_path / "d.duckdb", tmp_path / "o.parquet"
    with duckdb.connect(str(database)) as made:
        made.execute(TABLE.format(800))
    assert child(database, target, "anew", signal.SIGKILL) == -signal.SIGKILL
    assert not target.exists()
    assert len(left_behind(tmp_path)) == 1
    assert child(database, target, "anew", signal.SIGINT) != 0
    assert not target.exists()
    assert left_behind(tmp_path) == []
    assert child(database, target, "resume", signal.SIGINT) != 0
    assert not target.exists()
    assert len(left_behind(tmp_path)) == 1
    with anon_sql.connect(str(database)) as con:
        given = {**CALL, "quasi": ["age"]}
        call = {"k": 5, "method": "mondrian", "part_rows": 100, "resume": True}
        made = anon_sql.release(con, "big", into=str(target), **call, **given)
    assert made.rows == 800
    assert left_behind(tmp_path) == []
