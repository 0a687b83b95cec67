"""Periods of time over a column of dates or timestamps."""

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
        "2020-03-31": ["2020-03-31", "2020s", "century 21", "*"],
        "1999-12-01": ["1999-12-01", "1990s", "century 20", "*"],
    }


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
