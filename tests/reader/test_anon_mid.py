"""anon_mid: the middle of a range as a number."""

import pytest

pytestmark = [pytest.mark.quick, pytest.mark.oldest]


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        ("'[17, 23]'", 20.0),
        ("'39'", 39.0),
        ("{'min': 1, 'max': 2}", 1.5),
        ("'*'", None),
        ("'Private'", None),
        ("'[1999-12-31, 2000-01-01]'", None),
        ("NULL::VARCHAR", None),
    ],
)
def test_middle(con, shown, wanted):
    assert con.execute(f"SELECT anon_mid({shown})").fetchall() == [(wanted,)]
