"""A command shows its progress as a bar, as lines on stderr, or not at all."""

import re
import signal
import time

import pytest

from anon_sql.apps.cli import progress
from anon_sql.apps.cli.progress import Shown, shown
from anon_sql.core import listening, stopping
from anon_sql.core.listening import Step, compiling
from anon_sql.core.running import Progress
from tests.command import run


@pytest.fixture
def files(tmp_path):
    run("data", "people", "--into", tmp_path / "people.csv")
    roles = ("--quasi", "age,city", "--sensitive", "illness")
    out = tmp_path / "safe.csv"
    result = run("release", tmp_path / "people.csv", out, "--manifest", *roles, "--k", 5)
    assert result.exit_code == 0, result.output
    assert result.stderr == (
        f"release: {out} was not judged; for a verdict: anon-sql report {tmp_path / 'people.csv'} "
        f"{out} -o report.html\n"
    )
    return tmp_path


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.01)
    monkeypatch.setattr(listening, "STEP_SECONDS", 0.0)


def test_a_piped_report_writes_lines(files, at_once):
    page = files / "report.html"
    result = run("report", files / "people.csv", files / "safe.csv", "-o", page)
    lines = result.stderr.splitlines()
    assert result.exit_code == 0, result.output
    assert any(re.fullmatch(r"report \d+/\d+ [\w ]+.* 0:\d\d", line) for line in lines), lines
    assert page.is_file()


@pytest.mark.slow
def test_lines_where_signals_are_ignored(files, at_once):
    """As in the background of a script."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        page = files / "report.html"
        result = run("report", files / "people.csv", files / "safe.csv", "-o", page)
    finally:
        signal.signal(signal.SIGINT, before)
    assert re.search(r"report \d+/\d+ ", result.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["none", "bar"])
def test_none_and_bar_write_no_lines_in_a_pipe(files, at_once, how):
    page = files / "report.html"
    arguments = ("report", files / "people.csv", files / "safe.csv", "-o", page)
    result = run(*arguments, "--progress", how)
    assert result.exit_code == 0, result.output
    assert not re.search(r"report \d+/\d+", result.stderr)


@pytest.mark.parametrize("how", ["lines", "none"])
def test_every_command_that_works_long_takes_it(files, how):
    out = files / "again.csv"
    page = files / "sweep.html"
    raw, safe = files / "people.csv", files / "safe.csv"
    for arguments in (
        ("release", raw, out, "--quasi", "age", "--keep", "*", "--unique-share", 1),
        ("verify", safe, "--raw", raw),
        ("roles", raw),
        ("sweep", raw, "--quasi", "age", "--ks", 5, "--methods", "mondrian", "-o", page),
        ("query", "SELECT 1"),
    ):
        result = run(*arguments, "--progress", how)
        assert result.exit_code == 0, result.output


def text_of(display, steps):
    with stopping.call() as stop:
        stop.listener = listening.Listener(display.take)
        for function, total, note, done in steps:
            with Progress(function, total) as bar:
                bar.note = note
                bar.advance(done)
    return display.text()


def test_what_a_line_says():
    assert text_of(progress._Display("release"), [("anonymize", 10, "", 4)]) == (
        "release anonymize 40%"
    )
    assert text_of(progress._Display("report"), [("report", 14, "attacks", 4)]) == (
        "report 4/14 attacks"
    )
    both = [("report", 14, "checks", 0), ("audit", 6, "compares rows", 3)]
    assert text_of(progress._Display("report"), both) == (
        "report 0/14 checks audit 50% compares rows"
    )
    assert text_of(progress._Display("release"), [("release", 10, "", 4)]) == "release 40%"


@pytest.mark.parametrize("function", ["report", "anonymize"])
def test_a_line_counts_the_kernels_that_are_compiled_and_keeps_the_section(function):
    display = progress._Display("report")
    display.take(Step("report", 4, 14, "attacks"))
    display.take(compiling(function, 7, 31))
    own = "" if function == "report" else f"{function} "
    note = "compiling kernels, once on this machine: 7 of 31"
    assert display.text() == f"report 4/14 attacks {own}{note}"
    display.take(compiling(function, 0, None))
    assert display.text().endswith("compiling kernels, once on this machine")


def test_a_line_shows_no_share_once_the_counted_work_is_done():
    assert text_of(progress._Display("release"), [("anonymize", 10, "", 10)]) == (
        "release anonymize"
    )


def test_a_line_every_few_seconds_even_if_nothing_is_told(monkeypatch, capsys):
    monkeypatch.setattr(progress, "EVERY", 0.05)
    with stopping.call(), shown("release", None):
        time.sleep(0.5)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert set(lines) == {"release 0:00"}


def test_a_bar_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with stopping.call(), shown("report", None), Progress("report", 2) as bar:
        bar.note = "attacks"
        bar.advance(1)
        time.sleep(0.3)
    assert "report 1/2 attacks" in capsys.readouterr().err


def test_the_words():
    assert list(Shown) == ["bar", "lines", "none"]
