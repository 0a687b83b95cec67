"""Levels that count people hold where a release function is known to have required them."""

import json

import pytest

from anon_sql.apps.verdict.figures import settled
from anon_sql.audit.classes import FOREIGN, WHOSE
from tests.apps.test_manifest import write
from tests.command import run

VISITS = (
    "SELECT 'P' || (i * 7919) % 500 AS patient_id, 1940 + (i * 7919) % 500 % 61 AS born, "
    "['Accra', 'Bonn', 'Cairo'][1 + (i * 7919) % 500 % 3] AS city, "
    "['eye', 'skin'][1 + i % 2] AS ward, ['flu', 'gout', 'none', 'cold'][1 + (i * i) % 11 % 4] AS illness "
    "FROM range(1100) AS made(i)"
)
CALL = ["--k", 5, "--l", 2, "--t", 0.6, "--quasi", "born,city,ward", "--sensitive", "illness",
        "--identifier", "patient_id", "--entity", "patient_id"]  # fmt: skip


@pytest.fixture
def visits(tmp_path):
    return write(VISITS, tmp_path / "visits.csv")


def open_levels(raw, released, *call):
    """What a report leaves open of the audit, by its texts."""
    report = released.with_suffix(".json")
    made = run("report", raw, released, "-o", report, "--format", "json", "--overwrite", *call)
    assert made.exit_code == 0, made.output
    reasons = json.loads(report.read_text("utf-8"))["verdict"]["reasons"]
    return [
        each["text"].split(" holds")[0].removeprefix("Whether ")
        for each in reasons
        if each["rule"] == "audit" and "cannot be decided" in each["text"]
    ]


def test_a_release_by_a_recipe_leaves_no_level_open(con, visits, tmp_path):
    recipe, out = tmp_path / "visits.toml", tmp_path / "out.csv"
    run("roles", visits, "--recipe", recipe)
    text = recipe.read_text("utf-8")
    assert 'entity = "patient_id"' in text
    text = text.replace("confirmed = false", "confirmed = true").replace("t = 0.5", "t = 0.6")
    text = text.replace("[accepted]", "[accepted]\nquery_error = 'A test.'\nlifted = 'A test.'")
    recipe.write_text(text, "utf-8")
    made = run("release", recipe, out)
    assert "cannot be decided" not in made.output
    assert made.exit_code == 0, made.output
    for name, path in (("raw", visits), ("released", out)):
        con.execute(f"CREATE TABLE {name} AS FROM read_csv('{path}')")
    rest = "quasi := ['born', 'city', 'ward'], sensitive := 'illness', entity := 'patient_id'"
    audit = f"FROM audit('raw', 'released', k := 5, l := 2, t := 0.6, {rest})"
    undecided = con.sql(f"SELECT property {audit} WHERE passed IS NULL AND required IS NOT NULL")
    assert {("k",), ("t",)} <= {*undecided.fetchall()}  # the release alone does not tell


def test_a_report_takes_from_the_manifest_what_was_required(visits, tmp_path):
    out = tmp_path / "out.csv"
    assert run("release", visits, out, *CALL, "--manifest").exit_code == 0
    assert open_levels(visits, out) == []
    assert open_levels(visits, out, "--t", 0.59) == ["t"]
    (tmp_path / "out.csv.anon.json").unlink()
    assert open_levels(visits, out, *CALL) == ["k", "t"]


CHECK = {
    "property": "k", "required": 5.0, "found": 2.0, "passed": None, "meaning": "At least 2.",
    "example": f"at least; {WHOSE} city: Bonn",
}  # fmt: skip
ASKED = {"entity": "patient_id", "k": 5, "t": None}


def test_a_level_that_was_required_holds():
    (check,) = settled([CHECK], ASKED, ASKED)
    assert (check["passed"], check["found"]) == (True, None)
    assert check["meaning"].startswith("k = 5 holds: the function that made the release required")
    (check,) = settled([CHECK], ASKED, ASKED, by_manifest=True)
    assert check["meaning"].startswith("k = 5 holds: the manifest says that the function")


@pytest.mark.parametrize(
    ("check", "made"),
    [
        (CHECK, None),
        (CHECK, {**ASKED, "k": 4}),
        (CHECK, {**ASKED, "entity": None}),
        (CHECK, {**ASKED, "entity": "house"}),
        ({**CHECK, "passed": False}, ASKED),
        ({**CHECK, "example": FOREIGN}, ASKED),
        ({**CHECK, "example": None}, ASKED),
        ({**CHECK, "property": "t", "required": None}, ASKED),
    ],
    ids=["unknown maker", "less", "rows", "others", "failed", "other values", "other", "unasked"],
)
def test_what_was_not_required_stays_open(check, made):
    assert settled([check], ASKED, made) == [check]
