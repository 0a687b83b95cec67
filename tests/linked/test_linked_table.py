"""Tables are taken out of a plan as it was made, or not at all."""

import duckdb
import pytest

import anon_sql
from anon_sql import datasets

WHOLE = "linked_table: the plan must have all rows of visit as linked_plan has made them"


@pytest.fixture(scope="module")
def plan():
    """A plan, made once; its tests leave it as it is."""
    with anon_sql.connect() as con:
        datasets.hospital(con, 100)
        con.execute("CREATE TEMP TABLE plan AS FROM linked_plan('person', k := 5)")
        yield con


def test_a_table_has_all_rows_in_the_order_of_the_plan(plan):
    taken = plan.execute("FROM linked_table('Visit', 'plan')").fetchall()
    stored = plan.execute("SELECT visit FROM plan WHERE visit IS NOT NULL").fetchall()
    assert taken == [tuple(row.values()) for (row,) in stored]


@pytest.mark.parametrize(
    "changed",
    [
        "FROM plan WHERE visit IS NULL OR visit.visit_id > (SELECT min(visit.visit_id) FROM plan)",
        "FROM plan UNION ALL BY NAME FROM plan WHERE visit IS NOT NULL",
        "SELECT * REPLACE (CASE WHEN visit IS NOT NULL THEN struct_update(visit, ward := 'x') "
        "END AS visit) FROM plan",
        "SELECT * REPLACE (CASE WHEN visit IS NOT NULL THEN struct_update(visit, "
        "person_id := (SELECT min(person.person_id) FROM plan)) END AS visit) FROM plan",
        "SELECT * EXCLUDE (__anon_seal), NULL::HUGEINT AS __anon_seal FROM plan",
        "FROM plan UNION ALL BY NAME FROM linked_plan('person', k := 5)",
    ],
)
def test_rows_that_are_not_those_of_the_plan_are_refused(plan, changed):
    plan.execute(f"CREATE OR REPLACE TEMP TABLE other AS {changed}")
    with pytest.raises(duckdb.Error, match=WHOLE):
        plan.execute("FROM linked_table('visit', 'other')").fetchall()


def test_a_plan_survives_parquet_and_columns_that_are_added(plan, tmp_path):
    before = plan.execute("FROM linked_table('visit', 'plan')").fetchall()
    plan.execute(f"COPY (SELECT *, 1 AS more FROM plan) TO '{tmp_path}/plan.parquet'")
    after = plan.execute(f"FROM linked_table('visit', '{tmp_path}/plan.parquet')").fetchall()
    assert after == before


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("'nix', 'plan'", 'Referenced column "nix" not found'),
        ("'visit', 'person'", 'Referenced column "visit" not found'),
        ("NULL, 'plan'", "linked_table: tbl must be the name of a table, got NULL"),
        ("'visit', NULL", "linked_table: plan must be the name of a table, got NULL"),
    ],
)
def test_errors_name_what_is_missing(plan, call, text):
    with pytest.raises(duckdb.Error) as caught:
        plan.execute(f"FROM linked_table({call})").fetchall()
    assert text in str(caught.value)
