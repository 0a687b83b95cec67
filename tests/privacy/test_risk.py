"""risk: a prosecutor's, by hand and against a plain count."""

from collections import Counter

import pytest

from tests.test_roles import fails


def risk(con, released, raw="raw", qids="['a']", **more):
    given = "".join(f", {name} := {value}" for name, value in more.items())
    found = con.sql(f"FROM risk('{raw}', '{released}', qids := {qids}{given})")
    assert found.columns == ["rows", "prosecutor", "prosecutor_mean", "prosecutor_at_risk"]
    return found.fetchall()[0]


def test_by_hand(wards, shape):
    """Classes of 4 and 3, and 3 starred beside 2 that are left out."""
    mean = pytest.approx((1 + 1 + 3 / 5) / 10)
    assert risk(wards, shape) == (10, 1 / 3, mean, 7)
    assert risk(wards, shape, threshold=0.25) == (10, 1 / 3, mean, 3)
    assert risk(wards, shape, threshold=0) == (10, 1 / 3, mean, 10)
    assert risk(wards, shape, threshold="1 / 3") == (10, 1 / 3, mean, 0)


def test_rows_left_out_are_not_at_risk(wards):
    wards.execute("CREATE TABLE less AS FROM label WHERE a = '[0, 3]'")
    assert risk(wards, "less") == (4, 0.25, 0.25, 4)


def test_an_empty_release(wards):
    wards.execute("CREATE TABLE none AS FROM label LIMIT 0")
    assert risk(wards, "none") == (0, None, None, 0)


def test_against_a_plain_count(people, shape):
    people.execute(f"CREATE TABLE r AS FROM rayden('people', k := 3, format := '{shape}')")
    rows = people.sql("SELECT age, city, sex, born FROM r").fetchall()
    counts = Counter(map(repr, rows)).values()
    found = people.sql("FROM risk('people', 'r')").fetchall()[0]
    at_risk = sum(count for count in counts if 1 / count > 0.2)
    assert found == (400, 1 / min(counts), pytest.approx(len(counts) / 400), at_risk)
    assert found[1] == people.sql("SELECT 1 / k_anonymity('people', 'r')").fetchall()[0][0]


@pytest.mark.parametrize(("threshold", "got"), [("2", "2"), ("-0.1", "-0.1"), ("NULL", "NULL")])
def test_a_threshold_that_is_none(wards, threshold, got):
    said = fails(wards, f"FROM risk('raw', 'label', qids := ['a'], threshold := {threshold})")
    assert said == f"risk: threshold must be a number of at least 0 and at most 1, got {got}"


def test_what_it_refuses(wards, shape):
    assert fails(wards, f"FROM risk('raw', '{shape}')").startswith(
        "risk: at least one quasi-identifier is needed, got none"
    )
    assert fails(wards, f"FROM risk('{shape}', 'raw', qids := ['a'])").startswith(
        "risk: the raw table must come first and its release second, got "
    )
