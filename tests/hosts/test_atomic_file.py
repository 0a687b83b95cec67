"""A file is written whole or not at all, and what a killed process left is removed."""

import signal
import subprocess
import sys

import pytest

from anon_sql.hosts.files import atomic_file, remove_temporary
from tests.command import run

pytestmark = pytest.mark.oldest

KILLED = """
import os, signal
from anon_sql.apps import files
files.write = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from anon_sql.apps.main import main
main()
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_an_error_leaves_the_old_file(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic_file(target) as unfinished:
        unfinished.write_text(str(1 // 0))
    assert (names(tmp_path), target.read_text()) == (["out.csv"], "old")
    with atomic_file(target) as unfinished:
        unfinished.write_text("new")
    assert (names(tmp_path), target.read_text()) == (["out.csv"], "new")


def test_only_what_nobody_writes_is_removed(tmp_path):
    target, other = tmp_path / "out.csv", tmp_path / f"{'é' * 100}.csv"
    with atomic_file(target) as written, atomic_file(other) as others:
        stale = written.with_name(written.name.replace(".tmp", "0.tmp"))
        stale.write_text("left")
        remove_temporary(target)
        remove_temporary(other)
        assert not stale.exists()
        written.write_text("1")
        others.write_text("2")
    assert names(tmp_path) == sorted([target.name, other.name])


@pytest.mark.slow  # in a process of its own
def test_the_run_after_a_killed_one_removes_its_file(tmp_path):
    people, out = tmp_path / "people.csv", tmp_path / "safe.csv"
    people.write_text("age\n" + "1\n2\n" * 20)
    arguments = ["release", str(people), str(out), "--quasi", "age"]
    killed = subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob(".anon-sql-*.tmp"))) == 1
    assert run(*arguments, "--k", 900).exit_code == 1
    assert names(tmp_path) == ["people.csv"]
    assert run(*arguments).exit_code == 0
    assert names(tmp_path) == ["people.csv", "safe.csv"]
