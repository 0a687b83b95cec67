"""resume takes nothing that is damaged, exchanged or foreign: it is computed again or refused."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import anon_sql
from anon_sql import AnonError
from anon_sql.hosts.parts import regions as region_files
from anon_sql.hosts.parts import spilling
from anon_sql.hosts.parts.workspace import Place, Workspace, checksum, is_sealed
from tests.hosts.parts.test_in_parts import CALL, TABLE
from tests.hosts.parts.test_resume import broken_off

GIVEN = {"k": 5, "method": "mondrian", "part_rows": 60, **CALL}
DONE = 3  # regions at least


def interrupt(con, target, **changed):
    """Leave a release behind after some regions, and return its folder."""
    with pytest.MonkeyPatch.context() as patched:
        broken_off(patched, DONE + 1)
        with pytest.raises(AnonError, match="broken off"):
            anon_sql.release(con, "big", into=str(target), **{**GIVEN, **changed}, resume=True)
    (folder,) = target.parent.glob(".anon-sql-*")
    return folder


@pytest.fixture(scope="module")
def con():
    """A connection with the table big and its release in one go, for all tests of the file."""
    with anon_sql.connect() as made:
        made.execute(TABLE.format(360))
        anon_sql.release(made, "big", into="whole", **GIVEN)
        yield made


@pytest.fixture(scope="module")
def interrupted(con, tmp_path_factory):
    """The folder of an interrupted release of the table big, to be copied."""
    return interrupt(con, tmp_path_factory.mktemp("interrupted") / "o.parquet")


@pytest.fixture
def left(interrupted, tmp_path):
    """A folder of an interrupted release of the table big to ``o.parquet``."""
    return shutil.copytree(interrupted, tmp_path / interrupted.name)


def resumed(con, target):
    """Resume; return how many regions were released and whether rows were routed again."""
    again, routed = [], []
    release, spill = region_files.release_table, spilling.Routing.spill
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            region_files, "release_table", lambda *a, **b: again.append(1) or release(*a, **b)
        )
        patched.setattr(spilling.Routing, "spill", lambda *given: routed.append(1) or spill(*given))
        made = anon_sql.release(con, "big", into=str(target), **GIVEN, resume=True)
    assert con.execute(f"FROM '{target}'").fetchall() == con.table("whole").fetchall()
    assert list(target.parent.glob(".anon-sql-*")) == []
    return len(again), bool(routed), made.parts


def regions(folder):
    return sorted((folder / "done").glob("*.arrow"))


def flipped(at):
    def flip(file):
        content = bytearray(file.read_bytes())
        content[int(at * (len(content) - 1))] ^= 1
        file.write_bytes(content)

    return flip


def linked(file):
    """Replace a file by a link to its content elsewhere."""
    elsewhere = file.parents[2] / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)


def replaced(make):
    def put(file):
        file.unlink()
        make(file)

    return put


DAMAGE = {
    **{f"a bit at {at:.0%}": flipped(at) for at in (0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1)},
    "the checksum half written": lambda file: os.truncate(file, file.stat().st_size - 16),
    "no checksum": lambda file: os.truncate(file, file.stat().st_size - 32),
    "half a file": lambda file: os.truncate(file, file.stat().st_size // 2),
    "an empty file": lambda file: os.truncate(file, 0),
    "zeros": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "more bytes": lambda file: file.write_bytes(file.read_bytes() + b"more"),
    "a link": linked,
    "a broken link": replaced(lambda file: file.symlink_to("nowhere")),
    "a folder": replaced(Path.mkdir),
    "a pipe": replaced(os.mkfifo),
    "nothing": replaced(lambda file: None),
}


STATES = {
    **DAMAGE,
    "another number": lambda file: file.write_text(
        file.read_text().replace('"wanted": ', '"wanted": 1')
    ),
    "an object": lambda file: file.write_text("{}"),
    "a list": lambda file: file.write_text("[1]"),
    "bytes that are no text": lambda file: file.write_bytes(b'{"sha256": "\xff"}'),
}
# Those that are tried with a whole release; of all of them it is asked what is found.
TRIED = ["a bit at 50%", "half a file", "a link", "a pipe", "nothing"]


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damage_of_a_file_is_found(left, damage):
    """Of a finished region by its seal, of the routed rows by the checksum in the state."""
    run = bytes.fromhex(json.loads((left / "state.json").read_text())["sha256"])
    region, rows = regions(left)[1], left / "rows" / "000000"
    before = checksum(rows)
    assert is_sealed(region, run)
    assert before in (left / "state.json").read_text()
    damage(region)
    damage(rows)
    assert not is_sealed(region, run)
    assert checksum(rows) != before


@pytest.mark.parametrize("damage", STATES.values(), ids=STATES)
def test_damage_of_the_state_is_found(left, damage):
    workspace = Workspace(Place(left.parent, "o.parquet"))
    workspace.folder = left
    assert workspace.state() is not None
    damage(left / "state.json")
    assert workspace.state() is None


@pytest.mark.slow
@pytest.mark.parametrize("damage", TRIED)
def test_a_damaged_region_is_released_again(con, left, tmp_path, damage):
    done = regions(left)
    DAMAGE[damage](done[1])
    again, routed, every = resumed(con, tmp_path / "o.parquet")
    assert (again, routed) == (every - len(done) + 1, False)


def test_regions_that_are_exchanged_or_renamed_are_released_again(con, left, tmp_path):
    done = regions(left)
    first, second, third = done[:3]
    first.rename(left / "aside")
    second.rename(first)
    (left / "aside").rename(second)
    missing = next(n for n in range(99) if not (left / "done" / f"{n}.arrow").exists())
    third.rename(third.with_name(f"{missing}.arrow"))
    again, routed, every = resumed(con, tmp_path / "o.parquet")
    assert (again, routed) == (every - len(done) + 3, False)


OTHERS = {
    "k": {"k": 6},
    "seed": {"seed": 1},
    "rows of a region": {"part_rows": 70},
    "source": {},
}


@pytest.mark.slow
@pytest.mark.parametrize("changed", OTHERS.values(), ids=OTHERS)
def test_regions_of_a_run_with_another_parameter_or_source_are_not_taken(
    con, left, tmp_path, changed
):
    (tmp_path / "other").mkdir()
    if not changed:
        con.execute("UPDATE big SET score = score + 1 WHERE id = 7")
    other = interrupt(con, tmp_path / "other" / "o.parquet", **changed)
    if not changed:
        con.execute("UPDATE big SET score = score - 1 WHERE id = 7")
    mine, theirs = names(left), names(other)
    for name in theirs:
        shutil.copy(other / "done" / name, left / "done" / name)
    again, routed, every = resumed(con, tmp_path / "o.parquet")
    assert (again, routed) == (every - len(mine - theirs), False)


def names(folder):
    return {file.name for file in regions(folder)}


def test_files_that_are_no_regions_of_this_run_are_not_read(con, left, tmp_path):
    done = regions(left)
    for name in ("x.arrow", "999.arrow", "03.arrow", "0.tmp", "-1.arrow"):
        shutil.copy(done[0], left / "done" / name)
    (left / "temporary").mkdir(exist_ok=True)
    (left / "temporary" / "duckdb_temp_block-1.block").write_bytes(b"x" * 999)
    again, routed, every = resumed(con, tmp_path / "o.parquet")
    assert (again, routed) == (every - len(done), False)


@pytest.mark.slow
@pytest.mark.parametrize("damage", TRIED)
def test_rows_that_are_damaged_are_routed_again(con, left, tmp_path, damage):
    (run,) = (left / "rows").iterdir()
    DAMAGE[damage](run)
    again, routed, every = resumed(con, tmp_path / "o.parquet")
    assert (again, routed) == (every, True)


def test_rows_of_more_files_are_routed_again(con, left, tmp_path):
    shutil.copy(left / "rows" / "000000", left / "rows" / "000001")
    again, routed, every = resumed(con, tmp_path / "o.parquet")
    assert (again, routed) == (every, True)


@pytest.mark.slow
@pytest.mark.parametrize("damage", [*TRIED, "another number"])
def test_a_damaged_state_begins_anew(con, left, tmp_path, damage):
    STATES[damage](left / "state.json")
    again, routed, every = resumed(con, tmp_path / "o.parquet")
    assert (again, routed) == (every, True)


@pytest.mark.parametrize("name", ["rows", "done"])
def test_folders_that_are_links_are_not_followed(con, left, tmp_path, name):
    elsewhere = tmp_path / "elsewhere"
    (left / name).rename(elsewhere)
    (left / name).symlink_to(elsewhere)
    held = sorted(path.name for path in elsewhere.iterdir())
    again, routed, every = resumed(con, tmp_path / "o.parquet")
    assert (again, routed) == (every, True)
    assert sorted(path.name for path in elsewhere.iterdir()) == held


@pytest.mark.parametrize(
    "make", [lambda f: f.symlink_to(f.parents[1] / "mine"), Path.mkdir, os.mkfifo]
)
def test_a_lock_that_is_no_file_is_refused_in_one_sentence(con, left, tmp_path, make):
    (tmp_path / "mine").write_text("mine")
    (left / "lock").unlink()
    make(left / "lock")
    with pytest.raises(AnonError, match=r"must be the caller's own, got .* with a lock that is no"):
        anon_sql.release(con, "big", into=str(tmp_path / "o.parquet"), **GIVEN, resume=True)
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_file_in_place_of_the_folder_is_refused_in_one_sentence(con, left, tmp_path):
    shutil.rmtree(left)
    left.write_text("mine")
    with pytest.raises(AnonError, match="the folder of unfinished parts must be the caller's own"):
        anon_sql.release(con, "big", into=str(tmp_path / "o.parquet"), **GIVEN, resume=True)
    assert left.read_text() == "mine"


CHILD = """
import json, sys, anon_sql
con = anon_sql.connect()
con.execute(f"CREATE TABLE big AS FROM '{sys.argv[1]}'")
print("ready", flush=True)
sys.stdin.readline()
anon_sql.release(con, "big", into=sys.argv[2], resume=True, **json.loads(sys.argv[3]))
"""


@pytest.mark.slow
def test_of_two_processes_that_resume_at_once_one_is_refused_and_one_finishes(con, left, tmp_path):
    con.execute(f"COPY big TO '{tmp_path}/big.parquet'")
    given = [
        sys.executable,
        "-c",
        CHILD,
        str(tmp_path / "big.parquet"),
        str(tmp_path / "o.parquet"),
        json.dumps(GIVEN),
    ]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    root = Path(__file__).resolve().parents[3]
    both = [
        subprocess.Popen(
            given, **pipes, text=True, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}
        )
        for _ in range(2)
    ]
    for one in both:
        assert one.stdout.readline() == "ready\n"
    for one in both:
        one.stdin.write("\n")
        one.stdin.flush()
    said = [one.communicate(timeout=120)[1] for one in both]
    codes = [one.returncode for one in both]
    assert 0 in codes
    refused = [text for text, code in zip(said, codes, strict=True) if code]
    assert all(
        "one call at a time may write a target" in text or "exists" in text for text in refused
    )
    found = con.execute(f"FROM '{tmp_path}/o.parquet'").fetchall()
    assert found == con.table("whole").fetchall()
