"""People, not rows: attacks by kept columns on releases whose classes all have k rows.

Each attack reads the files alone: labels are read here, and people are counted with dicts. The
control of each is the same table with a kept column of three values drawn at random.
"""

import random
from collections import Counter, defaultdict

import pytest

from anon_sql.apps.verdict.figures import audit_statement, measure, rows_of
from anon_sql.apps.verdict.rules import AMBER, GREEN, RED, verdict

K = 5
QUASI = ["age", "sex", "city"]
ILL = ["flu", "gout", "none", "burn", "cut"]


def people(count=600, seed=3):
    """People as dicts: what others know of them, and an illness."""
    draw = random.Random(seed)
    return [
        {
            "number": at,
            "age": draw.randrange(25, 85),
            "sex": draw.choice("fm"),
            "city": f"c{draw.randrange(12)}",
            "illness": draw.choice(ILL),
            "arm": draw.choice("xyz"),
        }
        for at in range(count)
    ]


def release(con, rows, kept, *, entity=None, **more):
    """Store rows as ``raw``, release them with kept columns, and return the verdict and the rows."""
    names = [*QUASI, *kept, "illness", *([entity] if entity else [])]
    con.execute("CREATE OR REPLACE TABLE raw AS SELECT unnest(?, recursive := true)", [rows])
    con.execute(f"CREATE OR REPLACE TABLE raw AS SELECT {', '.join(names)} FROM raw")
    roles = {
        "quasi": QUASI, "sensitive": ["illness"], "keep": kept, "identifiers": [entity] if entity else [],
    }  # fmt: skip
    asked = {"k": K, "l": 2, "t": 0.5, "entity": None, **roles, **more}
    listed = ", ".join(f"{name} := {value!r}" for name, value in asked.items() if value is not None)
    listed = listed.replace("[]", "[]::VARCHAR[]")
    con.execute(f"CREATE OR REPLACE TABLE released AS FROM anonymize('raw', {listed})")
    request = {**asked, "hierarchy": None}
    found = verdict(measure(con, request, rows_of(con, audit_statement(request))))
    shown = rows_of(con, "SELECT * FROM released")
    return found, shown


def covers(label, value):
    """Return whether a label is true of a value: a range, a set, * or the value itself."""
    if label == "*":
        return True
    if label[:1] == "[":
        low, high = label[1:-1].split(", ")
        return float(low) <= float(value) <= float(high)
    if label[:1] == "{":
        return str(value) in label[1:-1].split(", ")
    return label == str(value)


def candidates(person, shown, known):
    """Return the released rows that can be a person's, for an attacker who also computes ``known``."""
    return [
        row
        for row in shown
        if all(covers(row[name], person[name]) for name in QUASI)
        and all(row[name] == person[name] for name in known)
    ]


def found_by(rows, shown, known):
    """Return the share of rows for which fewer than K candidates remain."""
    return sum(len(candidates(row, shown, known)) < K for row in rows) / len(rows)


def levels(found):
    return {(each.rule, each.level) for each in found.reasons}


def reason(found, level):
    (only,) = (each for each in found.reasons if each.rule == "kept" and each.level == level)
    return only


COMPUTED = {  # a kept column that an attacker computes from what is known
    "the year of birth of an age": lambda row: 2024 - row["age"],
    "ages in groups of three years": lambda row: row["age"] // 3,
    "a code of the city": lambda row: 50 + int(row["city"][1:]) * 7 % 12,
    "a code of sex and city": lambda row: f"{row['sex']}{int(row['city'][1:]) * 5 % 12}",
    "nearly a code of the city": lambda row: (
        99 if row["number"] % 20 == 3 else 50 + int(row["city"][1:]) * 7 % 12
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPUTED)
def test_a_kept_column_that_is_computed_from_quasi_identifiers_is_red(con, name):
    rows = [{**row, "also": COMPUTED[name](row)} for row in people()]
    found, shown = release(con, rows, ["also"])
    assert found_by(rows, shown, ["also"]) > 0.1
    assert found_by(rows, shown, []) == 0  # the classes are whole
    said = reason(found, RED)
    assert "also" in said.text
    assert "Leave out also" in said.remedy


def test_a_kept_column_that_nothing_determines_is_none_of_them(con):
    rows = people()
    found, shown = release(con, rows, ["arm"])
    assert found_by(rows, shown, []) == 0
    assert not {rule for rule, _ in levels(found)} & {"kept", "people"}
    assert found.level in (GREEN, AMBER)


FEW = {  # kept columns whose values two rows share
    "a family name": {"x": lambda at: f"Fam{chr(97 + at // 2 % 26)}{chr(97 + at // 52)}"},
    "an exact minute": {"x": lambda at: 480 + at // 2},
    "a pair of columns": {"x": lambda at: at // 2 % 18, "y": lambda at: at // 36},
    "short remarks": {"x": lambda at: f"saw Mr {chr(65 + at // 2 % 26)}{chr(97 + at // 52)}"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FEW)
def test_kept_values_of_two_rows_each_are_red(con, name):
    rows = [{**row, **{n: f(row["number"]) for n, f in FEW[name].items()}} for row in people()]
    kept = list(FEW[name])
    found, shown = release(con, rows, kept)
    alone = Counter(tuple(row[n] for n in kept) for row in shown)
    assert max(alone.values()) == 2
    assert sum(len(candidates(row, shown, kept)) == 1 for row in rows) > 0.8 * len(rows)
    said = reason(found, RED)
    assert all(name in said.remedy for name in kept)
    counted = con.execute(said.sql).fetchall()
    assert counted == [(said.found,)] == [(1.0,)]


@pytest.mark.slow
@pytest.mark.parametrize("many", [2, 6])
def test_an_id_of_text_with_several_rows_per_person_is_red(con, many):
    """Its name says nothing; six rows are more than k."""
    draw = random.Random(1)
    rows = [
        {**row, "ref": f"P{10007 * (row['number'] + 3) % 99991}", "illness": draw.choice(ILL)}
        for row in people(300)
        for _ in range(many)
    ]
    found, shown = release(con, rows, ["ref"])
    classes = defaultdict(set)
    for row in shown:
        classes[tuple(row[name] for name in QUASI)].add(row["ref"])
    assert min(map(len, classes.values())) < K  # people
    assert ("people", RED) in levels(found)
    (said,) = (each for each in found.reasons if each.rule == "people")
    assert "Name ref as entity" in said.remedy
    roles = dict(con.execute("SELECT column_name, role FROM suggest_roles('raw')").fetchall())
    assert roles["ref"] == "identifier"


@pytest.mark.slow
def test_five_rows_per_person_without_entity_are_red(con):
    draw = random.Random(1)
    rows = [
        {**row, "patient_id": 70_000 + row["number"], "illness": ill}
        for row in people(300)
        for ill in draw.sample(ILL, 5)
    ]
    found, shown = release(con, rows, [], entity="patient_id")
    alone = sum(len(candidates(row, shown, [])) == 5 for row in rows[::5])
    assert alone > 30  # whose rows are a class: all five illnesses are read
    assert ("people", RED) in levels(found)


@pytest.mark.slow
def test_people_are_counted_on_kept_columns_with_entity(con):
    """Each kept value has eight rows, but two people."""
    rows = [
        {**row, "patient_id": row["number"], "plan": 7 * (row["number"] // 2)}
        for row in people(300)
        for _ in range(4)
    ]
    release(con, rows, ["plan"], entity="patient_id", l=None, t=None)
    ((found, meaning),) = con.execute(
        f"SELECT found, meaning FROM audit('raw', 'released', {K}, quasi := {QUASI}, keep := ['plan'], "
        "sensitive := ['illness'], identifiers := ['patient_id'], entity := 'patient_id') "
        "WHERE property = 'rare_combinations'"
    ).fetchall()
    assert found == 1
    assert meaning.startswith("300 of 300 persons share")


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0, 40])
def test_a_kept_column_that_tells_the_illness_is_judged(con, noise):
    """Of 600 people, the ward of some is another."""
    ward = dict(zip(ILL, "qwert", strict=True))
    rows = [
        {**row, "ward": "z" if row["number"] % 600 < noise else ward[row["illness"]]}
        for row in people()
    ]
    found, shown = release(con, rows, ["ward"])
    read = {value: Counter() for value in {row["ward"] for row in shown}}
    for row in shown:
        read[row["ward"]][row["illness"]] += 1
    right = sum(read[row["ward"]].most_common(1)[0][0] == row["illness"] for row in rows) / len(
        rows
    )
    assert right == 1 if not noise else right > 0.9
    level = AMBER if noise else RED
    said = reason(found, level)
    assert "ward" in said.text
    assert "Declare ward as sensitive" in said.remedy
    roles = dict(con.execute("SELECT column_name, role FROM suggest_roles('raw')").fetchall())
    assert roles["ward"] in ("sensitive", "quasi")


@pytest.mark.slow
def test_rare_kept_values_of_some_rows_are_amber(con):
    rows = [
        {**row, "plan": f"p{row['number'] // 3}" if row["number"] < 12 else "usual"}
        for row in people()
    ]
    found, shown = release(con, rows, ["plan"])
    assert sum(len(candidates(row, shown, ["plan"])) == 1 for row in rows[:12]) >= 8
    assert ("kept", AMBER) in levels(found)
    assert ("kept", RED) not in levels(found)
