"""A plan is what release_linked writes, in one relation that holds no raw key."""

import duckdb
import pytest

import anon_sql
from anon_sql import datasets
from tests.linked.folded import hospital

SETTINGS = [
    {"k": 5},
    {"k": 7, "l": 2, "format": "typed", "surplus": "unlink"},
    {"k": 4, "l": 3, "format": "mean", "effort": "fast", "seed": 7},
]
WITHOUT_KEYS = {
    "person": "* EXCLUDE (person_id)",
    "visit": "* EXCLUDE (person_id, visit_id)",
    "diagnosis": "* EXCLUDE (visit_id)",
}
JOINED = (
    "SELECT p.* EXCLUDE (person_id), v.* EXCLUDE (person_id, visit_id), code FROM {0}.person AS p "
    "LEFT JOIN {0}.visit AS v USING (person_id) LEFT JOIN {0}.diagnosis USING (visit_id) "
    "ORDER BY ALL"
)


@pytest.fixture
def made(hospital_of):
    con = hospital_of(200)
    con.execute("CREATE SCHEMA safe")
    yield con
    con.execute("DROP SCHEMA IF EXISTS other CASCADE")


def planned(con, root="person", **settings):
    """Store a plan."""
    names = "".join(f", {name} := ${name}" for name in settings)
    statement = f"CREATE OR REPLACE TEMP TABLE plan AS FROM linked_plan($root{names})"
    con.execute(statement, {"root": root, **settings})


def taken(con, tables=datasets.HOSPITAL):
    """Take every table out of the plan."""
    for name in tables:
        con.execute(f"CREATE OR REPLACE TABLE safe.{name} AS FROM linked_table('{name}', 'plan')")


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_plan_is_what_release_linked_writes_but_for_keys(made, settings):
    planned(made, **settings)
    taken(made)
    anon_sql.release_linked(made, "person", into="other", **settings)
    for name, columns in WITHOUT_KEYS.items():
        described = [made.execute(f"DESCRIBE {s}.{name}").fetchall() for s in ("safe", "other")]
        assert described[0] == described[1]
        if name == "person":  # rows that look alike are in a random order
            shown = [made.execute(f"SELECT {columns} FROM {s}.{name}") for s in ("safe",)]
            assert (
                shown[0].fetchall()
                == made.execute(f"SELECT {columns} FROM other.{name}").fetchall()
            )
    folded = hospital(made)
    assert folded.smallest() >= settings["k"]
    assert min(folded.least_l("diagnosis", "code")) >= settings.get("l", 1)
    safe, other = (made.execute(JOINED.format(s)).fetchall() for s in ("safe", "other"))
    assert safe == other


def test_a_plan_holds_no_raw_key(made):
    planned(made)
    for table, key in (("person", "person_id"), ("visit", "visit_id")):
        found = made.execute(
            f"SELECT count(*) FROM plan WHERE {table}.{key} IN (SELECT {key} FROM {table})"
        ).fetchall()
        assert found == [(0,)]


def test_a_plan_is_made_by_links_roles_weights_and_a_hierarchy(made):
    made.execute("CREATE VIEW stay AS SELECT person_id, ward FROM visit")
    made.execute("CREATE VIEW patient AS SELECT person_id, born, sex, postcode FROM person")
    made.execute(
        "CREATE TABLE ages AS FROM numeric_hierarchy('person', 'born', widths := [10, 40])"
    )
    settings = {
        "k": 4,
        "links": ["stay.person_id -> patient.person_id"],
        "identifiers": ["patient.person_id"],
        "quasi": ["patient.born", "patient.sex", "stay.person_id", "stay.ward"],
        "hierarchy": "ages",
        "weights": {"patient.born": 3.0, "stay.ward": 1.0},
        "exclude": ["patient.postcode"],
    }
    planned(made, "patient", **settings)
    taken(made, ("patient", "stay"))
    anon_sql.release_linked(made, "patient", into="other", **settings)
    columns = "* EXCLUDE (person_id) FROM {}.patient ORDER BY ALL"
    safe, other = (
        made.execute(f"SELECT {columns.format(s)}").fetchall() for s in ("safe", "other")
    )
    assert safe == other
    roles = {name: settings[name] for name in ("links", "identifiers", "quasi", "exclude")}
    named = ", ".join(f"{name} := ${name}" for name in roles)
    for call in (
        "linked_risk('safe.patient', raw := 'patient', k := 4",
        "linked_audit('patient', 'safe.patient', k := 4, hierarchy := 'ages'",
    ):
        found = made.execute(f"FROM {call}, {named})", roles).fetchall()
        assert "postcode" not in str(found)
        assert [row for row in found if any(each is False for each in row)] == []
    made.execute("DROP VIEW stay; DROP VIEW patient; DROP TABLE ages")


def test_reference_tables_and_hostile_names_go_along(made):
    made.execute(
        """CREATE TABLE "per'son" ("the;id" INTEGER PRIMARY KEY, "b.orn" INTEGER, "; DROP" VARCHAR);
        CREATE TABLE "wa rd" (no INTEGER PRIMARY KEY, "na)me" VARCHAR);
        CREATE TABLE "sel*ect" ("per son" INTEGER REFERENCES "per'son" ("the;id"),
            no INTEGER REFERENCES "wa rd" (no), "{}" VARCHAR);
        INSERT INTO "per'son" SELECT i, 1950 + i % 9, concat('x', i % 3) FROM range(60) AS r(i);
        INSERT INTO "wa rd" VALUES (1, 'a'), (2, 'b');
        INSERT INTO "sel*ect" SELECT i % 60, 1 + i % 2, concat('y', i % 4) FROM range(180) AS r(i)"""
    )
    for name in ("b.orn", "; DROP"):
        made.execute(f"""COMMENT ON COLUMN "per'son"."{name}" IS 'anon:quasi'""")
    made.execute("""COMMENT ON COLUMN "per'son"."the;id" IS 'anon:identifier'""")
    made.execute("""COMMENT ON COLUMN "sel*ect"."per son" IS 'anon:quasi'""")
    made.execute("""COMMENT ON COLUMN "sel*ect".no IS 'anon:keep'""")
    made.execute("""COMMENT ON COLUMN "sel*ect"."{}" IS 'anon:sensitive'""")
    for name in ("no", '"na)me"'):
        made.execute(f"""COMMENT ON COLUMN "wa rd".{name} IS 'anon:keep'""")
    planned(made, '"per\'son"', l=2)
    for name in ("per'son", "sel*ect", "wa rd"):
        made.execute(
            f"""CREATE TABLE safe."{name}" AS FROM linked_table($name, 'plan')""",
            {"name": f'"{name}"'},
        )
    assert made.execute('FROM safe."wa rd"').fetchall() == [(1, "a"), (2, "b")]
    found = made.execute(
        "FROM linked_audit($raw, $released, k := 5, l := 2)",
        {"raw": '"per\'son"', "released": 'safe."per\'son"'},
    ).fetchall()
    assert [row for row in found if row[3] is False] == []
    made.execute('DROP TABLE "sel*ect"; DROP TABLE "wa rd"; DROP TABLE "per\'son"')


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("'person', k := 1000", "linked_plan: there must be at least 1000 persons, got 200 rows"),
        ("'person', surplus := 'x'", "linked_plan: surplus must be one of 'drop', 'unlink'"),
        ("'person', l := 1000", "linked_plan: diagnosis.code must have at least 1000 values"),
        ("'person', weights := MAP {'visit.x': 1}", "linked_plan: weights must be numbers"),
        ("'person', hierarchy := 'person'", "hierarchy: the relation must have the columns"),
        ("NULL", "linked_plan: root must be the name of a table, got NULL"),
    ],
)
def test_errors_are_sentences(made, call, text):
    with pytest.raises(duckdb.Error) as caught:
        made.execute(f"FROM linked_plan({call})").fetchall()
    assert text in str(caught.value)


def test_what_the_caller_alone_sees_is_refused(made):
    """The statement is bound with what is committed, and reads what the caller sees."""
    made.execute("CREATE TEMP TABLE person AS FROM main.person LIMIT 100")
    text = "linked_plan: the tables must be those that the statement was bound with"
    with pytest.raises(duckdb.Error, match=text):
        made.execute("FROM linked_plan('person')").fetchall()
    ((database,),) = made.execute("SELECT current_database()").fetchall()
    found = made.execute(f"SELECT count(person) FROM linked_plan('{database}.main.person')")
    assert found.fetchall() == [(200,)]
    made.execute("DROP TABLE temp.person")
    made.execute("BEGIN")
    made.execute("COMMENT ON COLUMN visit.days IS 'anon:identifier'")
    with pytest.raises(duckdb.Error, match=text):
        made.execute("FROM linked_plan('person')").fetchall()
    made.execute("ROLLBACK")


def test_the_order_of_rows_and_threads_change_nothing_but_keys(made):
    planned(made, l=2)
    taken(made)
    first = made.execute("SELECT * EXCLUDE (person_id) FROM safe.person").fetchall()
    joined = made.execute(JOINED.format("safe")).fetchall()
    made.execute("CREATE TABLE turned AS FROM diagnosis ORDER BY hash(diagnosis, 3)")
    made.execute("DELETE FROM diagnosis; INSERT INTO diagnosis FROM turned; DROP TABLE turned")
    made.execute("SET threads = 1")
    planned(made, l=2)
    taken(made)
    made.execute("RESET threads")
    assert made.execute("SELECT * EXCLUDE (person_id) FROM safe.person").fetchall() == first
    assert made.execute(JOINED.format("safe")).fetchall() == joined
