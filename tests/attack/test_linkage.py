"""linkage: which columns both sources have, by hand; test_criteria.py has the rest."""

import pytest

from tests.attack.test_criteria import rows

QUASI = "quasi := ['age', 'city']"


@pytest.fixture
def clinic(con):
    con.execute("CREATE OR REPLACE TABLE people (age INTEGER, city VARCHAR)")
    con.execute("INSERT INTO people VALUES (1, 'a'), (2, 'a'), (8, 'b'), (9, 'b')")
    con.execute("CREATE OR REPLACE TABLE release (age VARCHAR, city VARCHAR)")
    con.execute(
        "INSERT INTO release VALUES ('[1, 2]', 'a'), ('[1, 2]', 'a'), ('[8, 9]', '*'), ('[8, 9]', '*')"
    )
    return con


def test_by_hand(clinic):
    """The age of each person leads to two rows; a to all four, b to the last two."""
    (row,) = rows(clinic, f"linkage('people', 'release', known := 'age', {QUASI})")
    assert row["attack"] == "age with city"
    assert row["attempts"] == 4
    assert row["successes"] == pytest.approx(2 * 2 / (2 * 4) + 2 * 2 / (2 * 2))
    assert row["naive_rate"] == 1 / 4


def test_the_first_half_of_the_columns_is_known_by_default(clinic):
    by_default = rows(clinic, f"linkage('people', 'release', {QUASI})")
    assert by_default == rows(clinic, f"linkage('people', 'release', known := ['AGE'], {QUASI})")
    (row,) = rows(clinic, f"linkage('people', 'release', known := 'city', {QUASI})")
    assert row["attack"] == "city with age"
    assert row["successes"] == by_default[0]["successes"]


def test_a_person_whom_no_row_covers_is_not_linked(clinic):
    clinic.execute("CREATE OR REPLACE TABLE control AS SELECT 5 AS age, 'a' AS city")
    (row,) = rows(clinic, f"linkage('people', 'release', control := 'control', {QUASI})")
    assert row["control_rate"] == 0
    assert row["gain"] == row["rate"]
