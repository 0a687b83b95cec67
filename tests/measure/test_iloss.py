"""iloss: by hand, against the plain twin and plain SQL, and where it departs from gcp."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawing import examples
from tests.inserting import insert
from tests.measure import twin
from tests.oracles import quoted
from tests.sentence import fails
from tests.test_hierarchical import PATHS, PRINTED, hierarchy

AGE = 2 * (5 / 40 + 10 / 40 + 0 + 1 + 1) + 1


def test_by_hand(measured):
    """Sets of cities lose 1 each; gcp counts their values."""
    assert measured("iloss") == pytest.approx(AGE + 2 * (1 + 0 + 1 + 0 + 1) + 1)


@pytest.mark.parametrize("shape", ["label", "typed"])
@pytest.mark.parametrize("k", [1, 5, 40])
def test_against_the_twin(people, shape, k):
    people.execute(f"CREATE TABLE r AS FROM rayden('people', k := {k}, format := '{shape}')")
    people.execute("DELETE FROM r WHERE rowid % 41 = 7")
    star = "NULL" if shape == "typed" else "'*'"
    people.execute(f"UPDATE r SET city = {star} WHERE rowid % 13 = 3")
    people.execute(
        f"UPDATE r SET (age, city, sex, born) = ({', '.join(4 * [star])}) WHERE rowid % 29 = 3"
    )
    raw = people.execute("SELECT age, city, sex, born FROM people").fetchall()
    released = people.execute("SELECT age, city, sex, born FROM r").fetchall()
    expected = twin.measures(raw, released, typed=shape == "typed")["iloss"]
    found = people.execute("SELECT iloss('people', 'r')").fetchall()[0][0]
    assert found == pytest.approx(expected, rel=1e-12)


def test_numbers_alone_lose_what_gcp_says(people):
    """The sum instead of the mean over rows and columns."""
    numbers = "quasi := ['age', 'born']"
    kept = "keep := ['city', 'sex', 'score']"
    people.execute(f"CREATE TABLE r AS FROM mondrian('people', k := 7, {numbers}, {kept})")
    people.execute("DELETE FROM r WHERE rowid % 41 = 7")
    iloss, gcp = people.execute(
        f"SELECT iloss('people', 'r', {numbers}), gcp('people', 'r', {numbers})"
    ).fetchall()[0]
    assert iloss == pytest.approx(gcp * 2 * 120, rel=1e-12)


def test_plain_sql(people):
    """Of typed labels, whose widths SQL can read, under names that need quotes."""
    names = ['a"ge', "select", "ße, x", "Born.on"]
    renamed = zip(["age", "city", "sex", "born"], names, strict=True)
    for old, new in renamed:
        people.execute(f"ALTER TABLE people RENAME {old} TO {quoted([new])}")
    people.execute("CREATE TABLE r AS FROM anonymize('people', k := 20, format := 'typed')")
    age, city, sex, born = (quoted([name]) for name in names)
    plain = f"""
        SELECT sum(coalesce(({age}.max - {age}.min) / (SELECT max({age}) - min({age}) FROM people),
                if({age} IS NULL, 1, 0)) + if(len({city}) > 1 OR {city} IS NULL, 1, 0)
            + if(len({sex}) > 1 OR {sex} IS NULL, 1, 0) + coalesce(
                ({born}.max - {born}.min) / (SELECT max({born}) - min({born}) FROM people), 1))
        FROM r
    """
    expected = people.execute(plain).fetchall()
    assert people.execute("SELECT iloss('people', 'r')").fetchall()[0] == pytest.approx(expected[0])


def test_heights_of_nodes(con):
    """Every node of a ragged hierarchy: the longest way down to a leaf, not its leaves."""
    hierarchy(con)
    con.execute("CREATE TABLE t (s VARCHAR)")
    insert(con, "t", [[leaf] for leaf in PATHS["s"]])
    heights = {}
    for above in PATHS["s"].values():
        for at, name in enumerate(above, 1):
            heights[name] = max(at, heights.get(name, 0))
    assert sorted(heights.values()) == [1, 1, 2, 2, 3]
    for name, height in heights.items():
        con.execute("CREATE OR REPLACE TABLE r AS SELECT ? AS s FROM t", [PRINTED.get(name, name)])
        found = con.execute("SELECT iloss('t', 'r', quasi := ['s'], hierarchy := 'h')").fetchall()
        # the root is printed as *, which is a value of t: a table of * alone shows this value
        expected = 0 if PRINTED.get(name) == "*" else height
        assert found[0][0] == pytest.approx(len(PATHS["s"]) * expected / 3), name


def test_a_subtree_that_is_not_deep(con):
    """Half of the names have no middle level; their node is as high as the way below it."""
    hierarchy(con, {"s": {"a": ["ab", "deep", "*"], "b": ["ab", "deep", "*"], "c": ["flat", "*"]}})
    con.execute("CREATE TABLE t AS SELECT unnest(['a', 'b', 'c']) AS s")
    con.execute("CREATE TABLE r AS SELECT unnest(['deep', 'deep', 'flat']) AS s")
    found = con.execute("SELECT iloss('t', 'r', quasi := ['s'], hierarchy := 'h')").fetchall()
    assert found[0][0] == pytest.approx(2 / 3 + 2 / 3 + 1 / 3)


def test_a_hierarchy_of_numbers(con):
    """Of two levels above the values; gcp takes the share of the leaves."""
    con.execute(
        "CREATE TABLE h AS FROM (VALUES "
        "('n', '1', 1, 'low'), ('n', '2', 1, 'low'), ('n', '3', 1, 'high'), "
        "('n', '1', 2, '*'), ('n', '2', 2, '*'), ('n', '3', 2, '*')"
        ") AS r(attribute, value, level, label)"
    )
    con.execute("CREATE TABLE t AS SELECT unnest([1, 2, 3, 3]) AS n")
    con.execute("CREATE TABLE r AS SELECT unnest(['low', 'low', '3', '*']) AS n")
    call = "('t', 'r', quasi := ['n'], hierarchy := 'h')"
    assert con.execute(f"SELECT iloss{call}, gcp{call} * 4").fetchall() == [
        (pytest.approx(1 / 2 + 1 / 2 + 0 + 1), pytest.approx(2 / 3 + 2 / 3 + 0 + 1))
    ]


def test_any_classes_of_text(con):
    """Rows of classes with two values or more, NULL beside values among them."""
    con.execute("CREATE TABLE t (s VARCHAR); CREATE TABLE r (s VARCHAR)")

    @examples(60)
    @given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", "c", None]))))
    def holds(rows):
        con.execute("DELETE FROM t; DELETE FROM r")
        sizes, lost = Counter(place for place, _ in rows), 0
        for place, size in sizes.items():
            values = {s for p, s in rows if p == place}
            lost += size * (len(values) > 1)
            if None in values:
                label = None if len(values) == 1 else "*"
            else:
                words = sorted(values)
                label = words[0] if len(words) == 1 else "{" + ", ".join(words) + "}"
            insert(con, "r", size * [[label]])
        if rows:
            insert(con, "t", [[s] for _, s in rows])
        assert con.execute("SELECT iloss('t', 'r', quasi := ['s'])").fetchall() == [(lost,)]

    holds()


def test_what_is_empty(hand):
    hand.execute("CREATE TABLE none AS FROM label LIMIT 0; CREATE TABLE empty AS FROM raw LIMIT 0")
    found = hand.execute(
        "SELECT iloss('raw', 'none', quasi := ['age', 'city']), "
        "iloss('empty', 'none', quasi := ['age'])"
    )
    assert found.fetchall() == [(22, 0)]


def test_a_release_with_added_rows(hand):
    """The added rows cannot be told from the others, as in gcp."""
    hand.execute("INSERT INTO label FROM label")
    assert hand.execute("SELECT iloss('raw', 'label', quasi := ['age', 'city'])").fetchall() == [
        (None,)
    ]


def test_a_malformed_label(hand):
    hand.execute("UPDATE label SET age = '[1,2]' WHERE city = 'c'")
    assert fails(hand, "SELECT iloss('raw', 'label', quasi := ['age'])").startswith(
        "iloss: a label of age must be a number, [low, high] or *, got 1 class with other"
    )
