"""A series of frames is that of SQL, whatever holds the state."""

import pytest

from anon_sql import AnonError, frames
from tests.series.months import KEY, make_month, released, step

ROLES = {
    "quasi": ["age", "city"],
    "sensitive": "illness",
    "keep": "ward",
    "entity": "person",
    "key": KEY,
}


@pytest.mark.parametrize("kind", ["to_arrow_table", "df", "pl"])
def test_two_months_as_sql(con, kind):
    if kind == "pl":
        pytest.importorskip("polars")
    state = None
    for first in (0, 30):
        make_month(con, first, first + 200)
        step(con, 2)
        data = getattr(con.sql("FROM people"), kind)()
        state = frames.series_next(data, state, l=2, **ROLES)
        made = frames.anonymize(data, series=state, **ROLES)
        assert type(made) is type(data)
        con.register("made", made)
        con.register("kept", state)
        own = "SELECT cohort::BIGINT, person, tuple FROM {} WHERE cohort IS NOT NULL ORDER BY ALL"
        assert (
            con.execute(own.format("kept")).fetchall()
            == con.execute(own.format("anon_series")).fetchall()
        )
        assert con.execute("FROM made").fetchall() == con.execute(f"FROM {released()}").fetchall()
    assert len(frames.series_status(state)) == 2
    assert len(frames.series_forget(state, [40], key=KEY)) < len(state)


def test_another_frame_is_no_state(con):
    make_month(con, 0, 60)
    data = con.sql("FROM people").to_arrow_table()
    with pytest.raises(AnonError, match="a table with other columns"):
        frames.anonymize(data, series=data, **ROLES)
