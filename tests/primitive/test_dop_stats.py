"""dop_stats: the numbers of the very release that the same call makes."""

import pytest


@pytest.mark.parametrize(
    "more", ["", ", l := 2", ", loss := 'ncp', noise := 'split', weights := MAP {'age': 9}"]
)
@pytest.mark.parametrize("k", [3, 10])
def test_numbers_are_those_of_the_release(people, k, more):
    row = people.execute(f"FROM dop_stats('people', k := {k}{more})").fetchall()[0]
    eps, min_samples, clusters, noise, joined, splits, suppressed, rate, classes = row
    assert (min_samples, suppressed, rate) == (k, 0, 0.0)
    assert eps > 0
    assert 0 <= noise <= 4  # of 120 rows, 4 %
    assert 0 <= joined < clusters
    groups = people.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM dop('people', k := {k}{more}) GROUP BY age, city, sex, born)"
    ).fetchall()[0][0]
    assert groups <= classes  # classes that print alike are one in the release
    if not more.startswith(", l"):  # nothing merged
        assert classes == clusters - joined + splits + (noise >= k)


def test_what_is_given_is_what_is_said(people):
    said = people.sql("FROM dop_stats('people', eps := 0.2, min_samples := 7)")
    assert said.select("eps, min_samples").fetchall() == [(0.2, 7)]


def test_suppressed_rows_are_counted(con):
    con.execute("CREATE TABLE t AS SELECT i % 5 AS a FROM range(100) AS r(i) UNION ALL SELECT 50")
    said = con.sql(
        "FROM dop_stats('t', quasi := ['a'], eps := 0.03, noise := 'suppress', suppressed := 'drop')"
    )
    assert said.select("noise, suppressed, suppression_rate").fetchall() == [(1, 1, 1 / 101)]


def test_persons_count(con):
    con.execute("CREATE TABLE t AS SELECT i // 10 AS a, i // 4 AS p FROM range(200) AS r(i)")
    of = "('t', k := 5, quasi := ['a'], entity := 'p', loss := 'ncp')"
    classes = con.execute(f"SELECT classes FROM dop_stats{of}").fetchall()[0][0]
    assert classes == con.execute(f"SELECT count(DISTINCT a) FROM dop{of}").fetchall()[0][0] <= 10


def test_an_empty_table(con):
    con.execute("CREATE TABLE t (a INTEGER)")
    assert con.execute("FROM dop_stats('t', quasi := ['a'])").fetchall() == [
        (None, None, 0, 0, 0, 0, 0, 0.0, 0)
    ]


def test_classes_are_those_of_the_release_where_noise_makes_one_illegal(con):
    con.execute(
        "CREATE TABLE t AS SELECT i AS a, i // 20 * 7 % 5 AS s FROM range(200) AS r(i) "
        "UNION ALL SELECT 1000 + 100 * i, 0 FROM range(2) AS r(i)"
    )  # no two classes print alike; the one that the last two rows join is too far from the table
    of = "('t', quasi := ['a'], sensitive := ['s'], t := 0.15, eps := 0.01, noise := 'suppress')"
    classes = con.execute(f"SELECT classes FROM dop_stats{of}").fetchall()[0][0]
    assert classes == con.execute(f"SELECT count(DISTINCT a) FROM dop{of}").fetchall()[0][0]
