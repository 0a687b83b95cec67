"""``dbt build`` of the documented project that releases again: new persons, and a series."""

import re
import shutil

import duckdb
import pytest

import anon_sql
from tests.apps.dbt import environment as dbt_environment
from tests.apps.dbt.environment import EXAMPLE, NEW_PERSONS

pytestmark = pytest.mark.slow
SEED = "seeds/adult_raw.csv"
STAGES = {  # name: the stage before it, the persons in the seed, and the arguments of its build
    "again": ("first", 500),
    "few": ("first", 307),
    "after_few": ("few", 500),
    "refreshed": ("first", 500, "--full-refresh"),
    "refreshed_twice": ("refreshed", 500, "--full-refresh"),
    "refreshed_alone": ("again", 500, "--full-refresh", "--select", "adult_appended"),
}
MODEL = "models/adult_again.sql"
REFUSED = {  # name: the stage before it, the persons in the seed, and a change of the model
    "too_large_k": ("first", 500, lambda text: text.replace("k := 10", "k := 5000")),
    "no_table": (
        "first",
        500,
        lambda text: text.replace("pre_hook", "materialized='view', pre_hook"),
    ),
    "alone": ("first", 500, lambda text: re.sub(r", series := .*\)", ")", text)),
}


@pytest.fixture(scope="module")
def stages(folder, environment):
    """The project beside the example that has its seed, built of 300 persons, and again of all."""

    def put(made, persons):
        """Write the seed with the first persons."""
        seed = made / EXAMPLE.name / SEED
        seed.parent.mkdir(parents=True, exist_ok=True)
        lines = (EXAMPLE / SEED).read_text().splitlines(keepends=True)
        seed.write_text("".join(lines[: persons + 1]))

    def make(made):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ANON_KEY", "0123456789 a secret key")
            shutil.copytree(EXAMPLE / "seeds", made / "first" / EXAMPLE.name / "seeds")
            put(made / "first", 300)
            project = made / "first" / NEW_PERSONS.name
            dbt_environment.build(environment, project, example=NEW_PERSONS)
            for name, (before, persons, *arguments) in STAGES.items():
                shutil.copytree(made / before, made / name)
                put(made / name, persons)
                project = made / name / NEW_PERSONS.name
                dbt_environment.run_dbt(environment, project, "build", *arguments)
            for name, (before, persons, now) in REFUSED.items():
                shutil.copytree(made / before, made / name)
                put(made / name, persons)
                project = made / name / NEW_PERSONS.name
                (project / MODEL).write_text(now((project / MODEL).read_text()))
                dbt_environment.run_dbt(environment, project, "build", "--select", "+adult_again")

    made = dbt_environment.made_once(folder / "dbt_new_persons", make)
    return {
        name: dbt_environment.built(made / name / NEW_PERSONS.name)
        for name in ("first", *STAGES, *REFUSED)
    }


def released(built):
    """The rows of the release, and the persons of each of its entries."""
    with duckdb.connect(built.database, read_only=True) as con:
        ((rows,),) = con.execute("SELECT count(*) FROM adult_appended").fetchall()
        entries = con.execute("SELECT persons FROM anon_ledger ORDER BY released_at").fetchall()
    return rows, [persons for (persons,) in entries]


def test_a_second_build_appends_the_new_persons(stages):
    first, again = stages["first"], stages["again"]
    assert set(first.status.values()) == set(again.status.values()) == {"success", "pass"}
    few, (persons,) = released(first)
    rows, entries = released(again)
    assert few == persons < 300
    assert entries == [few, rows - few]
    assert rows > 400


def test_a_few_new_persons_wait_for_the_next_build(stages):
    first, few, after = (stages[name] for name in ("first", "few", "after_few"))
    assert set(few.status.values()) == {"success", "pass"}
    rows, entries = released(first)
    assert released(few) == (rows, [*entries, 0])
    with duckdb.connect(few.database, read_only=True) as con:
        ((waiting,),) = con.execute("SELECT count(*) - ? FROM adult", [rows]).fetchall()
    assert 0 < waiting < 10
    log = (few.folder / "logs" / "dbt.log").read_text("utf-8")
    assert f"adult_new: {waiting} new persons wait until there are more" in log
    more, _ = released(after)
    assert released(after) == (more, [*entries, 0, more - rows])
    assert more == released(stages["again"])[0]


def test_a_full_refresh_keeps_the_release_and_appends_the_new_persons(stages):
    assert set(stages["refreshed"].status.values()) == {"success", "pass"}
    assert released(stages["refreshed"]) == released(stages["again"])


def test_a_full_refresh_without_new_persons_keeps_the_release(stages):
    rows, persons = released(stages["again"])
    assert set(stages["refreshed_twice"].status.values()) == {"success", "pass"}
    assert released(stages["refreshed_twice"]) == (rows, [*persons, 0])


def test_a_full_refresh_of_the_release_alone_appends_nobody_twice(stages):
    built = stages["refreshed_alone"]
    assert built.status["adult_appended"] == "error"
    assert "an incremental run must append new persons only, got" in built.message["adult_appended"]
    assert released(built) == released(stages["again"])


def series(built):
    """The release of the series, its state, and the numbers of the releases in it."""
    with anon_sql.connect(built.database, read_only=True) as con:
        rows, state = (
            con.execute(f"FROM {name} ORDER BY ALL").fetchall()
            for name in ("adult_again", "adult_again_series")
        )
        numbers = con.execute("SELECT release FROM series_status('adult_again_series')").fetchall()
    return rows, state, [number for (number,) in numbers]


def test_a_series_is_released_with_its_state(stages):
    _, _, numbers = series(stages["first"])
    assert numbers == [1]
    rows, state, numbers = series(stages["again"])
    assert numbers == [1, 2]
    shown = [tuple_ for cohort, person, tuple_ in state if cohort and person is None]
    assert len(rows) == len(shown) > 400


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("too_large_k", "a release must have at least k = 5000 persons with a cohort"),
        ("no_table", "series_step: adult_again must be materialized as a table"),
        ("alone", "series_step: adult_again must release raw with series := anon_sql.series()"),
    ],
)
def test_a_build_that_fails_leaves_the_release_and_the_state(stages, name, says):
    assert stages[name].status["adult_again"] == "error"
    assert says in stages[name].message["adult_again"]
    assert series(stages[name]) == series(stages["first"])
