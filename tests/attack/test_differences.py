"""joined, left, joined_and_left: a plain count of components, and the attack in plain SQL."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.attack import plain_differences
from tests.attack.test_composition import fill, persons_of
from tests.attack.twin import covers
from tests.drawing import examples
from tests.inserting import insert


def earlier(con, raw, released, previous, least, more):
    """What audit says of an earlier release, by property: found, passed, example, meaning."""
    rows = con.execute(
        f"SELECT property, found, passed, example, meaning FROM audit('{raw}', '{released}', "
        f"l := {least}, previous := '{previous}', {more})"
    ).fetchall()
    return {name: rest for name, *rest in rows}


def covers_somebody(people, released):
    return any(
        all(covers(label, row[q]) for q, label in labels.items())
        for labels, _ in released
        for rows in people
        for row in rows
    )


def test_against_the_plain_count(con):
    row = st.tuples(
        st.none() | st.integers(0, 8),
        st.integers(-2, 12),
        st.sampled_from(["a", "b", "c", "d"]),
        st.none() | st.sampled_from("xyz"),
        st.none() | st.integers(0, 2),
    )
    # class 0 is suppressed; persons without a class are not in the release
    member = st.tuples(row, *[st.none() | st.integers(0, 4)] * 2)

    @examples(60)
    @given(
        st.lists(member, min_size=1, max_size=14),
        st.tuples(*[st.sampled_from(["ac", "a", "c"])] * 2),
        st.integers(2, 3),
        st.integers(0, 5),
        st.sampled_from([["s", "n"], ["s"]]),
    )
    def tried(members, quasi, least, gone, sensitive):
        """The last persons have left before the table was read."""
        rows = [row for row, *_ in members]
        con.execute(
            "CREATE OR REPLACE TABLE raw (p INTEGER, a INTEGER, c VARCHAR, s VARCHAR, n INTEGER)"
        )
        left = rows[: max(len(rows) - gone, 1)]
        insert(con, "raw", left)
        releases = []
        for at, (name, some) in enumerate((("before", rows), ("after", left))):
            classes = [member[1 + at] for member in members][: len(some)]
            releases.append(fill(con, name, some, classes, quasi[at]))
        before, after = releases
        people = persons_of(left, False)
        if not (covers_somebody(people, before) and after):
            return
        shown = [[(labels, {c: own[c] for c in "sn"}) for labels, own in r] for r in releases]
        wanted = plain_differences.differences(people, *shown, range(len(sensitive)), least)
        kept = "NULL" if "n" in sensitive else "['n']"
        found = con.execute(
            "SELECT property, found, passed, example FROM __anon_earlier_properties('audit', 'raw', 'after', "
            f"'before', 0, {least}, 0, ['a', 'c'], {sensitive}, {kept}, NULL, NULL)"
        ).fetchall()
        by_name = {name: rest for name, *rest in found}
        assert by_name["joined"][:2] == [wanted["joined"] / len(after), not wanted["joined"]]
        assert by_name["left"][:2] == [wanted["left"] / len(before), not wanted["left"]]
        share = wanted["both"] / (len(before) + len(after))
        said = f"since before: at least {wanted['came']:,} came and {wanted['went']:,} went"
        assert by_name["joined_and_left"] == [share, None if share else True, said]

    tried()


ROLES = "quasi := ['age', 'city'], sensitive := 'ill', entity := 'p'"


@pytest.mark.parametrize("seed", range(4))
def test_a_newcomer_and_a_leaver_are_named_by_subtraction_and_found(con, seed):
    """The attacker, in plain SQL: the value whose count changes between two files."""
    draw = random.Random(seed)
    con.execute("CREATE TABLE people (p INTEGER, age INTEGER, city VARCHAR, ill VARCHAR)")
    many = draw.randint(120, 300)
    rows = [
        (p, draw.randint(18, 80), draw.choice("abcd"), draw.choice("uvwxyz")) for p in range(many)
    ]
    insert(con, "people", rows)
    con.execute("CREATE TABLE more AS FROM people UNION ALL SELECT 9999, 40, 'b', 'w'")
    for table, name in (("people", "few"), ("more", "many")):
        con.execute(f"CREATE TABLE {name} AS FROM anonymize('{table}', k := 5, l := 3, {ROLES})")
    named = (
        "SELECT ill FROM (SELECT ill, 1 AS n FROM {} UNION ALL SELECT ill, -1 FROM {}) "
        "GROUP BY ill HAVING sum(n) > 0"
    )
    assert con.execute(named.format("many", "few")).fetchall() == [("w",)]
    found = earlier(con, "more", "many", "few", 3, ROLES)
    assert found["joined"][:3] == [
        1 / (many + 1),
        False,
        f"since few: at least 1 of {many + 1} rows came",
    ]
    assert found["left"][:2] == [0, True]
    found = earlier(con, "people", "few", "many", 3, ROLES)
    assert found["left"][:3] == [
        1 / (many + 1),
        False,
        f"since many: at least 1 of {many + 1} rows went",
    ]
    assert "Leavers cannot wait" in found["left"][3]
    assert found["joined"][:2] == [0, True]
    for name in ("joined", "left", "intersection"):
        assert found[name][3].startswith("Attack: ")
    assert found["cohort_l"][:2] == [None, None]
    assert found["cohort_l"][3].startswith("Bound: ")


def test_newcomers_who_have_waited_are_not_exposed(con):
    """Whoever comes with enough values is not found; one in the place of another is undecided."""
    con.execute(
        "CREATE TABLE people AS SELECT i AS p, 20 AS age, 'a' AS city, 'v' || i % 6 AS ill "
        "FROM range(200) t(i)"
    )
    con.execute(
        "CREATE TABLE three AS FROM people UNION ALL "
        "SELECT 300 + i, 20, 'a', 'v' || i FROM range(3) t(i)"
    )
    con.execute(
        "CREATE TABLE other AS FROM people WHERE p <> 7 UNION ALL SELECT 400, 20, 'a', 'v5'"
    )
    for name in ("people", "three", "other"):
        con.execute(f"CREATE TABLE of_{name} AS FROM anonymize('{name}', k := 5, l := 3, {ROLES})")
    found = earlier(con, "three", "of_three", "of_people", 3, ROLES)
    assert found["joined"][:2] == [0, True]
    assert found["joined"][3] == "Attack: counts show enough values of the 3 rows that came."
    found = earlier(con, "other", "of_other", "of_people", 3, ROLES)
    assert (found["joined"][1], found["left"][1]) == (True, True)
    assert found["joined_and_left"][:2] == [2 / 400, None]


def test_a_kept_column_tells_newcomers_from_leavers(con):
    """Whole tuples: without the kept column the two would cancel out."""
    con.execute(
        "CREATE TABLE people AS SELECT i AS p, 20 AS age, 'a' AS city, 'v' || i % 3 AS ill, "
        "i % 7 AS ward FROM range(90) t(i)"
    )
    con.execute(
        "CREATE TABLE other AS FROM people WHERE p <> 8 UNION ALL SELECT 400, 20, 'a', 'v2', 50"
    )
    for name in ("people", "other"):
        con.execute(
            f"CREATE TABLE of_{name} AS FROM anonymize('{name}', k := 5, l := 2, {ROLES}, keep := 'ward')"
        )
    both = earlier(con, "other", "of_other", "of_people", 2, f"{ROLES}, keep := 'ward'")
    assert both["joined_and_left"][:2] == [2 / 180, None]
    con.execute("CREATE TABLE none AS SELECT * EXCLUDE (ward) FROM of_other")
    both = earlier(con, "other", "none", "of_people", 2, f"{ROLES}, keep := 'ward'")
    assert both["joined_and_left"][:2] == [0, True]
