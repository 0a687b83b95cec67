"""The package works where Python lacks what only POSIX has, and with paths as Windows has them.

A process hides modules and functions of POSIX before it imports the package, but after libraries
that have code for each system. Locks of files are always free there: the test is alone.
"""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import pytest

from anon_sql import system
from anon_sql.hosts import files
from tests.apps.studio.visitor import COMMAND, running
from tests.command import refused
from tests.command import run as command

PACKAGE = Path(system.__file__).parent
POSIX = {"fcntl", "grp", "msvcrt", "pwd", "resource", "termios", "winreg"}
OF_POSIX = "fork forkpty geteuid getuid killpg register_at_fork sched_getaffinity setsid sysconf"
HIDE = r"""
import multiprocessing, os, signal, sys

import duckdb, filelock, numba, pandas, platformdirs, pyarrow, rich, typer  # their own affair

multiprocessing.set_start_method("spawn")
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"):
    sys.modules[name] = None
FUNCTIONS = (
    "fork forkpty killpg setsid getpgid getpgrp getuid geteuid getgid getegid getresuid "
    "register_at_fork sysconf sched_getaffinity sched_setaffinity uname mkfifo chown fchmod "
    "O_NOFOLLOW O_NONBLOCK O_DIRECTORY O_CLOEXEC"
)
for name in FUNCTIONS.split():
    if hasattr(os, name):
        delattr(os, name)
for name in "SIGKILL SIGHUP SIGQUIT SIGALRM SIGUSR1 SIGSTOP alarm setitimer pthread_kill".split():
    if hasattr(signal, name):
        delattr(signal, name)
filelock.lock_descriptor = lambda descriptor, *, blocking=True: True
"""
JOBS = r"""
import json, warnings
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

warnings.simplefilter("ignore")
import anon_sql

OPTIONAL = ("harlequin", "dbt", "pyspark", "sklearn", "zensical", "matplotlib", "starlette", "uvicorn")
failed = []
for found in walk_packages(anon_sql.__path__, "anon_sql."):
    try:
        import_module(found.name)
    except ImportError as error:
        if not any(name in f"{error.name} {error}" for name in OPTIONAL):
            failed.append((found.name, str(error)))

con = anon_sql.connect()
con.execute("SET enable_progress_bar = false")
con.execute(
    "CREATE TABLE people AS SELECT i AS id, i * 7 % 60 AS age, i % 3 AS city, i % 5 AS ill "
    "FROM range(900) t(i)"
)
con.execute("CREATE TABLE r AS FROM mondrian('people', k := 10, quasi := ['age', 'city'], keep := 'ill', identifiers := 'id')")
audit = "SELECT count(*) FROM audit('people', 'r', 10, quasi := ['age', 'city'], identifiers := 'id') WHERE NOT passed"
call = {"k": 10, "method": "mondrian", "quasi": ["age", "city"], "identifiers": "id", "keep": "ill"}
folder = Path("C:\\the data") / "a release"
folder.parent.mkdir()
written = anon_sql.release(con, "people", into=f"{folder}/", parts=3, **call)
again = anon_sql.release(con, "people", into=f"{folder}/", parts=3, overwrite=True, **call)
people = "C:\\the data/people of May; 'new'.csv"
con.sql("FROM people").write_csv(people)
Path(people).write_bytes(Path(people).read_bytes().replace(b"\n", b"\r\n"))
tree = "C:\\the data/city.csv"
Path(tree).write_bytes(b"0;low;*\r\n1;low;*\r\n2;high;*\r\n")
read = con.execute("SELECT count(*) FROM read_hierarchies($tree)", {"tree": tree}).fetchall()

from anon_sql.apps.main import main

def command(*arguments):
    sys.argv = ["anon-sql", *arguments]
    try:
        main()
    except SystemExit as end:
        return end.code or 0
    return 0

out = "C:\\the data/safe.csv"
roles = ("--identifier", "id", "--quasi", "age,city", "--keep", "ill")
codes = [command("release", people, out, "--k", "10", *roles, "--manifest")]
codes.append(command("verify", out, "--raw", people))
codes.append(command("roles", people, "--recipe", "C:\\the data/may.recipe.toml"))
series = [
    command("release", people, f"C:\\the data/{month}.csv", "--k", "10", "--identifier", "id",
            "--entity", "id", "--quasi", "age,city", "--sensitive", "ill", "--series", "s.duckdb")
    for month in ("may", "june")
]  # fmt: skip
ledger = command("release", people, "C:\\the data/l.csv", "--k", "10", "--entity", "id", "--quasi",
                 "age,city", "--sensitive", "ill", "--ledger", "ledger.duckdb")
left = sorted(str(path) for path in Path().rglob(".anon-sql-*"))
answer = {
    "failed": failed, "audit": con.execute(audit).fetchall(), "parts": written.parts,
    "files": len(list(folder.glob("*.parquet"))), "read": read, "codes": codes,
    "series": series, "ledger": ledger, "left": left, "hidden": hasattr(os, "fork"),
}
Path("answer.json").write_text(json.dumps(answer))
"""
REST = {**os.environ, "ANON_SERIES_KEY": "0123456789abcdef" * 3, "ANON_KEY": "fedcba9876543210" * 3}


@pytest.mark.slow
def test_a_system_without_the_modules_and_functions_of_posix(tmp_path):
    (tmp_path / "job.py").write_text(HIDE + JOBS)
    ended = subprocess.run(
        [sys.executable, "job.py"],
        cwd=tmp_path,
        env={**REST, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert answer == {
        "failed": [],
        "audit": [[0]],
        "parts": 3,
        "files": 1,
        "read": [[6]],
        "codes": [0, 0, 0],
        "series": [0, 0],
        "ledger": 0,
        "left": [],
        "hidden": False,
    }, ended.stderr


COMPILES = r"""
import anon_sql

con = anon_sql.connect()
con.execute("SET enable_progress_bar = false")
con.execute("CREATE TABLE people AS SELECT i * 7 % 60 AS age, i % 5 AS ill FROM range(300) t(i)")
call = "FROM mondrian('people', k := 10, quasi := 'age', keep := 'ill')"
assert len(con.execute(call).fetchall()) == 300
"""


@pytest.mark.slow
def test_kernels_compile_there_with_the_help_of_a_second_process(tmp_path):
    with_kill = HIDE.replace("SIGKILL ", "")  # Popen.kill needs it here, and not on Windows
    (tmp_path / "job.py").write_text(with_kill + COMPILES)
    ended = subprocess.run(
        [sys.executable, "job.py"],
        cwd=tmp_path,
        env={**REST, "PYTHONPATH": str(PACKAGE.parent), "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert list((tmp_path / "cache").rglob("*.nbi"))


def test_the_studio_runs_there(tmp_path):
    (tmp_path / "people.csv").write_text("age,city\r\n" + "1,Bonn\r\n2,Ulm\r\n" * 20)
    with running(tmp_path, "people.csv", code=HIDE + COMMAND[-1]) as studio:
        page = studio.enter().page("/data/table")
    assert "people.csv" in page
    assert ">40<" in page


def test_a_target_that_differs_in_case_alone_is_the_source_there(tmp_path):
    """As on a case-insensitive file system, both names lead to one file."""
    people = tmp_path / "people.csv"
    people.write_text("age\n" + "1\n2\n" * 20)
    os.link(people, tmp_path / "People.csv")
    said = refused("release", people, tmp_path / "People.csv", "--quasi", "age", "--overwrite")
    assert said.startswith("release: OUT must be a different file from IN")
    assert people.read_text().startswith("age")


def test_paths_of_windows(monkeypatch):
    monkeypatch.setattr(system, "_SEPARATORS", ("\\", "/"))
    assert system.has_folder(r"C:\data\safe.csv")
    assert system.ends_as_folder("safe\\")
    assert system.ends_as_folder("safe/")
    assert not system.has_folder("safe")


def test_a_path_on_another_drive_is_the_whole_path(monkeypatch):
    def relpath(path, folder):
        raise ValueError("path is on mount 'D:', start on mount 'C:'")

    monkeypatch.setattr(system.os.path, "relpath", relpath)
    assert system.relative(Path("/d/people.csv"), Path("/c")) == "/d/people.csv"
    assert PureWindowsPath(r"..\data\people.csv").as_posix() == "../data/people.csv"


def test_only_one_module_knows_what_differs_between_systems():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            assert not POSIX.intersection(names), path
            if path.name not in ("system.py", "numba_internals.py"):
                is_of_os = isinstance(node, ast.Attribute) and ast.unparse(node.value) == "os"
                assert not (is_of_os and node.attr in OF_POSIX.split()), (path, node.lineno)


def test_a_file_that_another_program_has_open_is_not_replaced(tmp_path, monkeypatch):
    """Windows refuses the rename then."""

    def replace(source, target):
        raise PermissionError(13, "used by another process", str(target))

    people, safe = tmp_path / "people.csv", tmp_path / "safe.csv"
    people.write_text("age\n" + "1\n2\n" * 20)
    safe.write_text("before")
    monkeypatch.setattr(files.os, "replace", replace)
    ended = command("release", people, safe, "--quasi", "age", "--overwrite")
    assert ended.exit_code == 1
    assert "used by another process" in ended.stderr
    assert "Traceback" not in ended.output
    assert safe.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "safe.csv"]
