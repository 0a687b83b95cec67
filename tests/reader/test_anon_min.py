"""anon_min: the lower end of whatever a release shows."""

import pytest

from tests.sentence import fails

pytestmark = [pytest.mark.quick, pytest.mark.oldest]

LABELS = [
    ("'[17, 23]'", "17"),
    ("'[-3.50, 2.00]'", "-3.50"),
    ("'[1999-12-31, 2000-01-01]'", "1999-12-31"),
    ("'[2020-01-01 10:00:00+00, 2020-01-02 00:00:00+00]'", "2020-01-01 10:00:00+00"),
    ("'39'", "39"),
    ("'1e+16'", "1e+16"),
    ("'*'", None),
    ("NULL", None),
    ("'Private'", None),
    ("'{a, b}'", None),
    ("'''[70-80)'''", None),
]


@pytest.mark.parametrize(("label", "wanted"), LABELS)
def test_labels(con, label, wanted):
    assert con.execute(f"SELECT anon_min({label}::VARCHAR)").fetchall() == [(wanted,)]


def test_structs_keep_their_type(con):
    found = con.sql("SELECT anon_min({'min': DATE '2000-01-01', 'max': DATE '2001-01-01'}) AS m")
    assert str(found.types[0]) == "DATE"
    assert str(found.fetchall()[0][0]) == "2000-01-01"


@pytest.mark.parametrize("label", ["[1, 2", "[1,2]", "{a", "{a,b}", "''abc", "a]b", "[, ]"])
def test_what_is_no_label_is_an_error_that_does_not_show_it(con, label):
    said = fails(con, f"SELECT anon_min('{label}')")
    assert said.startswith("anon_min: a label must be a value, [low, high], {…} or *, got ")
    assert "abc" not in said
