"""What the studio writes, and when not: red, amber, a full disk, an engine that is killed."""

import contextlib
import datetime
import json
import os
import re
import resource
import signal
import subprocess
import threading
import time
from html import unescape

import duckdb
import pytest

from anon_sql.hosts.files import digest
from tests.apps.report.pages import printed_pages
from tests.apps.studio.conftest import PEOPLE, ROLES
from tests.apps.studio.visitor import COMMAND, ENVIRONMENT, running, shown_code

pytestmark = pytest.mark.slow

NAMES = {
    "release": "people.released.parquet",
    "recipe": "people.recipe.toml",
    "summary": "people.summary.html",
}
WRITTEN = {*NAMES.values(), "people.released.parquet.anon.json"}


@contextlib.contextmanager
def chosen(folder, **choices):
    """A studio on ``people`` in its own folder, with roles, after some choices."""
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{folder / 'people.parquet'}'")
    with running(folder, "people.parquet") as found:
        found.enter().page("/data/roles")
        for role, columns in ROLES.items():
            found.choose("role", role, columns)
        stated = {"purpose": "A study", "recipient": "A university"}
        for name, value in {"t": "0.5", **stated, **choices}.items():
            found.choose(name, value)
        yield found


def left(folder):
    return {path.name for path in folder.iterdir()} - {"people.parquet"}


def anon(folder, *arguments):
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )


def rows(con, relation):
    return con.execute(f"SELECT * FROM {relation} ORDER BY ALL").fetchall()


def test_what_is_signed_is_made_again_by_all_that_is_shown(tmp_path):
    with chosen(tmp_path, purpose="A study", recipient="A <b>university</b>") as found:
        found.choose("assumptions", "No linking.\nNo list of the persons.")
        assert "have not been checked yet" in found.page("/data/sign")
        assert "must be checked first" in found.page("/write", NAMES)
        found.page("/data/check?run=yes")
        assert left(tmp_path) == set()
        text = found.page("/write", NAMES)
    assert left(tmp_path) == WRITTEN
    for name in WRITTEN:
        assert name in text
    released, recipe = tmp_path / NAMES["release"], tmp_path / NAMES["recipe"]
    assert digest(released) in text
    written = json.loads((tmp_path / "people.released.parquet.anon.json").read_text())
    assert written["recipe"] == {"sha256": digest(recipe)}
    assert written["statement"]["assumptions"] == ["No linking.", "No list of the persons."]
    assert str(tmp_path) not in recipe.read_text()
    summary = (tmp_path / NAMES["summary"]).read_text("utf-8")
    assert "A &lt;b&gt;university&lt;/b&gt;" in summary
    assert digest(released) in summary
    assert digest(recipe) in summary
    check, options = shown_code(text)[-2:]
    assert anon(tmp_path, *check.split()[1:]).returncode == 0
    signed = digest(released)
    released.unlink()
    (tmp_path / "people.released.parquet.anon.json").unlink()
    done = anon(tmp_path, *options.split()[1:])
    assert done.returncode == 0, done.stderr
    assert digest(released) == signed


@pytest.mark.slow
def test_the_signed_summary_is_one_page_of_a4(tmp_path):
    long = "Words of a steward who has much to say about all of this. " * 6
    with chosen(tmp_path, purpose=long, recipient=long, assumptions="\n".join([long] * 5)) as found:
        found.choose("read", False, ["age"])
        found.choose("environment", "public")
        found.page("/data/check?run=yes")
        compared = unescape(found.page("/data/compare?run=yes"))
        for rule in ("roles", "choice", "gcp", "query_error", "columns", "l_alone", "inferred"):
            found.choose(f"accepted:{rule}", long)
        assert "✓ Written" in found.page("/write", NAMES)
    text = (tmp_path / NAMES["summary"]).read_text("utf-8")
    why = re.search(r"<p>(\d+ is the l(?:argest k|east)[^<]*)</p>", compared)[1]
    assert f"<dd>{why}" in unescape(text)
    first = tmp_path / "first.html"
    first.write_text(text[: text.index('<div class="annex">')] + "</body></html>", "utf-8")
    assert printed_pages(first, tmp_path) == 1
    assert printed_pages(tmp_path / NAMES["summary"], tmp_path) > 1  # the annex begins on another


def test_for_whom_and_until_when(tmp_path):
    day = datetime.date.today()
    with chosen(tmp_path, environment="secure", review_by=str(day)) as found:
        found.page("/data/check?run=yes")
        found.choose("accepted:roles", "They were read.")
        assert "“Review by” must be a date after today" in unescape(found.page("/write", NAMES))
        assert left(tmp_path) == set()
        found.choose("review_by", str(day.replace(year=day.year + 1, day=1)))
        found.choose("review", "the register\n\nnew releases")
        assert "✓ Written" in found.page("/write", NAMES)
    stated = json.loads((tmp_path / f"{NAMES['release']}.anon.json").read_text())["statement"]
    assert (stated["recipient"], stated["environment"]) == ("A university", "secure")
    assert stated["review"] == ["the register", "new releases"]
    assert stated["review_by"] > str(day)


def test_red_writes_nothing_and_nor_does_amber_without_a_sentence(tmp_path):
    with chosen(tmp_path, k=300) as found:
        assert "✗ Red" in found.page("/data/check?run=yes")
        assert "The verdict is red, so this release cannot be signed." in found.page("/data/sign")
        assert "Not released, because the verdict is red" in found.page("/write", NAMES)
        for rule in ("gcp", "query_error", "columns", "audit", "roles", "suppression"):
            found.choose(f"accepted:{rule}", "I want it.")
        assert "Not released, because the verdict is red" in found.page("/write", NAMES)
        assert left(tmp_path) == set()
        found.choose("k", 5)
        found.choose("read", False, ["age"])
        assert "! Amber" in found.page("/data/check?run=yes")
        found.choose("accepted:roles", "  ")
        assert "has no sentence for roles" in found.page("/write", NAMES)
        assert left(tmp_path) == set()
        found.choose("accepted:roles", "Read by two of us.")
        assert "✓ Written" in found.page("/write", NAMES)
    assert left(tmp_path) == WRITTEN
    assert 'roles = "Read by two of us."' in (tmp_path / NAMES["recipe"]).read_text()


def test_a_checked_release_is_not_signed_after_another_choice(tmp_path):
    with chosen(tmp_path) as found:
        found.page("/data/check?run=yes")
        found.choose("k", 6)
        assert "must be checked first" in found.page("/write", NAMES)
    assert left(tmp_path) == set()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"release": "../out.parquet"}, "plain name"),
        ({"release": "/tmp/out.parquet"}, "plain name"),
        ({"release": ".hidden.parquet"}, "plain name"),
        ({"release": "people.parquet"}, "must be new"),
        ({"release": "people.parquet", "overwrite": True}, "different file from the file"),
        ({"release": "out.exe"}, "must end in"),
        ({"recipe": "recipe.parquet"}, "must end in .toml"),
        ({"summary": ""}, "plain name"),
    ],
)
def test_names_of_files_that_cannot_be(checked, changed, said):
    before = digest(checked.folder / "people.parquet")
    assert said in checked.page("/write", {**NAMES, **changed})
    assert left(checked.folder) == set()
    assert digest(checked.folder / "people.parquet") == before


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    with chosen(tmp_path_factory.mktemp("checked")) as found:
        found.page("/data/check?run=yes")
        yield found


def test_nothing_is_overwritten_unasked(tmp_path):
    with chosen(tmp_path) as found:
        found.page("/data/check?run=yes")
        for name in WRITTEN:
            (tmp_path / name).write_text("old")
            assert "which exists" in found.page("/write", NAMES)
            assert (tmp_path / name).read_text() == "old"
            assert left(tmp_path) == {name}
            (tmp_path / name).unlink()
        (tmp_path / NAMES["summary"]).write_text("old")
        assert "✓ Written" in found.page("/write", {**NAMES, "overwrite": True})
        assert (tmp_path / NAMES["summary"]).read_text() != "old"


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs prlimit")
@pytest.mark.parametrize("size", [100, 3000])
def test_a_full_disk_leaves_no_file(tmp_path, size):
    """No file of the engine can be larger: not the recipe, or not the release."""
    with chosen(tmp_path) as found:
        found.page("/data/check?run=yes")
        (engine,) = engines(found)
        resource.prlimit(engine, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        text = found.page("/write", NAMES)
        assert 'role="alert"' in text
        assert left(tmp_path) == set()
        resource.prlimit(engine, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        assert "✓ Written" in found.page("/write", NAMES)
    assert left(tmp_path) == WRITTEN


def test_a_summary_that_cannot_be_written_takes_the_release_with_it(tmp_path, monkeypatch):
    from anon_sql.apps.report import rendering
    from anon_sql.apps.studio.bench import Bench

    def full(said):
        raise OSError(28, "No space left on device")

    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{tmp_path / 'people.parquet'}'")
    spilled = tmp_path.parent / f"{tmp_path.name}-spilled"
    spilled.mkdir()
    bench = Bench({"path": str(tmp_path / "people.parquet"), "start": str(tmp_path)}, spilled)
    bench.table()
    tables = bench.roles()["tables"]
    tables["roles"] = {"keep": [], "exclude": [], **ROLES, "confirmed": True}
    tables["release"]["t"] = 0.5
    tables["statement"] |= {"purpose": "A study", "recipient": "A university"}
    bench.check(tables)
    with monkeypatch.context() as patched:
        patched.setattr(rendering, "of_summary", full)
        with pytest.raises(OSError, match="No space"):
            bench.sign(tables, NAMES, False)
    assert left(tmp_path) == set()
    assert set(bench.sign(tables, NAMES, False)["written"]) == WRITTEN


def engines(studio):
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(studio.process.pid)], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return [int(each) for each in found.stdout.split()]


def test_an_engine_that_is_killed_is_replaced_and_the_choices_stay(tmp_path):
    with chosen(tmp_path, k=8, purpose="A study") as found:
        found.choose("method", "k_member")
        answers = []
        asking = threading.Thread(target=lambda: answers.append(found.page("/data/check?run=yes")))
        asking.start()
        until(lambda: json.loads(found.page("/data/progress")).get("call") == "check")
        (engine,) = engines(found)
        os.kill(engine, signal.SIGKILL)
        asking.join()
        assert "The engine has ended" in answers[0]
        assert "Your choices are kept" in answers[0]
        choice = found.choose("method", "anonymize")
        again = found.page("/data/preview?run=yes")
        assert f'data-choice="{choice}" data-k="8"' in again
        assert engines(found) != [engine]
        assert 'value="A study"' in found.page("/data/sign")
    assert left(tmp_path) == set()


def until(holds):
    for _ in range(600):
        if holds():
            return
        time.sleep(0.05)
    pytest.fail("it never did")


MANY = (
    "SELECT i * 7919 % 9973 AS a, i * 104729 % 997 AS b, i * 31 % 101 AS c, i * 17 % 89 AS d, "
    "'v' || i % 7 AS illness FROM range(60000) AS made(i)"
)


def test_a_stop_ends_a_release_soon_and_the_next_call_works(tmp_path):
    duckdb.connect().execute(f"COPY ({MANY}) TO '{tmp_path / 'many.parquet'}'")
    with running(tmp_path, "many.parquet") as found:
        found.enter().page("/data/roles")
        found.choose("role", "quasi", ["a", "b", "c", "d"])
        found.choose("role", "sensitive", ["illness"])
        found.page("/data/preview?run=yes")  # kernels are compiled
        (engine,) = engines(found)
        found.choose("k", 3)
        answers = []
        asking = threading.Thread(target=lambda: answers.append(found.page("/data/check?run=yes")))
        asking.start()
        until(lambda: json.loads(found.page("/data/progress")).get("of"))
        now = json.loads(found.page("/data/progress"))
        assert now["call"] == "check"
        found.page("/stop", {"number": now["number"] + 1000})  # another call is not there
        assert json.loads(found.page("/data/progress")).get("number") == now["number"]
        started = time.monotonic()
        found.page("/stop", {"number": now["number"]})
        asking.join()
        assert time.monotonic() - started < 5
        assert "Stopped. Nothing was released." in answers[0]
        assert json.loads(found.page("/data/progress")) == {}
        assert "data-choice" in found.page("/data/preview?run=yes")
        assert engines(found) == [engine]
    assert {path.name for path in tmp_path.iterdir()} == {"many.parquet"}
