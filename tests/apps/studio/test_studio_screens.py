"""What the screens show: figures that are SQL's, no value of the data, and only the last choice."""

import json
import re
import threading
from html import unescape

import duckdb
import pytest

import anon_sql
from anon_sql.apps.verdict.recommended import recommend
from tests.apps.studio.conftest import ROLES
from tests.apps.studio.visitor import check_figures, figures, released_by, running

pytestmark = pytest.mark.slow

SCREENS = ("table", "roles", "protect", "check", "sign")


@pytest.fixture(scope="module")
def fresh(people):
    """A connection with the raw table, as somebody has it who runs what is shown."""
    con = anon_sql.connect()
    con.execute(f"CREATE VIEW raw AS FROM '{people / 'people.parquet'}'")
    yield con
    con.close()


def test_figures_of_roles_are_those_of_sql(studio, fresh):
    check_figures(fresh, studio.page("/data/table"), 1)
    check_figures(fresh, studio.page("/data/roles"), 15)
    check_figures(fresh, studio.page("/data/risk"), 2)


def test_figures_of_the_preview_are_those_of_sql(studio, fresh):
    studio.choose("k", 7)
    studio.choose("t", "0.4")
    preview = studio.page("/data/preview?run=yes")
    fresh.execute("CREATE OR REPLACE TABLE released AS " + released_by(preview)[25:])
    assert "effort := 'fast'" in released_by(preview)
    check_figures(fresh, preview, 20)
    check_figures(fresh, studio.page("/data/attacks"), 8)


def test_the_recommended_k_is_that_of_the_verdict_whatever_k_is_chosen(studio, fresh):
    studio.choose("k", 7)
    page = studio.page("/data/compare?run=yes")
    check_figures(fresh, page, 6 * 5, every=3)  # each makes all six releases
    recipe = {name: [] for name in ("identifiers", "keep")} | {"hierarchy": None, "t": 0.4}
    roles = {"quasi": ROLES["quasi"], "sensitive": ROLES["sensitive"]}
    studio.choose("t", "0.4")
    page = studio.page("/data/compare?run=yes")
    found = recommend(fresh, {**recipe, **roles})
    assert f'<p class="big">{found.k}</p>' in page
    assert found.why in unescape(page)
    studio.choose("k", 8)
    assert found.why in unescape(studio.page("/data/compare"))
    studio.choose("environment", "public")
    assert "Recommend k</button>" in studio.page("/data/compare")
    public = recommend(fresh, {**recipe, **roles}, environment="public")
    assert public.why in unescape(studio.page("/data/compare?run=yes"))
    studio.choose("environment", "contract")


def test_figures_of_the_check_are_those_of_sql(studio, fresh):
    studio.choose("k", 5)
    studio.choose("t", "0.5")
    page = studio.page("/data/check?run=yes")
    fresh.execute("CREATE OR REPLACE TABLE released AS " + released_by(page)[25:])
    assert "effort := 'good'" in released_by(page)
    for part in ("Audit", "Attacks", "Distributions", "Verdict"):
        assert f'aria-label="{part}"' in page
    for criterion in ("Isolation", "Linkage", "Inference"):
        assert f"<h3>{criterion}</h3>" in page
    assert page.count("No control was given, so no limit applies") == 3
    check_figures(fresh, page, 60)
    studio.choose("k", 300)
    page = studio.page("/data/check?run=yes")
    fresh.execute("CREATE OR REPLACE TABLE released AS " + released_by(page)[25:])
    assert "Red: do not release this" in page
    check_figures(fresh, page, 50)
    check_figures(fresh, studio.page("/data/sign"), 1)
    answer = studio.page("/ask", {"question": "SELECT count(*) FROM raw WHERE age > 40"})
    check_figures(fresh, answer, 3)


@pytest.mark.parametrize(
    "question",
    ["SELECT 1", "DROP TABLE raw", "FROM read_csv('/etc/passwd')", "SELECT name FROM raw", "", "'"],
)
def test_questions_that_are_none(studio, question):
    studio.page("/data/check?run=yes")
    text = studio.page("/ask", {"question": question})
    assert "data-control" in text
    assert figures(text) == []


def test_a_choice_names_itself_and_so_does_what_is_shown_of_it(studio):
    first = studio.choose("k", 9)
    assert f'data-choice="{first}"' in studio.page("/data/preview?run=yes")
    second = studio.choose("k", 10)
    assert first != second
    assert f'data-choice="{second}"' in studio.page("/data/preview?run=yes")
    assert studio.choose("k", 9) == first


@pytest.mark.parametrize(
    ("name", "value", "columns"),
    [
        ("role", "boss", ["age"]), ("role", "quasi", ["unknown"]), ("nothing", 1, []),
        ("method", "no_method", []), ("environment", "friends", []), ("k", "many", []),
        ("accepted:nothing", "x", []), ("hierarchy", True, ["age"]),
    ],
)  # fmt: skip
def test_choices_that_cannot_be(studio, name, value, columns):
    before = studio.choose("k", 6)
    status, _, text = studio.ask("/choice", {"name": name, "value": value, "columns": columns})
    assert status == 422
    said = json.loads(text)["error"]
    assert re.fullmatch("([A-Z“[]|k ).+", said)
    assert not re.search("studio:|release:|--|:=", said)
    assert studio.choose("k", 6) == before


def test_what_cannot_be_released_is_said_beside_its_control(studio):
    studio.choose("k", 5000)
    text = studio.page("/data/preview?run=yes")
    assert 'role="alert" data-control="k"' in text
    assert "✗ k must be at most" in text
    studio.choose("k", 5)
    assert 'role="alert"' not in studio.page("/data/preview?run=yes")


def test_of_many_choices_in_a_second_the_last_is_shown(studio):
    answers = {}

    def ask(k):
        answers[k] = studio.page("/data/preview?run=yes")

    threads, choice = [], ""
    for k in range(20, 30):
        choice = studio.choose("k", k)
        threads.append(threading.Thread(target=ask, args=(k,)))
        threads[-1].start()
    for each in threads:
        each.join()
    last = [text for text in answers.values() if f'data-choice="{choice}" data-k="29"' in text]
    assert last  # of k = 29, or of an earlier one that was asked for later
    assert figures(last[0])
    for k, text in answers.items():
        shown = 'data-k="' in text
        assert shown or "Stopped. Nothing was released." in text, k


def test_screens_without_a_quasi_identifier(studio, fresh):
    studio.choose("role", "keep", ROLES["quasi"])
    try:
        assert "so there is no release" in studio.page("/data/check?run=yes")
        assert "No column is a quasi-identifier, so there is no release." in studio.page(
            "/data/preview?run=yes"
        )
        risk = studio.page("/data/risk")
        assert "nothing to make coarser" in risk
        assert "2 suggested quasi-identifiers can pick out the row" in risk
        check_figures(fresh, risk, 2)
        assert 'data-key="r"' not in studio.page("/data/check")
    finally:
        studio.choose("role", "quasi", ROLES["quasi"])


QUICKLY = """
from anon_sql.apps.studio import server
server.SLOW = 0
from anon_sql.apps.main import main
main()
"""


def test_a_slow_preview_waits_for_a_click(people):
    with running(people, "people.parquet", code=QUICKLY) as found:
        found.enter().page("/data/roles")
        for role, columns in ROLES.items():
            found.choose("role", role, columns)
        assert figures(found.page("/data/preview"))
        found.choose("k", 6)
        text = found.page("/data/preview")
        assert "starts only when you ask for it" in text
        assert figures(text) == []
        assert "Figures come with the preview." in found.page("/data/attacks")
        assert figures(found.page("/data/preview?run=yes"))
        assert figures(found.page("/data/attacks"))


MARKED = (
    "SELECT 'NAME' || hash(i) AS name, 'TOWN' || hash(i + 7) AS town, "
    "'ILL' || hash(i // 2 + 9) AS illness, 1900003 + i * 10 AS code FROM range(600) AS made(i)"
)


def test_no_value_is_shown_before_a_confirmed_click(tmp_path):
    con = duckdb.connect()
    con.execute(f"COPY ({MARKED}) TO '{tmp_path / 'marked.parquet'}'")
    rows = con.execute(f"SELECT name, town, illness, code::VARCHAR FROM ({MARKED})").fetchall()
    marks = {value for row in rows for value in row}
    with running(tmp_path, "marked.parquet") as found:
        found.enter()
        texts = [found.page(f"/{name}") for name in SCREENS]
        texts += [found.page(f"/data/{part}") for part in ("table", "roles")]
        found.choose("role", "identifier", ["name"])
        found.choose("role", "quasi", ["town", "code"])
        found.choose("role", "sensitive", ["illness"])
        parts = ["risk", "controls", "preview?run=yes", "attacks", "compare?run=yes"]
        parts += ["check?run=yes", "sign", "verdict", "progress"]
        texts += [found.page(f"/data/{part}") for part in parts]
        texts.append(found.ask("/choice", {"name": "k", "value": "x"})[2])
        found.choose("k", 5000)
        texts += [found.page(f"/data/{part}") for part in ("preview?run=yes", "check?run=yes")]
        found.choose("k", 5)
        found.page("/save", {"recipe": "marked.recipe.toml"})
        texts.append((tmp_path / "marked.recipe.toml").read_text())
        for text in texts:
            assert not [mark for mark in marks if mark in text]
        raw = found.page("/data/rows?table=raw&confirmed=yes")
        assert rows[0][1] in raw
        assert rows[0][0] not in raw
        assert raw.count("•••") == 20
        assert rows[0][0] in found.page("/data/rows?table=raw&confirmed=yes&clear=yes")
        assert rows[20][1] in found.page("/data/rows?table=raw&confirmed=yes&offset=20")


HOSTILE = [
    '<img src=x onerror="alert(1)">',
    'a"b',
    "it's",
    "x; DROP TABLE raw",
    "{{ 7 * 7 }}",
    "ä" * 200,
]


def test_hostile_names(tmp_path):
    columns = ", ".join(
        f'(i * {n + 7}) % 5 AS "{name.replace(chr(34), chr(34) * 2)}"'
        for n, name in enumerate(HOSTILE)
    )
    file = tmp_path / "<b>people.parquet"
    con = duckdb.connect()
    con.execute(f"COPY (SELECT {columns} FROM range(300) AS made(i)) TO $1", [str(file)])
    with running(tmp_path, file.name) as found:
        found.enter().page("/data/roles")
        found.choose("role", "quasi", HOSTILE[:4])
        found.choose("role", "sensitive", HOSTILE[4:])
        for part in (
            "table",
            "roles",
            "risk",
            "controls",
            "preview?run=yes",
            "check?run=yes",
            "sign",
        ):
            text = found.page(f"/data/{part}")
            assert "<img" not in text
            assert "<b>people" not in text
            assert 'role="alert"' not in text, text
            bare = re.sub(r'data-choice="[0-9a-f]+"', "", text)  # a digest may hold any digits
            assert "49" not in bare or "7 * 7" in bare
        fresh = anon_sql.connect()
        fresh.execute(f"CREATE VIEW raw AS FROM '{file}'")
        page = found.page("/data/check")
        fresh.execute(released_by(page))
        check_figures(fresh, page, 40)


def test_a_role_of_rows_that_were_not_in_view_is_not_confirmed(people):
    with running(people, "people.parquet") as studio:
        studio.enter()
        studio.page("/data/roles")
        studio.choose("role", "exclude", ["cost", "age"])
        assert "3 of 5 roles are not confirmed yet." in studio.page("/data/roles")
        studio.choose("unseen_role", "keep", ["age", "height"])
        text = studio.page("/data/roles")
        assert "4 of 5 roles are not confirmed yet." in text
        assert 'data-column="height" data-role="keep"' in text
