"""A verdict is never green on a useless or disclosing release, and every figure is that of SQL."""

import pytest

from anon_sql import AnonError
from anon_sql.apps.verdict import rules, words
from anon_sql.apps.verdict.figures import Figure, Measured, audit_statement, measure
from anon_sql.apps.verdict.linked import LINKED
from anon_sql.apps.verdict.rules import AMBER, GREEN, RED, RULES, VERDICT, stricter, verdict
from tests.apps.verdict.planted import PLANTS, Plant, made

# a report alone measures minimality, see below; the others need a control, see test_control.py
OTHERS = {"minimality", "isolation", "linkage", "inference"}


def measured(con, plant):
    """Make the tables of a plant, and measure its release."""
    request = made(con, plant)
    checks = None
    if plant.audited:
        result = con.execute(audit_statement(request))
        names = [column[0] for column in result.description]
        checks = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    return measure(con, request, checks, form="mean")  # of planted means


def judged(con, plant, **more):
    options = {"environment": plant.environment, "confirmed": plant.confirmed, **more}
    return verdict(measured(con, plant), **options)


def test_the_release_that_all_others_are_made_from_is_green(con):
    found = judged(con, Plant("", ""))
    assert (found.level, list(found.reasons)) == (GREEN, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTS)
def test_a_cell_of_the_table(con, name):
    plant = PLANTS[name]
    found = judged(con, plant)
    levels = {(each.rule, each.level) for each in found.reasons}
    assert (plant.rule, plant.level) in levels
    assert found.level != GREEN
    if plant.level == RED:
        assert found.level == RED
    for each in found.reasons:
        assert each.remedy.endswith("."), each
        assert each.facts()["text"].endswith(f" {each.remedy}")
        if each.rule not in ("audit", "people", "choice", "roles") and each.found is not None:
            ((value,),) = con.execute(each.sql).fetchall()
            assert value == each.found


def test_every_cell_has_a_plant():
    planted = {(plant.rule, plant.level) for plant in PLANTS.values()}
    cells = {("audit", RED), ("audit", AMBER), ("l_alone", AMBER), ("choice", AMBER)}
    cells |= {("roles", AMBER), ("people", RED), ("people", AMBER)}
    for name, limit in VERDICT.items():
        if name in OTHERS:
            continue
        cells |= {(limit.rule, AMBER)} | ({(limit.rule, RED)} if limit.red is not None else set())
    assert planted == cells
    assert {rule for rule, _ in cells} | OTHERS == set(RULES)


@pytest.mark.parametrize(("share", "levels"), [(0.004, []), (0.005, [AMBER]), (0.05, [RED])])
def test_what_an_attacker_is_told_who_knows_the_method(share, levels):
    request = {"k": 11, "l": 2, "t": 0.3, "quasi": ["age"], "sensitive": ["income"]}
    told = Figure("minimality", share, "SELECT 1", "income")
    found = verdict(Measured([told], [], "", generalized=["age"], request=request))
    assert [each.level for each in found.reasons if each.rule == "minimality"] == levels
    assert all("tells the income" in each.text for each in found.reasons)


def test_every_limit_and_property_has_a_remedy():
    assert set(words.REMEDIES) == set(words.CONSEQUENCE)
    said = [*words.REMEDIES.values(), *(each.remedy for each in (VERDICT | LINKED).values())]
    for remedy in said:
        assert remedy[0].isupper()
        assert remedy.endswith(".")


VISITS = (
    "CREATE OR REPLACE TABLE raw AS SELECT * REPLACE (id * 37 % 101 AS a, id * id % 97 AS b), "
    "id * 7919 % 300 AS patient_id FROM raw"
)
BY_PATIENT = (
    "CREATE OR REPLACE TABLE released AS FROM anonymize('raw', k := 5, t := 0.9, "
    "quasi := ['a', 'b'], sensitive := ['s', 'n'], identifiers := ['id', 'patient_id'], "
    "entity := 'patient_id')"
)
OF_PATIENTS = {"entity": "patient_id", "identifiers": ["id", "patient_id"], "l": None, "t": 0.9}


@pytest.mark.parametrize(
    ("plant", "remedy"),
    [
        (
            Plant("", "", raw=VISITS, released=BY_PATIENT, request=OF_PATIENTS),
            "If a release function made this release with entity and this requirement, it holds: "
            "accept that in a sentence. Or release a table with one row per person.",
        ),
        (Plant("", "", released="UPDATE released SET n = 1000 WHERE n = 50"), words.UNCHANGED),
        (PLANTS["a level that cannot be decided"],
         "Release without added rows, or leave out this requirement."),
    ],
    ids=["people", "other values", "added rows"],
)  # fmt: skip
def test_a_level_that_is_not_decided_has_the_remedy_of_its_cause(con, plant, remedy):
    found = [each for each in judged(con, plant).reasons if "cannot be decided" in each.text]
    assert found
    assert {each.remedy for each in found} == {remedy}


def test_a_sentence_accepts_amber_and_never_red(con):
    near = measured(con, PLANTS["near of two classes"])
    found = verdict(near)
    assert "near" in found.open
    rest = dict.fromkeys(found.open, "Because.")
    assert verdict(near, accepted=rest).open == []
    assert verdict(near, accepted=rest).level == AMBER
    assert verdict(near, accepted={"near": ""}).open == found.open
    red = judged(con, PLANTS["certain of two classes"], accepted={"certain": "Because."})
    assert red.level == RED
    assert all(each.accepted is None for each in red.reasons if each.level == RED)


def test_levels_that_were_not_asked_for_need_no_sentence(con):
    plant = PLANTS["no sensitive column"]
    asked = Plant(
        plant.rule, plant.level, released=plant.released, request=plant.request | {"l": 1, "t": 1.0}
    )
    assert [each.rule for each in judged(con, asked).reasons] == ["choice"]


def test_stricter_limits(con):
    plant = Plant("", "")
    limits = stricter("recipe", {"gcp": {"amber": 0.001, "red": 0.002}})
    found = judged(con, plant, limits=limits)
    assert [(each.rule, each.level) for each in found.reasons] == [("gcp", RED)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"gpc": {"red": 0.1}}, "a limit must be one of VERDICT, got 'gpc'; did you mean gcp?"),
        ({"gcp": {"red": 0.6}}, "the limit gcp must be at most 0.5 for red, got 0.6"),
        ({"gcp": {"red": True}}, "the limit gcp must be at most 0.5 for red, got bool"),
        ({"gcp": {"green": 0.1}}, "the limit gcp must have amber, red or both"),
        ({"gcp": 0.1}, "the limit gcp must have amber, red or both"),
        ({"lifted": {"red": 1.5}}, "the limit lifted must be at most 1 for red, got 1.5"),
    ],
)
def test_laxer_and_unknown_limits_are_refused(given, said):
    if given == {"lifted": {"red": 1.5}}:
        assert stricter("recipe", {"lifted": {"red": 0.2}})["lifted"].red == 0.2
    with pytest.raises(AnonError) as caught:
        stricter("recipe", given)
    assert str(caught.value).startswith(f"recipe: {said}")


def test_what_a_report_says(con):
    said = judged(con, PLANTS["certain of two classes"]).facts()
    assert said["state"] == RED
    assert said["heading"] == rules.HEADINGS[RED]
    assert {"level", "rule", "text", "sql", "found", "column", "accepted"} == set(
        said["reasons"][0]
    )


def test_no_value_of_the_data_is_in_a_reason(con):
    for name in ("certain of two classes", "inferred of two classes", "lifted"):
        text = str(judged(con, PLANTS[name]).facts())
        assert "v1" not in text
        assert "rare" not in text
