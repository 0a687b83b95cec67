"""audit with earlier releases: composition as a property with a limit."""

import pytest

from tests.sentence import fails

NOTE = (
    "one attack, not a bound: it compares sets of values of one sensitive column, but neither "
    "counts of rows nor kept columns"
)
FOUND = "An attack on this and the earlier releases together finds {} of 200 persons; none may be found."
ROLES = "qids := ['age', 'weight'], sensitive := ['illness'], entity := 'person'"


@pytest.fixture
def twice(con):
    """200 persons, released twice with different seeds."""
    con.execute(
        "CREATE TABLE people AS SELECT 7 * i AS person, 18 + i * 37 % 61 AS age, "
        "40 + i * i * 7 % 83 AS weight, "
        "['asthma', 'cancer', 'flu', 'gout', 'none'][1 + i * i * 13 // 11 % 5] AS illness "
        "FROM range(200) AS made(i)"
    )
    for name, seed in (("may", 1), ("june", 2)):
        call = f"rayden('people', k := 3, {ROLES}, seed := {seed})"
        con.execute(f"CREATE TABLE {name} AS FROM {call}")
    return con


def composition(con, released, previous, more=""):
    """The rows of audit that are about earlier releases."""
    call = f"audit('people', '{released}', 3, {ROLES}, previous := {previous}{more})"
    return con.sql(f"SELECT * EXCLUDE (property) FROM {call} WHERE property = 'composition'")


@pytest.mark.makes_functions
def test_the_share_of_persons_that_no_release_alone_discloses(twice):
    """By plain SQL: the values of all rows that cover a person, in each release."""
    twice.execute(
        "CREATE MACRO fitting(release, years, kilos) AS (SELECT list(DISTINCT illness) "
        "FROM query_table(release) "
        "WHERE years BETWEEN anon_min(age)::INTEGER AND anon_max(age)::INTEGER "
        "AND kilos BETWEEN anon_min(weight)::INTEGER AND anon_max(weight)::INTEGER)"
    )
    for asked, least in (("NULL", 2), ("2.5", 3)):
        ((persons,),) = twice.execute(
            f"SELECT count_if(len(list_intersect(one, two)) < {least} AND len(one) >= {least} "
            f"AND len(two) >= {least}) FROM (SELECT fitting('may', age, weight) AS one, "
            "fitting('june', age, weight) AS two FROM people)"
        ).fetchall()
        assert persons > 10
        found = composition(twice, "june", "['may']", f", l := {asked}").fetchall()
        assert found == [
            (
                0,
                persons / 200,
                False,
                f"illness: {persons} of 200 persons; {NOTE}",
                FOUND.format(persons),
            )
        ]


def test_the_limit(twice):
    ((*_, passed, _, said),) = composition(
        twice, "june", "'may'", ", previous_share := 0.08"
    ).fetchall()
    assert passed is True
    assert said.endswith(" finds 16 of 200 persons; 8% may be found.")
    assert composition(twice, "june", "'may'", ", previous_share := 0.07").fetchall()[0][2] is False
    found = composition(twice, "june", "['may']", ", synthetic := 1").fetchall()
    assert found[0][2] is None


def test_the_same_release_again_discloses_nothing_more(twice):
    assert composition(twice, "may", "['may', 'may']").fetchall() == [
        (0, 0, True, f"illness: 0 of 200 persons; {NOTE}", FOUND.format(0))
    ]
    assert composition(twice, "may", "NULL").fetchall() == []


def test_a_table_without_rows(twice):
    twice.execute("CREATE TABLE nobody AS FROM people LIMIT 0")
    twice.execute("CREATE TABLE none AS FROM may LIMIT 0")
    call = f"audit('nobody', 'none', 3, {ROLES}, previous := ['none'])"
    found = twice.execute(f"FROM {call} WHERE property = 'composition'").fetchall()
    assert [row[:-1] for row in found] == [
        ("composition", 0, 0, True, f"illness: 0 of 0 persons; {NOTE}")
    ]


def test_what_it_refuses(twice):
    audit = "FROM audit('people', 'june', 3, qids := ['age'], previous := {})"
    assert fails(twice, audit.format("['may']")).startswith(
        "composition: at least one sensitive column is needed"
    )
    share = "['may'], sensitive := ['illness'], previous_share := 2"
    assert fails(twice, audit.format(share)) == (
        "audit: previous_share must be a number of at least 0 and at most 1, got 2"
    )
