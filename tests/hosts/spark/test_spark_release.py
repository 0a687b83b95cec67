"""A release of a DataFrame is legal, true, and the same however Spark divides the rows."""

import pytest

import anon_sql.spark
from anon_sql.errors import AnonError
from anon_sql.hosts.spark import routing
from anon_sql.pipeline.request import Request
from anon_sql.regions import sql as region_sql
from tests.hosts.spark.conftest import ROLES

pytestmark = pytest.mark.slow


def rows(df):
    """Return the rows of a DataFrame as a sorted list."""
    return sorted(map(repr, df.collect()))


def audited(con, raw, released, k, **options):
    """Require that the audit in DuckDB passes every property."""
    con.register("raw_rows", raw.toArrow())
    con.register("released_rows", released.toArrow())
    given = "".join(f", {name} := {value!r}" for name, value in options.items())
    found = con.sql(
        f"SELECT property, passed FROM audit('raw_rows', 'released_rows', {k}, "
        f"quasi := {ROLES['quasi']}, sensitive := 'illness', identifiers := 'person_id'{given})"
    ).fetchall()
    assert found
    assert [name for name, passed in found if passed is False] == []


def test_the_same_for_any_partitions_and_order(con, people):
    released = anon_sql.spark.anonymize(people, k=5, part_rows=200, **ROLES)
    assert released.columns == ["age", "city", "born", "illness", "score"]
    audited(con, people, released, 5)
    wanted = rows(released)
    for given in (people.repartition(7, "score"), people.orderBy("illness").repartition(5)):
        again = anon_sql.spark.anonymize(given, k=5, part_rows=200, **ROLES)
        assert rows(again) == wanted


@pytest.mark.parametrize("many", [1, 4])  # one row in many is sampled
def test_labels_at_plain_k_do_not_depend_on_other_columns(people, monkeypatch, many):
    monkeypatch.setattr(routing, "one_in", lambda rows, different: many)
    other = people.selectExpr(
        "person_id", "age", "city", "born", "cast(person_id % 2 AS string) AS illness",
        "-score AS score",
    )  # fmt: skip
    wanted, found = (
        rows(anon_sql.spark.rayden(each, k=5, part_rows=200, **ROLES).select(*ROLES["quasi"]))
        for each in (people, other)
    )
    assert found == wanted


def test_rows_of_a_leaf_are_dealt_to_parts_whatever_their_other_columns_are(people, monkeypatch):
    """A third of the rows are equal, and a region holds fewer; ``test_value_blind`` has a
    control."""
    planned, plan = [], routing.plan

    def noted(*given, **options):
        planned.append(plan(*given, **options))
        return planned[-1]

    monkeypatch.setattr(routing, "plan", noted)
    monkeypatch.setattr(routing, "one_in", lambda rows, different: 4)
    equal = {"age": "42", "city": "'city 1'", "born": "date'2000-01-01'"}
    columns = [f"if(person_id % 3 = 0, {each}, {name}) AS {name}" for name, each in equal.items()]
    one = people.selectExpr("person_id", *columns, "illness", "score")
    other = people.selectExpr("person_id", *columns, "score AS illness", "-person_id / 7 AS score")
    wanted, found = (
        rows(anon_sql.spark.mondrian(each, k=5, part_rows=60, **ROLES).select(*ROLES["quasi"]))
        for each in (one, other)
    )
    assert planned[0].spread
    assert found == wanted


LEVELS = ("l", "t", "beta", "beta_kind", "max_share")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mondrian", {"l": 2}),
        ("mondrian", {"max_share": 0.5, "beta": 3, "beta_kind": "basic"}),
        ("anonymize", {"t": 0.3, "effort": "fast", "format": "typed"}),
        ("anonymize", {"effort": "fast", "format": "mean"}),
        ("mondrian", {"l": 2, "format": "midpoint"}),
        ("rayden", {"suppressed": "drop", "weights": {"age": 3}, "format": "median"}),
        ("anonymize", {"weights": {"city": 0.5}, "suppression_limit": 0.1}),
    ],
)
def test_methods_and_constraints(con, people, name, options):
    released = getattr(anon_sql.spark, name)(people, k=5, part_rows=200, **ROLES, **options)
    asked = {key: options[key] for key in LEVELS if key in options}
    audited(con, people, released, 5, **asked)


def test_persons_with_rows_in_several_regions(con, people):
    person = "nullif(person_id % 200, 7) AS person_id"  # NULL is a person
    visits = people.selectExpr(person, *people.columns[1:])
    roles = {**ROLES, "identifiers": None, "entity": "person_id", "l": 2}
    released = anon_sql.spark.mondrian(visits, k=4, part_rows=200, **roles)
    assert "person_id" not in released.columns
    audited(con, visits, released, 4, entity="person_id", l=2)


@pytest.mark.parametrize("grouped", [0, routing.GROUPED])
def test_values_that_the_sample_missed(con, people, monkeypatch, grouped):
    monkeypatch.setattr(routing, "one_in", lambda rows, different: 40)
    monkeypatch.setattr(routing, "GROUPED", grouped)
    released = anon_sql.spark.mondrian(people, k=5, part_rows=60, **ROLES)
    audited(con, people, released, 5)


def test_few_rows_or_none(people):
    none = anon_sql.spark.mondrian(people.limit(0), k=5, format="typed", **ROLES)
    assert none.collect() == []
    assert dict(none.dtypes)["age"] == "struct<min:int,max:int>"
    with pytest.raises(AnonError, match="k must be at most the number of rows, 3"):
        anon_sql.spark.mondrian(people.limit(3), k=5, **ROLES)


def test_nulls_alone(spark):
    df = spark.sql("SELECT cast(NULL AS int) AS age, cast(NULL AS string) AS city FROM range(50)")
    released = anon_sql.spark.mondrian(df, k=5, part_rows=30, quasi=["age", "city"])
    assert rows(released) == ["Row(age=None, city=None)"] * 50


def test_a_failed_task_is_tried_again(people, tmp_path):
    wanted = rows(anon_sql.spark.mondrian(people, k=5, part_rows=200, **ROLES))
    armed, failed = tmp_path / "armed", tmp_path / "failed"

    def fails_once(batches):
        if armed.exists() and not failed.exists():
            failed.touch()
            raise OSError("the first attempt")
        yield from batches

    source = people.mapInArrow(fails_once, people.schema)
    released = anon_sql.spark.mondrian(source, k=5, part_rows=200, **ROLES)
    armed.touch()
    assert rows(released) == wanted
    assert failed.exists()


@pytest.mark.parametrize("many", [1, 40])  # whether the sample shows the regions
def test_a_source_that_changes_is_refused(people, tmp_path, monkeypatch, many):
    monkeypatch.setattr(routing, "one_in", lambda rows, different: many)
    changed = tmp_path / "changed"

    def differs(batches):
        for batch in batches:
            yield batch.slice(1) if changed.exists() else batch

    source = people.coalesce(1).mapInArrow(differs, people.schema)
    released = anon_sql.spark.mondrian(source, k=5, part_rows=200, **ROLES)
    changed.touch()
    rule = "must have the same rows" if many > 1 else "have the rows of the table"
    with pytest.raises(Exception, match=rule):
        released.collect()


def test_different_rows_are_counted(spark, people, monkeypatch):
    monkeypatch.setattr(region_sql, "HASH_MODULUS", 1)
    call = Request("mondrian", k=5, quasi={"age": "INTEGER", "city": "VARCHAR"}, kept=("score",))
    text = region_sql.summary_select(call, "spark", "given")
    found = routing.queried(spark, text, {"given": people.union(people)}).toArrow()
    wanted = people.select("age", "city").distinct().count()  # the quasi-identifiers alone
    assert found["different"].to_pylist() == [wanted]


def test_strata_are_whole_or_alone_in_a_region(con, people, monkeypatch):
    monkeypatch.setattr(routing, "one_in", lambda rows, different: 40)
    strata = ["city", "illness"]
    rare = "if(person_id % 97 < 3, 'rare', city) AS city"  # 21 rows
    given = people.selectExpr("person_id", "age", rare, "born", "illness", "score")
    roles = {**ROLES, "quasi": [*ROLES["quasi"], "illness"], "sensitive": [], "strata": strata}
    released = anon_sql.spark.mondrian(given, k=4, part_rows=50, **roles)
    counted = [rows(each.groupBy(*strata).count()) for each in (given, released)]
    assert counted[0] == counted[1]
    assert released.groupBy(*roles["quasi"]).count().agg({"count": "min"}).collect()[0][0] >= 4
    again = anon_sql.spark.mondrian(given.repartition(5), k=4, part_rows=50, **roles)
    assert rows(again) == rows(released)


def test_a_stratum_that_cannot_be_a_class_is_refused_at_once(people):
    given = people.selectExpr("*", "if(person_id IN (7, 300), -0.5D, 0D) AS part")
    roles = {**ROLES, "quasi": [*ROLES["quasi"], "part"], "strata": "part"}
    rule = "every stratum must satisfy k, l and t, got 1 that does not, the smallest of 2 rows"
    with pytest.raises(AnonError, match=rule):
        anon_sql.spark.mondrian(given, k=2, l=3, part_rows=200, **roles)


def test_no_more_is_left_out_than_may_be_of_the_whole(spark):
    """Two groups of 60 rows, whose only label together is *, at both ends of the order."""
    rows = spark.sql(
        "SELECT CASE WHEN id < 60 THEN concat('a', id % 6) WHEN id < 940 "
        "THEN concat('m', id % 4) ELSE concat('z', id % 6) END AS c, id AS w FROM range(1000)"
    )
    paths = rows.select("c").distinct().selectExpr("'c' AS attribute", "c AS value", "1 AS level",
                                                   "'*' AS label")  # fmt: skip
    given = {"k": 60, "quasi": ["c"], "keep": ["w"], "hierarchy": paths, "part_rows": 200}
    given |= {"suppressed": "drop"}
    fast = {"effort": "fast", **given}
    shown = anon_sql.spark.anonymize(rows, suppression_limit=0.12, **fast)
    assert shown.count() == 880
    assert shown.where("c = '*'").count() == 0
    for share, told in ((0.119, "have at least 881 of 1,000 rows"), (0, "may leave out no row")):
        refused = anon_sql.spark.anonymize(rows, suppression_limit=share, **fast)
        with pytest.raises(Exception, match=told):
            refused.collect()
    with pytest.raises(Exception, match="may leave out no row, got"):
        anon_sql.spark.mondrian(rows, **given).collect()
    few = rows.where("c NOT LIKE 'm%'")
    with pytest.raises(Exception, match="have at least 1 of 120 rows"):
        anon_sql.spark.anonymize(few, suppression_limit=1, **fast).collect()
