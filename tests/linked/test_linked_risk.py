"""linked_risk counts whom the tables single out: against plain Python, on raw and released tables."""

from collections import Counter, defaultdict
from itertools import combinations

import pytest

import anon_sql
from tests.linked.folded import rows
from tests.sentence import fails


@pytest.fixture
def made(hospital_of):
    con = hospital_of(150)
    # few values, so that persons share rows
    con.execute("UPDATE visit SET visited = date_trunc('year', visited)")
    con.execute("UPDATE person SET born = born // 40, postcode = 'x'")
    return con


def plain(con, k):
    """What the function returns, and the fewest persons whom any two rows leave."""
    own, visits = {}, defaultdict(list)
    for row in rows(con, "person"):
        own[row["person_id"]] = (row["born"], row["sex"], row["postcode"])
    for row in rows(con, "visit"):
        visits[row["person_id"]].append((row["visited"], row["ward"]))
    numbered = {person: (label, len(visits[person])) for person, label in own.items()}
    items = {person: set(visits[person]) for person in own}
    sharing = Counter((numbered[person], item) for person in own for item in items[person])
    one, two = {}, {}
    alone, by_number = Counter(own.values()), Counter(numbered.values())
    whole = Counter((own[person], tuple(sorted(visits[person]))) for person in own)
    for person in own:
        one[person] = min(
            (sharing[numbered[person], item] for item in items[person]),
            default=by_number[numbered[person]],
        )
        pairs = [
            sum(numbered[other] == numbered[person] and set(pair) <= items[other] for other in own)
            for pair in combinations(sorted(items[person]), 2)
        ]
        two[person] = min(pairs, default=one[person])
    levels = [
        [alone[own[p]] for p in own],
        [by_number[numbered[p]] for p in own],
        list(one.values()),
        list(two.values()),
        [whole[own[p], tuple(sorted(visits[p]))] for p in own],
    ]
    return [
        (len(own), sum(n == 1 for n in each), sum(n < k for n in each), min(each))
        for each in levels
    ]


def test_it_counts_what_plain_python_counts(made):
    found = made.execute("FROM linked_risk('person', k := 4)").fetchall()
    assert [name for name, *_ in found] == [
        "own columns",
        "and the number of rows",
        "and one row",
        "and two rows",
        "and all rows",
    ]
    known = plain(made, 4)
    for at in (0, 1, 2, 4):
        assert found[at][1:] == known[at]
    # of two rows only the rarest are looked at, which may leave more persons than another pair
    assert known[2][1] <= found[3][2] <= known[3][1]
    assert found[3][2] > found[1][2]


def test_nobody_is_singled_out_in_a_release(made):
    anon_sql.release_linked(made, "person", into="safe", k=4)
    for *_, unique, below, fewest in made.execute(
        "FROM linked_risk('safe.person', k := 4, raw := 'person')"
    ).fetchall():
        assert (unique, below) == (0, 0)
        assert fewest >= 4


def test_tables_released_one_by_one_are_singled_out(made):
    """Each passes its own check of k; joined, persons are unique."""
    made.execute("CREATE SCHEMA safe")
    keep = "keep := ['person_id', 'days', 'visit_id']"
    made.execute("CREATE TABLE raw_visit AS FROM visit")
    made.execute(
        "CREATE TABLE safe.visit AS FROM anonymize('raw_visit', k := 5, "
        f"quasi := ['visited', 'ward'], {keep})"
    )
    made.execute("CREATE TABLE raw_person AS FROM person")
    made.execute(
        "CREATE TABLE safe.person AS FROM anonymize('raw_person', k := 5, "
        "quasi := ['born', 'sex', 'postcode'], keep := ['person_id'])"
    )
    made.execute("DROP TABLE raw_visit")
    made.execute("DROP TABLE raw_person")
    found = made.execute(
        "FROM linked_risk('safe.person', links := ['visit.person_id -> person.person_id'], "
        "identifiers := ['person.person_id', 'visit.visit_id'], keep := ['visit.days'], quasi := "
        "['person.born', 'person.sex', 'person.postcode', 'visit.person_id', 'visit.visited', "
        "'visit.ward'])".replace(
            "'visit.person_id -> person", "'safe.visit.person_id -> safe.person"
        )
    ).fetchall()
    assert found[-1][2] > 40


def test_bad_input(made):
    assert fails(made, "FROM linked_risk(NULL)") == (
        "linked_risk: root must be the name of a table, got NULL"
    )
    assert fails(made, "FROM linked_risk('person', links := 'visit')") == (
        "linked_risk: links must be texts like 'visit.person_id -> person.person_id', got another "
        "text"
    )


def test_a_number_of_rows_is_known_where_nothing_else_is(con):
    """Persons with one visit and with two differ, though visits show nothing."""
    con.execute("CREATE TABLE someone AS SELECT i AS id FROM range(60) AS made(i)")
    con.execute("CREATE TABLE call AS SELECT i % 60 AS id, 0 AS level FROM range(90) AS made(i)")
    roles = "links := 'call.id -> someone.id', identifiers := 'someone.id', quasi := "
    for columns in ("'call.id', keep := 'call.level'", "['call.id', 'call.level']"):
        called = f"FROM linked_risk('someone', k := 31, {roles}{columns})"
        assert [row[1:] for row in con.execute(called).fetchall()] == [
            (60, 0, 0, 60),
            *[(60, 0, 60, 30)] * 4,
        ]
    con.execute("CREATE SCHEMA safe")
    con.execute(
        "CREATE TABLE safe.someone AS SELECT id + 100 AS id, NULL AS call_rows FROM someone"
    )
    con.execute("CREATE TABLE safe.call AS SELECT id + 100 AS id, level FROM call WHERE id <> 7")
    con.execute("ALTER TABLE safe.someone ADD COLUMN call_weight DOUBLE")
    audit = (
        f"SELECT found FROM linked_audit('someone', 'safe.someone', truth := false, {roles}"
        "'call.id', keep := 'call.level') WHERE property = 'k'"
    )
    assert con.execute(audit).fetchall() == [(1.0,)]
    con.execute("DROP SCHEMA safe CASCADE; DROP TABLE call; DROP TABLE someone")
