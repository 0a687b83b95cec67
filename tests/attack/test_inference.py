"""inference: what is guessed, by hand; test_criteria.py has the rest."""

import pytest

from tests.attack.test_criteria import rows
from tests.sentence import fails

CALL = "inference('people', 'release', quasi := 'age', secret := ['illness', 'stage'], control := 'control')"


@pytest.fixture
def clinic(con):
    con.execute("CREATE OR REPLACE TABLE people (age INTEGER, illness VARCHAR, stage INTEGER)")
    con.execute(
        "INSERT INTO people VALUES (1, 'flu', 1), (2, 'flu', 2), (3, 'cold', NULL), (8, 'cold', 2), (9, 'flu', 2)"
    )
    con.execute(
        "CREATE OR REPLACE TABLE release AS SELECT CASE WHEN age < 5 THEN '[1, 3]' ELSE '[8, 9]' END AS age, illness, stage FROM people"
    )
    con.execute("CREATE OR REPLACE TABLE control (age INTEGER, illness VARCHAR, stage INTEGER)")
    con.execute("INSERT INTO control VALUES (2, 'flu', 9), (5, 'flu', 2)")
    return con


def test_by_hand(clinic):
    """flu in the first class; cold or flu, each half the time, in the second. The control's second
    person matches no row, so that the guess is flu, the commonest. Stages: 1 or 2, then 2; NULL is
    never guessed."""
    illness, stage = rows(clinic, f"{CALL}")
    assert (illness["attack"], stage["attack"]) == ("illness", "stage")
    assert (illness["successes"], illness["control_rate"], illness["naive_rate"]) == (3, 1, 3 / 5)
    assert illness["gain"] == 0  # the control leaves nothing to be gained
    assert (stage["successes"], stage["control_rate"]) == (3, 1 / 2)
    assert stage["gain"] == pytest.approx((3 / 5 - 1 / 2) / (1 - 1 / 2))


def test_secrets_that_are_declared(clinic):
    clinic.execute("COMMENT ON COLUMN people.illness IS 'anon:sensitive'")
    (row,) = rows(clinic, "inference('people', 'release', quasi := 'age')")
    assert row["attack"] == "illness"


@pytest.mark.parametrize(
    ("secret", "sentence"),
    [
        ("NULL", "at least one sensitive column is needed; pass secret := ['illness', …]"),
        ("'weight'", "secret must name columns of the table, got 'weight'"),
        ("['illness', 'illness']", "secret must name each column once, got 'illness' twice"),
        (
            "'age'",
            "a column has one role, got age as quasi and as sensitive; leave it out of secret",
        ),
    ],
)
def test_errors_call_the_parameter_secret(clinic, secret, sentence):
    call = f"FROM inference('people', 'release', quasi := 'age', secret := {secret})"
    assert fails(clinic, call).startswith(f"inference: {sentence}")
