"""Periods of time over a column of dates or timestamps."""

from itertools import combinations

import duckdb
import pytest

pytestmark = [pytest.mark.quick, pytest.mark.oldest]


def labels(con, call):
    rows = con.execute(
        f"SELECT value, list(label ORDER BY level) FROM {call} GROUP BY 1"
    ).fetchall()
    return dict(rows)


def test_periods_of_dates(con):
    con.execute(
        "CREATE TABLE t AS SELECT unnest([DATE '2020-03-31', DATE '1999-12-01', NULL]) AS d"
    )
    assert labels(con, "date_hierarchy('t', 'd')") == {
        "2020-03-31": ["2020-03", "2020-Q1", "2020", "*"],
        "1999-12-01": ["1999-12", "1999-Q4", "1999", "*"],
    }
    assert labels(con, "date_hierarchy('t', 'd', ['day', 'decade', 'century'])") == {
        "2020-03-31": ["2020-03-31", "2020s", "2000 to 2099", "*"],
        "1999-12-01": ["1999-12-01", "1990s", "1900 to 1999", "*"],
    }


DAYS = [
    *("2019-03-31", "2019-04-01", "2019-12-31", "1999-12-31", "2000-01-01", "2000-12-31"),
    *("2001-01-01", "0001-01-01", "0010-01-01", "0001-12-31 (BC)", "0044-03-15 (BC)"),
]
LEVELS = ["day", "month", "quarter", "year", "decade", "century"]


def test_periods_of_all_levels_lie_within_those_of_all_longer_levels(con):
    choices = [*combinations(LEVELS, 2), LEVELS]
    columns = ", ".join(f"d AS d{at}" for at in range(len(choices)))
    con.execute(f"CREATE TABLE t AS SELECT {columns} FROM unnest($1::DATE[]) AS u(d)", [DAYS])
    calls = [f"FROM date_hierarchy('t', 'd{at}', {[*each]})" for at, each in enumerate(choices)]
    con.execute(f"CREATE TABLE h AS {' UNION ALL '.join(calls)}")
    assert con.execute("FROM check_hierarchy('t', 'h')").fetchall() == []


def test_a_century_begins_with_a_decade_and_a_release_by_both_works(con):
    con.execute("CREATE TABLE t AS SELECT unnest($1)::DATE AS d", [DAYS])
    found = labels(con, "date_hierarchy('t', 'd', ['quarter', 'year', 'decade', 'century'])")
    assert found["2019-03-31"] == ["2019-Q1", "2019", "2010s", "2000 to 2099", "*"]
    assert found["2019-04-01"][0] == "2019-Q2"
    assert found["2019-12-31"][0] == "2019-Q4"
    assert {day: found[day][2:4] for day in DAYS[3:7]} == {
        "1999-12-31": ["1990s", "1900 to 1999"],
        "2000-01-01": ["2000s", "2000 to 2099"],
        "2000-12-31": ["2000s", "2000 to 2099"],
        "2001-01-01": ["2000s", "2000 to 2099"],
    }
    assert found["0044-03-15 (BC)"] == ["44-Q1 (BC)", "44 (BC)", "40s (BC)", "0 to 99 (BC)", "*"]
    con.execute("CREATE TABLE h AS FROM date_hierarchy('t', 'd', ['year', 'decade', 'century'])")
    released = con.execute("FROM anonymize('t', k := 3, quasi := ['d'], hierarchy := 'h')")
    assert len(released.fetchall()) == len(DAYS)


def test_a_text_that_is_the_day_of_another_text_is_refused(con):
    con.execute("CREATE TABLE t AS SELECT unnest(['2020-01-01', '2020-01-01 10:00']) AS d")
    rule = (
        "date_hierarchy: a value of the column must not be the label of another value, got 1 of d"
    )
    with pytest.raises(duckdb.Error, match=rule):
        con.execute("FROM date_hierarchy('t', 'd', ['day', 'year'])").fetchall()
    assert len(con.execute("FROM date_hierarchy('t', 'd', ['month'])").fetchall()) == 4


@pytest.mark.parametrize(
    "kind", ["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "VARCHAR"]
)
def test_timestamps_and_dates_written_as_text(con, kind):
    con.execute(f"CREATE TABLE t AS SELECT TIMESTAMP '2021-12-31 23:59:59'::{kind} AS d")
    assert list(labels(con, "date_hierarchy('t', 'd', ['day', 'year'])").values()) == [
        ["2021-12-31", "2021", "*"]
    ]


def test_an_instant_lies_in_its_day_in_utc(con):
    con.execute("SET TimeZone = 'Asia/Tokyo'")
    con.execute("CREATE TABLE t AS SELECT TIMESTAMPTZ '2021-12-31 23:00:00+00' AS d")
    assert labels(con, "date_hierarchy('t', 'd', ['day'])") == {
        "2021-12-31 23:00:00+00": ["2021-12-31", "*"]
    }
    con.execute("CREATE TABLE h AS FROM date_hierarchy('t', 'd', ['day', 'year'])")
    assert con.execute("FROM check_hierarchy('t', 'h')").fetchall() == []


@pytest.mark.parametrize(
    "levels", ["['year', 'month']", "['week']", "[]", "NULL", "['year', 'year']"]
)
def test_levels_lie_within_each_other(con, levels):
    con.execute("CREATE TABLE t AS SELECT DATE '2020-01-01' AS d")
    with pytest.raises(duckdb.Error, match="date_hierarchy: levels must be some of day, month"):
        con.execute(f"FROM date_hierarchy('t', 'd', {levels})").fetchall()


def test_what_is_no_date_is_refused(con):
    con.execute("CREATE TABLE t AS SELECT 7 AS n, DATE 'infinity' AS d")
    for name in "nd":
        with pytest.raises(duckdb.Error, match="the column must hold dates or timestamps"):
            con.execute(f"FROM date_hierarchy('t', '{name}')").fetchall()
