"""What a series cannot take: the same sentence from SQL, Python, a data frame and the command line."""

import duckdb
import pytest

import anon_sql
from anon_sql import AnonError, frames
from tests.command import run
from tests.sentence import fails
from tests.series.months import KEY, ROLES, make_month, released, step

PYTHON = {"quasi": ["age", "city"], "sensitive": "illness", "keep": "ward", "entity": "person"}


@pytest.fixture
def series(con, tmp_path):
    """The second month of a series, whose state is in the database and in a file."""
    make_month(con, 0, 120)
    step(con, 2)
    con.execute(f"CREATE TABLE may AS FROM {released()}")
    make_month(con, 30, 150)
    return tmp_path / "series.duckdb"


def stored(con, path, state):
    """Write a state to a file."""
    con.execute(f"ATTACH '{path}' AS f; CREATE TABLE f.anon_series AS FROM {state}; DETACH f")


def said_by_all(con, path, state="anon_series", key=KEY, **more):
    """Return the sentence of each host that makes the next state and its release."""
    before = con.execute(f"FROM {state} ORDER BY ALL").fetchall()
    texts = {name: repr(value) for name, value in more.items()}
    given = "".join(f", {name} := {text}" for name, text in texts.items())
    roles = ROLES.replace(KEY, key)
    found = [fails(con, f"FROM series_next('people', '{state}'{given}, {roles})")]
    with pytest.raises(AnonError) as raised:
        anon_sql.release(con, "people", into="june", series=state, **PYTHON, key=key, **more)
    found.append(str(raised.value))
    data, held = con.sql("FROM people").df(), con.sql(f"FROM {state}").to_arrow_table()
    with pytest.raises(AnonError) as raised:
        frames.series_next(data, held, **PYTHON, key=key, **more)
    found.append(str(raised.value))
    stored(con, path, state)
    con.execute(f"COPY people TO '{path.parent}/people.parquet'")
    options = [text for name, value in more.items() for text in (f"--{name}", str(value))]
    result = run(
        "release", path.parent / "people.parquet", path.parent / "june.csv", "--series", path,
        "--series-key", key, "--quasi", "age,city", "--sensitive", "illness", "--keep", "ward",
        "--entity", "person", *options,
    )  # fmt: skip
    assert result.exit_code == 1
    assert not (path.parent / "june.csv").exists()
    assert con.execute(f"FROM {state} ORDER BY ALL").fetchall() == before
    with duckdb.connect(str(path)) as own:
        assert own.execute("FROM anon_series ORDER BY ALL").fetchall() == before
    return [*found, " ".join(result.output.split())]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            "INSERT INTO people SELECT person, age, city, 'other', ward FROM people LIMIT 1",
            "a series needs a table with one row per person, got 1 row more than persons",
        ),
        ("UPDATE people SET person = NULL WHERE person = 33", "must say whose each row is, got"),
        ("UPDATE people SET illness = NULL WHERE person = 33", "must have a sensitive value, got"),
        ("ALTER TABLE people RENAME ward TO room", "keep must name columns of the table"),
        ("ALTER TABLE people ALTER ward TYPE VARCHAR", "got other columns or types: ward"),
        ("ALTER TABLE people ALTER person TYPE VARCHAR", "got other columns or types: person"),
    ],
)
def test_a_table(con, series, change, says):
    con.execute(change)
    found = said_by_all(con, series)
    assert all(says in one.replace("--keep", "keep") for one in found), found
    audit = f"FROM audit('people', 'may', 5, series := 'anon_series', {ROLES})"
    for call in (audit, f"FROM {released()}"):
        assert says in fails(con, call)


def test_another_key_or_l(con, series):
    found = said_by_all(con, series, key="another key 1234")
    rule = "must be the one that the series began with"
    assert [f"{rule}" in one for one in found] == [True] * 4
    assert "--series-key must be the one" in found[3]
    series.unlink()
    found = said_by_all(con, series, l=3)
    assert all(
        "must be that of the series, or left out, got 3 instead of 2" in one for one in found
    )


def changed(head="tuple", tuples="tuple", digests="tuple"):
    """Return a query of the state with another head, other tuples or other digests."""
    return f"""
        SELECT * REPLACE (
            CASE WHEN cohort IS NULL AND person IS NULL THEN {head}
                WHEN person IS NULL THEN {tuples} ELSE {digests} END AS tuple)
        FROM anon_series
    """


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ("SELECT 1 AS cohort", "a table with other columns"),
        (
            changed(head="""replace(tuple, '"series": 2', '"series": 7')"""),
            "one of another version",
        ),
        (changed(head="'x'"), "a damaged first row"),
        (changed(head="""'{"series": 2}'"""), "a damaged first row"),
        (changed(head="""replace(tuple, '"former": 0', '"former": "0"')"""), "a damaged first row"),
        (changed(tuples="'x'"), "damaged rows"),
        (changed(tuples="""'{"illness": "flu"}'"""), "damaged rows"),
        (changed(digests="NULL"), "rows that do not belong together"),
        ("FROM anon_series WHERE cohort IS NOT NULL", "0 rows that begin one"),
    ],
)
def test_a_state(con, series, state, says):
    con.execute(f"CREATE TABLE other AS {state}")
    found = said_by_all(con, series, "other")
    assert all("must be a state that series_next has made, got" in one for one in found)
    assert all(says in one for one in found), found
    calls = (
        "series_status('other')",
        f"series_forget('other', [33], key := '{KEY}')",
        released().replace("'anon_series'", "'other'"),
        f"audit('people', 'may', 5, series := 'other', {ROLES})",
    )
    assert all(says in fails(con, f"FROM {call}") for call in calls)


def test_a_first_l_above_the_values(con, series):
    con.execute("CREATE TABLE none AS FROM anon_series LIMIT 0")
    found = said_by_all(con, series, "none", l=9)
    assert all(
        "must be at most the number of values of illness, got 9 of 5" in one for one in found
    )


def test_nobody_of_the_months_before(con, series):
    """All have left: their cohorts end, and the release shows newcomers alone."""
    con.execute("UPDATE people SET person = person + 1000")
    step(con)
    number, cohorts, present, former, waiting = con.execute(
        "SELECT release, cohorts, present, former, waiting FROM series_status('anon_series') "
        "ORDER BY release DESC LIMIT 1"
    ).fetchall()[0]
    assert (number, former, present + waiting) == (2, 0, 120)
    assert con.execute(f"SELECT count(*) FROM {released()}").fetchall() == [(present,)]
    ids = "SELECT min(cohort) FROM anon_series WHERE cohort > 0"
    assert con.execute(ids).fetchall()[0][0] > cohorts - 10


def test_a_release_beside_the_series_is_not_in_its_bound(con, series):
    """The companions are those of the series; attacks find what another release discloses."""
    step(con)
    con.execute(f"CREATE TABLE june AS FROM {released()}")
    con.execute(
        "CREATE TABLE single AS SELECT age::VARCHAR AS age, city, illness, ward FROM people"
    )
    call = "FROM audit('people', 'june', 5, series := 'anon_series', previous := '{}', {})"
    rows = con.execute(
        "SELECT property, passed, meaning " + call.format("single", ROLES)
    ).fetchall()
    found = {name: (passed, meaning) for name, passed, meaning in rows}
    assert found["cohort_l"][0] is True
    assert "of all releases of the series with persons" in found["cohort_l"][1]
    assert found["intersection"][0] is False
    con.execute(
        "CREATE TABLE means AS FROM anonymize('people', k := 5, quasi := ['age', 'city'], "
        "sensitive := 'illness', keep := 'ward', identifiers := 'person', format := 'mean')"
    )
    assert "got means, medians, midpoints or values of other rows" in fails(
        con, call.format("means", ROLES)
    )
    means = f"FROM audit('people', 'means', 5, series := 'anon_series', {ROLES})"
    passed = dict(con.execute(f"SELECT property, passed {means}").fetchall())
    assert passed["series"] is passed["cohort_l"] is False


def test_options_of_a_series_without_one(con, series):
    con.execute(f"COPY people TO '{series.parent}/people.parquet'")
    (series.parent / "no.duckdb").write_text("no database")
    call = (
        *("release", series.parent / "people.parquet", series.parent / "june.csv"),
        *("--quasi", "age,city", "--sensitive", "illness", "--keep", "ward"),
    )
    for more, says in (
        (("--identifier", "person", "--series-key", KEY), "--series-key must come with --series"),
        (("--identifier", "person", "--leavers", "withdraw"), "--leavers must come with --series"),
        (
            ("--identifier", "person", "--series", series, "--series-key", KEY),
            "a series needs --entity",
        ),
        (
            ("--entity", "person", "--series", series.parent / "no.duckdb"),
            "must be the DuckDB file that holds it, got",
        ),
    ):
        result = run(*call, *more)
        assert result.exit_code == 1
        assert says in result.output
