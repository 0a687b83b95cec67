"""Ctrl-C ends a command with one sentence and exit code 130, and nothing is left behind."""

import os
import signal
import subprocess
import sys
import time
from threading import Thread

import pytest

from anon_sql.apps import files, manifest
from anon_sql.apps.cli import console
from anon_sql.apps.cli.console import stoppable
from anon_sql.hosts.arrow import named
from tests.command import run

ENDLESS = "SELECT sum(a.range * b.range) FROM range(100000000) AS a, range(100000000) AS b"


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,ward\n" + "".join(f"{20 + at % 40},{at % 3}\n" for at in range(200)))
    return path


def press():
    """Send what Ctrl-C sends, and stay busy for a moment."""
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "name"),
    [(files, "read_source"), (named, "released"), (files, "write"), (manifest, "make")],
    ids=["reading", "releasing", "writing", "manifest"],
)
@pytest.mark.parametrize("before", [{}, {"safe.csv": "old", "safe.csv.anon.json": "old"}])
def test_a_release_that_is_stopped_leaves_what_was_there(people, monkeypatch, module, name, before):
    for old, text in before.items():
        people.with_name(old).write_text(text)
    done = getattr(module, name)

    def then_press(*arguments, **named):
        result = done(*arguments, **named)
        press()
        return result

    monkeypatch.setattr(module, name, then_press)
    out = people.with_name("safe.csv")
    result = run("release", people, out, "--quasi", "age,ward", "--manifest", "--overwrite")
    assert result.exit_code == 130, result.output
    assert result.output == "release: stopped on request; nothing was written\n"
    left = {path.name: path.read_text() for path in people.parent.iterdir() if path != people}
    assert left == before


def test_a_query_that_is_stopped(monkeypatch):
    Thread(target=lambda: (time.sleep(1), press()), daemon=True).start()
    result = run("query", f"CREATE TABLE t AS {ENDLESS}")
    assert (result.exit_code, result.output) == (130, "stopped on request\n")


def test_a_signal_that_duckdb_sees_first_is_the_same(capsys):
    with pytest.raises(Exception, match="130"), console.one_sentence():
        raise RuntimeError("Query interrupted")
    assert capsys.readouterr().err == "stopped on request\n"
    with pytest.raises(RuntimeError, match="another"), console.one_sentence():
        raise RuntimeError("another")


def test_work_that_ends_by_itself_is_done(con):
    before = signal.getsignal(signal.SIGINT)
    found = []
    stoppable(con, lambda: (press(), found.append(1)))
    assert found == [1]
    with pytest.raises(ZeroDivisionError):
        stoppable(con, lambda: 1 // 0)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_stop_between_two_statements_reaches_the_next(con):
    """DuckDB forgets an interrupt as a statement begins."""
    con.execute("CREATE TABLE t AS SELECT range % 9 AS a FROM range(90)")
    begun = []

    def work():
        press()
        begun.append(1)
        con.execute("FROM rayden('t', k := 3, quasi := ['a'])")
        begun.append(2)

    with pytest.raises(KeyboardInterrupt):
        stoppable(con, work)
    assert begun == [1]
    assert len(con.execute("FROM rayden('t', k := 3, quasi := ['a'])").fetchall()) == 90


def test_while_modules_are_imported(tmp_path):
    (tmp_path / "duckdb.py").write_text(
        "import os, signal, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "os.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)\n"
    )
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from anon_sql.apps.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped on request\n")
