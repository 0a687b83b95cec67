"""Measures of DataFrames are those of the SQL functions, and methods are table functions."""

import pytest

import anon_sql.spark
from anon_sql.errors import AnonError
from tests.hosts.spark.conftest import ROLES

pytestmark = pytest.mark.slow

QUASI = ROLES["quasi"]


@pytest.mark.parametrize("options", [{"suppressed": "drop"}, {"format": "typed"}])
def test_measures_are_those_of_sql(con, people, options):
    con.register("raw_rows", people.toArrow())
    made = "".join(f", {name} := '{value}'" for name, value in options.items())
    con.execute(
        "CREATE TABLE released AS FROM rayden('raw_rows', k := 7, sensitive := 'illness', "
        f"quasi := {QUASI}, identifiers := 'person_id', keep := 'score'{made})"
    )
    released = people.sparkSession.createDataFrame(con.sql("FROM released").to_arrow_table())
    call = f"'raw_rows', 'released', quasi := {QUASI}"
    wanted = con.sql(f"FROM utility({call}, k := 7)").fetchall()[0]
    found = anon_sql.spark.utility(people, released, k=7, quasi=QUASI)
    assert tuple(found.collect()[0]) == pytest.approx(wanted, rel=1e-12)
    assert found.columns == con.sql(f"FROM utility({call}, k := 7)").columns
    with pytest.raises(AnonError, match="the raw table must come first"):
        anon_sql.spark.gcp(released, people, quasi=QUASI)


def test_typed_labels_of_types_without_null(spark):
    released = spark.sql(
        "SELECT named_struct('min', 0L, 'max', 3L) AS id, array('a', 'b') AS city FROM range(4)"
    )
    raw = spark.sql("SELECT id, if(id < 2, 'a', 'b') AS city FROM range(4)")
    assert anon_sql.spark.gcp(raw, released, quasi=["id", "city"]) == 1
    assert anon_sql.spark.k_anonymity(raw, released, quasi=["id", "city"]) == 4


def test_methods_are_table_functions(con, spark, people):
    anon_sql.spark.register(spark)
    people.createOrReplaceTempView("people")
    call = (
        "SELECT * FROM mondrian(TABLE(people), k => 5, quasi => array('age', 'city', 'born'), "
        "sensitive => 'illness', identifiers => 'person_id', keep => array('*'))"
    )
    con.register("raw_rows", people.toArrow())
    wanted = con.sql(
        f"FROM mondrian('raw_rows', k := 5, sensitive := 'illness', quasi := {QUASI}, "
        "identifiers := 'person_id', keep := 'score')"
    ).fetchall()
    assert sorted(map(repr, map(tuple, spark.sql(call).collect()))) == sorted(map(repr, wanted))
    with pytest.raises(Exception, match="quasi must name columns of the table"):
        spark.sql(call.replace("'age'", "'agee'")).collect()
