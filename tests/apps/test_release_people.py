"""Releases whose rows are stays: the command line, recipes and frames protect people or say so."""

import tomllib
import warnings
from collections import defaultdict

import pyarrow.csv as pa_csv
import pytest

import anon_sql
from anon_sql.apps.verdict.rules import AMBER, RED, verdict
from tests.apps.test_manifest import write
from tests.command import refused, run

STAYS = (
    "SELECT 9000 + i AS stay_id, 100 + i % 70 AS patient_id, 'Road ' || (i * 5) % 11 AS street, "
    "['f', 'm'][1 + i % 70 % 2] AS sex, 1930 + i % 70 * 7 % 60 AS born, "
    "['Accra', 'Bonn'][1 + i % 70 % 3 % 2] AS city, ['flu', 'gout', 'none'][1 + i % 3] AS illness, "
    "'n' || (i * 37 + 11) % 210 AS note FROM range(210) AS made(i)"
)
QUASI = ["sex", "born", "city"]
ROLES = ["--quasi", ",".join(QUASI), "--sensitive", "illness", "--keep", "note"]
GONE = ["--identifier", "stay_id,patient_id,street"]


@pytest.fixture
def stays(tmp_path):
    return write(STAYS, tmp_path / "stays.csv")


def people(raw, released):
    """The smallest number of patients in a class, by Arrow and Python alone: ``note`` tells rows."""
    text = pa_csv.ConvertOptions(column_types=dict.fromkeys([*QUASI, "note"], "string"))
    rows = pa_csv.read_csv(raw, convert_options=text).to_pylist()
    own = {row["note"]: row["patient_id"] for row in rows}
    classes = defaultdict(set)
    for row in pa_csv.read_csv(released, convert_options=text).to_pylist():
        classes[tuple(row[name] for name in QUASI)].add(own[row["note"]])
    return min(map(len, classes.values()))


def test_release_refuses_stays_of_patients_and_writes_nothing(stays, tmp_path):
    out = tmp_path / "out.csv"
    found = run("release", stays, out, *ROLES, *GONE, "--k", 5, "--manifest")
    said = found.stderr.splitlines()[-1]  # below lines of progress on a slow machine
    assert found.exit_code == 1
    assert found.stdout == ""
    assert said.startswith("release: each class must have 5 people, not only 5 rows, got ")
    assert "by patient_id in one; --entity patient_id counts people" in said
    assert "--unit row if each row is a person of its own" in said
    assert not list(tmp_path.glob("out*"))


def test_release_with_entity_holds_k_people_and_with_the_unit_row_does_not(stays, tmp_path):
    by_people, by_rows = tmp_path / "people.csv", tmp_path / "rows.csv"
    given = ("release", stays)
    more = (*ROLES, *GONE, "--k", 5, "--manifest", "--unique-share", 1)
    assert run(*given, by_people, *more, "--entity", "patient_id").exit_code == 0
    assert people(stays, by_people) >= 5
    assert run(*given, by_rows, *more, "--unit", "row").exit_code == 0
    assert people(stays, by_rows) < 5  # the control
    assert run("verify", by_rows, "--raw", stays).exit_code == 0


def test_release_takes_a_street_that_repeats_by_chance(tmp_path):
    raw = write(f"SELECT * EXCLUDE (patient_id) FROM ({STAYS})", tmp_path / "streets.csv")
    gone = ("--identifier", "stay_id,street")
    assert run("release", raw, tmp_path / "out.csv", *ROLES, *gone, "--k", 5).exit_code == 0


def test_roles_names_the_entity_and_writes_it_into_the_recipe(stays, tmp_path):
    """stay_id differs in every row, patient_id repeats, and so does a street."""
    assert "70 values in 210 rows: name it as entity" in run("roles", stays).output
    recipe = tmp_path / "stays.toml"
    said = run("roles", stays, "--recipe", recipe).output
    assert "patient_id has several rows with one value" in said
    assert tomllib.loads(recipe.read_text())["release"]["entity"] == "patient_id"


def test_a_recipe_without_entity_is_red_and_the_unit_row_needs_a_reason(stays, tmp_path):
    recipe, out = tmp_path / "stays.toml", tmp_path / "out.csv"
    run("roles", stays, "--recipe", recipe)
    whole = recipe.read_text().replace('entity = "patient_id"\n', "").replace("l = 2", "l = 1")
    recipe.write_text(whole)
    found = run("release", recipe, out)
    assert found.exit_code == 3
    assert "red people: The rows of one person do not hide that person." in found.output
    assert "Name patient_id as entity, or state the unit row" in found.output
    recipe.write_text(whole.replace("k = 5", 'k = 5\nunit = "row"'))
    found = run("release", recipe, out)
    assert "amber people: The unit is a row, so k counts rows" in found.output
    assert "red people" not in found.output
    reason = '[accepted]\npeople = "Each stay is a study of its own."\n'
    recipe.write_text(recipe.read_text().replace("[accepted]", reason))
    assert "(accepted: Each stay is a study of its own.)" in run("release", recipe, out).output
    recipe.write_text(whole.replace("k = 5", 'k = 5\nunit = "house"'))
    assert "unit must be person or row" in refused("release", recipe, out)
    assert not out.exists()


def test_a_frame_whose_identifier_repeats_is_warned_of(con):
    table = con.sql(STAYS).to_arrow_table()
    given = {"quasi": QUASI, "k": 5, "keep": ["note", "illness"]}
    gone = ["stay_id", "patient_id", "street"]
    with pytest.warns(
        UserWarning, match="patient_id has 70 values in 210 rows.*entity='patient_id'"
    ):
        anon_sql.anonymize(table, **given, identifiers=gone)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*has 70 values in 210 rows")
        anon_sql.anonymize(table, **given, identifiers=gone, entity="patient_id")
        rest = table.drop_columns(["patient_id"])
        anon_sql.anonymize(rest, **given, identifiers=["stay_id", "street"])


def checked(**more):
    return {"property": "people", "required": 5, "found": None, "passed": True, "example": None,
            "meaning": "Said.", **more}  # fmt: skip


@pytest.mark.quick
@pytest.mark.parametrize(
    ("check", "level"),
    [
        (checked(), None),
        (checked(found=6, example="patient_id"), None),
        (checked(found=2, passed=False), RED),
        (checked(passed=None), AMBER),
        (checked(example="patient_id"), AMBER),
        (checked(passed=None, required=None), None),
    ],
)
def test_the_rule_of_the_verdict(check, level):
    from anon_sql.apps.verdict.figures import Measured

    request = {"quasi": ["a"], "sensitive": ["s"], "k": 5}
    found = verdict(Measured((), [check], "FROM audit()", generalized=["a"], request=request))
    assert [each.level for each in found.reasons if each.rule == "people"] == [level] * bool(level)
