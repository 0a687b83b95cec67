"""Suggestions that are taken as they are lead to a release that the audit passes."""

import importlib.util

import pytest

pytestmark = pytest.mark.slow
PARAMETERS = {
    "identifier": "identifiers",
    "quasi": "quasi",
    "sensitive": "sensitive",
    "keep": "keep",
}
FILES = {
    "Adult": "adult",
    "Bank": "bank_full",
    "Diabetes": "diabetes",
    "BRFSS": "brfss2015",
    "Student": "student_por",
    "heart": "heart_cleveland",
}


def hospital(con, shared_data):
    spec = importlib.util.spec_from_file_location("hospital", shared_data / "hospital.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.make(con, persons=5_000)


@pytest.mark.parametrize("name", [*FILES, "person", "visit"])
def test_of_real_tables(con, shared_data, name):
    if name in FILES:
        source = f"'{shared_data / FILES[name]}.parquet'"
    else:
        hospital(con, shared_data)
        source = name
    con.execute(f"CREATE TABLE raw AS FROM {source} LIMIT 10_000")
    found = con.execute("SELECT column_name, role FROM suggest_roles('raw')").fetchall()
    roles = {
        parameter: [column for column, role in found if role == known]
        for known, parameter in PARAMETERS.items()
    }
    listed = ", ".join(f"{parameter} := ${parameter}" for parameter in roles)
    level = 2 if roles["sensitive"] else 1
    con.execute(
        f"CREATE TABLE r AS FROM anonymize('raw', k := 5, l := {level}, effort := 'fast', {listed})",
        roles,
    )
    failed = con.execute(
        f"SELECT property FROM audit('raw', 'r', k := 5, l := {level}, unit := 'row', {listed}) "
        "WHERE passed IS false",
        roles,
    ).fetchall()
    assert failed == []


def test_education_repeats_its_number(con, shared_data):
    con.execute(f"CREATE TABLE adult AS FROM '{shared_data / 'adult.parquet'}'")
    repeats = dict(
        con.execute("SELECT column_name, repeats FROM suggest_roles('adult')").fetchall()
    )
    assert repeats["education"] == "education_num"
    assert [name for name, of in repeats.items() if of] == ["education"]
