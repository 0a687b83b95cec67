"""ledger_entry and anon_sql.ledger: what a ledger holds of a release, and what not."""

import json

import pytest

import anon_sql
from anon_sql import AnonError
from tests.ledger.released import KEY, enter
from tests.sentence import fails

MANIFEST = (
    "(SELECT to_json(m) FROM anon_manifest('people', 'r', 'rayden', k := 5, "
    "entity := 'person_id') AS m)"
)


@pytest.fixture
def released(people):
    people.execute("CREATE TABLE r AS FROM rayden('people', k := 5, entity := 'person_id')")
    anon_sql.ledger(people)
    people.execute(
        "INSERT INTO anon_ledger FROM ledger_entry('people', 'r', 'May', entity := 'PERSON_ID', "
        f"manifest := {MANIFEST}, key := $key)",
        {"key": KEY},
    )
    return people


def test_an_entry(released):
    (entry,) = released.execute("SELECT * EXCLUDE (person_hashes) FROM anon_ledger").fetchall()
    name, at, _, manifest, entity, entity_type, _, persons, digest = entry
    assert (name, entity, persons) == ("May", "person_id", 120)
    ((kind,),) = released.execute("SELECT typeof(any_value(person_id)) FROM people").fetchall()
    assert entity_type == kind
    assert len(bytes.fromhex(digest)) == 32
    ((seconds,),) = released.execute("SELECT epoch(now()) - epoch($at)", {"at": at}).fetchall()
    assert 0 <= seconds < 60
    assert json.loads(manifest)["achieved"]["k"] >= 5
    lengths = "SELECT DISTINCT octet_length(unnest(person_hashes)) FROM anon_ledger"
    assert released.execute(lengths).fetchall() == [(16,)]
    sorted_ = "SELECT person_hashes = list_sort(list_distinct(person_hashes)) FROM anon_ledger"
    assert released.execute(sorted_).fetchall() == [(True,)]


def test_it_holds_no_value(released):
    """Neither a value of the raw table nor a hash that other functions make."""
    ((written,),) = released.execute(
        "SELECT string_agg(l::VARCHAR) FROM anon_ledger AS l"
    ).fetchall()
    for value in ("Accra", "Cape Town", "asthma", "flu", "1950", KEY):
        assert value not in written
    text = "person_id::VARCHAR"
    for plain in (f"md5({text})", f"sha256({text})", f"anon_pseudonym(person_id, '{KEY}')"):
        known = (
            "SELECT count(*) FROM people, anon_ledger "
            f"WHERE list_contains(person_hashes, unhex(left({plain}, 32)))"
        )
        assert released.execute(known).fetchall() == [(0,)]


def test_the_hash_of_the_rows_depends_on_rows_alone(con):
    anon_sql.ledger(con)
    con.execute("CREATE TABLE a AS SELECT i AS person, i % 3 AS s FROM range(50) t(i)")
    con.execute("CREATE TABLE b AS FROM a ORDER BY hash(person)")
    con.execute("CREATE TABLE c AS FROM a UNION ALL FROM a WHERE person = 1")
    con.execute("CREATE TABLE none AS FROM a LIMIT 0")
    for name in ("a", "b", "c", "none"):
        enter(con, name, name)
    found = dict(con.execute("SELECT release, rows_sha256 FROM anon_ledger").fetchall())
    assert found["a"] == found["b"]
    assert len(set(found.values())) == 3
    persons = con.execute("SELECT release, persons FROM anon_ledger").fetchall()
    assert dict(persons) == {"a": 50, "b": 50, "c": 50, "none": 0}


def test_a_ledger_is_made_once(con):
    anon_sql.ledger(con, 'main."led""ger of ü"')
    con.execute("CREATE TABLE a AS SELECT 1 AS person")
    enter(con, "a", "a", ledger='"led""ger of ü"')
    anon_sql.ledger(con, '"led""ger of ü"')
    assert con.execute('SELECT release FROM "led""ger of ü"').fetchall() == [("a",)]
    with pytest.raises(AnonError, match="ledger: ledger must be a ledger, got a table with other"):
        anon_sql.ledger(con, "a")
    con.execute("CREATE TABLE b AS SELECT 1 AS more, * FROM __anon_ledger_columns()")
    with pytest.raises(AnonError, match="must have the columns of a ledger alone, in their order"):
        anon_sql.ledger(con, "b")


def test_the_type_in_an_entry_shows_no_value_of_an_enum(con):
    anon_sql.ledger(con)
    con.execute("CREATE TABLE a AS SELECT 'Ada'::ENUM('Ada', 'Bob, (jr.)') AS person")
    enter(con, "a", "a")
    assert con.execute("SELECT entity_type FROM anon_ledger").fetchall() == [("ENUM",)]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("entity := 'who'", "entity must name a column of the table, got 'who'; choose from"),
        ("manifest := '{}'", "entity must name a column of the table, got NULL; choose from"),
        ("entity := 'age', manifest := '1'", "entity must say whose each row is, got NULL; leave"),
        ("entity := 'score', manifest := '1'", "entity must be text, BLOB, UUID"),
        ("entity := 'person_id'", "manifest must be given; pass (SELECT to_json"),
        (
            "entity := 'person_id', manifest := '1', key := 'short'",
            "key must have at least 16 bytes, got fewer",
        ),
    ],
)
def test_what_it_refuses(people, more, said):
    key = "" if "key" in more else f", key := '{KEY}'"
    call = f"FROM ledger_entry('people', 'people', 'May', {more}{key})"
    assert fails(people, call).startswith(f"ledger_entry: {said}")
    nameless = f"FROM ledger_entry('people', 'people', NULL, 'person_id', '1', '{KEY}')"
    assert fails(people, nameless) == "ledger_entry: name must be given"
