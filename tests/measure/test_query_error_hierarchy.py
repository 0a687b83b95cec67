"""query_error on releases of every kind of label, with a hierarchy and without."""

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

import anon_sql
from tests.drawing import examples
from tests.measure import query_twin as twin
from tests.measure.test_query_error import conditions, literal, rows_of
from tests.sentence import fails

CASES = [  # the others print lowest common ancestors, sets and ranges as mondrian does
    *(("mondrian", "h"), ("mondrian", None), ("rayden", "h"), ("canon", "h"), ("datafly", "h")),
]
CALL = "quasi := ['age', 'city'], hierarchy := 'h'"
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
            FROM range(50) AS made(i);
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
        connection.execute("CREATE TABLE of_city AS FROM h WHERE attribute = 'city'")
        yield connection


def quasi_of(name):
    """canon takes numbers only, and none that a hierarchy names."""
    return ["age"] if name == "canon" else ["age", "city"]


def call_of(name, tree):
    named = tree if name != "canon" or tree is None else "of_city"
    return f"quasi := {quasi_of(name)}, hierarchy := {literal(named) if named else 'NULL'}"


def released(con, name, tree="h", form="label", k=3):
    """The name of a release, made when first asked for."""
    made = f"{name}_{tree}_{form}_{k}"
    keep = [column for column in ("city", "pay", "ill") if column not in quasi_of(name)]
    con.execute(
        f"CREATE TABLE IF NOT EXISTS {made} AS FROM {name}('t', k := {k}, {call_of(name, tree)}, "
        f"keep := {keep}, format := '{form}')"
    )
    return made


def ask(con, queries, name, tree="h", form="label", k=3):
    listed = "[" + ", ".join(map(literal, queries)) + "]"
    shown = released(con, name, tree, form, k)
    return con.execute(
        f"FROM query_error('t', '{shown}', {listed}, {call_of(name, tree)})"
    ).fetchall()


def alike(typed, label):
    """Estimates add up in another order."""
    assert [row[:3] + row[4:6] for row in typed] == [row[:3] + row[4:6] for row in label]
    assert [row[3] for row in typed] == pytest.approx([row[3] for row in label], nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "tree"), CASES)
@examples(2, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.lists(conditions, min_size=30, max_size=30))
def test_bounds_hold_and_are_those_of_the_twin(con, name, tree, drawn):
    """The first example is 30 times the simplest condition, hence the set."""
    drawn, quasi = list(dict.fromkeys(drawn)), quasi_of(name)
    trees = TREES if tree and name != "canon" else {}
    raw, shown = rows_of(con, "t"), rows_of(con, released(con, name, tree))
    queries = [f"SELECT count(*) FROM raw WHERE {twin.sql(node)}" for node in drawn]
    rows = ask(con, queries, name, tree)
    alike(ask(con, queries, name, tree, "typed"), rows)
    for node, (_, _, actual, estimate, lower, upper, *_) in zip(drawn, rows, strict=True):
        assert actual == sum(twin.holds(node, one) is True for one in raw)
        assert lower <= actual <= upper
        wanted = twin.count(twin.positive(node), raw, shown, quasi, trees)
        assert (lower, upper) == wanted[1:]
        assert estimate == pytest.approx(wanted[0], abs=1e-6)
    form = ["label", "typed"][len(drawn) % 2]
    for _, _, actual, estimate, lower, upper, *_ in ask(con, queries, name, tree, form, 1):
        assert actual == pytest.approx(estimate) == lower == upper


@pytest.mark.slow
@pytest.mark.parametrize("group", ["", "ill"])
@examples(2, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.lists(conditions, min_size=30, max_size=30))
def test_aggregates_lie_in_their_bounds(con, group, drawn):
    calls = ["sum(pay)", "avg(pay)", "min(pay)", "max(pay)", "count(pay)", "count(age)"]
    end = f" GROUP BY {group}" if group else ""
    queries = [
        f"SELECT {calls[at % 6]} FROM raw WHERE {twin.sql(node)}{end}"
        for at, node in enumerate(drawn)
    ]
    exact = ask(con, queries, "mondrian", form="typed", k=1)
    assert all(row[2] == row[4] == row[5] for row in exact)
    assert all(row[3] == pytest.approx(row[2]) for row in exact)
    wanted = {
        (query, row[0] if group else None): pytest.approx(row[-1])
        for query in queries
        for row in con.execute(
            query.replace("SELECT ", f"SELECT {group + ', ' * bool(group)}").replace("raw", "t")
        ).fetchall()
        if row[-1] is not None
    }
    for name in ("mondrian", "basic_mondrian"):
        rows = ask(con, queries, name)
        alike(ask(con, queries, name, form="typed"), rows)
        found = {(row[0], row[1]["ill"] if group else None): row[2] for row in rows}
        assert wanted == {key: found[key] for key in wanted}
        assert all(row[2] is None or row[4] <= row[2] <= row[5] for row in rows)


def test_aggregates_of_a_node_by_hand(con):
    """A is a, ab and ax, of which one matches; the second class matches as a whole."""
    con.execute(
        "CREATE OR REPLACE TABLE four AS FROM (VALUES ('a', 10, 'x'), ('ab', 20, 'y'), "
        "('b', 60, 'x'), ('b', 40, 'y')) AS v(city, pay, ill)"
    )
    con.execute(
        "CREATE OR REPLACE TABLE nodes AS SELECT * REPLACE (if(city = 'b', city, 'A') AS city) FROM four"
    )
    calls = ["count(*)", "sum(pay)", "avg(pay)", "min(pay)", "max(pay)"]
    where = "FROM raw WHERE city IN ('a', 'b')"
    queries = [f"SELECT {call} {where}" for call in calls]
    queries.append(f"SELECT sum(pay) {where} GROUP BY ill")
    listed = "[" + ", ".join(map(literal, queries)) + "]"
    found = con.execute(
        f"FROM query_error('four', 'nodes', {listed}, quasi := ['city'], hierarchy := 'h')"
    ).fetchall()
    expected = [
        (3, 2 + 2 / 3, 2, 4),
        (110, 100 + 30 / 3, 100, 130),
        (110 / 3, 110 / (2 + 2 / 3), 130 / 4, 50),
        (10, 10 / 3 + 2 / 3 * (20 / 3 + 2 / 3 * 40), 10, 40),
        (60, 60, 60, 60),
        (70, 60 + 10 / 3, 60, 70),
        (40, 40 + 20 / 3, 40, 60),
    ]
    for row, wanted in zip(found, expected, strict=True):
        assert row[2:6] == pytest.approx(wanted)
    assert [row[1] for row in found[5:]] == [{"ill": "x"}, {"ill": "y"}]


def test_a_raw_value_that_the_hierarchy_lacks_is_refused(con):
    shown = released(con, "mondrian")
    con.execute(
        "CREATE OR REPLACE TABLE more AS FROM t UNION ALL FROM (VALUES "
        "(20, 'unlisted', 1, 'flu'), (77, 'a', 1, 'flu'), (78, 'a', 1, 'flu'))"
    )
    for part, got in (("city = ''a''", "1 value that"), ("age > 22", "2 values that")):
        call = f"('more', '{shown}', ['SELECT count(*) FROM raw WHERE {part}'], {CALL})"
        for measure in ("query_error", "workload_error"):
            said = fails(con, f"FROM {measure}{call}")
            assert f"{got} it lacks" in said
            assert "unlisted" not in said
            assert "77" not in said


def test_nodes_in_a_release_need_the_hierarchy_named(con):
    for condition in ("age > 22", "city = ''a''"):
        shown = released(con, "mondrian", form="label")
        call = f"('t', '{shown}', ['SELECT count(*) FROM raw WHERE {condition}']"
        said = fails(con, f"FROM query_error{call}, quasi := ['age', 'city'])")
        assert "name hierarchy := if the release was made with one" in said
        assert said == fails(con, f"FROM workload_error{call}, quasi := ['age', 'city'])")


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
            f"FROM classification('t', '{released(con, 'mondrian', form=form)}', target := 'ill', model := 'knn', {CALL})"
        ).fetchall()
        for form in ("label", "typed")
    )
    assert label == typed
