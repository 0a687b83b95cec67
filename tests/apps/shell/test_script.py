"""The shell on a pipe: statements in, tables out, the first error ends it."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

from anon_sql.apps.cli import app
from anon_sql.errors import AnonError
from tests.reused import lent


def shell(text, *arguments):
    with lent(functions=False):
        return CliRunner().invoke(app.app, ["shell", *map(str, arguments)], input=text)


def test_statements_and_commands(tmp_path):
    path = tmp_path / "d.duckdb"
    result = shell(
        "CREATE TABLE t AS\n  SELECT i % 9 AS a FROM range(90) AS r(i);\n"
        "SELECT count(*) AS n,\n  ';' AS mark FROM rayden('t', quasi := ['a']);\n"
        "\\h gower_ranges\nSET threads = 1;\nSELECT 2 AS b; SELECT 3 AS c",
        path,
    )
    assert result.exit_code == 0, result.output
    assert "│    90 │ ;       │" in result.stdout
    assert "gower_ranges(tbl, quasi := NULL)" in result.stdout
    assert "done" in result.stdout
    assert "│     2 │" in result.stdout
    assert "│     3 │" in result.stdout
    with duckdb.connect(str(path)) as con:
        assert con.execute("SELECT count(*) FROM t").fetchall() == [(90,)]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("SELEC 1;", 'Parser Error: syntax error at or near "SELEC"'),
        ("SELECT 'a", "Parser Error: unterminated"),
        ("FROM rayden('t', quasi := ['x']);", "Catalog Error: Table with name t does not exist!"),
        ("FROM anon_help('raydn');", "anon_help: name must be one of the package's functions, got"),
        ("\\h raydn", "shell: name must be one of the package's functions, got 'raydn'; did you"),
        ("\\nonsense", "shell: a command must be known, got '\\nonsense'; \\? lists them"),
    ],
)
def test_the_first_error_is_one_line_and_the_last_answer(wrong, said):
    result = shell(f"SELECT 1 AS before;\n{wrong}\n;SELECT 2 AS after;")
    assert result.exit_code == 1
    assert "before" in result.stdout
    assert "after" not in result.stdout
    assert result.stderr.startswith(said)
    assert result.stderr.count("\n") == 1
    assert "\x1b" not in result.stderr


def test_a_comment_may_follow_the_semicolon():
    result = shell("SELECT 40 AS a; -- note\n\nSELECT 41 AS b; /* ; */ SELECT 42 AS c;; -- d")
    assert (result.exit_code, result.stderr) == (0, "")
    assert all(f"│    {n} │" in result.stdout for n in (40, 41, 42))


def test_nothing_and_leaving():
    assert shell("").exit_code == 0
    result = shell("SELECT 1 AS before;\n\\q\nSELECT 2 AS after;")
    assert result.exit_code == 0
    assert "after" not in result.stdout


def test_a_pipe_has_no_width():
    line = " ".join(f"column_{at}" for at in range(40))
    result = shell("SELECT " + ", ".join(f"1 AS {name}" for name in line.split()) + ";")
    assert all(name in result.stdout for name in line.split())


def test_a_plan_is_printed_as_lines():
    plan = shell("EXPLAIN SELECT 1;").stdout
    assert "\\n" not in plan
    assert len(plan.splitlines()) > 3


def test_names_mean_tables_and_never_variables():
    assert "Table with name con does not exist" in shell("FROM con;").stderr


def test_data_cannot_drive_the_terminal():
    assert "\x1b" not in shell("SELECT chr(27) || '[2J' AS escape;").stdout


def test_without_the_extra_a_terminal_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.delitem(sys.modules, "anon_sql.apps.shell.prompt", raising=False)
    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)  # such as cannot be imported
    with pytest.raises(AnonError) as caught:
        app._interactive()
    assert str(caught.value) == (
        "shell: prompt_toolkit and pygments must be installed to type on a terminal, "
        "got no prompt_toolkit; pip install 'anon-sql[shell]'"
    )
    assert shell("SELECT 1 AS n;").exit_code == 0


UNUSED = [
    "prompt_toolkit",
    "harlequin",
    "harlequin_duckdb",
    "textual",
    "IPython",
    "marimo",
    "matplotlib",
    "jinja2",
]


USES = [
    "anon_sql.connect().sql('FROM anon_help()').fetchall()",
    "cli.app(['query', 'SELECT 1'], standalone_mode=False)",
    "cli.app(['shell'], standalone_mode=False)",
    "cli.app(['release', 'a.csv', 'b.csv', '--quasi', 'n', '--manifest'], standalone_mode=False)",
    "cli.app(['verify', 'b.csv', '--raw', 'a.csv'], standalone_mode=False)",
    "cli.app(['demo'], standalone_mode=False)",
]


@pytest.mark.slow  # in a process of its own
def test_nothing_is_imported_that_is_not_used(tmp_path, monkeypatch):
    """In one process, in which the demonstration has few rows."""
    monkeypatch.setenv("PYTHONPATH", str(Path(app.__file__).parents[3]))
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("n\n" + "1\n2\n" * 9)
    code = "import functools, sys; import anon_sql; from anon_sql.apps.cli import app as cli\n"
    code += "anon_sql.datasets.adult = functools.partial(anon_sql.datasets.adult, rows=500)\n"
    for at, use in enumerate(USES):
        code += f"{use}; print('use', {at}, set({UNUSED}) & set(sys.modules))\n"
    done = subprocess.run(
        [sys.executable, "-c", code], input="SELECT 1;", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stdout.splitlines() if line.startswith("use ")]
    assert said == [f"use {at} set()" for at in range(len(USES))]
