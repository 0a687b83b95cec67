"""For whom a release is anonymous, and when that is looked at again: recipe, manifest, verify."""

import datetime
import json

import duckdb
import pytest

import anon_sql
from anon_sql.errors import AnonError
from anon_sql.hosts import recipes, statements
from anon_sql.hosts.statements import require_review_ahead
from tests.command import refused, run

RAW = "SELECT 20 + i % 40 AS age, 'v' || i % 4 AS illness FROM range(400) AS made(i)"
WHOM = """
[anonymous_for]
recipient = "The team of the diabetes study."
environment = "secure"
assumptions = ["Has the register of residents."]
"""
REVIEW = """
[statement]
purpose = "A study."
review_by = {}
review = ["the register of residents", "new releases"]
"""
AHEAD = datetime.date.today() + datetime.timedelta(days=400)
PAST = datetime.date.today() - datetime.timedelta(days=1)
DUE = "review_by must be a date after today, got one that has come; look again at what is to be "
DUE += "reviewed, and state the next date"


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Return a folder with a table and the text of its recipe up to [statement]."""
    folder = tmp_path_factory.mktemp("begun")
    duckdb.connect().execute(f"COPY ({RAW}) TO '{folder / 'people.csv'}'")
    result = run("roles", folder / "people.csv", "--recipe", folder / "r.toml")
    assert result.exit_code == 0, result.output
    return folder, (folder / "r.toml").read_text()


@pytest.fixture
def recipe(begun):
    """Return a function that writes a recipe with other tables of words."""
    folder, text = begun
    before = text[: text.index("[statement]")].replace("confirmed = false", "confirmed = true")

    def write(*tables):
        (folder / "changed.toml").write_text(before + "\n".join(tables))
        return folder / "changed.toml"

    return write


def test_a_new_recipe_asks_for_whom_and_until_when(begun):
    _, text = begun
    assert '[statement]\npurpose = ""\nreview_by = ""\nreview = []\n' in text
    assert '[anonymous_for]\nrecipient = ""\nenvironment = "contract"\nassumptions = []\n' in text


@pytest.mark.parametrize("written", [AHEAD.isoformat(), f'"{AHEAD}"'])
def test_recipe_manifest_and_verify(recipe, written):
    path = recipe(REVIEW.format(written), WHOM)
    out = path.with_name("safe.parquet")
    assert recipes.read_recipe("release", path).environment == "secure"
    result = run("release", path, out, "--overwrite")
    assert result.exit_code == 0, result.output
    stated = json.loads(out.with_name("safe.parquet.anon.json").read_text())["statement"]
    assert stated == {
        "purpose": "A study.",
        "recipient": "The team of the diabetes study.",
        "environment": "secure",
        "assumptions": ["Has the register of residents."],
        "review_by": AHEAD.isoformat(),
        "review": ["the register of residents", "new releases"],
    }
    verified = run("verify", out, "--recipe", path)
    assert verified.exit_code == 0, verified.output
    line = f"holds    the review is not due (by {AHEAD}: the register of residents; new releases)"
    assert any(each.startswith(line.partition(" (")[0]) for each in verified.stdout.splitlines())


def test_verify_notes_a_review_that_is_due_and_does_not_fail(recipe, monkeypatch):
    path = recipe(REVIEW.format(AHEAD), WHOM)
    out = path.with_name("later.parquet")
    assert run("release", path, out).exit_code == 0
    monkeypatch.setattr(statements, "today", lambda: AHEAD)
    result = run("verify", out, "--recipe", path)
    assert result.exit_code == 0, result.output
    (line,) = [each for each in result.stdout.splitlines() if "review" in each]
    assert line.startswith("noted ")
    assert f"due since {AHEAD}: the register of residents; new releases" in line


def test_no_path_releases_what_is_due(recipe):
    path = recipe(REVIEW.format(PAST), WHOM)
    out = path.with_name("due.parquet")
    assert refused("release", path, out) == f"release: {DUE}"
    with anon_sql.connect() as con:
        with pytest.raises(AnonError, match="must be a date after today"):
            anon_sql.recipe(con, path)
        with pytest.raises(duckdb.Error, match="must be a date after today"):
            con.execute("FROM anonymize_recipe(?)", [str(path)])
    options = ("--quasi", "age", "--sensitive", "illness", "--manifest", "--review-by", PAST)
    said = refused("release", path.with_name("people.csv"), out, *options)
    assert said == f"release: {DUE.replace('review_by', '--review-by', 1)}"
    assert not out.exists()


def test_a_day_is_due_when_it_comes(monkeypatch):
    monkeypatch.setattr(statements, "today", lambda: datetime.date(2027, 1, 31))
    require_review_ahead("release", {"review_by": "2027-02-01"})
    require_review_ahead("release", {})
    with pytest.raises(AnonError):
        require_review_ahead("release", {"review_by": "2027-01-31"})


@pytest.mark.parametrize(
    ("tables", "error"),
    [
        (['[anonymous_for]\nwhom = "x"'], "[anonymous_for] must have known keys only, got 'whom'"),
        (['anonymous_for = "x"\n'], "[anonymous_for] of the recipe must be a table"),
        (
            ['[statement]\nrecipient = "x"', '[anonymous_for]\nrecipient = "y"'],
            "recipient must stand in [anonymous_for] alone, got two entries",
        ),
        (
            ['[anonymous_for]\nenvironment = "home"'],
            "environment must be public, contract or secure, got 'home'",
        ),
        (["[anonymous_for]\nrecipient = 1"], "recipient in [statement] has another type, got int"),
        (
            ['[statement]\nreview_by = "soon"'],
            "review_by must be a date, such as 2027-01-31, got another text",
        ),
        (
            ["[statement]\nreview_by = 2027-01-31T10:00:00"],
            "review_by must be a date, such as 2027-01-31, got another text",
        ),
    ],
)
def test_what_a_recipe_must_not_say(recipe, tables, error):
    path = recipe(*tables)
    if tables[0].startswith("anonymous_for"):
        path.write_text(tables[0] + path.read_text().replace(tables[0], ""))
    said = refused("release", path, path.with_name("no.parquet"))
    assert said.startswith(f"release: {error}")


def test_the_options_of_the_command(recipe):
    raw = recipe().with_name("people.csv")
    out = raw.with_name("stated.parquet")
    options = ("--quasi", "age", "--sensitive", "illness", "--manifest", "--recipient", "A team.")
    more = ("--environment", "public", "--review-by", AHEAD, "--review", "the register")
    result = run("release", raw, out, *options, *more)
    assert result.exit_code == 0, result.output
    stated = json.loads(out.with_name("stated.parquet.anon.json").read_text())["statement"]
    assert (stated["environment"], stated["review_by"]) == ("public", AHEAD.isoformat())
    assert (stated["recipient"], stated["review"]) == ("A team.", ["the register"])
    said = refused("release", raw, out, "--overwrite", *options, "--environment", "home")
    assert "--environment must be public, contract or secure, got 'home'" in said


def test_a_manifest_in_sql(con):
    con.execute(f"CREATE TABLE raw AS {RAW}")
    con.execute(
        "CREATE TABLE released AS FROM anonymize('raw', k := 5, quasi := 'age', keep := '*')"
    )
    stated = con.execute(
        "SELECT statement FROM anon_manifest('raw', 'released', k := 5, quasi := 'age', "
        "recipient := 'x', environment := 'contract', review_by := DATE '2027-01-31', "
        "review := ['y'])"
    ).fetchall()[0][0]
    assert stated == {
        "purpose": None,
        "recipient": "x",
        "environment": "contract",
        "assumptions": [],
        "review_by": "2027-01-31",
        "review": ["y"],
    }
