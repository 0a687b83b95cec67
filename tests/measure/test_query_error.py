"""query_error: bounds that hold and that are as tight as a plain twin's, and what it refuses."""


import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import anon_sql
from tests.workload import twin

QUASI = ["age", "city"]
CITIES = ["a", "ab", "b", "c"]
RELEASES = {
    "rayden": "FROM rayden('t', k := 3, {roles})",
    "typed": "FROM rayden('t', k := 3, {roles}, format := 'typed')",
    "dropped": "FROM generalize('classed', k := 3, {roles}, suppressed := 'drop')",
    "starred": "FROM generalize('classed', k := 3, {roles})",
    "canon": "SELECT * REPLACE (city::VARCHAR AS city) FROM canon('t', k := 3, qids := ['age'], keep := ['city', 'pay', 'ill'])",
    "itself": "FROM rayden('t', k := 1, {roles})",
}
ROLES = "qids := ['age', 'city'], keep := ['pay', 'ill']"


def literal(text):
    return "'" + text.replace("'", "''") + "'"


def ask(con, queries, released="r", raw="t", qids=QUASI, mode="estimate"):
    listed = "[" + ", ".join(map(literal, queries)) + "]"
    return con.execute(
        f"FROM query_error('{raw}', '{released}', {listed}, qids := {qids}, mode := '{mode}')"
    ).fetchall()


@pytest.fixture(scope="module")
def con():
    with anon_sql.connect() as connection:
        connection.execute(
            """
            CREATE TABLE t AS
            SELECT
                if(i % 13 = 0, NULL, 20 + i * 7 % 17)::INTEGER AS age,
                if(i % 11 = 5, NULL, ['a', 'ab', 'b', 'c'][1 + i * i % 7 % 4]) AS city,
                if(i % 9 = 0, NULL, i * 31 % 40)::INTEGER AS pay,
                ['flu', 'none', NULL][1 + i * 13 % 3] AS ill
            FROM range(90) AS made(i)
            """
        )
        connection.execute(
            "CREATE TABLE classed AS SELECT *, if(age > 33 OR city = 'c' AND age < 25, NULL, "
            "age // 4) AS class_id FROM t QUALIFY count(*) OVER (PARTITION BY class_id) >= 3"
        )
        connection.execute("CREATE OR REPLACE TABLE classed AS FROM classed")
        for name, query in RELEASES.items():
            connection.execute(f"CREATE TABLE {name} AS {query.format(roles=ROLES)}")
        yield connection


number = st.sampled_from(["age", "pay"])
whole = st.integers(15, 42)
leaf = st.one_of(
    st.tuples(st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), number, whole),
    st.tuples(st.just("between"), number, whole, whole),
    st.tuples(st.just("in"), number, st.lists(whole, min_size=1, max_size=3).map(tuple)),
    st.tuples(st.just("null"), st.sampled_from(["age", "city", "pay", "ill"])),
    st.tuples(st.sampled_from(["=", "<>", "<", ">="]), st.just("city"), st.sampled_from(CITIES)),
    st.tuples(
        st.just("in"), st.just("city"), st.lists(st.sampled_from(CITIES), min_size=1).map(tuple)
    ),
    st.tuples(st.just("like"), st.just("city"), st.sampled_from(["a", "b", "d"])),
    st.tuples(st.just("="), st.just("ill"), st.sampled_from(["flu", "none"])),
)
leaf = leaf.map(lambda node: ("in", node[1], (*node[2], *node[2])) if node[0] == "in" else node)
conditions = st.recursive(
    leaf,
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner, inner),
    ),
    max_leaves=6,
)


def rows_of(con, name, columns="age, city, pay, ill"):
    rel = con.execute(f"SELECT {columns} FROM {name}")
    names = [column.strip() for column in columns.split(",")]
    return [dict(zip(names, row, strict=True)) for row in rel.fetchall()]


@pytest.mark.parametrize("name", RELEASES)
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(conditions, min_size=40, max_size=40))
def test_bounds_hold_and_are_those_of_the_twin(con, name, drawn):
    """8 x 40 conditions for each of six releases, each compared row by row."""
    raw_name = "classed" if name in ("dropped", "starred") else "t"
    quasi = ["age"] if name == "canon" else QUASI
    raw = rows_of(con, raw_name)
    released = rows_of(con, "rayden" if name == "typed" else name)
    queries = [f"SELECT count(*) FROM raw WHERE {twin.sql(twin_node)}" for twin_node in drawn]
    found = ask(con, queries, name, raw_name, quasi)
    assert len(found) == len(drawn)
    for node, row in zip(drawn, found, strict=True):
        _, group, actual, estimate, lower, upper, relative, absolute = row
        assert group is None
        assert actual == sum(twin.holds(node, one) is True for one in raw)
        assert lower <= actual <= upper, row
        expected = twin.count(twin.positive(node), raw, released, quasi)
        assert (lower, upper) == expected[1:], row
        assert estimate == pytest.approx(expected[0], abs=1e-6)
        assert absolute == pytest.approx(abs(actual - estimate))
        assert relative == (pytest.approx(absolute / actual) if actual else None)
        if name == "itself":
            assert actual == estimate == lower == upper


@pytest.mark.parametrize("name", RELEASES)
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(conditions, min_size=20, max_size=20), st.sampled_from(["", "ill"]))
def test_aggregates_of_kept_columns_lie_in_their_bounds(con, name, drawn, group):
    raw_name = "classed" if name in ("dropped", "starred") else "t"
    quasi = ["age"] if name == "canon" else QUASI
    calls = ["sum(pay)", "avg(pay)", "min(pay)", "max(pay)", "count(pay)", "count(age)"]
    grouped = f" GROUP BY {group}" if group else ""
    queries = [
        f"SELECT {calls[at % 6]} FROM raw WHERE {twin.sql(node)}{grouped}"
        for at, node in enumerate(drawn)
    ]
    for query, shown, actual, estimate, lower, upper, *_ in ask(
        con, queries, name, raw_name, quasi
    ):
        assert (shown is None) == (group == "")
        assert actual is None or lower <= actual <= upper, query
        if name == "itself":
            assert actual == lower == upper
            assert estimate == pytest.approx(actual)
    plain = [query.replace("FROM raw", f"FROM {raw_name}") for query in queries]
    answers = {
        (at, row[0] if group else None): row[-1]
        for at, query in enumerate(plain)
        for row in con.execute(
            query.replace("SELECT ", f"SELECT {group + ', ' * bool(group)}")
        ).fetchall()
    }
    found = {}
    for query, shown, actual, *_ in ask(con, queries, name, raw_name, quasi):
        found.setdefault((query, shown["ill"] if shown else None), actual)
    for (at, key), answer in answers.items():
        assert found[queries[at], key] == pytest.approx(answer)


def test_an_extreme_and_a_mean_by_hand(con):
    con.execute(
        "CREATE OR REPLACE TABLE h AS FROM (VALUES (1, 10), (2, 20), (3, 60), (9, 30)) AS v(age, pay)"
    )
    con.execute(
        "CREATE OR REPLACE TABLE hr AS FROM (VALUES ('[1, 2]', 10), ('[1, 2]', 20), ('[3, 9]', 60), ('[3, 9]', 30)) AS v(age, pay)"
    )
    calls = ["count(*)", "sum(pay)", "avg(pay)", "min(pay)", "max(pay)"]
    queries = [f"SELECT {call} FROM h WHERE age <= 3" for call in calls]
    found = [row[2:6] for row in ask(con, queries, "hr", "h", ["age"])]
    expected = [
        (3, 2 + 2 / 7, 2, 4),
        (90, 30 + 90 / 7, 30, 120),
        (30, (30 + 90 / 7) / (2 + 2 / 7), 15, 110 / 3 if False else 30.0),
        (10, 10, 10, 10),
        (60, 60 / 7 + 6 / 7 * (30 / 7 + 6 / 7 * 20), 20, 60),
    ]
    expected[2] = (30, (30 + 90 / 7) / (2 + 2 / 7), 15, max(90 / 3, 120 / 4))
    for got, wanted in zip(found, expected, strict=True):
        assert got == pytest.approx(wanted)
