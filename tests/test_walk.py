"""The walk through one call in CONTRIBUTING.md passes through the files that it names, in its order."""

import re
import sys
import threading
from itertools import pairwise
from pathlib import Path

import pytest

import anon_sql
from anon_sql import datasets
from tests.command import run as command

ROOT = Path(__file__).parents[1]
SECTION = "## One call from the macro to the kernel and back"
STEP = re.compile(r"^\d+\. `([^`]+)`: (.*?)(?=^\d+\. |^\n)", re.MULTILINE | re.DOTALL)
COMMAND = "`anon-sql release in.csv out.csv`"
CALL = "FROM rayden('people', k := {}, quasi := ['age', 'city'], keep := 'illness')"


def steps():
    """Return pairs of a path and the names of functions in the text of its step."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split(SECTION)[1].split("\n## ")[0]
    text, frames = text.split("`anon_sql.anonymize(data, k=10)`")
    named = [(path, re.findall(r"`(\w+)`", said)) for path, said in STEP.findall(text + "\n\n")]
    return named, re.findall(r"`((?:hosts/)?[\w/]+\.py)`", frames.split(COMMAND)[0])


def command_steps():
    """Return the files that the text on the command names, and the functions in it."""
    text = (
        (ROOT / "CONTRIBUTING.md").read_text("utf-8").split(COMMAND)[1].split(" Linked tables")[0]
    )
    return re.findall(r"`([\w/]+\.py)`", text), re.findall(r"`(\w+)`", text)


def entered(run):
    """Return the (file, function) pairs of the package that a call enters, in order."""
    found = {}

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and ROOT / "anon_sql" in path.parents:
            found.setdefault((path.relative_to(ROOT).as_posix(), frame.f_code.co_name))

    sys.setprofile(note)
    threading.setprofile(note)  # a command works in a thread of its own
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(found)


@pytest.fixture
def people(con):
    con.execute("SET threads = 1")  # a profile is of one thread
    datasets.people(con)
    con.execute(CALL.format(3)).fetchall()  # imports
    return con


def test_a_sql_call_passes_through_the_steps(people):
    named, _ = steps()
    assert len(named) >= 15
    sql = [path for path, _ in named if path.endswith(".sql")]
    for caller, called in pairwise(sql):
        macros = re.findall(r"MACRO (\w+)", (ROOT / called).read_text("utf-8"))
        assert any(f"{macro}(" in (ROOT / caller).read_text("utf-8") for macro in macros), called
    found = entered(lambda: people.execute(CALL.format(4)).fetchall())
    files = [*dict.fromkeys(path for path, _ in found)]
    walked = [path for path, _ in named if path.endswith(".py")]
    assert sorted(walked, key=files.index) == walked
    for path, functions in named:
        for name in functions:
            assert (path, name) in found, (path, name)
    hosts = [path for path in files if "/hosts/" in path or "/apps/" in path]
    assert len(hosts) <= 20


def test_a_call_on_a_frame_passes_through_the_files(people):
    frame = people.sql("FROM people").df()
    call = {"quasi": ["age", "city"], "keep": "*"}
    anon_sql.anonymize(frame, k=3, **call)
    files = [path for path, _ in entered(lambda: anon_sql.anonymize(frame, k=4, **call))]
    for path in steps()[1]:
        assert any(each.endswith(f"/{path}") for each in files), path


def test_a_command_passes_through_the_files_and_functions(people, tmp_path):
    people.execute(f"COPY people TO '{tmp_path}/in.csv'")
    call = ("release", tmp_path / "in.csv", tmp_path / "out.csv", "--quasi", "age,city", "--k", 3)
    call += ("--keep", "*", "--overwrite")
    assert command(*call).exit_code == 0
    found = entered(lambda: command(*call))
    files = [*dict.fromkeys(path for path, _ in found)]
    named, functions = command_steps()
    walked = [f"anon_sql/{path}" for path in named]
    assert len(walked) >= 4
    assert sorted(walked, key=files.index) == walked
    assert {*functions} <= {name for path, name in found if path in walked}
    before = files[: files.index("anon_sql/pipeline/compute.py")]
    readers = ("/apps/csv/", "/apps/formats/")  # a file of another format passes through others
    steps_of_command = [path for path in before if "/apps/" in path]
    assert len([path for path in steps_of_command if not any(map(path.count, readers))]) <= 12
