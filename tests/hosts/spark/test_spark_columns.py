"""Names, types and comments of columns of a DataFrame."""

import pytest

import anon_sql.spark
from anon_sql.errors import AnonError

pytestmark = pytest.mark.slow

TYPES = {
    "tinyint": "cast(id % 90 AS tinyint)",
    "smallint": "cast(id AS smallint)",
    "int": "cast(id AS int)",
    "bigint": "id * 1000000007",
    "float": "cast(id / 4 AS float)",
    "double": "id / 4D",
    "decimal": "cast(id AS decimal(20, 3))",
    "date": "date_add(date'2000-01-01', cast(id AS int))",
    "timestamp": "timestamp_micros(id * 1000000007)",
    "timestamp_ntz": "cast(timestamp_micros(id * 1000000007) AS timestamp_ntz)",
    "string": "cast(id % 7 AS string)",
    "boolean": "id % 2 = 0",
    "collated": "cast(id % 7 AS string) COLLATE UNICODE_CI",
}
KEPT = {
    "binary": "cast(cast(id AS string) AS binary)",
    "array": "array(id, NULL)",
    "struct": "named_struct('a', id, 'b', cast(NULL AS string))",
    "map": "map('a', id)",
    "variant": "parse_json(concat('{\"a\": ', id, '}'))",
    "interval": "make_dt_interval(cast(id AS int))",
}
HOSTILE = ['a"b', "dot.ted", "tick`s", "{brace}", "größe ✓", "select", "it's", "per%cent"]


def test_every_type_as_a_quasi_identifier(spark):
    df = spark.range(60).selectExpr(*(f"{sql} AS `{name}`" for name, sql in TYPES.items()))
    released = anon_sql.spark.mondrian(df, k=5, part_rows=20, quasi=list(TYPES))
    found = released.toArrow()
    assert found.num_rows == 60
    assert {str(kind) for kind in found.schema.types} == {"string"}
    assert anon_sql.spark.k_anonymity(df, released, quasi=list(TYPES)) >= 5


def test_typed_and_kept_values_of_every_type(spark):
    columns = {**TYPES, **KEPT}
    df = spark.range(60).selectExpr("id % 6 AS q", *(f"{s} AS `{n}`" for n, s in columns.items()))
    kept = [name for name in columns if name != "timestamp"]
    released = anon_sql.spark.mondrian(
        df, k=5, part_rows=20, quasi=["q", "timestamp"], keep=kept, format="typed"
    )
    assert dict(released.dtypes)["timestamp"] == "struct<min:timestamp,max:timestamp>"
    wanted = sorted(map(repr, df.drop("q", "timestamp").collect()))
    assert sorted(map(repr, released.drop("q", "timestamp").collect())) == wanted


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        ("map('a', id)", "a quasi-identifier must be a number, a date, a time or text"),
        ("cast('NaN' AS double)", "q must hold finite values"),
        ("INTERVAL '1' YEAR", "every column must have a type that Arrow has"),
    ],
)
def test_other_types_and_values_are_one_error(spark, sql, rule):
    df = spark.range(20).selectExpr(f"{sql} AS q")
    with pytest.raises(AnonError, match=rule):
        anon_sql.spark.mondrian(df, k=5, quasi=["q"])


def test_bins_are_refused_at_once(spark):
    df = spark.range(20).selectExpr("cast(id AS int) AS q")
    with pytest.raises(AnonError, match="bin_width must be left out of a release in parts"):
        anon_sql.spark.mondrian(df, k=5, quasi=["q"], bin_width={"q": 5})


def test_hostile_names(spark):
    df = spark.range(200).selectExpr(
        *(f"cast((id * 7919) % {at + 9} AS int) AS `{name.replace('`', '``')}`"
          for at, name in enumerate(HOSTILE))
    )  # fmt: skip
    released = anon_sql.spark.mondrian(df, k=5, part_rows=50, quasi=HOSTILE[:6], keep=HOSTILE[6:])
    found = released.toArrow()
    assert (found.column_names, found.num_rows) == (HOSTILE, 200)
    assert anon_sql.spark.k_anonymity(df, released, quasi=HOSTILE[:6]) >= 5


def test_roles_from_comments(spark):
    spark.sql(
        "CREATE TABLE commented (age int COMMENT 'anon:quasi', ssn string COMMENT "
        "'anon:identifier', pay int COMMENT 'Monthly. anon:keep', note string) USING parquet"
    )
    spark.sql("INSERT INTO commented SELECT id, cast(id AS string), id, 'x' FROM range(20)")
    table = spark.table("commented")
    with pytest.raises(AnonError, match="every column needs a role, got no role for note"):
        anon_sql.spark.mondrian(table, k=5)
    released = anon_sql.spark.mondrian(table.where("age >= 0").drop("note"), k=5)
    assert released.columns == ["age", "pay"]
    with pytest.raises(AnonError, match="mondrian: it has no parameter kk; did you mean k"):
        anon_sql.spark.mondrian(table, kk=5)


def test_plans_have_no_values_and_release_once(spark):
    df = spark.range(400).selectExpr(
        "id * 7919 AS q", "concat('word', id % 40) AS w", "id % 3 AS s"
    )
    released = anon_sql.spark.mondrian(
        df, k=5, l=2, t=0.5, part_rows=50, quasi=["q", "w"], sensitive="s"
    )
    released.collect()
    plan = released._jdf.queryExecution().toString()
    assert "MapInArrow Packing" in plan
    assert not any(f"word{at}" in plan or f" {at * 7919}" in plan for at in range(10, 400))
    final = released._jdf.queryExecution().executedPlan().toString().split("Initial Plan")[0]
    assert final.count("MapInArrow RegionTask") == 1
