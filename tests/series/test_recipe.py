"""A recipe with [series]: released with a verdict, verified with its state, refused elsewhere."""

import json

import duckdb
import pytest

import anon_sql
from anon_sql.apps.verdict.figures import audit_statement, measure, rows_of
from anon_sql.apps.verdict.rules import RED, verdict
from anon_sql.audit.series import PROPERTIES
from anon_sql.hosts.series_file import SeriesFile
from tests.command import run
from tests.series.months import KEY, make_month

ROLES = """
[roles]
confirmed = true
identifier = ["person"]
quasi = ["age", "city"]
sensitive = ["illness"]
keep = ["ward"]
exclude = []
"""
SERIES = """
[series]
file = "state/series.duckdb"
l = 2
key = "env:SERIES_KEY"

[accepted]
columns = "few columns"
gcp = "few persons"
lifted = "few persons"
distribution = "rows of former persons"
choice = "a test"
inferred = "few persons"
certain = "few persons"
l_alone = "a series bounds the share, too"
"""


@pytest.fixture
def recipe(con, tmp_path, monkeypatch):
    """Return a function that makes a month and returns its recipe."""
    monkeypatch.setenv("SERIES_KEY", KEY)
    (tmp_path / "state").mkdir()

    def write(first=0, end=600, series=SERIES, release=""):
        make_month(con, first, end)
        con.execute(f"COPY people TO '{tmp_path}/people.csv'")
        assert run("roles", tmp_path / "people.csv", "--recipe", tmp_path / "r.toml", "--overwrite")
        text = (tmp_path / "r.toml").read_text()
        before, after = text.index("[release]"), text.index("[statement]")
        asked = f'[release]\nk = 5\nentity = "person"\n{release}{ROLES}\n'
        text = text[:before] + asked + text[after:].replace("[accepted]", "# ", 1) + series
        (tmp_path / "r.toml").write_text(text)
        return tmp_path / "r.toml"

    return write


def said(*arguments):
    result = run(*arguments)
    return result.exit_code, " ".join(result.output.split())


def test_two_months(recipe, tmp_path):
    for out, first, end in (("may.parquet", 0, 600), ("june.csv", 60, 660)):
        path = recipe(first, end)
        code, text = said("release", path, tmp_path / out)
        assert code == 0, text
        made = json.loads((tmp_path / f"{out}.anon.json").read_text())
        assert made["recipe"]
        assert made["series"]["cohorts"]["l"] == 2
        code, text = said("verify", tmp_path / out, "--recipe", path)
        assert code == 0, text
        assert all(f"holds audit: {name}" in text for name in PROPERTIES)
    assert made["series"]["cohorts"]["release"] == 2
    assert made["series"]["cohorts"]["former"] > 0


def test_a_release_that_is_not_signed_leaves_the_state(recipe, tmp_path):
    assert said("release", recipe(), tmp_path / "may.csv")[0] == 0
    opened = SERIES.replace("[accepted]", "[stricter]\ngcp = { red = 0.001 }\n\n[accepted]")
    code, text = said("release", recipe(60, 660, opened), tmp_path / "june.csv")
    assert code == 3, text
    assert not (tmp_path / "june.csv").exists()
    with anon_sql.connect(str(tmp_path / "state" / "series.duckdb"), read_only=True) as con:
        assert con.sql("FROM series_status('anon_series')").aggregate("count(*)").fetchall() == [
            (1,)
        ]


def test_a_property_that_fails_is_red(recipe, tmp_path):
    code, text = said("release", recipe(), tmp_path / "may.csv")
    assert code == 0, text
    with anon_sql.connect() as con:
        con.execute(f"CREATE TABLE raw AS FROM read_csv('{tmp_path}/people.csv')")
        con.execute(
            f"CREATE TABLE released AS SELECT * REPLACE (ward::BOOLEAN AS ward) FROM "
            f"read_csv('{tmp_path}/may.csv', all_varchar = true)"
        )
        SeriesFile(tmp_path / "state" / "series.duckdb").load(con, "verify")
        request = {
            "quasi": ["age", "city"],
            "sensitive": ["illness"],
            "identifiers": ["person"],
            "keep": ["ward"],
            "k": 5,
            "entity": "person",
            "hierarchy": None,
            "series": "anon_series",
            "key": KEY,
        }

        def judged():
            checks = rows_of(con, audit_statement(request))
            return verdict(measure(con, request, checks))

        sound = judged()
        assert sound.level != RED
        gcp = next(f for f in measure(con, request, None).figures if f.name == "gcp")
        assert con.execute(gcp.sql).fetchall() == [(gcp.value,)]
        con.execute("DELETE FROM released WHERE rowid < 5")
        broken = judged()
        assert broken.level == RED
        assert any("“series” fails" in reason.text for reason in broken.reasons)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('file = "state/series.duckdb"', "", "file in [series] must be a path"),
        ("state/", "/state/", "must be relative to the recipe, got an absolute path"),
        ("env:SERIES_KEY", KEY, "must be env: and the name of an environment variable"),
        ("l = 2", "l = 2.5", "l in [series] has another type"),
        ("l = 2", "m = 2", "[series] must have known keys only, got 'm'"),
        ("l = 2", "l = 9", "must be at most the number of values of illness"),
    ],
)
def test_what_is_refused(recipe, tmp_path, old, new, says):
    code, text = said("release", recipe(series=SERIES.replace(old, new)), tmp_path / "may.csv")
    assert code == 1
    assert says in text
    assert KEY not in text
    assert not (tmp_path / "may.csv").exists()


def test_the_key_of_a_series_is_no_parameter_of_its_release(recipe, tmp_path):
    code, text = said("release", recipe(release=f'key = "{KEY}"\n'), tmp_path / "may.csv")
    assert code == 1
    assert "key in [release] must be env:" in text
    assert KEY not in text
    code, text = said("release", recipe(release='key = "env:SERIES_KEY"\n'), tmp_path / "may.csv")
    assert code == 1
    assert "the key of a series must stand in [series]" in text


@pytest.mark.slow
def test_a_report_counts_persons_and_rows_by_hand(recipe, tmp_path):
    assert said("release", recipe(), tmp_path / "may.csv")[0] == 0
    path = recipe(60, 660)
    assert said("release", path, tmp_path / "june.csv")[0] == 0
    state = tmp_path / "state" / "series.duckdb"
    for at, raw in enumerate(("people.csv", "r.toml")):
        given = ("--series", state, "--series-key", KEY) if raw == "people.csv" else ()
        for form in ("json", "html"):
            page = ("-o", tmp_path / f"{at}.{form}", "--format", form)
            code, text = said("report", tmp_path / raw, tmp_path / "june.csv", *page, *given)
            assert code == 0, text
    told = [json.loads((tmp_path / f"{at}.json").read_text()) for at in (0, 1)]
    assert KEY not in json.dumps(told)
    with duckdb.connect(str(state)) as own:
        persons, rows = own.execute(
            "SELECT count(*) FILTER (person IS NOT NULL AND length(tuple) = 32), count(*) FILTER "
            "(person IS NULL AND cohort IS NOT NULL) FROM anon_series"
        ).fetchall()[0]
        released = own.execute(f"SELECT count(*) FROM '{tmp_path}/june.csv'").fetchall()[0][0]
    for each in told:
        found = each["of_series"]
        assert found["raw"] == 600 == found["present"] + found["waiting"] + found["withheld"]
        assert found["released"] == rows == released == found["present"] + found["former"]
        assert persons - found["present"] >= 0 < found["former"]  # those who left stay members
        assert (found["release"], found["l"]) == (2, 2)
        assert (each["utility"]["rows"], each["utility"]["released_rows"]) == (600, rows)
        assert each["utility"]["suppressed"] == 0
        assert set(each["risk"].values()) == {None}
        assert each["risk_levels"] == each["query_errors"] == each["distributions"] == []
        assert {c["property"]: c["passed"] for c in each["checks"]}.items() >= {
            *dict.fromkeys(PROPERTIES, True).items()
        }
    assert told[0]["loss"] == told[1]["loss"]
    made = json.loads((tmp_path / "june.csv.anon.json").read_text())
    assert told[0]["utility"]["gcp"] == made["measures"]["gcp"]
    page = " ".join((tmp_path / "1.html").read_text().split())
    assert f"{found['former']} of former ones" in page
    for sentence in ("Not measured by rows", "are not compared", "a series only moves forward"):
        assert sentence in page


@pytest.mark.slow
def test_a_report_needs_the_state_of_its_release(recipe, tmp_path):
    assert said("release", recipe(), tmp_path / "may.csv")[0] == 0
    page = ("-o", tmp_path / "page.html")
    code, text = said("report", tmp_path / "people.csv", tmp_path / "may.csv", *page)
    assert (code, "on a release of a series needs its state" in text) == (1, True)
    path = recipe(60, 660)
    assert said("release", path, tmp_path / "june.csv")[0] == 0
    given = ("--series", tmp_path / "state" / "series.duckdb", "--series-key", KEY)
    recipe()
    code, text = said("report", tmp_path / "people.csv", tmp_path / "may.csv", *page, *given)
    assert (code, "needs the state of its time" in text) == (1, True)
    plain = ("--quasi", "age,city", "--keep", "ward,illness", "--identifier", "person")
    raw, out = tmp_path / "people.csv", tmp_path / "plain.csv"
    assert said("release", raw, out, *plain, "--manifest")[0] == 0
    code, text = said("report", raw, out, *page, *given)
    assert (code, "must come with a release of a series" in text) == (1, True)
    assert not (tmp_path / "page.html").exists()


def test_parts_are_refused(recipe, tmp_path):
    for release, out, got in (("parts = 2\n", "may.csv", "parts"), ("", "may/", "a folder")):
        code, text = said("release", recipe(release=release), f"{tmp_path}/{out}")
        assert code == 1
        assert f"a release of a series must be one file, not made in parts, got {got}" in text


def counted(tmp_path):
    """Return how many releases the state counts, and how many of its tables there are."""
    with anon_sql.connect(str(tmp_path / "state" / "series.duckdb"), read_only=True) as con:
        ((tables,),) = con.execute("SELECT count(*) FROM duckdb_tables()").fetchall()
        return len(con.sql("FROM series_status('anon_series')").fetchall()), tables


@pytest.mark.slow
def test_python_releases_and_steps_the_state(recipe, tmp_path):
    with anon_sql.connect() as con:
        may = anon_sql.recipe(con, recipe()).fetchall()
        assert counted(tmp_path) == (1, 1)
        opened = SERIES.replace("[accepted]", "[stricter]\ngcp = { red = 0.001 }\n\n[accepted]")
        with pytest.raises(anon_sql.AnonError, match="the verdict is red"):
            anon_sql.recipe(con, recipe(60, 660, opened))
        assert counted(tmp_path) == (1, 1)
        path = recipe(60, 660)
        june = anon_sql.recipe(con, path)
        assert counted(tmp_path) == (2, 1)
        con.execute(f"ATTACH '{tmp_path}/state/series.duckdb' AS own (READ_ONLY)")
        assert (
            june.fetchall()
            == con.execute(
                f"FROM anonymize('{tmp_path}/people.csv', k := 5, series := 'own.anon_series', "
                "quasi := ['age', 'city'], sensitive := 'illness', keep := 'ward', "
                f"identifiers := 'person', entity := 'person', key := '{KEY}')"
            ).fetchall()
        )
        assert 580 < len(may) < 600
        with pytest.raises(anon_sql.AnonError, match="close or detach what else has it open"):
            anon_sql.recipe(con, path)
        con.execute("DETACH own")
        with pytest.raises(anon_sql.AnonError, match="must not be made in parts, got parts"):
            anon_sql.recipe(con, recipe(60, 660, release="parts = 2\n"))
        assert counted(tmp_path) == (2, 1)


def test_a_statement_cannot_step_the_state(con, recipe):
    says = "the recipe must be one without .series.; got one of a series|got one of a series"
    with pytest.raises(duckdb.Error, match=says) as raised:
        con.sql(f"FROM anonymize_recipe('{recipe()}')").fetchall()
    assert "anon-sql release, and anon_sql.recipe in Python" in str(raised.value)
