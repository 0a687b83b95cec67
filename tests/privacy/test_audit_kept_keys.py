"""The audit of one table says where a kept key ties its rows to persons."""

from anon_sql import datasets

HINT = "person_id repeats as a key of persons would, whom linked_audit counts."
NAME = "'identifying_combinations'"


def meaning(con, table, others=""):
    """What the audit of a release of visits says of its kept columns."""
    ((said,),) = con.execute(
        f"SELECT meaning FROM audit('visits', '{table}', k := 5, unique_share := 1{others}) "
        f"WHERE property = {NAME}"
    ).fetchall()
    return said


def test_a_kept_key_that_repeats_names_linked_audit(con):
    datasets.hospital(con, 300)
    roles = "quasi := ['visited', 'ward']"
    con.execute("CREATE TABLE visits AS SELECT * EXCLUDE (visit_id) FROM visit")
    con.execute(
        f"CREATE TABLE safe AS FROM anonymize('visits', k := 5, {roles}, keep := ['person_id', '*']);"
        f"CREATE TABLE persons AS FROM anonymize('visits', k := 5, {roles}, keep := ['days'], "
        "identifiers := 'person_id')"
    )
    assert meaning(con, "safe", f", {roles}, keep := ['*']").endswith(HINT)
    others = f", {roles}, keep := 'days', identifiers := 'person_id'"
    assert "linked_audit" not in meaning(con, "persons", others)
    whole = f", {roles}, keep := 'days', entity := 'person_id'"
    assert "linked_audit" not in meaning(con, "persons", whole)


def test_a_column_of_few_values_or_of_one_row_each_is_no_such_key(con):
    con.execute(
        "CREATE TABLE visits AS SELECT (i % 3)::INTEGER AS age, i AS row_key, i % 7 AS shift, "
        "(i % 90) / 7 AS weight, md5((i % 80)::VARCHAR) || md5('') AS pseudonym "
        "FROM range(300) AS r(i)"
    )
    for keep, hint in (
        ("row_key", False),
        ("shift", False),
        ("weight", False),
        ("pseudonym", True),
    ):
        con.execute(
            f"CREATE OR REPLACE VIEW visits_of AS SELECT age, {keep} FROM visits;"
            f"CREATE OR REPLACE TABLE safe AS FROM anonymize('visits_of', k := 5, quasi := 'age', "
            f"keep := '{keep}')"
        )
        ((said,),) = con.execute(
            "SELECT meaning FROM audit('visits_of', 'safe', unique_share := 1, quasi := 'age', "
            f"keep := '{keep}') WHERE property = {NAME}"
        ).fetchall()
        assert ("linked_audit" in said) == hint, keep


def test_linked_audit_finds_what_the_hint_warns_of(con):
    datasets.hospital(con, 300)
    con.execute("CREATE SCHEMA alone")
    for table, columns, keys in (
        ("person", "['born', 'sex', 'postcode']", ["person_id"]),
        ("visit", "['visited', 'ward']", ["visit_id", "person_id"]),
    ):
        con.execute(f"CREATE VIEW {table}s AS FROM {table}")
        con.execute(
            f"CREATE TABLE alone.{table} AS FROM anonymize('{table}s', k := 5, quasi := {columns}, "
            f"keep := {[*keys, '*']})"
        )
    links = ["alone.visit.person_id -> alone.person.person_id"]
    risk = con.execute(
        "SELECT unique_persons FROM linked_risk('alone.person', links := $links, "
        "identifiers := 'person.person_id', keep := ['visit.visit_id', 'visit.days'], "
        "quasi := ['person.born', 'person.sex', 'person.postcode', 'visit.person_id', "
        "'visit.visited', 'visit.ward']) WHERE knowledge = 'and all rows'",
        {"links": links},
    ).fetchall()
    assert risk[0][0] > 200
