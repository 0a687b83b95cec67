"""Every fault that is planted in the state of a series is refused where the state is read."""

import pyarrow.compute as pc
import pytest

from anon_sql.core.arrow import integers
from anon_sql.series.state import State
from tests.faults.fault import after
from tests.sentence import fails
from tests.series.months import ROLES, make_month, released, step

REFUSED = "rows that do not belong together"


def forget_members_of_removed_cohorts(patch):
    """As version 1 did: the members of a cohort that has left come again as newcomers."""
    real = State.remove

    def remove(state, cohorts):
        withheld = state.withheld
        real(state, cohorts)
        state.withheld = withheld

    patch.setattr(State, "remove", remove)


def place_changed_members_again(patch):
    """As version 1 did: a member is known by person and values, and is new after a change."""

    def cohort_of(state, persons):
        at = pc.index_in(persons.digests, value_set=state.members["tuple"].combine_chunks())
        return integers(state.members["cohort"].combine_chunks().take(at))

    patch.setattr(State, "cohort_of", cohort_of)


@pytest.mark.parametrize("plant", [forget_members_of_removed_cohorts, place_changed_members_again])
def test_a_person_who_is_placed_twice(con, monkeypatch, plant):
    make_month(con, 0, 200)
    step(con, 2)
    plant(monkeypatch)
    make_month(con, 60, 220, changed=90)
    step(con)
    monkeypatch.undo()
    assert REFUSED in fails(con, f"FROM {released()}")
    assert REFUSED in fails(con, f"FROM series_next('people', 'anon_series', {ROLES})")


def test_without_a_fault_the_same_months_are_released(con, monkeypatch):
    """The control, through the same seam."""
    make_month(con, 0, 200)
    step(con, 2)
    after(State, "cohort_of", lambda cohorts, *_: cohorts)(monkeypatch)
    make_month(con, 60, 220, changed=90)
    step(con)
    assert con.execute(f"SELECT count(*) > 0 FROM {released()}").fetchall() == [(True,)]


def test_a_waiting_person_beside_a_member(con):
    make_month(con, 0, 200)
    step(con, 2)
    con.execute(
        "INSERT INTO anon_series SELECT 0, person, NULL FROM anon_series "
        "WHERE length(tuple) = 32 LIMIT 1"
    )
    assert REFUSED in fails(con, f"FROM {released()}")
