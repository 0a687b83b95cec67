"""``dbt build`` of the documented project of tables that belong together, as it is and with faults."""

import shutil

import duckdb
import pytest

from tests.apps.dbt import environment as dbt_environment
from tests.apps.dbt.environment import LINKED_TABLES

pytestmark = pytest.mark.slow
TEST = "anon_sql_linked_k_anonymous_person_released"
VISIT = "models/safe/visit_released.sql"
FAULTS = {
    "deleted": "select * from ({}) where ward <> (select min(ward) from linked_table('visit', {}))",
    "moved": "select * replace ((select min(person_id) from ({}) as t) as person_id) from ({})",
}


@pytest.fixture(scope="module")
def stages(folder, environment):
    """The project, built, and built with a fault in the model of visits."""

    def make(made):
        dbt_environment.build(environment, made / "whole", example=LINKED_TABLES)
        for name, fault in FAULTS.items():
            shutil.copytree(made / "whole", made / name)
            text = (LINKED_TABLES / VISIT).read_text()
            head, _, select = text.partition("\n")
            plan = "{{ ref('plan') }}"
            faulty = fault.format(*(select, plan) if name == "deleted" else (select, select))
            (made / name / VISIT).write_text(f"{head}\n{faulty}\n")
            dbt_environment.run_dbt(environment, made / name, "build")

    made = dbt_environment.made_once(folder / "dbt_linked_tables", make)
    return {name: dbt_environment.built(made / name) for name in ("whole", *FAULTS)}


def outcome(built):
    """The status of the test."""
    return next(status for name, status in built.status.items() if name.startswith(TEST))


def test_the_project_is_built_and_its_tables_join(stages):
    built = stages["whole"]
    assert set(built.status.values()) == {"success", "pass"}
    with duckdb.connect(str(built.folder / "hospital.duckdb"), read_only=True) as con:
        ((persons, joined, rows),) = con.execute(
            "SELECT (SELECT count(*) FROM main_safe.person), "
            "(SELECT count(*) FROM main_safe.person JOIN main_safe.visit USING (person_id) "
            "JOIN main_safe.diagnosis USING (visit_id)), (SELECT count(*) FROM main_safe.diagnosis)"
        ).fetchall()
    assert persons == 150
    assert joined == rows > 300


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_a_model_fails_the_test(stages, fault):
    built = stages[fault]
    assert outcome(built) == "fail"
    assert built.status["visit_released"] == "success"
