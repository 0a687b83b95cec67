"""Bins of linked tables: labels show their ends, and nothing else follows from a value."""

from datetime import date

import pytest

import anon_sql
from anon_sql import datasets
from tests.command import run
from tests.linked.folded import hospital
from tests.sentence import fails

STEPS = {"born": 10, "Visit.visited": 30}
MONDAY = date(2000, 1, 3)
SHOWN = (
    "SELECT p.* EXCLUDE (person_id), v.* EXCLUDE (person_id, visit_id), code FROM safe.person AS p "
    "LEFT JOIN safe.visit AS v USING (person_id) LEFT JOIN safe.diagnosis USING (visit_id) "
    "ORDER BY ALL"
)
OFF_THE_GRID = (
    "SELECT count(*) FROM (SELECT {born} AS a, {born_to} AS b FROM safe.person) WHERE a % 10 <> 0 "
    "OR b % 10 <> 9 UNION ALL SELECT count(*) FROM (SELECT {day} AS a, {day_to} AS b FROM "
    "safe.visit) WHERE (a - DATE '2000-01-03') % 30 <> 0 OR (b - DATE '2000-01-03') % 30 <> 29"
)
ENDS = {
    "label": {
        "born": "anon_min(born)::INTEGER",
        "born_to": "anon_max(born)::INTEGER",
        "day": "anon_min(visited)::DATE",
        "day_to": "anon_max(visited)::DATE",
    },
    "typed": {
        "born": "born.min",
        "born_to": "born.max",
        "day": "visited.min",
        "day_to": "visited.max",
    },
}


@pytest.fixture
def made(hospital_of):
    return hospital_of(200)


@pytest.mark.parametrize(
    "settings",
    [{}, {"l": 2, "format": "typed", "surplus": "unlink"}, {"effort": "fast", "k": 3}],
    ids=str,
)
def test_labels_end_with_steps(made, settings):
    found = anon_sql.release_linked(made, "person", into="safe", bin_width=STEPS, **settings)
    query = OFF_THE_GRID.format(**ENDS[settings.get("format", "label")])
    assert made.execute(query).fetchall() == [(0,), (0,)]
    folded = hospital(made)
    assert folded.smallest() >= settings.get("k", 5)
    assert min(folded.least_l("diagnosis", "code")) >= settings.get("l", 1)
    checks = made.execute(
        "FROM linked_audit('person', 'safe.person', k := $k, l := $l)",
        {"k": settings.get("k", 5), "l": settings.get("l", 1)},
    ).fetchall()
    assert [row for row in checks if row[3] is False] == []
    assert found.manifest["parameters"]["bin_width"] == STEPS


def test_a_release_tells_steps_alone(made):
    """Other values of the same bins give the same tables but for keys."""
    anon_sql.release_linked(made, "person", into="safe", bin_width=STEPS)
    first = made.execute(SHOWN).fetchall()
    for table, column, other in (
        ("person", "born", "born // 10 * 10 + hash(person_id) % 10"),
        ("visit", "visited", "visited - ((visited - DATE '2000-01-03') % 30)::INTEGER + "
                             "(hash(visit_id) % 30)::INTEGER"),
    ):  # fmt: skip
        changed = made.execute(f"SELECT count(*) FROM {table} WHERE {column} <> {other}")
        assert changed.fetchone()[0] > 100
        made.execute(f"UPDATE {table} SET {column} = {other}")
    anon_sql.release_linked(made, "person", into="safe", bin_width=STEPS, overwrite=True)
    assert made.execute(SHOWN).fetchall() == first


def test_a_plan_in_sql_and_the_command_line(made, tmp_path):
    anon_sql.release_linked(
        made, "person", into="safe", bin_width={"visit.visited": 7, "born": 5.0}
    )
    first = made.execute(SHOWN).fetchall()
    made.execute(
        "CREATE OR REPLACE TEMP TABLE plan AS FROM linked_plan('person', "
        "bin_width := MAP {'visit.visited': 7, 'born': 5.0}, weights := MAP {'visit.ward': 1.0})"
    )
    for name in datasets.HOSPITAL:
        made.execute(f"CREATE OR REPLACE TABLE safe.{name} AS FROM linked_table('{name}', 'plan')")
    assert made.execute(SHOWN).fetchall() == first
    made.execute("DROP TABLE plan")
    file = tmp_path / "hospital.duckdb"
    with anon_sql.connect(str(file)) as other:
        datasets.hospital(other, 200)
    run("release", str(file), f"{tmp_path}/out/", "--root", "person", "--bin-width",
        "visit.visited=7,born=5")  # fmt: skip
    for name in datasets.HOSPITAL:
        read = f"read_parquet('{tmp_path}/out/{name}.parquet')"
        made.execute(f"CREATE OR REPLACE TABLE safe.{name} AS FROM {read}")
    assert made.execute(SHOWN).fetchall() == first


@pytest.mark.parametrize(
    ("bin_width", "said"),
    [
        ("MAP {'visit.visitd': 7}", "bin_width must be numbers above 0 by columns like 'visit.day', "
         "got visit.visitd; did you mean visit.visited?"),
        ("MAP {'visit.days': 7}", "bin_width must be numbers above 0 by columns"),
        ("MAP {'born': 0}", "bin_width must be finite numbers above 0, got 0 for born"),
        ("MAP {'born': 2.5}", "bin_width of born must be multiples of 1"),
        ("MAP {'visit.ward': 2}", "bin_width must be of numbers, dates or times, got ward"),
        ("7", "bin_width must be numbers above 0 by columns"),
        ("MAP {'born': 5}, format := 'mean'", "shows none of the ranges that bins need"),
        ("MAP {'born': 5}, hierarchy := 'ages'",
         "bin_width must apply to columns without a hierarchy, got born"),
    ],
)  # fmt: skip
def test_what_is_refused(made, bin_width, said):
    made.execute(
        "CREATE OR REPLACE TABLE ages AS FROM numeric_hierarchy('person', 'born', widths := [10])"
    )
    error = fails(made, f"FROM linked_plan('person', bin_width := {bin_width})")
    made.execute("DROP TABLE ages")
    assert error.startswith("linked_plan: ")
    assert said in error
