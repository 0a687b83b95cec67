"""What linked tables must be: each refusal is one sentence with names and numbers, never a value."""

import pytest

import anon_sql
from anon_sql import AnonError

ROLES = {
    "identifiers": ["person.id", "visit.vid"],
    "quasi": ["person.age", "visit.pid", "visit.day"],
    "sensitive": ["visit.code"],
}
LINKS = ["visit.pid -> person.id"]


@pytest.fixture
def two(con):
    con.execute("CREATE TABLE person AS SELECT i AS id, i % 9 AS age FROM range(40) AS made(i)")
    con.execute(
        "CREATE TABLE visit AS SELECT i AS vid, i // 2 AS pid, i % 11 AS day, i % 5 AS code "
        "FROM range(70) AS made(i)"
    )
    yield con
    con.execute("DROP SCHEMA IF EXISTS safe CASCADE")
    for table in ("enrolment", "course", "payment", "visit", "person"):
        con.execute(f"DROP TABLE IF EXISTS {table}")


def refused(con, **changed):
    call = {"links": LINKS, **ROLES, **changed}
    with pytest.raises(AnonError) as caught:
        anon_sql.release_linked(con, call.pop("root", "person"), into="safe", **call)
    text = str(caught.value)
    assert text.startswith("release_linked: ")
    assert con.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'safe'"
    ).fetchall() == [(0,)]
    return text.removeprefix("release_linked: ")


def test_a_good_call_is_released(two):
    made = anon_sql.release_linked(two, "person", into="safe", links=LINKS, **ROLES)
    assert made.tables["person"].rows == 40


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        (
            "INSERT INTO person SELECT 3, 4 FROM range(2)",
            "the key id of person must name each row once, got rows: 2 with that of another",
        ),
        (
            "UPDATE person SET id = NULL WHERE id = 39",
            "the key id of person must name each row once, got rows: 1 without one",
        ),
        (
            "DELETE FROM person WHERE id > 30",
            "every row must be below one of its parent, got 8 rows",
        ),
        (
            "UPDATE visit SET pid = NULL WHERE vid < 3",
            "every row must be below one of its parent, got 3 rows of visit that are below none",
        ),
        (
            "ALTER TABLE visit ALTER pid TYPE VARCHAR",
            "a link must have the type of its key, got VARCHAR and BIGINT in "
            "visit.pid -> person.id",
        ),
        (
            "ALTER TABLE person ADD COLUMN visit_rows INTEGER",
            "every column, key and link needs a role, got no role for person.visit_rows",
        ),
    ],
    ids=lambda text: text[:30],
)
def test_rows_and_columns_that_are_refused(two, statement, sentence):
    two.execute(statement)
    assert refused(two).startswith(sentence)


def test_fewer_than_k_persons(two):
    assert refused(two, k=41) == "there must be at least 41 persons, got 40 rows of person"


def test_an_l_that_the_whole_table_lacks(two):
    assert refused(two, l=6).startswith(
        "visit.code must have at least 6 values in the whole table, got 5"
    )
    assert refused(two, l=2, sensitive=None, keep="visit.code").startswith(
        "l=2 needs a sensitive column or link"
    )


def test_orphans_are_left_out_on_request(two):
    two.execute("UPDATE visit SET pid = NULL WHERE vid < 3")
    made = anon_sql.release_linked(two, "person", into="safe", links=LINKS, orphans="drop", **ROLES)
    assert made.manifest["tables"]["visit"]["orphans"] == 3
    assert made.tables["visit"].rows + made.tables["visit"].left_out == 70


def test_a_table_may_not_be_linked_to_itself(two):
    two.execute("ALTER TABLE person ADD COLUMN boss BIGINT")
    links = [*LINKS, "person.boss -> person.id"]
    said = refused(two, links=links, keep=["person.boss"])
    assert said == (
        "links must not lead back to their table, got person.boss -> person.id; give one of these "
        "columns the role identifier, and its link is not released"
    )
    identifiers = [*ROLES["identifiers"], "person.boss"]
    roles = {**ROLES, "identifiers": identifiers}
    anon_sql.release_linked(two, "person", into="safe", links=links, **roles)
    assert "boss" not in [row[0] for row in two.execute("DESCRIBE safe.person").fetchall()]


def test_circles(two):
    two.execute("ALTER TABLE person ADD COLUMN last BIGINT")
    links = [*LINKS, "person.last -> visit.vid"]
    said = refused(two, links=links, keep=["person.last"])
    assert said.startswith("links must not lead back to their table, got person.last -> visit.vid")


def test_two_ways_to_a_table(two):
    two.execute("CREATE TABLE payment AS SELECT i AS payer, i AS payee FROM range(9) AS made(i)")
    links = [*LINKS, "payment.payer -> person.id", "payment.payee -> person.id"]
    said = refused(two, links=links, keep=["payment.payer", "payment.payee"])
    assert said.startswith(
        "a table must lead to person in one way, got two from payment: "
        "payment.payer -> person.id and payment.payee -> person.id"
    )


def test_two_tables_of_persons(two):
    two.execute("CREATE TABLE course AS SELECT i AS cid, 'x' AS teacher FROM range(9) AS made(i)")
    two.execute("CREATE TABLE enrolment AS SELECT i AS pid, i AS cid FROM range(9) AS made(i)")
    links = [*LINKS, "enrolment.pid -> person.id", "enrolment.cid -> course.cid"]
    said = refused(
        two,
        links=links,
        keep=["enrolment.pid", "enrolment.cid", "course.teacher"],
        identifiers=[*ROLES["identifiers"], "course.cid"],
    )
    assert said.startswith(
        "a table that is linked to, but not below the root, must hold no persons, got course with "
        "identifier cid, named by enrolment.cid -> course.cid"
    )


def test_a_table_neither_released_nor_left_out(two):
    two.execute("CREATE TABLE course AS SELECT i AS cid, i AS vid FROM range(9) AS made(i)")
    two.execute("CREATE TABLE enrolment AS SELECT i AS cid FROM range(9) AS made(i)")
    links = [*LINKS, "visit.code -> course.cid", "enrolment.cid -> course.cid"]
    said = refused(two, links=links, keep=["course.*", "enrolment.*"])
    assert said == (
        "every linked table must be released or left out, got enrolment that is neither; "
        "pass leave_out=['enrolment']"
    )
    anon_sql.release_linked(
        two,
        "person",
        into="safe",
        links=links,
        keep="course.*",
        leave_out="enrolment",
        **ROLES,
    )


def test_quasi_identifiers_below_another_link(two):
    said = refused(two, quasi=["person.age", "visit.day"], keep=["visit.pid"])
    assert said.startswith("quasi-identifiers must be below links that are quasi-identifiers")
    assert said.endswith("got visit.day below another link")


def test_columns_that_a_release_adds(two):
    two.execute("ALTER TABLE person ADD COLUMN visit_rows INTEGER")
    assert refused(two, keep="person.visit_rows") == (
        "a table must not have a column that the release adds, got person.visit_rows; rename it"
    )


def test_names_that_are_not_there(two):
    assert "did you mean visit.day?" in refused(two, quasi=["person.age", "visit.pid", "visit.dya"])
    assert refused(two, links=["visit.pid -> person.idd"]).startswith(
        "a link must name columns of its tables, got person.idd; did you mean id?"
    )
    assert refused(two, leave_out="nothing").startswith(
        "leave_out must name linked tables other than the root, got 'nothing'"
    )
    assert refused(two, weights={"visit.dya": 2}).startswith(
        "weights must be numbers of at least 0 by columns like 'visit.ward', got visit.dya"
    )


def test_no_value_is_in_an_error(two):
    two.execute("INSERT INTO person SELECT 987654, 1 FROM range(2)")
    assert "987654" not in refused(two)
