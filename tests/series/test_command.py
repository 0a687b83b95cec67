"""anon-sql release --series: the state lies in a DuckDB file."""

import json
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import duckdb
import pytest

from anon_sql.apps import manifest
from tests.command import run
from tests.series.months import KEY, make_month


def write_month(con, folder, first, end):
    make_month(con, first, end)
    con.execute(f"COPY people TO '{folder}/people.csv'")


@pytest.fixture
def month(con, tmp_path):
    write = partial(write_month, con, tmp_path)
    write(0, 200)
    return write


def arguments(tmp_path, out, *more):
    return [
        "release", str(tmp_path / "people.csv"), str(tmp_path / out),
        "--series", str(tmp_path / "series.duckdb"), "--series-key", KEY,
        "--quasi", "age,city", "--sensitive", "illness", "--keep", "ward", "--entity", "person",
        *more,
    ]  # fmt: skip


def call(tmp_path, out, *more):
    return run(*arguments(tmp_path, out, *more))


def releases(tmp_path):
    with duckdb.connect(str(tmp_path / "series.duckdb")) as con:
        return con.execute(
            "SELECT len((tuple::JSON -> 'releases')::JSON[]) FROM anon_series "
            "WHERE cohort IS NULL AND person IS NULL"
        ).fetchall()


def test_two_months(tmp_path, month):
    first = call(tmp_path, "may.csv", "--l", "2")
    assert first.exit_code == 0, first.output
    assert "release 1 of the series" in first.output
    month(30, 230)
    second = call(tmp_path, "june.parquet")
    assert second.exit_code == 0, second.output
    assert "release 2 of the series" in second.output
    assert "rows of former ones" in second.output
    assert releases(tmp_path) == [(2,)]


def test_a_refused_release_leaves_the_state(tmp_path, month):
    assert call(tmp_path, "may.csv").exit_code == 0
    month(30, 230)
    found = call(tmp_path, "june.csv", "--k", "5000")
    assert found.exit_code != 0
    assert "at least k = 5000" in found.output
    assert not (tmp_path / "june.csv").exists()
    assert releases(tmp_path) == [(1,)]


def left(tmp_path):
    """Return the tables in the file of the state, and the files beside it."""
    with duckdb.connect(str(tmp_path / "series.duckdb")) as con:
        tables = [name for (name,) in con.execute("SHOW TABLES").fetchall()]
    return tables, sorted(path.name for path in tmp_path.iterdir())


def test_a_file_that_cannot_get_its_name_leaves_the_state(tmp_path, month, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    for out, known in (("may.csv", []), ("june.csv", [(1,)])):
        with monkeypatch.context() as patch:
            patch.setattr("anon_sql.hosts.files.os.replace", refuse)
            found = call(tmp_path, out, "--manifest")
        assert found.exit_code == 1
        assert "No space left on device" in found.output
        assert releases(tmp_path) == known
        assert out not in left(tmp_path)[1]
        assert call(tmp_path, out, "--manifest").exit_code == 0
        month(30, 230)
    assert releases(tmp_path) == [(2,)]
    assert left(tmp_path) == (
        ["anon_series"],
        *[[*("june.csv", "june.csv.anon.json", "may.csv", "may.csv.anon.json"),
           *("people.csv", "series.duckdb")]],
    )  # fmt: skip


def killed(tmp_path, out, at, *more, after=0):
    """Release in a process that is killed where it would call a function of a module.

    after: how many calls of it come before.
    """
    text = f"""
import os, sys, types
from anon_sql.hosts import files, series_file
files.os = types.SimpleNamespace(**vars(os))  # that of other modules stays
real, left = {at}, [None] * {after}
{at} = lambda *given, **named: real(*given, **named) if left and not left.pop() else os._exit(9)
from anon_sql.apps.main import main
sys.argv = ["anon-sql", *{arguments(tmp_path, out, *more)!r}]
main()
"""
    folder = Path(__file__).parents[2]
    command = [sys.executable, "-c", text]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert made.returncode == 9, made.stderr


@pytest.mark.slow
def test_what_a_killed_command_leaves_is_settled_by_the_next_one(tmp_path, month):
    assert call(tmp_path, "may.csv").exit_code == 0
    month(30, 230)
    killed(tmp_path, "june.csv", "files.os.replace")
    assert releases(tmp_path) == [(2,)]
    assert not (tmp_path / "june.csv").exists()
    found = call(tmp_path, "june.csv")
    assert found.exit_code == 0, found.output
    assert "did not become" in found.output
    assert "release 2 of the series" in found.output

    month(60, 260)
    killed(tmp_path, "july.csv", "series_file._settle")
    assert (tmp_path / "july.csv").exists()
    month(90, 290)
    found = call(tmp_path, "august.csv")
    assert "warning: the last release" not in found.output
    assert "release 4 of the series" in found.output

    month(120, 320)
    killed(tmp_path, "september.csv", "files.os.replace")
    (unfinished,) = tmp_path.glob(".anon-sql-*.tmp")
    unfinished.unlink()  # or moved: somebody may have it
    found = call(tmp_path, "september.csv")
    assert "it counts as made, because somebody may have it" in found.output
    assert "release 6 of the series" in found.output
    assert left(tmp_path)[0] == ["anon_series"]
    assert not list(tmp_path.glob(".*"))


@pytest.mark.slow
def test_a_manifest_is_never_there_without_its_release(tmp_path, month):
    assert call(tmp_path, "may.csv", "--manifest").exit_code == 0
    month(30, 230)
    killed(tmp_path, "june.csv", "files.os.replace", "--manifest")
    assert not (tmp_path / "june.csv").exists()
    assert not (tmp_path / "june.csv.anon.json").exists()
    found = call(tmp_path, "june.csv", "--manifest")
    assert found.exit_code == 0, found.output
    assert "did not become" in found.output

    month(60, 260)
    killed(tmp_path, "july.csv", "files.os.replace", "--manifest", after=1)
    assert (tmp_path / "july.csv").exists()
    assert not (tmp_path / "july.csv.anon.json").exists()
    month(90, 290)
    found = call(tmp_path, "august.csv")
    assert found.exit_code == 0, found.output
    assert "the last release" not in found.output
    assert releases(tmp_path) == [(4,)]
    code, said = verified(tmp_path / "july.csv")
    assert (code, "holds the file is the one that was written" in said) == (3, True), said
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--ledger", "x.duckdb"), "a release of a series takes no such option, got --ledger"),
        (("--parts", "2"), "a release of a series takes no such option, got --parts"),
        (("--method", "datafly"), "must go with a method whose classes can be whole cohorts"),
    ],
)
def test_what_is_refused(tmp_path, month, more, says):
    found = call(tmp_path, "may.csv", *more)
    assert found.exit_code != 0
    assert says in " ".join(found.output.split())


@pytest.fixture(scope="module")
def two_months(tmp_path_factory):
    """A folder with two releases of a series, the second with its manifest."""
    folder = tmp_path_factory.mktemp("series")
    with duckdb.connect() as con:
        write_month(con, folder, 0, 200)
        assert call(folder, "may.csv", "--l", "2").exit_code == 0
        write_month(con, folder, 30, 230)
    made = call(folder, "june.csv", "--manifest")
    assert made.exit_code == 0, made.output
    return folder


@pytest.fixture
def june(two_months, tmp_path):
    """The second release, in a copy of the folder."""
    return shutil.copytree(two_months, tmp_path, dirs_exist_ok=True) / "june.csv"


def verified(file, *more):
    found = run("verify", str(file), *more)
    return found.exit_code, " ".join(found.output.split())


def with_state(folder, key=KEY):
    return (
        *("--raw", str(folder / "people.csv")),
        *("--series", str(folder / "series.duckdb"), "--series-key", key),
    )


def test_a_manifest_says_what_the_series_promises_and_no_more(june):
    text = Path(f"{june}.anon.json").read_text()
    said = json.loads(text)
    with duckdb.connect(str(june.parent / "series.duckdb")) as con:
        ((head,),) = con.execute(
            "SELECT tuple FROM anon_series WHERE cohort IS NULL AND person IS NULL AND tuple[1] = '{'"
        ).fetchall()
        hashes = con.execute("SELECT person FROM anon_series WHERE person IS NOT NULL").fetchall()
    figures = json.loads(head)["releases"][-1]
    own = ("release", "former", "waiting", "largest_waiting_share")
    assert said["series"]["cohorts"] == {"l": 2, **{name: figures[name] for name in own}}
    assert {each["property"]: each["passed"] for each in said["checks"]}.items() >= {
        "series": True, "cohort_l": True, "waiting_rows": True, "former_rows": True, "k": True
    }.items()  # fmt: skip
    assert said["measures"]["released_rows"] == figures["present"] + figures["former"]
    assert 0 < said["measures"]["gcp"] < 1
    assert not any(secret in text for secret in (KEY, "ANON_KEY", *(one for (one,) in hashes)))


def test_verify_with_the_state_and_without(june):
    written = Path(f"{june}.anon.json")
    stated = json.loads(written.read_text())
    stated["checks"].reverse()  # an order that DuckDB 1.5 does not keep
    written.write_text(json.dumps(stated))
    code, said = verified(june, *with_state(june.parent))
    assert code == 0, said
    for name in ("series", "cohort_l", "waiting_rows", "former_rows"):
        assert f"holds audit: {name}" in said
    assert "holds series: what it promises is as written" in said
    assert "holds series: no value of illness has more than 1 in 2 rows of a class" in said
    code, said = verified(june, "--raw", str(june.parent / "people.csv"))
    assert (code, "unknown the release is one of a series: --series names none" in said) == (
        3,
        True,
    )


def test_verify_finds_what_breaks_the_series(con, june):
    written = Path(f"{june}.anon.json")
    con.execute(f"CREATE TABLE june AS FROM read_csv('{june}', all_varchar = true)")
    con.execute("UPDATE june SET illness = (SELECT min(illness) FROM june) WHERE rowid < 40")
    con.execute(f"COPY june TO '{june}'")
    said = json.loads(written.read_text())
    said["output"]["sha256"] = manifest.digest(june)
    written.write_text(json.dumps(said))
    code, found = verified(june)
    assert code == 1
    assert "no value of illness has more than 1 in 2 rows of a class (one that has)" in found


@pytest.mark.parametrize(
    "cohorts",
    [
        {"l": "(SELECT count(*) FROM read_text('people.csv'))"},
        {"l": 2.5},
        {"release": "1"},
        {"largest_waiting_share": "0.1"},
        [],
        "2",
    ],
    ids=str,
)
def test_a_manifest_whose_series_is_none_is_refused_before_anything_is_asked(june, cohorts):
    written = Path(f"{june}.anon.json")
    said = json.loads(written.read_text())
    own = said["series"]["cohorts"]
    said["series"]["cohorts"] = {**own, **cohorts} if isinstance(cohorts, dict) else cohorts
    written.write_text(json.dumps(said))
    code, found = verified(june)
    assert code == 1
    assert "the manifest must be one of form 1, got one with another series.cohorts" in found


@pytest.mark.parametrize(
    ("key", "file", "says"),
    [
        ("another key 1234", "june.csv", "must be the one that the series began with"),
        (KEY, "plain.csv", "failed: the release is one of a series"),
    ],
)
def test_what_verify_refuses(june, key, file, says):
    plain = ("release", str(june.parent / "people.csv"), str(june.parent / "plain.csv"))
    made = run(
        *plain, "--quasi", "age,city", "--sensitive", "illness", "--keep", "ward",
        "--identifier", "person", "--manifest",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    code, found = verified(june.parent / file, *with_state(june.parent, key))
    assert code == 1
    assert says in found
