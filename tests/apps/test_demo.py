"""The demonstration: what it prints, piped and on a terminal, and where it goes on."""

import re
import shlex
import subprocess
from functools import partial

import duckdb
import pytest
from rich.cells import cell_len
from rich.console import Console

from anon_sql import datasets
from anon_sql.apps.cli import console, demo
from tests.command import refused, run

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def small(monkeypatch):
    """The same on fewer rows."""
    monkeypatch.setattr(datasets, "adult", partial(datasets.adult, rows=2_000))


def commands(text):
    """The command lines that a demonstration prints."""
    program = re.escape(demo.program())
    return re.findall(rf"^  {program} (.+)$", text, re.MULTILINE)


def rows_of_tables(text):
    """The lines between a rule and the next empty line."""
    return [
        line
        for part in re.findall(r"─ *\n(.*?)\n *\n", text, re.DOTALL)
        for line in part.split("\n")
    ]


@pytest.mark.slow
def test_it_shows_a_release_and_its_cost(tmp_path):
    database = tmp_path / "demo.duckdb"
    with duckdb.connect(str(database)) as con:
        datasets.adult(con, rows=10)  # replaced, since it was generated
    result = run("demo", "--k", 25, "--database", database)
    assert result.exit_code == 0, result.output
    said = result.stdout
    assert "adult: 30,000 generated rows" in said
    assert "anonymize('adult', k := 25)" in said
    assert " true    Every class has at least 25 rows; the smallest has 25. " in said
    assert re.search(r"^ +0  people are alone in the release\.$", said, re.MULTILINE)
    verify, shell, own = commands(said)
    assert run(*shlex.split(verify)).exit_code == 3  # without the raw table
    assert shell == f"shell {database}"
    assert own == "roles your.csv"
    with duckdb.connect(str(database)) as con:
        ((rows, smallest),) = con.execute(
            "SELECT sum(n), min(n) FROM (SELECT * EXCLUDE (income), count(*) AS n "
            "FROM adult_release GROUP BY ALL)"
        ).fetchall()
        alone = con.execute(
            "SELECT count(*) FROM (SELECT * EXCLUDE (income), count(*) AS n FROM adult GROUP BY ALL) "
            "WHERE n = 1"
        ).fetchall()[0][0]
    assert (rows, smallest) == (30_000, 25)
    assert f"{alone:,}  people are alone with their eight values in the raw table" in said


def test_two_people_before_and_after(small):
    """Each label covers the value beside it, and the sensitive value is kept."""
    said = run("demo").stdout
    cells = [re.split(r" {2,}", line.strip()) for line in rows_of_tables(said)]
    people = [row for row in cells if len(row) == 5]
    assert [row[0] for row in people] == [*datasets.QUASI, *datasets.SENSITIVE]
    for name, *pairs in people:
        for value, label in zip(pairs[::2], pairs[1::2], strict=True):
            if label.startswith("["):
                low, high = map(int, label.strip("[]").split(", "))
                assert low <= int(value) <= high
            elif not label.startswith("{"):
                assert label == value, name
    assert any(row[1] != row[2] for row in people)


@pytest.mark.parametrize("columns", [80, 120])
def test_on_a_terminal_nothing_is_wider_than_it(small, monkeypatch, columns):
    """Colours are the terminal's own, so that it is read on light and dark ones."""

    def terminal():
        return Console(
            width=columns, force_terminal=True, highlight=False, color_system="truecolor"
        )

    monkeypatch.setattr(console, "_console", terminal)
    monkeypatch.setattr(demo, "program", lambda: ".venv/bin/anon-sql")
    said = run("demo").stdout
    assert set(ESCAPE.findall(said)) == {"\x1b[1m", "\x1b[0m"}
    lines = ESCAPE.sub("", said).splitlines()
    assert [line for line in lines if cell_len(line) > columns] == []
    assert " true    No column without a role has a different value in nearly every row." in str(
        lines
    )
    assert "no room for" not in said
    assert lines[-3:] == [
        "  .venv/bin/anon-sql shell --demo",
        "Start with your own CSV or Parquet file:",
        "  .venv/bin/anon-sql roles your.csv",
    ]


def test_piped_there_are_no_escapes_and_no_wrapped_rows(small):
    said = run("demo", COLUMNS="40").stdout
    assert "\x1b" not in said
    rows = rows_of_tables(said)
    assert len(rows) == 9 + 9 + 14
    assert [
        row for row in rows if re.match(r" *$|  ", row)
    ] == []  # a wrapped one begins with blanks


@pytest.mark.slow
def test_the_last_commands_work_as_they_are_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "your.csv").write_text("age,job\n" + "31,cook\n42,smith\n" * 9)
    result = run("demo")
    done = [
        subprocess.run(
            [*shlex.split(demo.program()), *shlex.split(command)],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            input="SELECT count(*) AS n FROM adult_release; FROM adult LIMIT 1; DESCRIBE adult;",
        )
        for command in commands(result.stdout)
    ]
    assert [each.returncode for each in done] == [3, 0, 0]  # verify, without the raw table
    _, shell, own = (each.stdout for each in done)
    assert "30000" in shell
    assert "education_num" in shell
    assert "quasi" in own


def test_how_the_command_line_is_called(tmp_path, monkeypatch):
    """As a path from the current folder, by its name if it is found, or as a module."""
    script = tmp_path / ".venv" / "bin" / "anon-sql"
    script.parent.mkdir(parents=True)
    monkeypatch.setattr(demo.sys, "executable", str(script.with_name("python")))
    monkeypatch.setenv("PATH", "")
    assert demo.program() == f"{script.with_name('python')} -m anon_sql.apps.cli.app"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert demo.program() == ".venv/bin/anon-sql"
    monkeypatch.chdir("/")
    assert demo.program() == str(script).removeprefix("/")
    monkeypatch.setenv("PATH", str(script.parent))
    assert demo.program() == "anon-sql"


def test_a_shell_with_the_tables_of_the_demonstration(small):
    assert refused("shell", "mine.duckdb", "--demo") == (
        "shell: --demo opens tables in memory, without DATABASE, got 'mine.duckdb'"
    )
    assert refused("shell", "--k", 5) == "shell: --k must come with --demo, got it alone"


def test_demo_leaves_a_table_of_yours_alone(tmp_path):
    database = tmp_path / "mine.duckdb"
    with duckdb.connect(str(database)) as con:
        con.execute("CREATE TABLE adult AS SELECT 1 AS mine")
    assert refused("demo", "--database", database).startswith(
        "demo: the database must have no other table"
    )
    with duckdb.connect(str(database)) as con:
        assert con.execute("FROM adult").fetchall() == [(1,)]
