"""``dbt build`` of incremental models that are not protected from ``--full-refresh``.

New persons are appended, the same persons are refused, and no run loses what was released.
"""

import shutil
from pathlib import Path

import duckdb
import pytest

import anon_sql
from tests.apps.dbt import environment as dbt_environment

pytestmark = pytest.mark.long

QUASI = "age, education_num, marital_status, sex"
STAGES = {  # name: the stage before it, and the arguments of its build
    "again": ("first", "--vars", "below: 2000"),
    "refreshed": ("first", "--full-refresh", "--vars", "below: 2000"),
    "refreshed_without_newcomers": ("again", "--full-refresh", "--vars", "below: 2000"),
    "refreshed_alone": ("again", "--full-refresh", "--select", "adult_released"),
    "of_another_ledger": ("first", "--vars", "{below: 2000, anon_ledger: other}"),
}


@pytest.fixture(scope="module")
def stages(folder, environment):
    """The project as it is built first, of some persons, and as it is built again in several ways."""

    def make(made):
        made.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ANON_KEY", "0123456789 a secret key")
            added = Path(__file__).parent / "incremental"
            dbt_environment.build(environment, made / "first", added)
            for name, (before, *arguments) in STAGES.items():
                shutil.copytree(made / before, made / name)
                dbt_environment.run_dbt(environment, made / name, "build", *arguments)

    made = dbt_environment.made_once(folder / "dbt_incremental", make)
    return {name: dbt_environment.built(made / name) for name in ("first", *STAGES)}


@pytest.fixture
def both(stages):
    return stages["first"], stages["again"]


@pytest.fixture
def warehouse(both):
    with anon_sql.connect(both[1].database, read_only=True) as con:
        yield con


def test_the_first_run_releases_everybody(both):
    first, _ = both
    models = ("adult_released", "appended", "twice", "replaced", "whole", "varied")
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
        ("replaced", "a run that replaces replaced must release the persons of its earlier runs"),
    ],
)
def test_the_same_persons_again_and_their_loss_are_refused(both, warehouse, model, said):
    _, second = both
    assert second.status[model] == "error"
    assert said in second.message[model]
    assert warehouse.execute(f"SELECT count(*) FROM {model}").fetchall() == [(288,)]
    assert warehouse.execute("SELECT count(*) FROM anon_ledger").fetchall() == [(4,)]


@pytest.mark.parametrize(
    ("stage", "rows", "runs"),
    [
        ("refreshed", 288, "1 of 1"),
        ("refreshed_without_newcomers", 483, "2 of 2"),
        ("refreshed_alone", 483, "1 of 2"),
    ],
)
def test_a_full_refresh_fails_and_keeps_the_release(stages, stage, rows, runs):
    """The recipe that docs/do/release-again-in-dbt.md had before ``full_refresh=false``."""
    made = stages[stage]
    assert made.status["adult_released"] == "error"
    said = made.message["adult_released"]
    assert f"got none of the persons of {runs}; materialized='incremental' with full_ref" in said
    with duckdb.connect(made.database, read_only=True) as con:
        assert con.execute("SELECT count(*) FROM adult_released").fetchall() == [(rows,)]
        entries = "SELECT sum(persons) FROM anon_ledger WHERE release = 'adult_released'"
        assert con.execute(entries).fetchall() == [(rows,)]
        left = "SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE '%dbt_backup%'"
        assert con.execute(left).fetchall() == [(0,)]


def test_a_full_refresh_of_the_whole_table_releases_it_anew(stages):
    made = stages["refreshed"]
    assert made.status["twice"] == "success"
    with duckdb.connect(made.database, read_only=True) as con:
        assert con.execute("SELECT count(*) FROM twice").fetchall() == [(483,)]


def test_a_run_with_another_ledger_appends_nobody_twice(stages):
    made = stages["of_another_ledger"]
    assert "the ledger has none and cannot tell whom" in made.message["adult_released"]
    with duckdb.connect(made.database, read_only=True) as con:
        assert con.execute("SELECT count(*) FROM adult_released").fetchall() == [(288,)]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            "late",
            "record_release must be a post-hook inside the transaction of late, got one after",
        ),
        (
            "misnamed",
            "raw must be the table that misnamed releases, got one that the model does not",
        ),
    ],
)
def test_a_hook_that_could_not_keep_the_release_is_refused_at_once(stages, model, said):
    for made in stages["first"], stages["again"]:
        assert made.status[model] == "error"
        assert said in made.message[model]
    with duckdb.connect(made.database, read_only=True) as con:
        tables = "SELECT table_name FROM duckdb_tables()"
        assert (model,) not in con.execute(tables).fetchall()
