"""A person of a series is placed once: the attacker who knows every cohort intersects them.

The attack reads cohorts from states, in plain SQL and Python. It lets the attacker know more than
the files show: with whom each person shares a cohort in every month.
"""

import random
from collections import defaultdict

import pytest

from tests.sentence import fails
from tests.series.months import KEY, ROLES, make_month, released, status, step

FORGET = "CREATE OR REPLACE TABLE anon_series AS FROM series_forget('anon_series', {}, key := '{}')"


class Attacker:
    """Keep the cohorts and the values of all months that were looked at."""

    def __init__(self):
        self.cohorts = defaultdict(set)  # by person: the members of each cohort ever shared
        self.candidates = {}  # by person: the values that every month leaves

    def look(self, con, series="anon_series"):
        members, values = defaultdict(set), defaultdict(set)
        for cohort, person in con.execute(
            f"SELECT cohort, person FROM {series} WHERE cohort > 0 AND length(tuple) = 32"
        ).fetchall():
            members[cohort].add(person)
        for cohort, value in con.execute(
            f"SELECT cohort, tuple::JSON ->> 'illness' FROM {series} "
            "WHERE cohort > 0 AND person IS NULL"
        ).fetchall():
            values[cohort].add(value)
        for cohort, people in members.items():
            for person in people:
                self.cohorts[person].add(frozenset(people))
                left = self.candidates.get(person, values[cohort])
                self.candidates[person] = left & values[cohort]

    @property
    def placed_twice(self):
        return sum(len(cohorts) > 1 for cohorts in self.cohorts.values())

    @property
    def exposed(self):
        return sum(len(values) == 1 for values in self.candidates.values())


def absent_now_and_then(con, seed, months=5):
    """Give tables ``people`` of which a third is absent each month, at random."""
    draw = random.Random(seed)
    for _ in range(months):
        make_month(con, 0, 240)
        away = [p for p in range(240) if draw.random() < 1 / 3]
        con.execute("DELETE FROM people WHERE list_contains(?, person)", [away])
        yield


@pytest.mark.parametrize("leavers", ["keep", "withdraw"])
def test_people_who_return_get_no_second_cohort(con, leavers):
    attacker = Attacker()
    for _ in absent_now_and_then(con, 3):
        step(con, 2, f", leavers := '{leavers}'")
        attacker.look(con)
    assert attacker.placed_twice == attacker.exposed == 0
    assert status(con)["withheld"] > 0


def test_people_placed_anew_each_month_are_exposed(con):
    """The control: each month is a series of its own, so that a person has several cohorts."""
    attacker = Attacker()
    for _ in absent_now_and_then(con, 3):
        con.execute("DROP TABLE IF EXISTS anon_series")
        step(con, 2)
        attacker.look(con)
    assert attacker.placed_twice > 100
    assert attacker.exposed > 10


def test_people_who_return_after_they_were_forgotten_get_no_second_cohort(con):
    attacker = Attacker()
    for forgotten in (range(30), range(20, 60), range(0)):
        make_month(con, 0, 200)
        step(con, 2)
        attacker.look(con)
        if forgotten:
            con.execute(FORGET.format(list(forgotten), KEY))
    assert attacker.placed_twice == attacker.exposed == 0


def test_who_waits_and_is_forgotten_is_never_placed(con):
    make_month(con, 0, 60)
    con.execute("UPDATE people SET illness = 'flu' WHERE person % 2 = 0 OR person % 3 = 0")
    step(con, 2)
    waiting = status(con)["waiting"]
    assert waiting > 0
    con.execute(FORGET.format("range(60)", KEY))
    make_month(con, 0, 60)
    step(con)
    assert status(con)["withheld"] == 60


def test_a_kept_column_that_changes_places_nobody_again(con):
    """With a month among the kept columns, all rows change in every month."""
    attacker, roles = Attacker(), ROLES.replace("'ward'", "['ward', 'month']")
    state, files = "NULL", []
    for month in range(6):
        make_month(con, 0, 200)
        con.execute(f"ALTER TABLE people ADD COLUMN month INTEGER DEFAULT {month}")
        con.execute(
            f"CREATE OR REPLACE TABLE anon_series AS FROM series_next('people', {state}, {roles})"
        )
        attacker.look(con)
        state = "'anon_series'"
        files.append(con.execute(f"FROM {released().replace(ROLES, roles)}").fetchall())
        figures = status(con)
        assert figures["changed"] == (figures["present"] if month else 0)
    assert attacker.placed_twice == attacker.exposed == 0
    assert {row[-1] for row in files[0]} == {0}
    assert files[0] == files[-1] or status(con)["waiting"] > 0


def test_a_change_of_values_shows_in_no_file(con):
    """The same series with and without changes of kept and sensitive values: equal files."""
    files = []
    for changes in (False, True):
        con.execute("DROP TABLE IF EXISTS anon_series")
        for month in range(3):
            make_month(con, 0, 200)
            if month and changes:
                con.execute(
                    "UPDATE people SET illness = 'new', ward = NOT ward "
                    f"WHERE hash(person, {month}) % 3 = 0"
                )
            step(con, 2)
            assert status(con)["waiting"] == 0
            files.append(con.execute(f"FROM {released()}").fetchall())
    assert status(con)["changed"] > 0
    assert files[:3] == files[3:]


def test_a_state_that_forgot_somebody_is_refused(con):
    make_month(con, 0, 120)
    step(con, 2)
    make_month(con, 40, 120)
    step(con)
    con.execute(
        "DELETE FROM anon_series WHERE cohort IS NULL AND person = "
        "(SELECT min(person) FROM anon_series WHERE cohort IS NULL)"
    )
    said = fails(con, f"FROM series_next('people', 'anon_series', {ROLES})")
    assert "rows that do not belong together" in said
