"""mondrian_cof_stats: the numbers of the very release that the same call makes."""

import pytest


@pytest.mark.parametrize("k", [3, 5, 10, 20])
def test_numbers_add_up(people, k):
    row = people.execute(f"FROM mondrian_cof_stats('people', k := {k})").fetchall()[0]
    partitions, detected, recovered, returned, suppressed, orr, rate, classes = row
    assert detected == recovered + returned + suppressed
    assert (suppressed, rate) == (0, 0.0)
    assert orr == (recovered / detected if detected else None)
    found = people.execute(
        f"SELECT count(DISTINCT class_id) FROM mondrian_partition('people', k := {k})"
    ).fetchall()
    assert found == [(partitions,)]
    groups = people.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM mondrian_cof('people', k := {k}) "
        "GROUP BY age, city, sex, born)"
    ).fetchall()[0][0]
    assert groups <= classes  # classes that print alike are one in the release
    assert classes - partitions <= recovered // k


def test_an_empty_table(con):
    con.execute("CREATE TABLE t (a INTEGER)")
    assert con.execute("FROM mondrian_cof_stats('t', quasi := ['a'])").fetchall() == [
        (0, 0, 0, 0, 0, None, 0.0, 0)
    ]


@pytest.mark.parametrize("threshold", [0, 1, 1.25, 1000])
def test_a_threshold_detects_the_rows_above_it(con, threshold):
    """As counted by the steps in SQL, without ties; alpha has no effect."""
    con.execute("CREATE TABLE t AS SELECT sin(i) AS x, sin(i * i) AS y FROM range(300) AS r(i)")
    con.execute("CREATE TABLE parts AS FROM mondrian_partition('t', k := 5, quasi := ['x', 'y'])")
    above = con.execute(
        f"SELECT count_if(cof > {threshold}) FROM cof_score('parts', k := 5, quasi := ['x', 'y'])"
    ).fetchall()[0][0]
    for alpha in (0, 2):
        call = f"k := 5, quasi := ['x', 'y'], threshold := {threshold}, alpha := {alpha}"
        found = con.execute(
            f"SELECT detected, suppressed FROM mondrian_cof_stats('t', {call})"
        ).fetchall()
        assert found == [(above, 0)]
