"""delta_disclosure: by hand; ``test_beta_likeness`` compares both measures with plain SQL."""

from math import inf, log

import pytest

from tests.privacy.test_beta_likeness import measured


def test_by_hand(wards, shape):
    """Stage in all: 1, 2 and 3 are 3, 4 and 5 of 12; the class [4, 6] lacks stage 1."""
    assert measured(wards, "delta_disclosure", shape, "'n'") == inf
    wards.execute(f"DELETE FROM {shape} WHERE n = 3")
    wards.execute("DELETE FROM raw WHERE n = 3")
    wards.execute(f"DELETE FROM {shape} WHERE a::VARCHAR LIKE '%4%'")
    assert measured(wards, "delta_disclosure", shape, "'n'") == pytest.approx(
        max(abs(log(2 / 3 / (3 / 7))), abs(log(1 / 3 / (4 / 7))))
    )


def test_a_lacking_value_is_without_limit(con):
    con.execute("CREATE TABLE raw AS SELECT i AS a, i % 2 AS s FROM range(8) AS r(i)")
    con.execute("CREATE TABLE label AS SELECT if(s = 0, '[0, 6]', '[1, 7]') AS a, s FROM raw")
    assert measured(con, "delta_disclosure") == inf
