"""compare: every figure is what utility says of the release, and nothing stops the others; refusals."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from anon_sql.core import running, stopping
from anon_sql.measures.loss import doubles
from anon_sql.methods.method import Partition, _methods, find_method, release_methods
from tests.sentence import fails

METHODS = sorted(name for name, known in release_methods().items() if not known.perturbative)
NAMES = [
    *("rows", "suppressed", "classes", "smallest_class"),
    *("dm", "dm_star", "cavg", "gcp", "iloss", "suppression_rate"),
]
HIERARCHIES = """
    CREATE TABLE h AS
    FROM numeric_hierarchy('people', 'age', widths := [10, 20])
    UNION ALL FROM date_hierarchy('people', 'born', ['year', 'decade'])
    UNION ALL FROM prefix_hierarchy('people', 'city', [1])
    UNION ALL FROM prefix_hierarchy('people', 'sex', [1])
"""


def compared(con, table, more=""):
    """Measures by method and k, those with a note left out."""
    query = (
        f"SELECT method, k, {', '.join(NAMES)} FROM compare('{table}' {more}) WHERE note IS NULL"
    )
    return {(row[0], row[1]): row[2:] for row in con.execute(query).fetchall()}


def said(con, table, method, k, more="", hierarchy=""):
    """What utility says of the release that the method makes."""
    con.execute(
        f"CREATE OR REPLACE TABLE r AS FROM {method}('{table}', k := {k} {more}{hierarchy})"
    )
    quasi = re.search(r", quasi := \[.*?\]", more)
    call = f"utility('{table}', 'r', k := {k} {quasi[0] if quasi else ''}{hierarchy})"
    return con.execute(f"SELECT {', '.join(NAMES)} FROM {call}").fetchall()[0]


def agree(con, found, table, more="", hierarchy=""):
    assert found
    for (method, k), row in found.items():
        expected = said(con, table, method, k, more, hierarchy)
        assert row[:6] == expected[:6], (method, k)
        for ours, theirs in zip(row[6:], expected[6:], strict=True):
            assert ours == (theirs and pytest.approx(theirs, rel=1e-12)), (method, k)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hierarchy", "ks"),
    [("", [7]), (", hierarchy := 'h'", [1, 7]), (", hierarchy := 'two'", [7])],
)
def test_every_method_with_nulls(people, hierarchy, ks):
    """Without hierarchies, with one for every column, and with one for some of them."""
    people.execute(HIERARCHIES + "; CREATE TABLE two AS FROM h WHERE attribute IN ('age', 'city')")
    found = compared(people, "people", f", ks := {ks}{hierarchy}")
    left = {"": {"canon", "datafly"}, ", hierarchy := 'h'": {"canon"}}.get(
        hierarchy, {"canon", "datafly"}
    )
    assert {method for method, _ in found} == set(METHODS) - left
    assert len(found) == len(ks) * (len(METHODS) - len(left))
    agree(people, found, "people", hierarchy=hierarchy)


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked", [", l := 2, t := 0.4", ", l := 1.5, l_kind := 'entropy', entity := 'person_id'"]
)
def test_l_t_and_persons(people, asked):
    """As in each release; k and l that the table has not are said of the whole call or the k."""
    methods = ["anonymize", "dop", "full_domain", "k_member", "mondrian", "rayden"]
    found = compared(people, "people", f", methods := {methods}, ks := [4]{asked}")
    assert ("mondrian", 4) in found
    agree(people, found, "people", asked)


def test_an_l_that_the_table_has_not(people):
    said = fails(people, "FROM compare('people', l := 4)")
    assert said.startswith("compare: l must be at most what the whole table has in illness, 3")


def test_numbers_alone_and_another_seed(people):
    more = ", quasi := ['age', 'born'], keep := ['city', 'sex'], seed := 7"
    methods = ["canon", "k_member", "mondrian", "oka", "rayden", "top_down"]
    found = compared(people, "people", f", methods := {methods}, ks := [3]{more}")
    assert ("canon", 3) in found
    agree(people, found, "people", more)


def test_weights(people):
    """In the methods that take them, and in gcp of all."""
    people.execute(HIERARCHIES)
    weights = ", weights := MAP {'born': 8, 'city': 0.5}"
    methods = ["anonymize", "datafly", "mondrian", "oka", "rayden"]
    more = f", methods := {methods}, ks := [5], hierarchy := 'h'{weights}"
    found = compared(people, "people", more)
    assert len(found) == len(methods)
    for (method, k), row in found.items():
        own = "" if method == "datafly" else weights
        people.execute(
            f"CREATE OR REPLACE TABLE r AS FROM {method}('people', k := {k}, hierarchy := 'h'{own})"
        )
        gcp = f"SELECT gcp('people', 'r', hierarchy := 'h'{weights})"
        assert people.execute(gcp).fetchall() == [(pytest.approx(row[7], rel=1e-12),)], method


@pytest.mark.slow
def test_strata(people):
    """Each figure is that of the release with these strata, whose classes are within them."""
    strata = ", strata := ['sex']"
    found = compared(people, "people", f", ks := [7]{strata}")
    free = compared(people, "people", ", ks := [7]")
    assert {method for method, _ in found} == set(METHODS) - {"canon", "datafly"}
    for (method, k), row in found.items():
        agree(people, {(method, k): row}, "people", strata)
        shown = people.execute("SELECT DISTINCT sex FROM r WHERE sex <> '*' ORDER BY 1").fetchall()
        assert shown == [("f",), ("m",)], method
    assert any(found[each] != free[each] for each in found)


def test_a_stratum_is_a_class_or_too_small(con):
    """A k of all its rows makes each stratum a class, whatever the method; one more is a note."""
    con.execute(
        "CREATE TABLE t AS SELECT i * 37 % 90 AS a, i % 3 AS b, 'v' || i % 3 AS c "
        "FROM range(90) AS r(i)"
    )
    more = ", strata := 'b', quasi := ['a', 'b'], keep := ['c']"
    rows = con.execute(
        f"SELECT method, k, classes, smallest_class, note FROM compare('t', ks := [30, 31]{more})"
    ).fetchall()
    made = [row for row in rows if row[1] == 30 and row[0] != "datafly"]
    assert [row[2:] for row in made] == [(3, 30, None)] * (len(METHODS) - 1)
    for method, k, classes, _, note in rows:
        if k == 31:
            assert classes is None
            assert note == fails(con, f"FROM {method}('t', k := 31{more})")
    assert (
        rows[1][-1]
        == "anonymize: every stratum must have at least 31 rows, got 3 that do not, the "
        "smallest of 30 rows; leave a column out of strata, or round its values first"
    )


def test_options_of_a_method(people):
    """The others keep their defaults."""
    chosen = "unrecovered := 'suppress', alpha := 0.3, cut := 'aligned'"
    given = "{'rayden': {'unrecovered': 'suppress', 'alpha': 0.3, 'cut': 'aligned'}}"
    more = f", methods := ['rayden', 'mondrian'], ks := [5], options := {given}"
    found = compared(people, "people", more)
    agree(people, {("mondrian", 5): found["mondrian", 5]}, "people")
    agree(people, {("rayden", 5): found["rayden", 5]}, "people", f", {chosen}")
    assert (
        found["rayden", 5]
        != compared(people, "people", ", methods := 'rayden', ks := 5")["rayden", 5]
    )


def test_what_prints_alike_is_one_class(con):
    """NULL beside values in every column prints *, which is suppressed; equal sets are one class."""
    con.execute(
        "CREATE TABLE t AS SELECT if(i % 3 = 0, NULL, i % 4) AS a, if(i % 3 = 0, NULL, 'v' || i % 2) AS b "
        "FROM range(90) AS r(i)"
    )
    more = ", quasi := ['a', 'b']"
    methods = ["anonymize", "full_domain", "mondrian", "oka", "rayden"]
    found = compared(con, "t", f", methods := {methods}, ks := [4, 31]{more}")
    agree(con, found, "t", more)
    assert any(row[1] for row in found.values())
    assert any(row[2] * k < 90 for (_, k), row in found.items())


@pytest.mark.slow
def test_columns_of_every_type(con):
    """Ends of ranges are the DOUBLEs that labels are read as, where 2^53 is not the end."""
    con.execute(
        """
        CREATE TABLE t AS SELECT
            (i * 37 % 50)::TINYINT AS a, 9007199254740992 + i * 7 % 50 AS b,
            170141183460469231731687303715884105000::HUGEINT + i % 40 * 3 AS c,
            (i * 11 % 60)::DECIMAL(4, 1) / 3 AS d, (1e30::DECIMAL(38, 3) + i % 9)::DECIMAL(38, 3) AS e,
            [0.0, -0.0, 1.5, -2.25][1 + i % 4]::DOUBLE AS f, (i % 13 / 7)::FLOAT AS g,
            DATE '2000-01-01' + (i * 3 % 71)::INTEGER AS h,
            (TIMESTAMP '2020-01-01' + to_microseconds(i * 17 % 90)) AS m,
            (TIMESTAMP '2020-01-01' + to_microseconds(i * 17 % 90))::TIMESTAMP_NS AS n,
            (TIMESTAMP '2020-01-01' + to_seconds(i % 31))::TIMESTAMP_S AS o,
            (TIMESTAMP '2020-01-01' + to_seconds(i % 31))::TIMESTAMPTZ AS p,
            TIME '10:00:00' + to_minutes(i % 100) AS q,
            (18446744073709551000 + i % 60)::UBIGINT AS s,
            i % 3 = 0 AS u, ['x', 'it''s, {a}', '*', ''][1 + i % 4] AS v,
            ['one', 'two'][1 + i % 2]::ENUM ('two', 'none', 'one') AS w
        FROM range(120) AS r(i)
        """
    )
    names = [row[0] for row in con.execute("DESCRIBE t").fetchall()]
    for part in (names[:5], names[5:9], names[9:13], names[13:], names[2:3], names[4:5]):
        rest = [name for name in names if name not in part]
        more = f", quasi := {part}, keep := {rest}"
        found = compared(con, "t", f", methods := ['mondrian', 'oka'], ks := [4]{more}")
        assert len(found) == 2, part
        agree(con, found, "t", more)


@pytest.mark.parametrize(
    "sql_type", ["HUGEINT", "UHUGEINT", "DECIMAL(38, 5)", "DECIMAL(18, 2)", "UBIGINT"]
)
def test_doubles_are_the_nearest(con, sql_type):
    texts = ["1", "9007199254740993", "900719925474099", "0", "100000000000000001"]
    if sql_type in ("HUGEINT", "DECIMAL(38, 5)"):
        texts += ["-9007199254740993", "-36893488147419103233"]
    if sql_type.endswith(("HUGEINT", "5)")):
        texts += ["36893488147419103233", "18446744073709551615", "18446744073709551617"]
    if sql_type == "DECIMAL(18, 2)":
        texts = ["0.07", "-12.34", "9999999999999999.99", "9007199254740993.55"]
    if sql_type == "UHUGEINT":
        texts += ["340282366920938463463374607431768211455"]
    values = ", ".join(f"('{text}'::{sql_type})" for text in texts)
    con.execute(f"CREATE TABLE t AS FROM (VALUES {values}) AS r(x)")
    column = con.sql("FROM t").to_arrow_table().column("x").combine_chunks()
    column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    printed = con.execute("SELECT x::VARCHAR::DOUBLE FROM t").fetchall()
    assert doubles(sql_type, column).tolist() == [x for (x,) in printed]
    assert doubles(sql_type, column).dtype == np.float64


def test_names_once_in_the_order_asked_for(people):
    rows = people.execute(
        "SELECT method, k FROM compare('people', methods := ['oka', 'mondrian', 'OKA'], ks := [9, 5, 9])"
    ).fetchall()
    assert rows == [("oka", 9), ("oka", 5), ("mondrian", 9), ("mondrian", 5)]


def test_the_result_and_its_types(people):
    found = people.sql("FROM compare('people', methods := 'mondrian')")
    assert found.columns == ["method", "k", "seconds", *NAMES, "note"]
    assert [str(kind) for kind in found.types] == [
        *("VARCHAR", "BIGINT", "DOUBLE"),
        *6 * ["BIGINT"],
        *4 * ["DOUBLE"],
        "VARCHAR",
    ]
    rows = found.fetchall()
    assert [row[1] for row in rows] == [5, 10, 25, 50, 100]
    assert all(row[2] > 0 for row in rows)


def test_any_number_of_threads_and_any_order(people):
    more = ", methods := ['rayden', 'k_member', 'anonymize'], ks := [4]"
    expected = compared(people, "people", more)
    people.execute("SET threads = 1")
    people.execute("CREATE TABLE other AS FROM people ORDER BY hash(person_id)")
    roles = ", quasi := ['age', 'city', 'sex', 'born'], sensitive := 'illness', keep := 'score', identifiers := 'person_id'"
    assert compared(people, "people", more) == expected
    assert compared(people, "other", more + roles) == expected


def test_the_bar_names_method_and_k(people, monkeypatch):
    """One bar for all of the work: those of the methods' own stay away."""
    shown = []

    class Terminal:
        def isatty(self):
            return True

        def write(self, text):
            shown.append(text)

        def flush(self):
            pass

    monkeypatch.setattr(running, "PATIENCE", -1.0)
    monkeypatch.setattr("sys.stderr", Terminal())
    people.execute(
        "FROM compare('people', methods := ['mondrian', 'k_member'], ks := [5, 9])"
    ).fetchall()
    text = "".join(shown)
    assert "compare k_member, k = 9" in text


@pytest.mark.slow
def test_adult(adult):
    found = compared(adult, "adult", ", methods := ['mondrian', 'rayden'], ks := [10, 100]")
    assert len(found) == 4
    agree(adult, found, "adult")
    assert found["mondrian", 10][0] == 30162


def test_methods_and_k_that_cannot_be(people):
    """A note is the sentence of the release's own error; the other rows are there."""
    query = "FROM compare('people', methods := ['canon', 'Mondrian', 'datafly'], ks := [5, 2.5, 0, NULL, 121])"
    rows = people.execute(query).fetchall()
    assert [(row[0], row[1]) for row in rows] == [
        (method, k)
        for method in ("canon", "mondrian", "datafly")
        for k in (5, None, None, None, 121)
    ]
    for row in rows:
        if row[0] == "mondrian" and row[1] == 5:
            assert row[-1] is None
            continue
        assert row[2:-1] == (None,) * 11
        assert row[-1].startswith(f"{row[0]}: ")
        if row[1]:
            assert row[-1] == fails(people, f"FROM {row[0]}('people', k := {row[1]})")
    assert rows[1][-1] == "canon: k must be a whole number of at least 1, got 2.5"
    assert rows[3][-1] == "canon: k must be a whole number of at least 1, got NULL"


def test_a_method_that_adds_rows_has_a_note(people):
    rows = people.execute(
        "FROM compare('people', methods := ['sdka', 'mondrian'], ks := [5])"
    ).fetchall()
    assert rows[0][2:-1] == (None,) * 11
    assert rows[0][-1] == (
        "sdka: compare measures releases that add no rows, got a perturbative method; sdka_stats "
        "shows what its release loses"
    )
    assert rows[1][-1] is None
    people.execute("CREATE TABLE none AS FROM people LIMIT 0")
    none = people.execute(
        "SELECT note FROM compare('none', methods := 'sdka', ks := [5], quasi := ['age'])"
    ).fetchall()
    assert none == [(rows[0][-1],)]


def test_no_column_needs_a_role(con):
    """A comparison releases nothing."""
    con.execute("CREATE TABLE t AS SELECT i % 9 AS a, 'name' || i AS who FROM range(50) AS r(i)")
    compared = "SELECT note FROM compare('t', methods := 'mondrian', ks := [5], quasi := ['a'])"
    assert con.execute(compared).fetchall() == [(None,)]
    assert "no role for who" in fails(con, "FROM mondrian('t', k := 5, quasi := ['a'])")


def test_an_empty_table(con):
    con.execute(
        "CREATE TABLE t (a INTEGER, b VARCHAR); CREATE TABLE r AS FROM mondrian('t', quasi := ['a', 'b'], keep := ['*'])"
    )
    rows = con.execute(
        f"SELECT method, {', '.join(NAMES)}, note FROM compare('t', ks := [5], quasi := ['a', 'b'])"
    ).fetchall()
    expected = con.execute(
        f"SELECT {', '.join(NAMES)} FROM utility('t', 'r', quasi := ['a', 'b'])"
    ).fetchall()[0]
    assert rows == [(method, *expected, None) for method in METHODS]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            "methods := ['raiden']",
            "methods must name release methods, got 'raiden'; did you mean rayden?",
        ),
        ("methods := [5]", "methods must name release methods, got 5; anon_methods() lists them"),
        ("methods := ['vp_partition']", "methods must name release methods, got 'vp_partition'"),
        ("methods := []", "methods must name a method"),
        ("ks := NULL", "ks must be whole numbers, got NULL"),
        ("ks := []", "ks must be whole numbers"),
        (
            "quasi := ['agee']",
            "quasi must name columns of the table, got 'agee'; did you mean age?",
        ),
        ("seed := -1", "seed must be a whole number of at least 0, got -1"),
        ("options := 'cut'", "options must be a struct of structs, got a VARCHAR"),
        ("options := {'rayden': 5}", "options of rayden must be a struct, got 5"),
        ("options := {'x': {'cut': 'a'}}", "options must name release methods, got 'x'"),
        (
            "options := {'rayden': {'cutt': 'a'}}",
            "options must name parameters of rayden, got 'cutt'; did you mean cut?",
        ),
        (
            "options := {'oka': {'cut': 'a'}}",
            "options must name parameters of oka, got 'cut'; oka has none",
        ),
        (
            "options := {'rayden': {'cut': 'a'}}",
            "cut must be one of 'balanced', 'median', 'aligned', got 'a'",
        ),
    ],
)
def test_what_is_refused(people, given, sentence):
    assert fails(people, f"FROM compare('people', {given})").startswith(f"compare: {sentence}")


def test_ctrl_c_stops_all(people, monkeypatch):
    """Pressed while a method runs, it is no note of that method: none of the rest is begun."""
    begun = []

    def pressed(table, call):
        begun.append((call.function, call.constraint.k))
        if call.constraint.k == 5:
            stopping.request_all()
            stopping.check(call.function)
        return Partition(np.zeros(table.rows, dtype=np.int32))

    for name in ("mondrian", "oka"):
        monkeypatch.setitem(_methods, name, replace(find_method(name), run=pressed))
    call = "FROM compare('people', methods := ['oka', 'mondrian'], ks := [7, 5, 9])"
    assert fails(people, call) == "compare: stopped on request; nothing was released"
    assert ("oka", 5) in begun
    assert not {("oka", 9), ("mondrian", 7)} & set(begun)
