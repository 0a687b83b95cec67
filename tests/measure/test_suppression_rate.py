"""suppression_rate: starred rows and rows left out, of all rows."""

import pytest


def test_by_hand(measured):
    assert measured("suppression_rate") == pytest.approx(3 / 11)


def test_one_quasi_identifier(hand, shape):
    """With age alone the class that mixes NULL with values is starred as well."""
    query = f"SELECT suppression_rate('raw', '{shape}', quasi := ['age'])"
    assert hand.execute(query).fetchall() == [(pytest.approx(5 / 11),)]


def test_empty_tables(hand):
    hand.execute("CREATE TABLE none AS FROM label LIMIT 0; CREATE TABLE empty AS FROM raw LIMIT 0")
    rates = hand.execute(
        "SELECT suppression_rate('raw', 'none', quasi := ['age']), "
        "suppression_rate('empty', 'none', quasi := ['age'])"
    ).fetchall()
    assert rates == [(1, None)]
