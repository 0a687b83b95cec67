"""series_status: a row of figures per release."""

from tests.sentence import fails
from tests.series.months import make_month, step


def test_a_row_per_release(con):
    for first in (0, 30, 60):
        make_month(con, first, first + 200)
        step(con, 2)
    found = con.execute(
        "SELECT release, present + waiting, former >= 0, largest_waiting_share BETWEEN 0 AND 1, "
        "typeof(made_at) FROM series_status('anon_series')"
    ).fetchall()
    assert found == [(number, 200, True, True, "TIMESTAMP") for number in (1, 2, 3)]


def test_another_table_is_refused(con):
    make_month(con, 0, 10)
    assert "a table with other columns" in fails(con, "FROM series_status('people')")
