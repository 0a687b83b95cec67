"""``anon_mid``: the middle of a range, as a number."""

import pytest


@pytest.mark.parametrize(
    ("label", "middle"),
    [
        ("'[17, 23]'", 20.0),
        ("'[17, 24]'", 20.5),
        ("'39'", 39.0),
        ("'[-.5, .25]'", -0.125),
        ("'[-1.7e+308, 1.7e+308]'", 0.0),
        ("'[1.7e+308, 1.7e+308]'", 1.7e308),
        ("'*'", None),
        ("'Private'", None),
        ("'{1, 2}'", None),
        ("'[2000-01-01, 2000-01-03]'", None),
        ("NULL", None),
        ("{'min': 17, 'max': 23}", 20.0),
        ("{'min': 1::UHUGEINT, 'max': 2::UHUGEINT}", 1.5),
        ("{'min': 1.5::DECIMAL(38,10), 'max': 2::DECIMAL(38,10)}", 1.75),
        ("{'min': DATE '2000-01-01', 'max': DATE '2000-01-03'}", None),
        ("{'min': TIMESTAMPTZ '2000-01-01', 'max': TIMESTAMPTZ '2000-01-03'}", None),
        ("NULL::STRUCT(min INTEGER, max INTEGER)", None),
    ],
)
def test_middle(con, label, middle):
    assert con.sql(f"SELECT anon_mid({label})").fetchall() == [(middle,)]
    assert con.sql(f"SELECT typeof(anon_mid({label}))").fetchall() == [("DOUBLE",)]
