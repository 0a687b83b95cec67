"""query_error: bounds that hold and that are as tight as a plain twin's."""

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import anon_sql
from anon_sql.core.names import quote
from tests.drawing import examples
from tests.measure import query_twin as twin
from tests.sentence import fails

QUASI = ["age", "city"]
CITIES = ["a", "ab", "b", "c"]
RELEASES = {
    "rayden": "FROM rayden('t', k := 3, {roles})",
    "typed": "FROM rayden('t', k := 3, {roles}, format := 'typed')",
    "dropped": "FROM generalize('classed', k := 3, {roles}, suppressed := 'drop')",
    "starred": "FROM generalize('classed', k := 3, {roles})",
    "canon": "SELECT * REPLACE (city::VARCHAR AS city) FROM canon('t', k := 3, quasi := ['age'], keep := ['city', 'pay', 'ill'])",
    "itself": "FROM rayden('t', k := 1, {roles})",
}
ROLES = "quasi := ['age', 'city'], keep := ['pay', 'ill']"


def literal(text):
    return "'" + text.replace("'", "''") + "'"


def ask(con, queries, released="r", raw="t", quasi=QUASI, mode="estimate"):
    listed = "[" + ", ".join(map(literal, queries)) + "]"
    return con.execute(
        f"FROM query_error('{raw}', '{released}', {listed}, quasi := {quasi}, mode := '{mode}')"
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


@pytest.mark.slow
@pytest.mark.parametrize("name", RELEASES)
@examples(3, suppress_health_check=list(HealthCheck))
@given(st.lists(conditions, min_size=20, max_size=20))
def test_bounds_hold_and_are_those_of_the_twin(con, name, drawn):
    """3 x 20 conditions for each of six releases, each compared row by row."""
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
@examples(3, suppress_health_check=list(HealthCheck))
@given(st.lists(conditions, min_size=10, max_size=10), st.sampled_from(["", "ill"]))
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
    share = 1 / 7  # of [3, 9] is 3
    expected = [
        (3, 2 + 2 * share, 2, 4),
        (90, 30 + 90 * share, 30, 120),
        (30, (30 + 90 * share) / (2 + 2 * share), 15, 30),
        (10, 10, 10, 10),
        (60, 60 * share + (1 - share) * (30 * share + (1 - share) * 20), 20, 60),
    ]
    for got, wanted in zip(found, expected, strict=True):
        assert got == pytest.approx(wanted)


def test_declared_roles_and_every_kind_of_relation(con, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    con.execute("CREATE OR REPLACE TABLE d AS FROM t")
    anon_sql.declare(con, "d", quasi=QUASI, sensitive=["ill"], keep=["pay"])
    con.execute("CREATE OR REPLACE TEMP TABLE passing AS FROM rayden")
    con.execute("COPY t TO 't.parquet'; COPY rayden TO 'r.parquet'")
    con.execute('CREATE SCHEMA IF NOT EXISTS s; CREATE OR REPLACE TABLE s."a b" AS FROM t')
    con.execute("CREATE OR REPLACE VIEW seen AS FROM t")
    query = "SELECT count(*) FROM raw WHERE age BETWEEN 22 AND 30 AND city <> 'a' AND pay > 4"
    expected = ask(con, [query], "rayden")
    declared = f"FROM query_error('d', 'rayden', {literal(query)})"
    assert con.execute(declared).fetchall() == expected
    left_out = f"FROM query_error('d', 'rayden', {literal(query)}, quasi := ['city'])"
    assert "age, which is declared and left out of quasi" in fails(con, left_out)
    for raw, released in [
        *[("d", "passing"), ("t.parquet", "r.parquet"), ('s."a b"', "rayden"), ("seen", "rayden")],
        *[("main.t", "main.rayden"), ("T", '"rayden"')],
    ]:
        assert ask(con, [query], released, raw) == expected
        named = raw if "parquet" not in raw else f"'{raw}'"
        assert ask(con, [query.replace("raw", named)], released, raw)[0][1:] == expected[0][1:]
    call = f"[{literal(query)}], quasi := {QUASI})"
    cte = f"WITH c AS (FROM t), r AS (FROM rayden) FROM query_error('c', 'r', {call}"
    assert con.execute(cte).fetchall() == expected
    con.execute(f"SET VARIABLE asked = [{literal(query)}]")
    held = f"FROM query_error('t', 'rayden', getvariable('asked'), quasi := {QUASI})"
    assert con.execute(held).fetchall() == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "value", "constants"),
    [
        ("TINYINT", "i % 9", ["3", "3.5", "200"]),
        ("UBIGINT", "i % 9", ["3", "-1"]),
        ("HUGEINT", "i % 9", ["3", "170141183460469231731687303715884105727"]),
        ("DECIMAL(6,2)", "i % 9 / 4", ["1", "1.25", "1.333"]),
        ("DOUBLE", "i % 9 / 7", ["1", "0.3", "1e3"]),
        ("FLOAT", "i % 9 / 10", ["0.1", "0.15"]),
        ("DATE", "DATE '1970-01-01' + (i % 9)::INTEGER", ["'1970-01-04'", "DATE '1970-01-05'"]),
        ("TIMESTAMP", "TIMESTAMP '1970-01-01' + to_hours(13 * (i % 9))", ["'1970-01-04'"]),
        ("TIMESTAMP_S", "TIMESTAMP '1970-01-01' + to_hours(13 * (i % 9))", ["'1970-01-04'"]),
        ("TIMESTAMP_NS", "TIMESTAMP '1970-01-01' + to_hours(13 * (i % 9))", ["'1970-01-04'"]),
        (
            "TIMESTAMPTZ",
            "TIMESTAMP '1970-01-01' + to_hours(13 * (i % 9))",
            ["'1970-01-04 00:00:00+00'"],
        ),
        ("TIME", "TIME '02:00:00' + to_minutes(37 * (i % 9))", ["'05:00:00'"]),
        ("BOOLEAN", "i % 3 = 0", ["true", "false"]),
        ("ENUM('w0', 'w2', 'w1')", "'w' || i % 3", ["'w2'"]),
    ],
)
def test_types(con, kind, value, constants):
    con.execute(
        f"CREATE OR REPLACE TABLE k AS SELECT if(i = 5, NULL, {value})::{kind} AS v "
        "FROM range(60) AS r(i)"
    )
    forms = ["v > {}", "v <= {}", "v = {}", "NOT (v < {} OR v IS NULL)"]
    queries = [
        f"SELECT count(*) FROM k WHERE {form.format(constant)}"
        for constant in constants
        for form in forms
    ]
    for form, k in (("label", 1), ("label", 4), ("typed", 4)):
        con.execute(
            f"CREATE OR REPLACE TABLE kr AS FROM rayden('k', k := {k}, quasi := ['v'], "
            f"format := '{form}')"
        )
        for row in ask(con, queries, "kr", "k", ["v"]):
            assert row[4] <= row[2] <= row[5], row
            assert k > 1 or row[2] == pytest.approx(row[3]) == row[4] == row[5], row


NAMES = ["v", "w", "shown", "probe", "printed", "known", "x", "label", "d", "kind", "step", "read"]
ODD = ['a"b', "a b", "select", "É", "raw", "released", "query", "group", "actual", "star", "min"]


@pytest.mark.parametrize("form", ["label", "typed"])
@pytest.mark.parametrize("names", [NAMES, ODD])
def test_names_that_macros_use_and_odd_ones(con, form, names):
    """Every other column is a quasi-identifier; numbers and text in turn."""
    made = [
        f"{'i % 5' if at % 4 < 2 else chr(39) + 'w' + chr(39) + ' || i % 5'} AS {quote(name)}"
        for at, name in enumerate(names)
    ]
    con.execute(f"CREATE OR REPLACE TABLE n AS SELECT {', '.join(made)} FROM range(40) AS r(i)")
    quasi, keep = names[::2], names[1::2]
    con.execute(
        f"CREATE OR REPLACE TABLE nr AS FROM rayden('n', k := 12, quasi := {quasi!r}, "
        f"keep := {keep!r}, format := '{form}')"
    )
    parts = [
        f"{quote(name)} >= {2 if at % 4 < 2 else chr(39) + 'w2' + chr(39)}"
        for at, name in enumerate(names)
    ]
    queries = [f"SELECT count(*) FROM raw WHERE {part}" for part in [*parts, " AND ".join(parts)]]
    found = ask(con, queries, "nr", "n", quasi)
    for row in found:
        assert row[2] == 24
        assert row[4] <= 24 <= row[5]
    assert found[1][2:6] == (24, 24, 24, 24)
    assert ask(con, queries, "nr", "n", quasi, "literal")[0][2] == 24
