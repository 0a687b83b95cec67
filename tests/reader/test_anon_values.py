"""anon_values: the members of a text label."""

import pytest


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        ("'Private'", ["Private"]),
        ("'{Private, State-gov}'", ["Private", "State-gov"]),
        (r"'{''a, b'', ''c\''d'', ''*'', ''''}'", ["a, b", "c'd", "*", ""]),
        ("'''[70-80)'''", ["[70-80)"]),
        ("['x', 'y']", ["x", "y"]),
        ("'*'", None),
        ("'[17, 23]'", None),
        ("NULL::VARCHAR", None),
    ],
)
def test_members(con, shown, wanted):
    assert con.sql(f"SELECT anon_values({shown})").fetchall() == [(wanted,)]
