"""A verdict with a control: what the population tells anyway is not red, and what a release adds is."""

import re

import duckdb
import pytest

from anon_sql import AnonError
from anon_sql.apps.verdict.criteria import gains_of, require_others, with_gains
from anon_sql.apps.verdict.figures import measure
from anon_sql.apps.verdict.rules import AMBER, RED, verdict

REQUEST = {
    "quasi": ["age"],
    "sensitive": ["ill"],
    "identifiers": [],
    "keep": [],
    "hierarchy": None,
    "k": 5,
    "l": None,
    "t": None,
}
# the illness is determined by the age in the whole population, so groups of one age have one illness
POPULATION = "SELECT i AS person, i % 40 AS age, (i % 40) // 10 % 2 AS ill FROM range({}) AS t(i)"


def made(con, population, people=4000, control=1000):
    """Make raw, control and a release of groups that have one illness each."""
    con.execute(f"CREATE TABLE everybody AS {population.format(people + control)}")
    con.execute(f"CREATE TABLE raw AS FROM everybody WHERE person < {people}")
    con.execute(f"CREATE TABLE control AS FROM everybody WHERE person >= {people}")
    con.execute(
        "CREATE TABLE released AS SELECT CASE ill WHEN 0 THEN '[' || least(age // 10 * 10, 30) || "
        "', ' || least(age // 10 * 10 + 9, 39) || ']' ELSE age::VARCHAR END AS age, ill FROM raw"
    )


def levels(con, *, control):
    measured = measure(con, REQUEST, [])
    found = verdict(with_gains(measured, gains_of(con, REQUEST, control=control)))
    return {each.rule: each.level for each in found.reasons if each.column == "ill"}, found


def test_what_the_population_tells_is_not_red(con):
    made(con, POPULATION)
    without, _ = levels(con, control=False)
    assert without["certain"] == RED
    beside, found = levels(con, control=True)
    assert beside == {"certain": AMBER}
    (reason,) = (each for each in found.reasons if each.rule == "certain")
    assert "of the control, who are not in the table: the population tells it." in reason.text


def test_what_the_release_adds_is_red(con):
    """Groups of two neighbours, of whom one in ten has the illness of the other by chance."""
    people = (
        "SELECT (hash(i) % 4000)::INTEGER AS age, (hash(i, 'ill') % 10)::INTEGER AS ill "
        "FROM range({}) AS t(i)"
    )
    con.execute(f"CREATE TABLE raw AS {people.format('4000')}")
    con.execute(f"CREATE TABLE control AS {people.format('4000, 6000')}")
    label = "'[' || age // 2 * 2 || ', ' || age // 2 * 2 + 1 || ']'"
    con.execute(f"CREATE TABLE released AS SELECT {label} AS age, ill FROM raw")
    beside, found = levels(con, control=True)
    assert (beside["inference"], beside["certain"]) == (RED, RED)
    (reason,) = (each for each in found.reasons if each.rule == "inference")
    assert con.execute(reason.sql).fetchall() == [(reason.found,)]


def test_a_control_of_few_people_excuses_nothing(con):
    made(con, POPULATION, control=3)
    beside, _ = levels(con, control=True)
    assert beside["certain"] == RED


def test_without_a_control_the_verdict_is_that_of_before(con):
    made(con, POPULATION)
    before = verdict(measure(con, REQUEST, []))
    _, found = levels(con, control=False)
    assert found == before


@pytest.mark.parametrize(
    ("control", "rule"),
    [
        ("SELECT age + 5000 AS age FROM raw", "control must have the columns of the raw table"),
        ("FROM control LIMIT 0", "control must have rows, got none"),
        ("FROM raw LIMIT 50", "control must hold people who are not in the raw table"),
    ],
)
def test_a_control_that_is_none(con, control, rule):
    made(con, "SELECT i AS person, i AS age, i % 7 AS ill FROM range({}) AS t(i)")
    con.execute(f"CREATE OR REPLACE TABLE control AS {control}")
    with pytest.raises(duckdb.Error, match=re.escape(rule)):
        gains_of(con, REQUEST, control=True)


def test_a_control_with_a_person_of_the_table_by_their_identifier(con):
    made(con, POPULATION)
    request = {**REQUEST, "identifiers": ["person"]}
    require_others("report", con, request)
    con.execute("UPDATE control SET person = 7 WHERE person = 4007")
    with pytest.raises(AnonError, match="values of person that the raw table has too"):
        require_others("report", con, request)
