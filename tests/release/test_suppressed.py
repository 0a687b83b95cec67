"""Suppressed rows return to classes where the release could not satisfy k, l and t without them."""

from collections import Counter

import pytest


@pytest.fixture
def big(con):
    con.execute("CREATE TABLE big AS SELECT (i*7919)%1009 a, (i*31)%17 b FROM range(500) t(i)")
    return con


@pytest.mark.parametrize("suppressed", ["keep", "drop"])
@pytest.mark.parametrize("method", ["rayden", "mondrian_cof"])
def test_too_few_rows_left_for_k(big, method, suppressed):
    """Without its outliers the table has fewer than 400 rows."""
    released = big.execute(
        f"FROM {method}('big', k := 400, qids := ['a', 'b'], alpha := 0.5, repair := 'merge', "
        f"unrecovered := 'suppress', suppressed := '{suppressed}')"
    ).fetchall()
    assert Counter(released) == {("[0, 1006]", "[0, 16]"): 500}


def test_too_few_values_left_for_t(con):
    """The classes could be near the table's distribution only together with every outlier."""
    con.execute("CREATE TABLE few AS SELECT (i*i)%23 a, (i*31)%17 b, i%3 s FROM range(24) t(i)")
    released = con.execute(
        "FROM rayden('few', k := 19, qids := ['a', 'b'], sensitive := 's', t := 0.0, alpha := 0.2, "
        "tries := 1, repair := 'merge', unrecovered := 'suppress', suppressed := 'drop')"
    ).fetchall()
    assert Counter(row[:2] for row in released) == {("[0, 18]", "[0, 16]"): 24}


def test_noise_that_leaves_too_few_rows(con):
    """DBSCAN finds 4 rows of a cluster and 20 of noise, which alone would be legal."""
    con.execute("CREATE TABLE few AS SELECT if(i < 4, 0, i*i)::INTEGER a FROM range(24) t(i)")
    released = con.execute(
        "FROM dop('few', k := 12, qids := ['a'], eps := 0.001, min_samples := 4)"
    ).fetchall()
    assert sorted(Counter(released).values()) == [12, 12]
