"""What holds for every release method, on tables made to be awkward.

The methods are found, not listed: whatever stands in sql/release is put through all of this, save
what adds rows, which has tests of its own in tests/release.
"""

import random
from collections import Counter

import duckdb
import pytest

import anon_sql
from anon_sql.hosts.duckdb.sql_files import sql_files
from tests.inserting import insert
from tests.oracles import adds_rows

NEED_HIERARCHIES = {"datafly"}  # the same is asked of them in test_hierarchical.py
METHODS = [
    file.name
    for file in sql_files()
    if file.folder == "release" and file.name not in NEED_HIERARCHIES and not adds_rows(file.name)
]
OLDEST = {"anonymize", "rayden"}  # to DuckDB, the SQL of the others differs in names alone
NUMERIC = ["n", "d", "x"]
COLUMNS = "n INTEGER, d DATE, x DOUBLE, kept VARCHAR, rid INTEGER"


def made(rows, seed=0):
    """Rows of the table: a small integer, a date, a double (all with NULLs), kept, row id."""
    pick = random.Random(seed)
    for rid in range(rows):
        yield (
            pick.choice([None, *range(12)]),
            pick.choice([None, "2000-01-01", "2001-05-07", "1999-12-31", "2010-10-10"]),
            pick.choice([None, 0.5, 1.25, -3.0, 100.0, 7.75]),
            pick.choice([None, "a", "b", "it's {x}"]),
            rid,
        )


def fill(con, rows, name="t"):
    con.execute(f"CREATE OR REPLACE TABLE {name} ({COLUMNS})")
    if rows:
        insert(con, name, rows)


def release(con, method, table="t", k=4, **more):
    given = {"quasi": NUMERIC, "keep": ["kept", "rid"], **more}
    arguments = ", ".join(f"{name} := {value!r}" for name, value in given.items())
    return con.execute(f"FROM {method}('{table}', k := {k}, {arguments})").fetchall()


def holds(label, value, read):
    """Whether a value lies in its label, by a reader of the test's own."""
    if label == "*":
        return True
    if label is None or value is None:
        return label is None and value is None
    low, _, high = label.strip("[]").partition(", ")
    return read(low) <= read(str(value)) <= read(high or low)


@pytest.fixture(
    params=[pytest.param(m, marks=[pytest.mark.oldest] * (m in OLDEST)) for m in METHODS]
)
def method(request):
    return request.param


@pytest.mark.parametrize(
    ("rows", "k"),
    [
        (1, 1),
        (7, 4),
        pytest.param(60, 7, marks=pytest.mark.quick),
    ],
)
def test_classes_labels_rows_and_kept_columns(con, method, rows, k):
    table = list(made(rows))
    fill(con, table)
    released = release(con, method, k=k)
    assert min(Counter(row[:3] for row in released).values()) >= k
    assert len(released) == rows
    for row in released:
        raw = table[row[4]]
        assert row[3] == raw[3]  # kept columns stand beside their own row's labels
        for label, value, read in zip(row, raw, (int, str, float), strict=False):
            assert holds(label, value, read)
    assert Counter(row[4] for row in released) == Counter(range(rows))


def test_k_of_one_leaves_values_unchanged(con, method):
    fill(con, made(50))
    plain = con.execute("SELECT n::VARCHAR, d::VARCHAR, x::VARCHAR, kept, rid FROM t").fetchall()
    assert Counter(release(con, method, k=1)) == Counter(plain)


def test_the_same_release_for_the_same_seed(con, method):
    """Any number of threads, any order of the rows: the same multiset, row for row."""
    rows = list(made(150))
    fill(con, rows)
    wanted = Counter(release(con, method))
    con.execute("SET threads = 1")
    random.Random(1).shuffle(rows)
    fill(con, rows)
    assert Counter(release(con, method)) == wanted


@pytest.mark.quick
def test_the_order_of_the_rows_says_nothing_of_the_source(con, method):
    rows = list(made(150))
    fill(con, rows)
    first = [row[:4] for row in release(con, method, keep=["kept"], identifiers=["rid"])]
    fill(con, rows[::-1])
    assert [row[:4] for row in release(con, method, keep=["kept"], identifiers=["rid"])] == first


@pytest.mark.quick
@pytest.mark.oldest
def test_both_formats_say_the_same(con, method):
    fill(con, made(120))
    labels = {row[4]: row for row in release(con, method)}
    for row in release(con, method, format="typed"):
        for label, typed in zip(labels[row[4]][:3], row[:3], strict=True):
            if label == "*":
                assert typed is None
            elif label is None:
                assert typed == {"min": None, "max": None}
            else:
                low, _, high = label.strip("[]").partition(", ")
                assert (str(typed["min"]), str(typed["max"])) == (low, high or low)


def test_empty_tables_keep_their_columns(con, method):
    fill(con, [])
    assert release(con, method) == []
    found = con.sql(f"FROM {method}('t', quasi := {NUMERIC}, keep := ['*'], format := 'typed')")
    assert found.columns == ["n", "d", "x", "kept", "rid"]
    assert [str(kind) for kind in found.types] == [
        "STRUCT(min INTEGER, max INTEGER)",
        "STRUCT(min DATE, max DATE)",
        "STRUCT(min DOUBLE, max DOUBLE)",
        "VARCHAR",
        "INTEGER",
    ]


def test_rows_that_are_all_equal_and_a_constant_column(con, method):
    fill(con, [(3, "2000-01-01", None, "a", rid) for rid in range(50)])
    assert {row[:3] for row in release(con, method)} == {("3", "2000-01-01", None)}


def test_quasi_identifiers_alone_and_one_alone(con, method):
    fill(con, made(80))
    con.execute("CREATE TABLE q AS SELECT n, x FROM t")
    both = con.execute(f"FROM {method}('q', k := 4, quasi := ['n', 'x'], keep := ['*'])").fetchall()
    assert len(both) == 80
    assert min(Counter(both).values()) >= 4
    one = con.execute(f"FROM {method}('q', k := 4, quasi := ['x'], keep := ['*'])").fetchall()
    assert min(Counter(row[1] for row in one).values()) >= 4


def test_k_larger_than_the_table(con, method):
    fill(con, made(5))
    said = f"{method}: k must be at most the number of rows, 5, got k := 6"
    with pytest.raises(duckdb.Error, match=said):
        release(con, method, k=6)


def test_names_that_macros_use_themselves(con, method):
    """Columns called like parameters of the macro, and a table called like one."""
    parameters = [
        name
        for (names,) in con.execute(
            f"SELECT parameters FROM duckdb_functions() WHERE function_name = '{method}'"
        ).fetchall()
        for name in names
    ]
    columns = ", ".join(f'i % {3 + at} AS "{name}"' for at, name in enumerate(parameters))
    con.execute(f"CREATE TABLE tbl AS SELECT {columns}, i % 5 AS q FROM range(90) AS r(i)")
    kept = [name for name in parameters if name not in ("k", "seed")]
    call = f"FROM {method}('tbl', k := 4, quasi := ['k', 'seed', 'q'], keep := {kept})"
    released = con.execute(call)
    names = [name for name, *_ in released.description]
    assert names == [*parameters, "q"]
    places = [names.index(name) for name in ("k", "seed", "q")]
    groups = Counter(tuple(row[place] for place in places) for row in released.fetchall())
    assert min(groups.values()) >= 4


@pytest.fixture(scope="module")
def other():
    with anon_sql.connect() as connection:
        yield connection


def test_two_databases_at_once(con, other, method):
    for connection, quasi in ((con, "n"), (other, "x")):
        fill(connection, made(60))
        anon_sql.declare(connection, "t", quasi=[quasi], keep={*NUMERIC, "kept", "rid"} - {quasi})
    here = con.sql(f"FROM {method}('t', k := 4)")
    there = other.sql(f"FROM {method}('t', k := 4)")
    assert [str(kind) for kind in here.types[:3]] == ["VARCHAR", "DATE", "DOUBLE"]
    assert [str(kind) for kind in there.types[:3]] == ["INTEGER", "DATE", "VARCHAR"]
