"""Every example runs: the headers', the documentation's, the scripts' in examples/, the launchers'.

``tests/page.py`` says which blocks of README.md and of docs are run, and how.
"""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import anon_sql
from anon_sql.hosts.duckdb import sql_files
from tests.example_tables import LEDGER, SERIES, TABLES, write_files
from tests.reused import lent

ROOT = Path(__file__).resolve().parents[1]
GENERATED = {"reference.md"}  # from headers, whose examples are run one by one
TYPED = {"analyst.md"}  # needs dbt; tests/newcomer types every line of it
PAGES = [
    ROOT / "README.md",
    *sorted(
        page
        for page in (ROOT / "docs").rglob("*.md")
        if page.name not in GENERATED and page.parent.name != "papers"
    ),
]
ELSEWHERE = {"spark_release.py"}  # tested in tests/hosts/spark, with the session there
SCRIPTS = sorted(
    path for path in (ROOT / "examples").iterdir() if path.is_file() and path.name not in ELSEWHERE
)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    write_files(folder)
    with pytest.MonkeyPatch.context() as patch, anon_sql.connect() as con:
        patch.chdir(folder)
        con.execute(TABLES)
        con.execute(LEDGER)
        con.execute(SERIES)
        yield con


def run(con, sql):
    """Run the statements; the column names and rows of the last."""
    *before, last = duckdb.extract_statements(sql)
    for statement in before:
        con.execute(statement.query).fetchall()
    result = con.execute(last.query)
    return [column[0] for column in result.description], result.fetchall()


@pytest.mark.parametrize("entry", sql_files.entries(), ids=lambda entry: entry.name)
def test_the_example_of_every_header(tables, entry):
    columns, rows = run(tables, entry.example)
    assert columns
    assert rows


@pytest.mark.oldest
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            marks=[pytest.mark.slow] * (page.name != "README.md"),
            id=page.relative_to(ROOT).as_posix(),
        )
        for page in PAGES
        if page.name not in TYPED
    ],
)
def test_a_page_runs_in_an_empty_folder(page, tmp_path):
    done = subprocess.run(
        [sys.executable, "-P", ROOT / "tests" / "page.py", page],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_files_that_contributing_names():
    """The path of one call through the files is kept: at most 15 of them."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:sql|anon_sql|tests)/[\w./]+\.(?:sql|py))`", text):
        assert (ROOT / name).is_file(), name
    steps = re.findall(
        r"^\d+\. `(.+?)`:", text.split("## One call")[1].split("\n## ")[0], re.MULTILINE
    )
    assert 10 <= len(set(steps)) == len(steps) <= 15


@pytest.mark.slow
def test_the_picture_of_two_releases_is_that_of_the_script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with lent(functions=False):
        found = runpy.run_path(str(ROOT / "examples" / "two_releases.py"))
    made = (tmp_path / "two_releases.svg").read_text(encoding="utf-8")
    assert made == (ROOT / "docs" / "two_releases.svg").read_text(encoding="utf-8")
    one, other = (set(found[name].split(", ")) for name in ("first", "second"))
    assert len(one) == len(other) == 3
    assert made.count(f"Both together leave {', '.join(one & other)}.<") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "picture"), [("picture.py", "classes.svg"), ("parts_picture.py", "parts.svg")]
)
def test_a_picture_of_docs_is_that_of_its_script(script, picture, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with lent(functions=False):
        runpy.run_path(str(ROOT / "examples" / script))
    assert (tmp_path / picture).read_bytes() == (ROOT / "docs" / picture).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_the_scripts(con, script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if script.suffix == ".sql":
        columns, rows = run(con, script.read_text(encoding="utf-8"))
        assert columns
        assert rows
    else:
        monkeypatch.setattr(sys, "argv", [str(script)])
        with lent(functions=False):
            runpy.run_path(str(script), run_name="__main__")
        assert capsys.readouterr().out


@pytest.mark.parametrize("launcher", ["demo", "test"])
def test_the_launchers_refuse_an_old_python(launcher, tmp_path):
    """In a folder without .venv, with a Python that says it is 3.10."""
    (tmp_path / launcher).write_bytes((ROOT / launcher).read_bytes())
    old = tmp_path / "python3.10"
    old.write_text('#!/bin/sh\ncase "$2" in *print*) echo 3.10 ;; *) exit 1 ;; esac\n')
    for path in (tmp_path / launcher, old):
        path.chmod(0o755)
    done = subprocess.run(
        [tmp_path / launcher],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={**os.environ, "PYTHON": str(old)},
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        f"anon_sql needs Python 3.11 or newer, and {old} is 3.10; "
        f"name another: PYTHON=python3.12 {tmp_path / launcher}\n"
    )
