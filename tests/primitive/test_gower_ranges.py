"""``gower_ranges()``: widths of columns of every type, exact where floats would round."""

import pytest

import anon_sql
from tests.sentence import fails


@pytest.fixture(scope="module")
def con():
    with anon_sql.connect() as connection:
        yield connection


def ranges(con, sql_type, *values):
    con.execute(f"CREATE OR REPLACE TABLE t (v {sql_type})")
    con.executemany(f"INSERT INTO t SELECT $1::VARCHAR::{sql_type}", [[value] for value in values])
    return con.execute("SELECT gower_ranges('t', ['v'])['v']").fetchall()[0][0]


@pytest.mark.parametrize(
    ("sql_type", "values", "width"),
    [
        ("INTEGER", ["30", None, "80", "44"], 50.0),
        ("BIGINT", ["9223372036854775800", "9223372036854775807"], 7.0),
        ("UBIGINT", ["0", "18446744073709551615"], 2.0**64),
        ("HUGEINT", [f"{2**127 - 1}", f"{2**127 - 8}"], 7.0),
        ("HUGEINT", [f"{2**127 - 1}", f"{-(2**127)}"], 2.0**128),
        ("HUGEINT", ["18446744073709551615", "18446744073709551617", "-1"], 2.0**64),
        ("UHUGEINT", [f"{2**127}", f"{2**127 - 1}"], 1.0),
        ("UHUGEINT", [f"{2**128 - 1}", "0"], 2.0**128),
        ("DECIMAL(4,1)", ["-1.5", "2"], 3.5),
        ("DECIMAL(38,10)", ["-1.5", "2"], 3.5),
        ("DECIMAL(38,2)", [f"{10**36 - 1}.99", f"{10**36 - 1}.97"], 0.02),
        ("FLOAT", ["-0.5", "0.25"], 0.75),
        ("DOUBLE", ["5e-324", "-0.0"], 5e-324),
        ("DOUBLE", ["1.7e308", "-1.7e308"], 1.7976931348623157e308),
        ("DATE", ["2000-01-01", "2000-01-11"], 10.0),
        ("DATE", ["5877642-06-25 (BC)", "5881580-07-10"], 4294967292.0),
        ("TIMESTAMP", ["2000-01-01", "2000-01-01 00:00:01"], 1e6),
        ("TIMESTAMP_S", ["2000-01-01", "2000-01-01 00:00:01"], 1e6),
        ("TIMESTAMP_MS", ["2000-01-01", "2000-01-01 00:00:01"], 1e6),
        ("TIMESTAMP_NS", ["2000-01-01", "2000-01-01 00:00:00.000000500"], 0.5),
        ("TIMESTAMPTZ", ["2000-01-01 00:00:00+00", "2000-01-01 00:00:01+00"], 1e6),
        ("TIME", ["00:00:00", "24:00:00"], 86400e6),
        ("INTEGER", ["5"], 0.0),
        ("INTEGER", [None], 0.0),
        ("VARCHAR", ["a", "b"], None),
        ("BOOLEAN", ["true", None], None),
        ("UUID", ["00000000-0000-0000-0000-000000000000"], None),
    ],
)
def test_width(con, sql_type, values, width):
    assert ranges(con, sql_type, *values) == width


def test_columns_are_in_the_order_of_the_call_and_spelled_as_in_the_table(con):
    con.execute("CREATE OR REPLACE TABLE t AS SELECT 1 AS Age, 'x' AS city, 2 AS rest")
    assert con.execute("SELECT gower_ranges('t', ['CITY', 'age'])").fetchall() == [
        ({"city": None, "Age": 0.0},)
    ]
    kind = con.execute("SELECT typeof(gower_ranges('t', ['age']))").fetchall()
    assert kind == [("MAP(VARCHAR, DOUBLE)",)]


def test_declared_columns_and_an_empty_table(con):
    con.execute("CREATE OR REPLACE TABLE t AS SELECT 1 AS age, 'x' AS name, 2 AS rest")
    anon_sql.declare(con, "t", quasi=["age"], identifier=["name"])
    assert con.execute("SELECT gower_ranges('t')").fetchall() == [({"age": 0.0},)]
    con.execute("DELETE FROM t")
    assert con.execute("SELECT gower_ranges('t')").fetchall() == [(None,)]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            "gower_ranges('t', ['agee'])",
            "quasi must name columns of the table, got 'agee'; did you mean age? (age, odd)",
        ),
        (
            "gower_ranges('t')",
            "at least one quasi-identifier is needed; pass quasi := ['age', …] "
            "or declare it: COMMENT ON COLUMN t.age IS 'anon:quasi'",
        ),
        (
            "gower_ranges('t', ['odd'])",
            "a quasi-identifier must be a number, a date, a time or text, "
            "got odd of type INTEGER[]; leave it out of quasi or cast it; [1] takes its first element, and "
            "list_aggregate() a figure of all",
        ),
        (
            "gower_ranges('u', ['n'])",
            "n must hold finite values, got 2 that are NaN or infinite; "
            "make them NULL or leave the rows out",
        ),
    ],
)
def test_errors(con, call, said):
    con.execute("CREATE OR REPLACE TABLE t AS SELECT 1 AS age, [1] AS odd")
    con.execute("CREATE OR REPLACE TABLE u AS SELECT unnest(['nan', 'inf', '1'])::DOUBLE AS n")
    assert fails(con, f"SELECT {call}") == f"gower_ranges: {said}"
