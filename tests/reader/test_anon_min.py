"""``anon_min``: the lower end of labels and of structs."""

import datetime

import duckdb
import pytest

from tests.test_roles import fails


@pytest.mark.parametrize(
    ("label", "low"),
    [
        ("'[17, 23]'", "17"),
        ("'[-1.5, 2e+20]'", "-1.5"),
        ("'[2000-01-01 10:00:00+00, 2000-01-02 00:00:00+00]'", "2000-01-01 10:00:00+00"),
        ("'39'", "39"),
        ("'*'", None),
        ("'Private'", None),
        ("'{Private, State-gov}'", None),
        ("NULL", None),
        ("NULL::VARCHAR", None),
        ("{'min': 17, 'max': 23}", 17),
        ("{'min': DATE '2000-01-01', 'max': DATE '2000-01-02'}", datetime.date(2000, 1, 1)),
        ("{'min': NULL::INTEGER, 'max': NULL::INTEGER}", None),
        ("NULL::STRUCT(min INTEGER, max INTEGER)", None),
    ],
)
def test_low(con, label, low):
    assert con.sql(f"SELECT anon_min({label})").fetchall() == [(low,)]


def test_types(con):
    seen = "SELECT typeof(anon_min('[1, 2]')), typeof(anon_min({'min': 1::HUGEINT, 'max': 2::HUGEINT}))"
    assert con.sql(seen).fetchall() == [("VARCHAR", "HUGEINT")]


def test_many_rows_and_none(con):
    rows = con.sql(
        "SELECT anon_min(if(i % 3 = 0, NULL, '[' || i || ', ' || i + 1 || ']'))::INTEGER, i "
        "FROM range(5000) AS r(i)"
    ).fetchall()
    assert rows == [(i if i % 3 else None, i) for i in range(5000)]
    assert con.sql("SELECT anon_min(x) FROM (SELECT '1' AS x) WHERE x = '2'").fetchall() == []


@pytest.mark.parametrize(
    ("label", "found"),
    [
        ("[1, 2", "a range that is not [low, high]"),
        ("[1,2]", "a range that is not [low, high]"),
        ("{a", "a set that does not close or go on with ', '"),
        ("{a,b}", "a set that does not close or go on with ', '"),
        ("''abc", "a quote that does not close"),
        ("", "no value where one must be"),
        (" secret", "a value that must stand in quotes"),
        ("secret, other", "text after the end of a value"),
    ],
)
@pytest.mark.parametrize("reader", ["anon_min", "anon_max", "anon_values", "anon_mid"])
def test_a_malformed_label_is_an_error_that_does_not_show_it(con, reader, label, found):
    function = {"anon_mid": "anon_min"}.get(reader, reader)
    said = fails(con, f"SELECT {reader}('{label}')")
    assert said == f"{function}: a label must be a value, [low, high], {{…}} or *, got {found}"


def test_what_is_no_released_value_is_duckdbs_own_error(con):
    with pytest.raises(duckdb.BinderException, match="Cannot extract field 'min'"):
        con.sql("SELECT anon_min(5)")
    with pytest.raises(duckdb.BinderException, match='Could not find key "min"'):
        con.sql("SELECT anon_min({'a': 1})")
