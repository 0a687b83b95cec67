"""query_error on releases of every method, with a hierarchy where the method takes one."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import anon_sql
from anon_sql.macros import sql_files
from tests.measure.test_query_error import conditions, literal, rows_of
from tests.test_roles import fails
from tests.workload import twin

RELEASES = [file.name for file in sql_files() if file.folder == "release"]
KINDS = [(name, form) for name in RELEASES if name != "canon" for form in ("label", "typed")]
CALL = "qids := ['age', 'city'], hierarchy := 'h'"
WORDS = {"a": ["a"], "ab": ["ab"], "b": ["b"], "c": ["c"], "A": ["a", "ab", "ax"]}
WORDS |= {"other": ["b", "c", "d"], "*": ["a", "ab", "ax", "b", "c", "d"]}
AGES = {str(age): [age] for age in range(15, 45)} | {"*": list(range(15, 45))}
for at in range(15, 45):
    AGES.setdefault(f"{at // 5 * 5}-{at // 5 * 5 + 4}", []).append(at)
    AGES.setdefault(f"'[{at // 10 * 10}, {at // 10 * 10 + 10})'", []).append(at)
TREES = {"age": AGES, "city": WORDS}


@pytest.fixture(scope="module")
def con():
    """age: 15 to 44 in fives and tens; city: two nodes, with leaves that the table lacks."""
    with anon_sql.connect() as connection:
        connection.execute(
            """
            CREATE TABLE t AS
            SELECT
                if(i % 13 = 0, NULL, 20 + i * 7 % 17)::INTEGER AS age,
                if(i % 11 = 5, NULL, ['a', 'ab', 'b', 'c'][1 + i * i % 7 % 4]) AS city,
                if(i % 9 = 0, NULL, i * 31 % 40)::INTEGER AS pay,
                ['flu', 'none', NULL][1 + i * 13 % 3] AS ill
            FROM range(90) AS made(i);
            CREATE TABLE h AS
            SELECT 'AGE' AS attribute, a::VARCHAR AS value, l AS level,
                [a // 5 * 5 || '-' || a // 5 * 5 + 4,
                 '[' || a // 10 * 10 || ', ' || (a // 10 * 10 + 10) || ')', '*'][l] AS label
            FROM range(15, 45) AS r(a), (SELECT unnest([1, 2, 3]) AS l)
            UNION ALL
            SELECT 'city', c, 1, if(c[1] = 'a', 'A', 'other')
            FROM (SELECT unnest(['a', 'ab', 'ax', 'b', 'c', 'd']) AS c)
            """
        )
        for name, form in KINDS:
            for k in (1, 3):
                connection.execute(
                    f"CREATE TABLE {name}_{form}_{k} AS FROM {name}('t', k := {k}, {CALL}, "
                    f"keep := ['pay', 'ill'], format := '{form}')"
                )
        yield connection


@pytest.mark.parametrize(("name", "form"), KINDS)
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(conditions, min_size=40, max_size=40))
def test_bounds_hold_and_are_those_of_the_twin(con, name, form, drawn):
    raw, released = rows_of(con, "t"), rows_of(con, f"{name}_label_3")
    queries = [f"SELECT count(*) FROM raw WHERE {twin.sql(node)}" for node in drawn]
    listed = "[" + ", ".join(map(literal, queries)) + "]"
    for k in (1, 3):
        rows = con.execute(
            f"FROM query_error('t', '{name}_{form}_{k}', {listed}, {CALL})"
        ).fetchall()
        for node, (_, _, actual, estimate, lower, upper, *_) in zip(drawn, rows, strict=True):
            assert lower <= actual <= upper
            if k == 1:
                assert actual == pytest.approx(estimate) == lower == upper
            else:
                expected = twin.count(twin.positive(node), raw, released, ["age", "city"], TREES)
                assert (lower, upper) == expected[1:]
                assert estimate == pytest.approx(expected[0], abs=1e-6)


def test_nodes_in_a_release_need_the_hierarchy_named(con):
    for condition in ("age > 22", "city = ''a''"):
        for released in ("mondrian_label_3", "mondrian_typed_3"):
            call = f"('t', '{released}', ['SELECT count(*) FROM raw WHERE {condition}']"
            said = fails(con, f"FROM query_error{call}, qids := ['age', 'city'])")
            assert "name hierarchy := if the release was made with one" in said
            assert said == fails(con, f"FROM workload_error{call}, qids := ['age', 'city'])")


@pytest.mark.parametrize("form", ["label", "typed"])
def test_least_values_of_nodes(con, form):
    """One class of all: 20 to 24 is a node, its least leaf 20; two cities are no value."""
    con.execute(
        "CREATE OR REPLACE TABLE three AS FROM (VALUES (21, 'a'), (24, 'ab'), (22, 'a')) AS v(age, city)"
    )
    con.execute(
        f"CREATE OR REPLACE TABLE shown AS FROM mondrian('three', k := 3, {CALL}, format := '{form}')"
    )
    queries = [
        f"SELECT count(*) FROM raw WHERE {part}" for part in ("age = 20", "age > 20", "city = 'a'")
    ]
    listed = "[" + ", ".join(map(literal, queries)) + "]"
    found = con.execute(f"FROM query_error('three', 'shown', {listed}, {CALL}, mode := 'literal')")
    assert [row[2:4] for row in found.fetchall()] == [(0, 3), (3, 0), (2, 0)]


def test_a_classifier_reads_nodes_as_leaves(con):
    label, typed = (
        con.execute(
            f"FROM classification('t', 'mondrian_{form}_3', target := 'ill', model := 'knn', {CALL})"
        ).fetchall()
        for form in ("label", "typed")
    )
    assert label == typed
