"""``*`` releases the columns that have no role, and none that is suggested as an identifier."""

import pytest

import anon_sql
from tests.command import refused, run
from tests.sentence import fails

PEOPLE = (
    "SELECT 20 + i % 40 AS age, ['a', 'b', 'c'][1 + i % 3] AS item, i % 4 AS rating, "
    "'ann' || i || '@example.org' AS contact, 7 * i AS mrn FROM range(240) AS made(i)"
)
SAID = (
    "{}: {} must not release what looks like an identifier, got contact (100% of sampled values "
    "look like an e-mail address), mrn ({}); leave them out by {}, or name them in {} if they may "
    "leave"
)
LEFT = ["age", "item", "rating"]


@pytest.fixture
def people(con):
    con.execute(f"CREATE TABLE people AS {PEOPLE}")
    return con


@pytest.fixture
def reason(people):
    """What ``suggest_roles`` says of the second column."""
    asked = "SELECT reason FROM suggest_roles('people') WHERE column_name = 'mrn'"
    return people.execute(asked).fetchall()[0][0]


def said(reason, function, rest, leave, keep):
    return SAID.format(function, rest, reason, leave, keep)


IN_SQL = "identifiers := ['contact', 'mrn']"
IN_PYTHON = "identifiers=['contact', 'mrn']"


@pytest.mark.quick
@pytest.mark.parametrize(
    "relation",
    [
        "FROM {}('people', {})",
        "WITH other AS (FROM people) FROM {}('other', {})",
        "FROM {}('temporary', {})",
        "FROM {}('seen', {})",
    ],
)
def test_in_sql_on_every_relation(people, reason, relation):
    people.execute("CREATE TEMP TABLE temporary AS FROM people; CREATE VIEW seen AS FROM people")
    call = relation.format("anonymize", "quasi := ['age'], keep := ['*']{}")
    assert fails(people, call.format("")) == said(
        reason, "anonymize", "keep := ['*']", IN_SQL, "keep"
    )
    assert people.sql(call.format(f", {IN_SQL}")).columns == LEFT
    named = call.replace("'*'", "'mrn', 'contact', '*'").format("")
    assert set(people.sql(named).columns) == {*LEFT, "contact", "mrn"}


@pytest.mark.quick
def test_sensitive_columns_are_released_too(people, reason):
    call = "FROM rayden('people', quasi := ['age'], sensitive := ['*'])"
    assert fails(people, call) == said(reason, "rayden", "sensitive := ['*']", IN_SQL, "sensitive")


@pytest.mark.quick
def test_what_leaves_no_column_unchanged_may_have_the_rest(people):
    for role in ("identifiers", "exclude"):
        call = f"FROM anonymize('people', quasi := ['age'], keep := ['item'], {role} := ['*'])"
        assert people.sql(call).columns == ["age", "item"]


@pytest.mark.quick
def test_synthetic_rows(people, reason):
    call = "FROM sdka('people', k := 2, quasi := ['age'], sensitive := 'item', keep := ['*']{})"
    assert fails(people, call.format("")) == said(reason, "sdka", "keep := ['*']", IN_SQL, "keep")
    assert people.sql(call.format(f", {IN_SQL}")).columns == LEFT


@pytest.mark.quick
def test_in_python(people, reason, tmp_path):
    wanted = said(reason, "anonymize", "keep=['*']", IN_PYTHON, "keep")
    for frame in (people.table("people").df(), people.table("people")):
        with pytest.raises(anon_sql.AnonError) as caught:
            anon_sql.anonymize(frame, quasi=["age"], keep=["*"])
        assert str(caught.value) == wanted
        safe = anon_sql.anonymize(frame, quasi=["age"], keep=["*"], identifiers=["mrn", "contact"])
        assert list(safe.columns) == LEFT
    for more in ({}, {"parts": 2}):
        with pytest.raises(anon_sql.AnonError) as caught:
            anon_sql.release(people, "people", into="safe", quasi=["age"], keep=["*"], **more)
        assert str(caught.value) == wanted
    assert not people.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'safe'").fetchall()


@pytest.mark.quick
def test_on_the_command_line(people, reason, tmp_path):
    raw, safe = tmp_path / "people.csv", tmp_path / "safe.csv"
    people.execute(f"COPY people TO '{raw}'")
    for more in ((), ("--parts", 2)):
        call = ("release", raw, safe, "--quasi", "age", "--keep", "*", *more)
        assert refused(*call) == said(
            reason, "anonymize", "--keep '*'", "--identifier contact,mrn", "--keep"
        )
        assert not safe.exists()
    assert run(*call, "--identifier", "contact,mrn").exit_code == 0
    assert safe.read_text().splitlines()[0] == "age,item,rating"


def test_a_series(people, reason, monkeypatch):
    monkeypatch.setenv("ANON_KEY", "0123456789abcdef0123456789abcdef")
    given = "quasi := ['age'], sensitive := 'item', entity := 'mrn', keep := ['*']"
    sentence = (
        "{}: keep := ['*'] must not release what looks like an identifier, got contact (100% of "
        "sampled values look like an e-mail address); leave them out by identifiers := "
        "['contact'], or name them in keep if they may leave"
    )
    made = f"FROM series_next('people', l := 2, {given})"
    assert fails(people, made) == sentence.format("series_next")
    less = given.replace("'*'", "'rating'") + ", identifiers := 'contact'"
    people.execute(f"CREATE TABLE state AS FROM series_next('people', l := 2, {less})")
    released = f"FROM anonymize('people', series := 'state', {given})"
    assert fails(people, released) == sentence.format("anonymize")


def test_linked_tables(people, reason):
    people.execute(
        "CREATE SCHEMA safe; CREATE TABLE person AS SELECT row_number() OVER () AS id, * FROM people"
    )
    roles = {"quasi": ["person.age"], "identifiers": ["person.id"]}
    with pytest.raises(anon_sql.AnonError) as caught:
        anon_sql.release_linked(people, "person", into="safe", keep=["*"], **roles)
    assert "keep=['*'] must not release what looks like an identifier" in str(caught.value)
    assert "identifiers=['person.contact', 'person.mrn']" in str(caught.value)
    call = "'person', k := 5, quasi := ['person.age'], identifiers := ['person.id'], keep := '*'"
    assert "must not release what looks like an identifier" in fails(
        people, f"FROM linked_plan({call})"
    )


@pytest.mark.quick
def test_a_table_without_rows(people):
    people.execute("CREATE TABLE none AS FROM people LIMIT 0")
    call = "FROM anonymize('none', quasi := ['age'], keep := ['item', 'rating', 'contact', 'mrn'])"
    assert people.execute(call).fetchall() == []
    assert anon_sql.anonymize(
        people.table("none").df(), quasi=["age"], keep=["item", "rating", "contact", "mrn"]
    ).empty


@pytest.mark.quick
def test_a_hostile_name(con):
    name = "e-mail', 'x\"; DROP TABLE t"
    quoted = name.replace('"', '""')
    con.execute(
        f"CREATE TABLE t AS SELECT i % 5 AS a, i || '@x.org' AS \"{quoted}\" FROM range(50) r(i)"
    )
    assert "(100% of sampled values look like an e-mail address)" in fails(
        con, "FROM anonymize('t', quasi := ['a'], keep := ['*'])"
    )
    with pytest.raises(anon_sql.AnonError, match="look like an e-mail address"):
        anon_sql.anonymize(con.table("t").df(), quasi=["a"], keep=["*"])
    with pytest.raises(anon_sql.AnonError, match="look like an e-mail address"):
        anon_sql.release(con, "t", into="u", quasi=["a"], keep=["*"], parts=2)


@pytest.mark.quick
def test_no_value_is_in_the_error(people):
    found = fails(people, "FROM anonymize('people', quasi := ['age'], keep := ['*'])")
    assert "example.org" not in found
    assert "ann" not in found.replace("anonymize", "")
