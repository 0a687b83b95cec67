"""A transparent release by the studio: the choice, its key, and the files that are signed."""

import re
from html import unescape

import duckdb
import pytest

import anon_sql
from anon_sql.apps.studio import pages
from anon_sql.apps.studio.session import Session
from anon_sql.core.common_parameters import Transparent
from anon_sql.core.parameters import parameters_of
from anon_sql.errors import AnonError
from anon_sql.hosts import recipes
from tests.apps.studio import test_studio_snippets as snippets
from tests.apps.studio.conftest import PEOPLE, ROLES
from tests.apps.studio.test_studio_signing import rows
from tests.apps.studio.visitor import ENVIRONMENT, released_by, running

KEY = "a secret of the owner"
LACKS = (
    "A limit needs a secret key: set the environment variable ANON_KEY to at least 16 random bytes, "
    "and start the studio again."
)
FIGURE = {"value": 9, "sql": "SELECT 9"}


@pytest.fixture
def key(monkeypatch):
    """The key, in the environment of this process and of those that are shown to be run."""
    monkeypatch.setenv("ANON_KEY", KEY)
    monkeypatch.setitem(ENVIRONMENT, "ANON_KEY", KEY)


@pytest.fixture
def without_key(monkeypatch):
    monkeypatch.delenv("ANON_KEY", raising=False)
    monkeypatch.delitem(ENVIRONMENT, "ANON_KEY", raising=False)


def opened(tmp_path, **release):
    """A session on a table whose recipe has some keys of its release."""
    columns = {"age": "INTEGER", "height": "INTEGER", "illness": "VARCHAR"}
    methods = [{"name": name, "needs": None, "perturbative": False} for name in ("anonymize",)]
    facts = {"rows": FIGURE, "columns": columns, "methods": methods, "hierarchies": {}}
    tables = {
        "source": {"file": "people.parquet", "schema_sha256": "0"},
        "release": {"method": "anonymize", "k": 5, "l": 2, **release},
        "roles": {"quasi": ["age", "height"], "sensitive": ["illness"]},
        "made": {},
    }
    found = Session(tmp_path)
    found.open({**facts, "tables": tables}, {"columns": []})
    return found


def control(session):
    """The control as it is shown: its tag, and each option with its attributes."""
    page = pages.render("part_controls.html", session=session, facts=session.facts)
    tag, options = re.search(r'(<select id="transparent".*?>)(.*?)</select>', page).groups()
    return tag, dict(re.findall(r'<option value="(\w*)"( \w+)?>', options)), unescape(page)


def test_the_choices_are_those_of_the_parameter(key, tmp_path):
    how = parameters_of(Transparent)["transparent_by"]
    _, options, page = control(opened(tmp_path))
    assert options == {"": " selected", **dict.fromkeys(how.accepts.words, "")}
    assert LACKS not in page


@pytest.mark.parametrize("variable", [None, "", "short"])
def test_without_a_key_the_control_is_disabled_and_says_why(
    without_key, monkeypatch, tmp_path, variable
):
    if variable is not None:
        monkeypatch.setenv("ANON_KEY", variable)
    session = opened(tmp_path)
    tag, options, page = control(session)
    assert tag.endswith(" disabled>")
    assert options == {"": " selected", "groups": " disabled", "size": " disabled"}
    assert LACKS in page
    before = session.recipe
    with pytest.raises(AnonError, match="A limit needs a secret key"):
        session.apply("transparent", "groups")
    assert session.recipe == before


def test_a_recipe_that_is_opened_without_its_key_stays_transparent_until_that_is_changed(
    without_key, tmp_path
):
    session = opened(tmp_path, transparent=True, key="env:OTHER_KEY")
    tag, options, page = control(session)
    assert "disabled" not in tag
    assert options == {"": "", "groups": " selected", "size": " disabled"}
    assert LACKS.replace("ANON_KEY", "OTHER_KEY") in page
    session.apply("transparent", "")
    assert session.recipe["release"] == {
        "method": "anonymize",
        "k": 5,
        "l": 2,
        "key": "env:OTHER_KEY",
    }


def test_the_recipe_carries_the_choice_and_the_key(key, tmp_path):
    session = opened(tmp_path)
    before, plain = session.recipe["release"], session.choice
    session.apply("transparent", "groups")
    by_groups = session.choice
    assert session.recipe["release"] == {**before, "transparent": True, "key": "env:ANON_KEY"}
    session.apply("transparent", "size")
    assert session.recipe["release"]["transparent_by"] == "size"
    assert len({plain, by_groups, session.choice}) == 3  # no answer to one is shown of another
    recipes.write(tmp_path / "r.toml", **session.recipe)
    assert KEY not in (tmp_path / "r.toml").read_text()
    again = recipes.tables("test", tmp_path / "r.toml")
    assert control(opened(tmp_path, **again["release"]))[1]["size"] == " selected"
    session.apply("transparent", "")
    assert (session.recipe["release"], session.choice) == (before, plain)


@pytest.mark.parametrize(("name", "value"), [("transparent", "all"), ("method", "datafly")])
def test_what_cannot_be_is_refused_and_the_release_stays_transparent(key, tmp_path, name, value):
    session = opened(tmp_path, transparent=True, key="env:ANON_KEY")
    before = session.recipe
    with pytest.raises(AnonError):
        session.apply(name, value)
    assert session.recipe == before


def test_a_method_that_recodes_columns_is_not_made_transparent(key, tmp_path):
    session = opened(tmp_path)
    session.apply("method", "datafly")
    with pytest.raises(AnonError, match="needs a method that makes groups of rows"):
        session.apply("transparent", "groups")
    assert "transparent" not in session.recipe["release"]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["groups", "size"])
def test_what_is_signed_is_made_again_by_all_that_is_shown(key, monkeypatch, tmp_path, how):
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{tmp_path / 'people.parquet'}'")
    monkeypatch.setitem(snippets.STATED, "transparent", how)
    shown = snippets.signed(tmp_path, tmp_path / "people.parquet", ".parquet")
    snippets.check(tmp_path, shown, ".parquet", ["SQL", "Python", "dbt"])
    assert not [path for path in tmp_path.iterdir() if KEY.encode() in path.read_bytes()]
    summary = (tmp_path / "s.html").read_text("utf-8")
    assert "the release is not transparent" not in summary
    assert ("the release is transparent" in summary) == (how == "groups")
    assert ("groups tell one number more" in summary) == (how == "size")


@pytest.mark.slow
def test_measures_and_verdict_are_of_the_release_of_sql(key, people):
    with running(people, "people.parquet") as studio:
        studio.enter().page("/data/roles")
        for role, columns in ROLES.items():
            studio.choose("role", role, columns)
        studio.choose("transparent", "groups")
        assert "so your release loses more" in studio.page("/data/compare?run=yes")
        page = studio.page("/data/check?run=yes")
        assert 'role="alert"' not in page
        statement = released_by(page)
        assert "transparent := true" in statement
        assert KEY not in page
        shown = float(re.search(r'value="([^"]+)" data-sql="SELECT gcp ', page)[1])
        studio.choose("entity", "name")
        assert "must go without “A row is about”" in studio.page("/data/preview?run=yes")
    con = anon_sql.connect()
    con.execute(f"CREATE VIEW raw AS FROM '{people / 'people.parquet'}'; {statement}")
    con.execute("CREATE TABLE plain AS " + statement[25:].replace(", transparent := true", ""))
    assert rows(con, "released") != rows(con, "plain")
    asked = f"quasi := {ROLES['quasi']}"
    ((gcp, most),) = con.execute(
        f"SELECT gcp('raw', 'released', {asked}), "
        f"max_share('raw', 'released', {asked}, sensitive := {ROLES['sensitive']})"
    ).fetchall()
    assert (gcp, most <= 0.5) == (shown, True)


@pytest.mark.slow
def test_an_engine_without_the_key_releases_nothing(without_key, people, tmp_path):
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{tmp_path / 'people.parquet'}'")
    with running(tmp_path, "people.parquet", ANON_KEY=KEY) as studio:
        studio.enter().page("/data/roles")
        for role, columns in ROLES.items():
            studio.choose("role", role, columns)
        studio.choose("transparent", "groups")
        studio.page("/save", {"recipe": "people.recipe.toml"})
    with running(tmp_path, "people.recipe.toml") as studio:
        studio.enter()
        page = unescape(studio.page("/data/controls"))
        assert LACKS in page
        assert '<option value="groups" selected>' in page
        assert "the secret key names must be set" in studio.page("/data/check?run=yes")
