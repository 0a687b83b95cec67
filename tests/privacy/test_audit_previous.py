"""audit with earlier releases: attacks as properties with a limit, counted again without it."""

import random

import pytest
from hypothesis import settings

from tests.inserting import insert
from tests.sentence import fails

ATTACK = (
    "an attack, not a bound: it intersects whole tuples of sensitive and kept columns, but subtracts "
    "no counts"
)
FOUND = "Attack: all releases together leave {} of 200 persons fewer than {} values; {} exposed so."
ROLES = "quasi := ['age', 'weight'], sensitive := ['illness'], entity := 'person'"


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


def intersection(con, released, previous, more=""):
    """The row of audit about the intersection."""
    call = f"audit('people', '{released}', 3, {ROLES}, previous := {previous}{more})"
    return con.execute(
        f"SELECT * EXCLUDE (property) FROM {call} WHERE property = 'intersection'"
    ).fetchall()


@pytest.mark.makes_functions
def test_the_share_of_persons_whom_the_releases_leave_too_few_values(twice):
    """By plain SQL: the values of all rows that cover a person, in each release."""
    twice.execute(
        "CREATE MACRO fitting(release, years, kilos) AS (SELECT list(DISTINCT illness) "
        "FROM query_table(release) "
        "WHERE years BETWEEN anon_min(age)::INTEGER AND anon_max(age)::INTEGER "
        "AND kilos BETWEEN anon_min(weight)::INTEGER AND anon_max(weight)::INTEGER)"
    )
    for asked, least in (("NULL", 2), ("2.5", 3)):
        ((persons, one),) = twice.execute(
            f"SELECT count_if(len(list_intersect(one, two)) < {least}), "
            "count_if(len(list_intersect(one, two)) = 1) "
            "FROM (SELECT fitting('may', age, weight) AS one, fitting('june', age, weight) AS two "
            "FROM people)"
        ).fetchall()
        assert persons > 10
        assert intersection(twice, "june", "['may']", f", l := {asked}") == [
            (
                0,
                persons / 200,
                False,
                f"illness: {persons} of 200 persons, {one} with one value; {ATTACK}",
                FOUND.format(persons, least, "none may be"),
            )
        ]


@pytest.mark.slow
def test_of_random_pairs_previous_share_limits_a_plain_count(con):
    """Random classes of random persons, with a kept column and with NULL; the count is plain.

    As many as the profile of tests/drawing.py wants: 300 in .ci/run, a thousand of 'large'.
    """
    _pairs(con, range(min(3 * settings.default.max_examples, 1000)))


@pytest.mark.quick
def test_of_a_few_random_pairs_previous_share_limits_a_plain_count(con):
    _pairs(con, range(1000, 1010))


def _pairs(con, seeds):
    found_somebody = 0
    for seed in seeds:
        found_somebody += _pair(con, random.Random(seed))
    assert found_somebody > len(seeds) / 3


def _pair(con, draw):
    """Compare audit with a plain count, for two releases of some persons each."""
    many, least = draw.randint(4, 40), draw.randint(2, 3)
    people = [
        (p, draw.randint(0, 20), draw.choice("xyzw"), draw.choice([None, 1, 2, 3]))
        for p in range(many)
    ]
    con.execute(
        "CREATE OR REPLACE TABLE people (person INTEGER, age INTEGER, ill VARCHAR, ward INTEGER)"
    )
    insert(con, "people", people)
    covering = []  # of each release: the tuples that may be each person's
    for name in ("may", "june"):
        con.execute(f"CREATE OR REPLACE TABLE {name} (age VARCHAR, ill VARCHAR, ward INTEGER)")
        some = sorted(draw.sample(people, draw.randint(2, many)), key=lambda row: row[1])
        rows, tuples = [], {}
        while some:
            held, some = some[: (size := draw.randint(2, 6))], some[size:]
            low, high = held[0][1], held[-1][1]
            label = f"[{low}, {high}]" if low < high else f"{low}"
            rows += [(label, ill, ward) for _, _, ill, ward in held]
            for person, age, *_ in people:
                if low <= age <= high:
                    tuples.setdefault(person, set()).update((ill, ward) for *_, ill, ward in held)
        insert(con, name, rows)
        covering.append(tuples)
    may, june = covering
    left = {
        person: may[person] & june[person] if person in may.keys() & june.keys() else tuples
        for person, tuples in {**may, **june}.items()
    }
    below = sum(0 < len({ill for ill, _ in tuples}) < least for tuples in left.values())
    share = below / len(left)
    limit = draw.choice([share, max(share - 0.001, 0)])
    ((found, passed),) = con.execute(
        f"SELECT found, passed FROM audit('people', 'june', l := {least}, quasi := 'age', "
        "sensitive := 'ill', keep := 'ward', entity := 'person', previous := 'may', "
        f"previous_share := {limit}) WHERE property = 'intersection'"
    ).fetchall()
    assert found == share
    assert passed is (share <= limit + 1e-9)
    return below > 0


def test_the_limit(twice):
    ((*_, passed, _, said),) = intersection(twice, "june", "'may'", ", previous_share := 0.12")
    assert passed is True
    assert said == FOUND.format(23, 2, "12% may be")
    assert intersection(twice, "june", "'may'", ", previous_share := 0.11")[0][2] is False
    assert intersection(twice, "june", "['may']", ", synthetic := 1")[0][2] is None


def test_the_same_release_again_discloses_nothing_more(twice):
    """Persons of whom one release alone shows a single value count, too."""
    assert intersection(twice, "may", "['may', 'may']") == [
        (
            0,
            1 / 200,
            False,
            f"illness: 1 of 200 persons, 1 with one value; {ATTACK}",
            FOUND.format(1, 2, "none may be"),
        )
    ]
    assert intersection(twice, "may", "NULL") == []


def test_a_table_without_rows(twice):
    twice.execute("CREATE TABLE nobody AS FROM people LIMIT 0")
    twice.execute("CREATE TABLE none AS FROM may LIMIT 0")
    call = f"audit('nobody', 'none', 3, {ROLES}, previous := ['none'])"
    found = twice.execute(f"FROM {call}").fetchall()[-5:]
    assert [row[:4] for row in found] == [
        ("intersection", 0, 0, True),
        ("joined", 0, 0, True),
        ("left", 0, 0, True),
        ("joined_and_left", 0, 0, True),
        ("cohort_l", None, None, None),
    ]


def test_what_it_refuses(twice):
    audit = "FROM audit('people', 'june', 3, quasi := ['age'], previous := {})"
    assert fails(twice, audit.format("['may']")).startswith(
        "audit: at least one sensitive column is needed"
    )
    ill = ", sensitive := ['illness']"
    assert fails(twice, audit.format(f"['may']{ill}, previous_share := 2")) == (
        "audit: previous_share must be a number of at least 0 and at most 1, got 2"
    )
    assert fails(twice, audit.format(f"{['may'] * 12}{ill}")) == (
        "audit: previous must be a list of 1 to 11 names, got 12 names"
    )
    twice.execute("CREATE TABLE others AS SELECT age, weight, 1 AS bed FROM may")
    assert fails(twice, audit.format(f"'others'{ill}")) == (
        "audit: every earlier release must have a sensitive column, got no such column in 'others'"
    )
    twice.execute("CREATE TABLE no_labels AS SELECT illness FROM may")
    assert fails(twice, audit.format(f"'no_labels'{ill}")) == (
        "audit: every release must have a quasi-identifier, got no such column in 'no_labels'; choose from "
        "illness"
    )
    twice.execute("CREATE TABLE elsewhere AS SELECT '[900, 990]' AS age, illness FROM may")
    assert fails(twice, audit.format(f"'elsewhere'{ill}")) == (
        "audit: previous must name releases of persons in the raw table, got one that covers none "
        "of them, 'elsewhere'"
    )
    twice.execute(
        f"CREATE TABLE means AS FROM anonymize('people', k := 9, {ROLES}, format := 'mean')"
    )
    said = fails(twice, audit.format(f"'means'{ill}"))
    assert said.startswith("audit: the releases must show labels of age")
    assert "these cannot be composed" in said
