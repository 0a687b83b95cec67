"""cavg: rows that are not suppressed / their classes / k."""

import pytest

from tests.sentence import fails

pytestmark = pytest.mark.quick


def test_by_hand(measured):
    assert measured("cavg(k := 2)") == 8 / 4 / 2
    assert measured("cavg(k := 1)") == 2
    assert measured("cavg") == 8 / 4 / 5


def test_no_row_is_left(hand):
    hand.execute("CREATE TABLE stars AS SELECT '*' AS age FROM raw")
    assert hand.execute("SELECT cavg('raw', 'stars', k := 2, quasi := ['age'])").fetchall() == [
        (None,)
    ]


@pytest.mark.parametrize(
    ("k", "got"),
    [
        ("0", "0"),
        ("2.0", "2.0"),
        ("NULL", "NULL"),
        ("true", "a BOOLEAN; write k := 7, since k = 7 is a comparison"),
    ],
)
def test_k(hand, k, got):
    said = f"cavg: k must be a whole number of at least 1, got {got}"
    assert fails(hand, f"SELECT cavg('raw', 'label', k := {k}, quasi := ['age'])") == said


def test_a_comparison_is_no_k(hand):
    """k = 2 beside a column k."""
    said = (
        "cavg: k must be a whole number of at least 1, got a BOOLEAN; "
        "write k := 7, since k = 7 is a comparison"
    )
    query = "SELECT cavg('raw', 'label', k = 2, quasi := ['age']) FROM (SELECT 2 AS k)"
    assert fails(hand, query) == said
