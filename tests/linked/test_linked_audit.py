"""linked_audit passes a release, and finds each of the faults that are planted in one."""

import pytest

import anon_sql
from anon_sql import datasets
from tests.sentence import fails

CALL = "FROM linked_audit('person', 'safe.person', k := 5, l := 2, truth := {})"
ANY_VISIT = "SELECT visit_id FROM safe.visit ORDER BY hash(visit_id, 3) LIMIT 1"
ANY_PERSON = "SELECT min(person_id) FROM safe.visit"
FAULTS = {
    "child row deleted": (f"DELETE FROM safe.visit WHERE visit_id = ({ANY_VISIT})", "k"),
    "child moved to another person": (
        f"UPDATE safe.visit SET person_id = (SELECT max(person_id) FROM safe.person) "
        f"WHERE person_id = ({ANY_PERSON}) AND visit_id = "
        f"(SELECT min(visit_id) FROM safe.visit WHERE person_id = ({ANY_PERSON}))",
        "k",
    ),
    "label made exact": (
        f"UPDATE safe.visit SET visited = '2023-05-05' WHERE visit_id = ({ANY_VISIT})",
        "k",
    ),
    "label of a person made exact": (
        "UPDATE safe.person SET born = '1901' WHERE person_id = (SELECT min(person_id) FROM safe.person)",
        "k",
    ),
    "person deleted": (
        "DELETE FROM safe.person WHERE person_id = (SELECT min(person_id) FROM safe.person)",
        "persons",
    ),
    "key twice": (
        "INSERT INTO safe.person FROM safe.person ORDER BY person_id LIMIT 1",
        "keys of person",
    ),
    "orphan": (
        f"UPDATE safe.visit SET person_id = -5 WHERE visit_id = ({ANY_VISIT})",
        "orphans of visit",
    ),
    "raw key left": (
        "UPDATE safe.person SET person_id = 17 WHERE person_id NOT IN "
        "(SELECT person_id FROM safe.visit) AND person_id = (SELECT min(person_id) FROM "
        "safe.person WHERE person_id NOT IN (SELECT person_id FROM safe.visit))",
        "raw_keys of person.person_id",
    ),
    "one value in a slot": ("UPDATE safe.diagnosis SET code = 'A11'", "l of diagnosis.code"),
    "column of another name": (
        "ALTER TABLE safe.visit RENAME COLUMN days TO stay",
        "columns of visit",
    ),
}


TWO_CODES = """
    CREATE TEMP TABLE two AS SELECT row_number() OVER () AS at, d.* FROM (
        SELECT visit_id, min(code) AS code FROM safe.diagnosis GROUP BY visit_id
        QUALIFY row_number() OVER (PARTITION BY min(code) ORDER BY visit_id) = 1
        ORDER BY code LIMIT 2) AS d;
"""
UNTRUE = {
    "a column of names": (
        "ALTER TABLE safe.person ADD COLUMN name VARCHAR DEFAULT 'Ada'",
        "added_columns of person",
    ),
    "raw numbers under another name": (
        "ALTER TABLE safe.visit ADD COLUMN source BIGINT; UPDATE safe.visit SET source = rowid",
        "added_columns of visit",
    ),
    "an invented code": (
        f"UPDATE safe.diagnosis SET code = 'Z99' WHERE visit_id = ({ANY_VISIT})",
        "true_labels of diagnosis",
    ),
    "two codes exchanged": (
        TWO_CODES
        + "UPDATE safe.diagnosis AS d SET code = (SELECT o.code FROM two AS o WHERE o.at <> t.at) "
        "FROM two AS t WHERE t.visit_id = d.visit_id AND t.code = d.code",
        "true_labels of visit",
    ),
    "all codes rotated": (
        "CREATE TEMP TABLE turned AS SELECT visit_id, code, lead(code, 1, 'A10') OVER "
        "(ORDER BY visit_id, code) AS other FROM safe.diagnosis;"
        "DELETE FROM safe.diagnosis; INSERT INTO safe.diagnosis SELECT visit_id, other FROM turned",
        "true_labels of visit",
    ),
    "diagnoses moved to another visit": (
        "UPDATE safe.diagnosis SET visit_id = (SELECT max(visit_id) FROM safe.visit) "
        f"WHERE visit_id = ({ANY_VISIT})",
        "true_labels of visit",
    ),
    "numbers of visits": (
        "UPDATE safe.person SET visit_rows = '[900, 1000]' WHERE person_id IN "
        "(SELECT person_id FROM safe.visit)",
        "numbers of visit in person",
    ),
    "weights": (
        "UPDATE safe.person SET visit_weight = visit_weight * 100",
        "numbers of visit in person",
    ),
    "visits of people moved to other classes": (
        "CREATE TEMP TABLE moved AS SELECT person_id, lead(person_id, 60, 0) OVER "
        "(ORDER BY born, sex, postcode) AS other FROM safe.person;"
        "UPDATE safe.visit AS v SET person_id = other FROM moved AS m "
        "WHERE m.person_id = v.person_id AND other <> 0",
        "true_labels of visit",
    ),
}


@pytest.fixture(scope="module")
def released():
    """A hospital and its release, made once."""
    with anon_sql.connect() as con:
        datasets.hospital(con, 300)
        anon_sql.release_linked(con, "person", into="kept", k=5, l=2)
        yield con


@pytest.fixture
def made(released):
    """A copy of the release that a test may change."""
    released.execute("CREATE SCHEMA safe")
    for name in datasets.HOSPITAL:
        released.execute(f"CREATE TABLE safe.{name} AS FROM kept.{name}")
    yield released
    released.execute("DROP SCHEMA safe CASCADE")


def failed(con, truth="false"):
    found = con.execute(CALL.format(truth)).fetchall()
    return {name for name, _, _, passed, _ in found if passed is False}


def test_a_release_passes(made):
    found = made.execute(CALL.format("true")).fetchall()
    assert {row[0] for row in found} >= {
        "k",
        "persons",
        "true_labels of visit",
        "l of diagnosis.code",
    }
    assert all(passed for *_, passed, _ in found)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(made, fault):
    statement, named = FAULTS[fault]
    made.execute(statement)
    if fault == "column of another name":
        with pytest.raises(Exception, match="days"):
            failed(made)
        return
    assert named in failed(made)


@pytest.mark.parametrize("fault", UNTRUE)
def test_a_fault_along_the_join_is_found(made, fault):
    statements, named = UNTRUE[fault]
    made.execute(statements)
    for table in ("two", "turned", "moved"):
        made.execute(f"DROP TABLE IF EXISTS temp.{table}")
    assert named in failed(made, "true")


def test_a_class_replaced_by_a_copy_of_another_is_found(made):
    """Every row of the copy is true of a raw row, but the people of the class are missing."""
    classes = made.execute(
        "SELECT list(person_id) FROM safe.person WHERE visit_rows = '0' "
        "GROUP BY born, sex, postcode HAVING count(*) >= 5 ORDER BY count(*) DESC LIMIT 2"
    ).fetchall()
    kept, gone = classes[0][0], classes[1][0]
    made.execute("DELETE FROM safe.person WHERE list_contains(?, person_id)", [gone])
    made.execute(
        "INSERT INTO safe.person SELECT * REPLACE (person_id + 1 AS person_id) FROM safe.person "
        "WHERE list_contains(?, person_id)",
        [kept[: len(gone)]],
    )
    assert failed(made, "true") & {"covered_rows of person", "matched_rows of person"}


def test_labels_that_are_not_true_are_found(made):
    made.execute("UPDATE safe.visit SET visited = '[2031-01-01, 2031-01-02]'")
    assert "true_labels of visit" in failed(made, "true")


def test_a_value_in_an_unlinked_row_is_found(made):
    anon_sql.release_linked(made, "person", into="safe", k=5, surplus="unlink", overwrite=True)
    ((loose,),) = made.execute("SELECT count(*) FROM safe.visit WHERE person_id IS NULL").fetchall()
    assert loose >= 5
    assert not failed(made) - {"l of diagnosis.code", "l of diagnosis.code, all slots"}
    made.execute("UPDATE safe.visit SET days = 3 WHERE person_id IS NULL")
    assert "unlinked_values of visit" in failed(made)
    made.execute(
        "DELETE FROM safe.visit WHERE person_id IS NULL AND visit_id <> "
        "(SELECT min(visit_id) FROM safe.visit WHERE person_id IS NULL)"
    )
    assert "unlinked_labels of visit" in failed(made)


def test_a_reference_row_of_few_persons_is_found(con):
    con.execute("CREATE TABLE ward (ward_id BIGINT PRIMARY KEY, floor INTEGER)")
    con.execute("INSERT INTO ward FROM range(3) AS made(i), (SELECT 4)")
    con.execute(
        "CREATE TABLE person AS SELECT i AS id, i % 7 AS age, i % 2 AS ward_id "
        "FROM range(60) AS made(i)"
    )
    roles = {
        "identifiers": ["person.id"],
        "quasi": ["person.age"],
        "keep": ["person.ward_id", "ward.*"],
    }
    links = ["person.ward_id -> ward.ward_id"]
    made = anon_sql.release_linked(con, "person", into="safe", links=links, **roles)
    assert set(made.tables) == {"person"}
    assert con.execute("FROM safe.ward").fetchall() == con.execute("FROM ward").fetchall()
    con.execute("UPDATE person SET ward_id = 2 WHERE id = 0")
    found = con.execute(
        "FROM linked_audit('person', 'safe.person', k := 5, links := $links, quasi := 'person.age', "
        "identifiers := 'person.id', keep := ['person.ward_id', 'ward.*'])",
        {"links": links},
    ).fetchall()
    assert {name: passed for name, _, _, passed, _ in found}["reference_rows of ward"] is False
    with pytest.raises(anon_sql.AnonError, match=r"no fault before .* reference_rows of ward"):
        anon_sql.release_linked(con, "person", into="safe2", links=links, **roles)
    for table in ("person", "ward"):
        con.execute(f"DROP TABLE {table}")
    con.execute("DROP SCHEMA safe CASCADE")


def test_bad_input(made):
    assert fails(made, "FROM linked_audit('person', 'nowhere.person')") == (
        "linked_audit: every linked table must be released beside the root, got no committed "
        "table or file nowhere.person"
    )
    assert fails(made, "FROM linked_audit('person', 'safe.person', l := 0)") == (
        "linked_audit: l must be at least 1, got 0"
    )
