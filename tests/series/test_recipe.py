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
drop = []
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
            "qids": ["age", "city"],
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


def test_the_key_is_no_parameter_of_the_release(recipe, tmp_path):
    code, text = said("release", recipe(release=f'key = "{KEY}"\n'), tmp_path / "may.csv")
    assert code == 1
    assert "[release] must have known keys only, got 'key'" in text
    assert KEY not in text


def test_a_report_is_refused(recipe, tmp_path):
    assert said("release", recipe(), tmp_path / "may.csv")[0] == 0
    for raw in ("people.csv", "r.toml"):
        page = ("-o", tmp_path / "page.html")
        code, text = said("report", tmp_path / raw, tmp_path / "may.csv", *page)
        assert code == 1
        assert "must not be one of a series, got one" in text or "one without [series]" in text


def test_parts_are_refused(recipe, tmp_path):
    for release, out, got in (("regions = 2\n", "may.csv", "parts"), ("", "may/", "a folder")):
        code, text = said("release", recipe(release=release), f"{tmp_path}/{out}")
        assert code == 1
        assert f"a release of a series must be one file, not made in parts, got {got}" in text


def test_who_cannot_write_the_state_refuses_the_recipe(con, recipe):
    says = "the recipe must be one without .series.; got one of a series|got one of a series"
    with pytest.raises(anon_sql.AnonError, match=says):
        anon_sql.recipe(con, recipe())
    with pytest.raises(duckdb.Error, match=says):
        con.sql(f"FROM anonymize_recipe('{recipe()}')").fetchall()
