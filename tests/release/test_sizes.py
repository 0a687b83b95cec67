"""Tables that are very wide, long, small or empty, through SQL."""

import pytest

import anon_sql
from tests.sentence import fails


@pytest.fixture(scope="module")
def con():
    with anon_sql.connect() as connection:
        yield connection


@pytest.mark.slow
@pytest.mark.parametrize("classes", [70, 70_000])
def test_more_categories_than_a_byte_or_two_can_count(con, classes):
    con.execute(
        "CREATE OR REPLACE TABLE t AS SELECT 'v' || i AS v, i // 2 AS class_id, i AS rid "
        f"FROM range({2 * classes}) AS r(i)"
    )
    call = "generalize('t', k := 2, quasi := ['v'], keep := ['rid'])"
    pair = "['v' || (rid - rid % 2), 'v' || (rid - rid % 2 + 1)]"
    right = f"v = '{{' || array_to_string(list_sort({pair}), ', ') || '}}'"
    found = con.execute(
        f"SELECT count(*), count(DISTINCT v), bool_and({right}) FROM {call}"
    ).fetchall()
    assert found == [(2 * classes, classes, True)]


def test_a_class_of_more_values_than_one_short_list(con):
    con.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i::VARCHAR AS v, 1 AS class_id FROM range(300) AS r(i)"
    )
    found = con.execute(
        "SELECT DISTINCT anon_values(v) FROM generalize('t', k := 2, quasi := ['v'], keep := ['*'])"
    ).fetchall()
    assert found == [(sorted(map(str, range(300))),)]


@pytest.mark.parametrize("form", ["label", "typed"])
def test_seventy_quasi_identifiers(con, form):
    made = [
        f"i * {at + 3} % {at + 2} AS q{at}" if at % 2 else f"'x' || i % {at + 2} AS q{at}"
        for at in range(70)
    ]
    con.execute(f"CREATE OR REPLACE TABLE t AS SELECT {', '.join(made)} FROM range(60) AS r(i)")
    quasi = [f"q{at}" for at in range(70)]
    release = f"rayden('t', k := 5, quasi := {quasi}, keep := ['*'], format := '{form}')"
    sizes = con.execute(f"SELECT count(*) FROM {release} GROUP BY ALL").fetchall()
    assert con.sql(f"FROM {release}").columns == quasi
    assert sum(size for (size,) in sizes) == 60
    groups = con.execute(
        f"SELECT {', '.join(quasi)}, count(*) FROM {release} GROUP BY ALL"
    ).fetchall()
    assert min(row[-1] for row in groups) >= 5


def test_two_hundred_kept_columns(con):
    made = ", ".join(f"i * {at} % 7 AS c{at}" for at in range(200))
    con.execute(f"CREATE OR REPLACE TABLE t AS SELECT i % 3 AS q, {made} FROM range(60) AS r(i)")
    released = con.sql("FROM rayden('t', k := 5, quasi := ['q'], keep := ['*'])")
    assert released.columns == ["q", *(f"c{at}" for at in range(200))]
    kept = sorted(row[1:] for row in released.fetchall())
    assert kept == sorted(row[1:] for row in con.execute("FROM t").fetchall())


def test_one_row_and_k_of_one(con):
    con.execute("CREATE OR REPLACE TABLE t AS SELECT 1 AS a, 'x' AS b, NULL::DATE AS c, 7 AS kept")
    call = "FROM rayden('t', k := {}, quasi := ['a', 'b', 'c'], keep := ['*'], format := '{}')"
    assert con.execute(call.format(1, "label")).fetchall() == [("1", "x", None, 7)]
    typed = [({"min": 1, "max": 1}, ["x"], {"min": None, "max": None}, 7)]
    assert con.execute(call.format(1, "typed")).fetchall() == typed
    assert fails(con, call.format(2, "label")) == (
        "rayden: k must be at most the number of rows, 1, got k := 2"
    )


@pytest.mark.parametrize("method", ["rayden", "generalize"])
@pytest.mark.parametrize("form", ["label", "typed"])
def test_an_empty_table_has_the_columns_and_types_of_a_full_one(con, method, form):
    con.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i AS rid, 1::UHUGEINT AS h, 'x' AS s, now() AS z, "
        "1.5 AS d, '10:00'::TIME_NS AS n, 'a'::ENUM('a') AS e, uuid() AS u, {'x': [1]} AS kept, "
        "1::UTINYINT AS class_id FROM range(9) AS r(i)"
    )
    call = (
        f"FROM {method}('t', k := 3, quasi := ['h', 's', 'z', 'd', 'n', 'e', 'u'], keep := ['kept', '*'], "
        f"identifiers := ['rid'], format := '{form}')"
    )
    full = con.sql(call)
    columns, types = full.columns, full.types
    con.execute("DELETE FROM t")
    empty = con.sql(call)
    assert (empty.columns, empty.types, empty.fetchall()) == (columns, types, [])
    if form == "typed":
        assert types[:2] == ["STRUCT(min UHUGEINT, max UHUGEINT)", "VARCHAR[]"]
    else:
        assert types[:7] == ["VARCHAR"] * 7
    assert columns == ["h", "s", "z", "d", "n", "e", "u", "kept", "class_id"][: len(columns)]
