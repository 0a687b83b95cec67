"""series_forget: the cohorts of some persons are withdrawn whole."""

from tests.sentence import fails
from tests.series.months import KEY, make_month, released, status, step


def test_cohorts_are_withdrawn_whole_and_companions_never_released_again(con):
    make_month(con, 0, 200)
    step(con, 2)
    before = con.execute(f"SELECT count(*) FROM {released()}").fetchall()[0][0]
    con.execute(
        "CREATE OR REPLACE TABLE anon_series AS "
        f"FROM series_forget('anon_series', range(5), key := '{KEY}')"
    )
    con.execute("DELETE FROM people WHERE person < 5")
    step(con)
    figures = status(con)
    assert figures["withheld"] > 0
    after = con.execute(f"SELECT count(*) FROM {released()}").fetchall()[0][0]
    assert after <= before - figures["withheld"]


def test_another_key_is_refused(con):
    make_month(con, 0, 60)
    step(con, 2)
    call = "FROM series_forget('anon_series', [1], key := 'another key 1234')"
    assert "key must be the one that the series began with" in fails(con, call)
