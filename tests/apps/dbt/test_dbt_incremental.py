"""``dbt build`` of incremental models, twice: new persons are appended, the same are refused."""

import shutil
from pathlib import Path

import pytest

import anon_sql
from tests.apps.dbt import environment as dbt_environment

pytestmark = pytest.mark.slow

QUASI = "age, education_num, marital_status, sex"


@pytest.fixture(scope="module")
def both(folder, environment):
    """The project as it is built first, of some persons, and again, of all."""

    def make(made):
        made.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ANON_KEY", "0123456789 a secret key")
            added = Path(__file__).parent / "incremental"
            dbt_environment.build(environment, made / "project", added)
            shutil.copytree(made / "project" / "target", made / "target")
            dbt_environment.run_dbt(environment, made / "project", "build", "--vars", "below: 2000")

    made = dbt_environment.made_once(folder / "dbt_incremental", make)
    return dbt_environment.built(made), dbt_environment.built(made / "project")


@pytest.fixture
def warehouse(both):
    with anon_sql.connect(both[1].database, read_only=True) as con:
        yield con


def test_the_first_run_releases_everybody(both):
    first, _ = both
    models = ("adult_released", "appended", "twice", "whole", "varied")
    assert {first.status[name] for name in models} == {"success", "pass"}


def test_a_second_run_appends_new_persons(both, warehouse):
    _, second = both
    assert second.status["adult_released"] == "success"
    entries = (
        "SELECT persons FROM anon_ledger WHERE release = 'adult_released' ORDER BY released_at"
    )
    assert warehouse.execute(entries).fetchall() == [(288,), (195,)]
    released = "SELECT count(*), count(DISTINCT person_id) FROM adult"
    assert warehouse.execute(released).fetchall() == [(483, 483)]
    assert warehouse.execute("SELECT count(*) FROM adult_released").fetchall() == [(483,)]


def test_the_tests_count_classes_of_the_whole_table(both, warehouse):
    _, second = both
    assert (second.status["whole"], second.status["varied"]) == ("pass", "pass")
    counted = "SELECT count(*) AS n, count(DISTINCT occupation) AS l FROM adult_released"
    for test, few in (("small", "n < 14"), ("alike", "l < 6")):
        ((classes,),) = warehouse.execute(
            f"SELECT count(*) FROM ({counted} GROUP BY {QUASI}) WHERE {few}"
        ).fetchall()
        assert classes
        assert second.status[test] == "fail"
        assert f"Got {classes} results" in second.message[test]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            "appended",
            "appended must not append a second release of the same persons to the first",
        ),
        ("twice", "an incremental run must append new persons only, got 288 whom twice has"),
    ],
)
def test_the_same_persons_again_are_refused(both, warehouse, model, said):
    _, second = both
    assert second.status[model] == "error"
    assert said in second.message[model]
    assert warehouse.execute(f"SELECT count(*) FROM {model}").fetchall() == [(288,)]
    assert warehouse.execute("SELECT count(*) FROM anon_ledger").fetchall() == [(3,)]
