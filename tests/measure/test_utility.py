"""utility: one row that agrees with every scalar function and with the plain twin."""

import duckdb
import pytest

from tests.measure import twin

pytestmark = [pytest.mark.quick, pytest.mark.oldest]

NAMES = [
    *("rows", "released_rows", "suppressed", "classes", "smallest_class"),
    *("dm", "dm_star", "cavg", "gcp", "iloss", "suppression_rate"),
]
SCALARS = ["dm", "dm_star", "cavg", "gcp", "iloss", "suppression_rate"]


def test_by_hand(hand, shape):
    found = hand.sql(f"FROM utility('raw', '{shape}', k := 2, quasi := ['age', 'city'])")
    assert found.columns == NAMES
    assert found.fetchall() == [
        (11, 10, 3, 4, 2, 25, 49, 1.0, pytest.approx(10.75 / 22), 12.75, pytest.approx(3 / 11))
    ]
    assert [str(kind) for kind in found.types] == [*7 * ["BIGINT"], *4 * ["DOUBLE"]]


def test_it_says_what_the_functions_say(people):
    people.execute("CREATE TABLE r AS FROM rayden('people', k := 7)")
    row = people.execute(
        f"SELECT {', '.join(SCALARS)} FROM utility('people', 'r', k := 7)"
    ).fetchall()
    calls = [f"{name}('people', 'r'{', k := 7' if name == 'cavg' else ''})" for name in SCALARS]
    assert people.execute(f"SELECT {', '.join(calls)}").fetchall()[0] == pytest.approx(row[0])
    smallest = people.execute("SELECT smallest_class FROM utility('people', 'r')").fetchall()
    assert people.execute("SELECT k_anonymity('people', 'r')").fetchall() == smallest


@pytest.mark.parametrize("shape", ["label", "typed"])
def test_against_the_twin(people, shape):
    people.execute(
        f"CREATE TABLE r AS FROM rayden('people', k := 3, format := '{shape}', alpha := 0.5)"
    )
    star = "NULL" if shape == "typed" else "'*'"
    people.execute("DELETE FROM r WHERE rowid % 37 = 5")
    people.execute(f"UPDATE r SET age = {star} WHERE rowid % 19 < 2")
    people.execute(f"UPDATE r SET city = {star}, sex = {star}, born = {star} WHERE rowid % 19 = 1")
    raw = people.execute("SELECT age, city, sex, born FROM people").fetchall()
    released = people.execute("SELECT age, city, sex, born FROM r").fetchall()
    expected = twin.measures(raw, released, k=3, typed=shape == "typed")
    del expected["attributes"]
    found = people.execute("FROM utility('people', 'r', k := 3)").fetchall()[0]
    assert dict(zip(NAMES, found, strict=True)) == pytest.approx(expected, rel=1e-12)


def test_what_is_empty(hand):
    hand.execute("CREATE TABLE none AS FROM label LIMIT 0; CREATE TABLE empty AS FROM raw LIMIT 0")
    assert hand.execute("FROM utility('raw', 'none', quasi := ['age'])").fetchall() == [
        (11, 0, 11, 0, None, 121, 121, None, 1.0, 11.0, 1.0)
    ]
    assert hand.execute("FROM utility('empty', 'none', quasi := ['age'])").fetchall() == [
        (0, 0, 0, 0, None, 0, 0, None, None, 0.0, None)
    ]


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_any_number_of_threads(people, threads):
    people.execute("CREATE TABLE r AS FROM rayden('people', k := 5)")
    expected = people.execute("FROM utility('people', 'r')").fetchall()[0]
    people.execute(f"SET threads = {threads}")
    assert people.execute("FROM utility('people', 'r')").fetchall()[0] == pytest.approx(expected)


def test_a_comparison_is_no_k(hand):
    """k = 2 is the third argument, a comparison, and never a k."""
    with pytest.raises(duckdb.Error):
        hand.execute("FROM utility('raw', 'label', k = 2, quasi := ['age'])").fetchall()
