"""beta_likeness: by hand, the limit -ln p, plain SQL on drawn tables, and what it refuses."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawing import examples
from tests.inserting import insert
from tests.sentence import fails
from tests.share_oracle import beta_and_delta


def measured(con, measure, released="label", sensitive="'s'"):
    text = f"SELECT {measure}('raw', '{released}', {sensitive}, quasi := ['a'])"
    return con.execute(text).fetchall()[0][0]


def test_by_hand(wards, shape):
    """Illness in all: flu 5, gout 3, ulcer 1, NULL 3 of 12; NULL is 2 of 3 in the class of stars."""
    assert measured(wards, "beta_likeness", shape) == inf  # 8/3 - 1 is above -ln(3 / 12)
    wards.execute(f"DELETE FROM {shape} WHERE a IS NULL OR a::VARCHAR = '*'")
    assert measured(wards, "beta_likeness", shape) == pytest.approx((3 / 4) / (5 / 12) - 1)


def test_the_worst_of_several_columns(wards):
    wards.execute("DELETE FROM label WHERE a = '*'")
    each = [measured(wards, "beta_likeness", sensitive=f"'{name}'") for name in "sn"]
    assert measured(wards, "beta_likeness", sensitive="['s', 'n']") == max(each)


def test_the_table_itself_a_constant_and_no_rows(con):
    con.execute("CREATE TABLE raw AS SELECT i AS a, i % 3 AS n, 5 AS s FROM range(9) AS r(i)")
    con.execute("CREATE TABLE label AS SELECT '[0, 8]' AS a, n, s FROM raw")
    assert measured(con, "beta_likeness", sensitive="['n', 's']") == 0
    assert measured(con, "delta_disclosure", sensitive="['n', 's']") == 0
    con.execute("CREATE TABLE none AS FROM label LIMIT 0")
    assert measured(con, "beta_likeness", "none") is None
    assert measured(con, "delta_disclosure", "none") is None


def test_both_measures_against_plain_sql(con):
    con.execute("CREATE TABLE raw (a INTEGER, s VARCHAR)")
    con.execute("CREATE TABLE label (a VARCHAR, s VARCHAR)")
    values = st.none() | st.sampled_from(["v", "w", "it's", ""])

    @examples(25)
    @given(st.lists(st.tuples(st.integers(0, 3), values), min_size=1, max_size=16))
    def holds(rows):
        con.execute("DELETE FROM raw; DELETE FROM label")
        insert(con, "raw", rows)
        con.execute("INSERT INTO label SELECT if(a = 2, '*', a::VARCHAR), s FROM raw WHERE a < 3")
        beta, delta = beta_and_delta(con, "raw", "label", ["a"], "s")
        assert measured(con, "beta_likeness") == (None if beta is None else pytest.approx(beta))
        assert measured(con, "delta_disclosure") == (
            None if delta is None else pytest.approx(delta)
        )

    holds()


@pytest.mark.parametrize("measure", ["beta_likeness", "delta_disclosure"])
def test_what_they_refuse(wards, measure):
    assert fails(wards, f"SELECT {measure}('raw', 'label', quasi := ['a'])").startswith(
        f"{measure}: at least one sensitive column is needed"
    )
    assert fails(wards, f"SELECT {measure}('label', 'raw', 's', quasi := ['a'])").startswith(
        f"{measure}: the raw table must come first and its release second"
    )
    wards.execute("UPDATE label SET s = 'scurvy' WHERE s = 'flu'")
    said = fails(wards, f"SELECT {measure}('raw', 'label', 's', quasi := ['a'])")
    assert said.startswith(f"{measure}: every sensitive value of the release must stand in the raw")
    assert "scurvy" not in said
