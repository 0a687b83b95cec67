"""dm: squared sizes, all suppressed rows as one class."""

import pytest

pytestmark = pytest.mark.quick


def test_by_hand(measured):
    assert measured("dm") == 4 * 2**2 + 3**2


def test_a_release_of_nothing(hand):
    hand.execute("CREATE TABLE none AS FROM label LIMIT 0")
    assert hand.execute("SELECT dm('raw', 'none', quasi := ['age'])").fetchall() == [(121,)]


def test_empty_tables(hand):
    hand.execute("CREATE TABLE none AS FROM label LIMIT 0; CREATE TABLE empty AS FROM raw LIMIT 0")
    assert hand.execute("SELECT dm('empty', 'none', quasi := ['age'])").fetchall() == [(0,)]


def test_it_stands_anywhere_in_a_query(hand):
    query = "SELECT age FROM raw WHERE dm('raw', 'label', quasi := ['age']) - 36 > age ORDER BY age"
    assert hand.execute(query).fetchall() == []
    query = "SELECT max(dm('raw', 'label', quasi := ['age'])), count(*) FROM raw"
    assert hand.execute(query).fetchall() == [(3 * 2**2 + 5**2, 11)]
