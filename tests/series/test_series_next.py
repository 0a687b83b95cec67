"""series_next: newcomers are placed, leavers and changes are noted; what it refuses."""

import pytest

from tests.sentence import fails
from tests.series.months import KEY, ROLES, make_month, released, status, step


def cohorts(con):
    return con.execute(
        "SELECT cohort, list_sort(list(tuple::JSON ->> 'illness')) FROM anon_series "
        "WHERE person IS NULL AND cohort IS NOT NULL GROUP BY cohort ORDER BY cohort"
    ).fetchall()


@pytest.mark.parametrize("l", [2, 3])
def test_every_cohort_has_l_persons_with_different_values(con, l):  # noqa: E741
    make_month(con, 0, 300)
    step(con, l)
    found = cohorts(con)
    assert all(len(values) == len(set(values)) >= l for _, values in found)
    figures = status(con)
    assert figures["present"] == sum(len(values) for _, values in found)
    assert figures["present"] + figures["waiting"] == 300
    assert figures["former"] == figures["withheld"] == 0


def test_the_same_table_and_key_give_the_same_cohorts_in_any_order_of_rows(con):
    make_month(con, 0, 200)
    con.execute("CREATE TABLE reversed AS FROM people ORDER BY person DESC")
    one, other = (
        con.execute(
            f"SELECT cohort, person, tuple FROM series_next('{name}', NULL, l := 2, {ROLES}) "
            "WHERE cohort IS NOT NULL ORDER BY ALL"
        ).fetchall()
        for name in ("people", "reversed")
    )
    assert one == other


def test_cohorts_stay_until_the_last_member_has_left(con):
    make_month(con, 0, 300)
    step(con, 2)
    before = dict(cohorts(con))
    make_month(con, 60, 340)
    step(con)
    after = dict(cohorts(con))
    kept = before.keys() & after.keys()
    assert all(sorted(before[cohort]) == sorted(after[cohort]) for cohort in kept)
    figures = status(con)
    assert figures["former"] > 0
    assert len(before) > len(kept)
    assert figures["present"] + figures["former"] == sum(map(len, after.values()))


def test_a_member_whose_value_changes_stays_in_the_cohort_with_the_value_of_entry(con):
    make_month(con, 0, 300)
    step(con, 2)
    before = cohorts(con)
    make_month(con, 0, 300, changed=20)
    step(con)
    assert cohorts(con)[: len(before)] == before
    figures = status(con)
    assert figures["former"] == 0
    assert 0 < figures["changed"] <= 20


def test_withdrawing_shows_no_former_rows_and_releases_nobody_again(con):
    make_month(con, 0, 300)
    step(con, 2)
    make_month(con, 60, 300)
    step(con, more=", leavers := 'withdraw'")
    figures = status(con)
    assert figures["former"] == 0
    assert figures["withheld"] > 0
    step(con, more=", leavers := 'withdraw'")
    assert status(con)["withheld"] == figures["withheld"]


def test_several_sensitive_columns_differ_each(con):
    make_month(con, 0, 300)
    con.execute("ALTER TABLE people ADD COLUMN drug VARCHAR")
    con.execute("UPDATE people SET drug = ['a', 'b', 'c', 'd'][1 + (hash(person, 9) % 4)::INTEGER]")
    roles = ROLES.replace("'illness'", "['illness', 'drug']")
    con.execute(f"CREATE TABLE s AS FROM series_next('people', NULL, l := 2, {roles})")
    assert con.execute(
        """
        SELECT count(*), bool_and(n = illnesses AND n = drugs AND n >= 2) FROM (
            SELECT count(*) AS n, count(DISTINCT tuple::JSON ->> 'illness') AS illnesses,
                count(DISTINCT tuple::JSON ->> 'drug') AS drugs
            FROM s WHERE person IS NULL AND cohort IS NOT NULL GROUP BY cohort)
        """
    ).fetchall()[0][1]


CALL = f"FROM series_next('people', NULL, l := 2, {ROLES})"


@pytest.mark.parametrize(
    ("change", "call", "says"),
    [
        ("DELETE FROM people", CALL, "a table must have persons"),
        ("SELECT 1", CALL.replace("l := 2", "l := 1"), "l must be at least 2"),
        ("SELECT 1", CALL.replace("NULL, l", "'people', l"), "a table with other columns"),
        ("SELECT 1", CALL.replace("entity :=", "identifiers :="), "a series needs entity"),
        ("SELECT 1", CALL.replace("sensitive := 'illness', ", ""), "every column needs a role"),
        ("SELECT 1", CALL.replace(KEY, "short"), "key must have at least 16 bytes"),
    ],
)
def test_what_is_refused(con, change, call, says):
    make_month(con, 0, 60)
    con.execute(change)
    assert says in fails(con, call)


def test_a_column_with_another_role_is_refused(con):
    make_month(con, 0, 60)
    step(con, 2)
    call = CALL.replace("NULL", "'anon_series'").replace("keep :=", "identifiers :=")
    assert "the kept columns must be those that the series began with" in fails(con, call)


def test_hostile_names(con):
    make_month(con, 0, 100)
    for old, new in (
        ("illness", "a\"'. $[0]"),
        ("ward", "__x"),
        ("person", "cohort"),
        ("age", "tuple"),
    ):
        quoted = new.replace('"', '""')
        con.execute(f'ALTER TABLE people RENAME {old} TO "{quoted}"')
    given = {
        "quasi": ["tuple", "city"],
        "sensitive": "a\"'. $[0]",
        "keep": "__x",
        "entity": "cohort",
    }
    roles = ", ".join(f"{name} := ${name}" for name in given)
    given["key"] = KEY
    con.execute(
        f"CREATE TABLE s AS FROM series_next('people', NULL, l := 2, {roles}, key := $key)", given
    )
    found = con.execute(
        f"FROM anonymize('people', k := 5, series := 's', {roles}, key := $key)", given
    )
    assert [column[0] for column in found.description] == ["tuple", "city", "a\"'. $[0]", "__x"]
    assert len(found.fetchall()) > 50


def test_no_value_of_a_person_stands_beside_a_hash(con):
    make_month(con, 0, 100)
    step(con, 2)
    beside = con.execute(
        "SELECT DISTINCT tuple IS NULL OR regexp_full_match(tuple, '[0-9a-f]{32}') "
        "FROM anon_series WHERE person IS NOT NULL"
    )
    assert beside.fetchall() == [(True,)]
    assert con.execute(f"SELECT count(*) FROM {released()}").fetchall()[0][0] > 50
