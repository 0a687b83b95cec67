"""``anon_max``: the upper end of labels and of structs."""

import datetime

import pytest


@pytest.mark.parametrize(
    ("label", "high"),
    [
        ("'[17, 23]'", "23"),
        ("'[0044-03-15 (BC), 0001-01-01]'", "0001-01-01"),
        ("'39'", "39"),
        ("'*'", None),
        ("'Private'", None),
        ("'{1, 2}'", None),
        ("NULL", None),
        ("{'min': 17, 'max': 23}", 23),
        ("{'min': TIME '10:00:00', 'max': TIME '11:00:00'}", datetime.time(11)),
        ("NULL::STRUCT(min DATE, max DATE)", None),
    ],
)
def test_high(con, label, high):
    assert con.sql(f"SELECT anon_max({label})").fetchall() == [(high,)]


def test_both_formats_of_a_release_give_the_same_ends(con):
    con.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i % 13 AS rid, i % 13 * 1.25::DECIMAL(9,2) AS v, "
        "DATE '2000-01-01' + (i % 13)::INTEGER AS d FROM range(39) AS r(i)"
    )
    call = "rayden('t', k := 4, qids := ['v', 'd'], keep := ['rid'], format := '%s')"
    ends = (
        "anon_min(v)::DECIMAL(9,2), anon_max(v)::DECIMAL(9,2), anon_min(d)::DATE, anon_max(d)::DATE"
    )
    label, typed = (
        sorted(con.sql(f"SELECT rid, {ends} FROM {call % form}").fetchall())
        for form in ("label", "typed")
    )
    assert label == typed
    for rid, low, high, first, last in label:
        assert low <= rid * 1.25 <= high
        assert first <= datetime.date(2000, 1, 1 + rid) <= last
