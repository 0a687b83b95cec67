"""attribute_loss: the NCP of each quasi-identifier, whose mean is gcp."""

import pytest

from tests.measure import twin


def test_by_hand(hand, shape):
    loss = f"attribute_loss('raw', '{shape}', quasi := ['city', 'age'])"
    assert hand.sql(f"FROM {loss}").columns == ["attribute", "ncp"]
    assert hand.execute(f"FROM {loss}").fetchall() == [
        ("city", pytest.approx(5 / 11)),
        ("age", pytest.approx(5.75 / 11)),
    ]


def test_the_order_and_the_spelling_are_the_tables(hand):
    hand.execute("COMMENT ON COLUMN raw.city IS 'anon:quasi'")
    hand.execute("COMMENT ON COLUMN raw.age IS 'anon:quasi'")
    hand.execute("CREATE VIEW shouted AS SELECT city AS CITY, age AS Age FROM label")
    named = [name for name, _ in hand.execute("FROM attribute_loss('raw', 'shouted')").fetchall()]
    assert named == ["age", "city"]
    assert [
        name
        for name, _ in hand.execute(
            "FROM attribute_loss('raw', 'shouted', quasi := ['CITY', 'AGE'])"
        ).fetchall()
    ] == ["city", "age"]


def test_against_the_twin_and_gcp(people):
    people.execute("CREATE TABLE r AS FROM rayden('people', k := 11)")
    raw = people.execute("SELECT age, city, sex, born FROM people").fetchall()
    released = people.execute("SELECT age, city, sex, born FROM r").fetchall()
    expected = twin.measures(raw, released)["attributes"]
    found = people.execute("FROM attribute_loss('people', 'r')").fetchall()
    assert [name for name, _ in found] == ["age", "city", "sex", "born"]
    assert [ncp for _, ncp in found] == pytest.approx(expected)
    gcp = people.execute("SELECT gcp('people', 'r')").fetchall()[0][0]
    assert sum(expected) / 4 == pytest.approx(gcp)


def test_empty_tables(hand):
    hand.execute("CREATE TABLE none AS FROM label LIMIT 0; CREATE TABLE empty AS FROM raw LIMIT 0")
    assert hand.execute("FROM attribute_loss('raw', 'none', quasi := ['age'])").fetchall() == [
        ("age", 1)
    ]
    assert hand.execute("FROM attribute_loss('empty', 'none', quasi := ['age'])").fetchall() == [
        ("age", None)
    ]
