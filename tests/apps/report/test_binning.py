"""Bins hold every row once, whatever the type, and query_error takes their conditions."""

import pytest

from anon_sql.apps.report import distributions
from anon_sql.apps.report.distributions import bins

COLUMNS = {
    "whole": "(i * 7919) % 3000",
    "least": "(i - 128)::TINYINT",
    "most": "(i + 60)::UTINYINT",
    "tenths": "(i % 97) / 10.0",
    "roots": "sqrt(i)",
    "small": "i * 1e-7",
    "day": "DATE '2000-01-01' - (i % 150)::INTEGER",
    "moment": "TIMESTAMP '2020-01-01' + to_seconds(i * 100003)",
    "zoned": "TIMESTAMPTZ '2020-01-01 00:00:00+00' + to_seconds(i * 100003)",
    "clock": "TIME '00:00:00' + to_seconds((i * 977) % 86400)",
    "short": "TIMESTAMP '2020-01-01' + to_milliseconds(i)",
    "word": "'<b>$x$''' || i % 30",
    "few": "nullif(i % 4, 3)",
    "truth": "i % 2 = 0",
    "gaps": "if(i % 5 = 0, NULL, i)",
}


@pytest.fixture
def table(con):
    columns = ", ".join(f"{sql} AS {name}" for name, sql in COLUMNS.items())
    con.execute(f"CREATE TABLE raw AS SELECT {columns} FROM range(1, 126) AS r(i)")
    con.execute("SET TimeZone = 'UTC'")
    return con


@pytest.mark.parametrize("column", COLUMNS)
def test_every_row_is_in_one_bin(table, column):
    found = bins(table, "raw", column)
    assert len(found.bins) <= 24
    every = " + ".join(f"({each.condition})::INTEGER" for each in found.bins)
    inside = f"SELECT DISTINCT {every} FROM (SELECT * FROM raw WHERE {column} IS NOT NULL)"
    assert table.execute(inside).fetchall() == [(1,)]
    assert (found.bins[-1].label == "NULL") == (column in ("few", "gaps"))


def test_both_sides_count_every_row(table):
    columns = [name for name in COLUMNS if name != "short"]
    table.execute(
        "CREATE TABLE released AS FROM mondrian('raw', k := 5, quasi := ?, keep := ['short'])",
        [columns],
    )
    for column in columns:
        (found,) = distributions.quasi(table, [column], {"quasi": columns, "hierarchy": None})
        assert sum(found.raw) == 125
        assert sum(found.released) == pytest.approx(125)


def test_what_is_kept_is_counted_as_it_is(table):
    table.execute("CREATE TABLE released AS SELECT COLUMNS(*)::VARCHAR FROM raw")
    for column in COLUMNS:
        found = distributions.kept(table, column)
        assert found.raw == found.released


def test_infinite_values_are_in_the_outer_bins(con):
    con.execute("CREATE TABLE raw AS SELECT i::DOUBLE AS x FROM range(100) AS r(i)")
    con.execute("INSERT INTO raw VALUES ('inf'), ('-inf'), ('nan')")
    conditions = [each.condition for each in bins(con, "raw", "x").bins]
    counted = con.execute("SELECT " + ", ".join(f"count_if({c})" for c in conditions) + " FROM raw")
    counts = counted.fetchall()[0]
    assert sum(counts) == 103
    assert counts[-1] - counts[0] == 1
