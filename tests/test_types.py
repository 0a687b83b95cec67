"""Every SQL type as a quasi-identifier, printed as DuckDB prints it."""

import duckdb
import pytest

import anon_sql
from tests.sentence import fails

pytestmark = pytest.mark.oldest

NUMBERS = [
    ("TINYINT", ["-128", "5", "127"], "[-128, 127]"),
    ("SMALLINT", ["-32768", "32767"], "[-32768, 32767]"),
    ("INTEGER", ["-2147483648", "2147483647"], "[-2147483648, 2147483647]"),
    ("BIGINT", ["9007199254740993", "9007199254740992"], "[9007199254740992, 9007199254740993]"),
    (
        *("BIGINT", ["-9223372036854775808", "9223372036854775807"]),
        "[-9223372036854775808, 9223372036854775807]",
    ),
    (
        "HUGEINT",
        ["18446744073709551617", "-1", "18446744073709551616"],
        "[-1, 18446744073709551617]",
    ),
    (
        *("HUGEINT", ["-170141183460469231731687303715884105728", "0", f"{2**127 - 1}"]),
        "[-170141183460469231731687303715884105728, 170141183460469231731687303715884105727]",
    ),
    ("UTINYINT", ["255", "0"], "[0, 255]"),
    ("USMALLINT", ["65535", "0"], "[0, 65535]"),
    ("UINTEGER", ["4294967295", "2147483648"], "[2147483648, 4294967295]"),
    (
        *("UBIGINT", ["18446744073709551615", "9223372036854775808", "9223372036854775807"]),
        "[9223372036854775807, 18446744073709551615]",
    ),
    (
        *("UHUGEINT", [f"{2**128 - 1}", f"{2**127}", f"{2**127 - 1}"]),
        "[170141183460469231731687303715884105727, 340282366920938463463374607431768211455]",
    ),
    ("DECIMAL(4,1)", ["-999.9", "0.5", "999.9"], "[-999.9, 999.9]"),
    ("DECIMAL(9,2)", ["-0.05", "-0.5"], "[-0.50, -0.05]"),
    ("DECIMAL(18,3)", ["-1.5", "999999999999999.999"], "[-1.500, 999999999999999.999]"),
    ("DECIMAL(38,10)", ["1.0000000001", "-1", "1"], "[-1.0000000000, 1.0000000001]"),
    ("DECIMAL(38,38)", ["0", f"0.{'9' * 38}"], f"[.{'0' * 38}, .{'9' * 38}]"),
    ("FLOAT", ["0.1", "16777216", "-3.4028235e38"], "[-3.4028235e+38, 16777216.0]"),
    ("FLOAT", ["1e-45", "0.30000001"], "[1e-45, 0.3]"),
    ("DOUBLE", ["1e300", "-1.7976931348623157e308"], "[-1.7976931348623157e+308, 1e+300]"),
    ("DOUBLE", ["1e16", "1e-5", "0.30000000000000004"], "[1e-05, 1e+16]"),
    ("DOUBLE", ["0.30000000000000004", "0.3"], "[0.3, 0.30000000000000004]"),
    ("DOUBLE", ["5e-324", "1e-323"], "[5e-324, 1e-323]"),
    ("DOUBLE", ["0.0", "-0.0"], "[-0.0, 0.0]"),
    ("DATE", ["0001-01-01", "0044-03-15 (BC)"], "[0044-03-15 (BC), 0001-01-01]"),
    ("DATE", ["10000-01-01", "9999-12-31"], "[9999-12-31, 10000-01-01]"),
    ("DATE", ["5877642-06-25 (BC)", "5881580-07-10"], "[5877642-06-25 (BC), 5881580-07-10]"),
    (
        *("TIMESTAMP", ["0044-03-15 (BC) 10:00:00", "294247-01-10 04:00:54.775806"]),
        "[0044-03-15 (BC) 10:00:00, 294247-01-10 04:00:54.775806]",
    ),
    (
        *("TIMESTAMP", ["2000-01-01 00:00:00.1", "2000-01-01 00:00:00.000001"]),
        "[2000-01-01 00:00:00.000001, 2000-01-01 00:00:00.1]",
    ),
    (
        *("TIMESTAMP_S", ["1999-12-31 23:59:59", "10000-01-01 00:00:00"]),
        "[1999-12-31 23:59:59, 10000-01-01 00:00:00]",
    ),
    (
        *("TIMESTAMP_MS", ["2000-01-01 00:00:00.010", "2000-01-01 00:00:00.009"]),
        "[2000-01-01 00:00:00.009, 2000-01-01 00:00:00.01]",
    ),
    (
        *("TIMESTAMP_NS", ["2262-04-11 23:47:16.854775806", "2000-01-01 00:00:00.000000001"]),
        "[2000-01-01 00:00:00.000000001, 2262-04-11 23:47:16.854775806]",
    ),
    (
        *("TIMESTAMP WITH TIME ZONE", ["2000-01-01 12:00:00+02", "0044-03-15 (BC) 10:00:00.5+00"]),
        "[0044-03-15 (BC) 10:00:00.5+00, 2000-01-01 10:00:00+00]",
    ),
    ("TIME", ["24:00:00", "12:00:00.000001"], "[12:00:00.000001, 24:00:00]"),
    (
        "TIME_NS",
        ["12:00:00.000000002", "12:00:00.000000001"],
        "[12:00:00.000000001, 12:00:00.000000002]",
    ),
]
TEXTS = [
    ("BOOLEAN", ["true", "false"], ["false", "true"]),
    ("ENUM('b', 'a', '*')", ["b", "*", "a"], ["*", "a", "b"]),
    ("UUID", [f"{n}0000000-0000-0000-0000-000000000000" for n in "f8"], None),
    ("VARCHAR", ["b", "B", "é", "a"], ["B", "a", "b", "é"]),
]
REFUSED = {
    "JSON": "'{}'::JSON",
    "INTEGER[]": "[1, 2]",
    "INTEGER[2]": "[1, 2]::INTEGER[2]",
    "DECIMAL(4,1)[]": "[1.5::DECIMAL(4,1)]",
    "STRUCT(a INTEGER)": "{'a': 1}",
    "MAP(VARCHAR, INTEGER)": "MAP {'a': 1}",
    "UNION(n INTEGER)": "union_value(n := 1)",
    "BLOB": "'a'::BLOB",
    "INTERVAL": "INTERVAL 1 DAY",
    "TIME WITH TIME ZONE": "'10:00:00+01'::TIMETZ",
    "BIT": "'101'::BIT",
    "BIGNUM": "'1'::BIGNUM",
    "VARIANT": "1::VARIANT",
    "GEOMETRY": "'POINT (1 2)'::GEOMETRY",
    '"NULL"': "NULL",
}


@pytest.fixture(scope="module")
def con():
    with anon_sql.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def classed(con, sql_type, *classes):
    """A table ``t`` whose class c holds the given values, as text; None is NULL."""
    con.execute(f"CREATE OR REPLACE TABLE t (class_id INTEGER, c INTEGER, v {sql_type})")
    rows = [(at, at, value) for at, values in enumerate(classes) for value in values]
    con.executemany(f"INSERT INTO t SELECT $1, $2, $3::VARCHAR::{sql_type}", rows)


def generalized(con, what, form="label"):
    """``what`` of each released row, by class; every class's rows must say the same."""
    rows = con.execute(
        f"SELECT DISTINCT c, {what} FROM generalize('t', k := 2, quasi := ['v'], keep := ['*'], format := '{form}') "
        "ORDER BY c"
    ).fetchall()
    assert [row[0] for row in rows] == list(range(len(rows)))
    return [row[1] for row in rows]


@pytest.mark.parametrize(("sql_type", "values", "label"), NUMBERS)
def test_a_range_has_the_exact_ends_of_its_class(con, sql_type, values, label):
    classed(con, sql_type, [*values, values[0]], values[:1] * 2)
    alone = con.execute("SELECT any_value(v)::VARCHAR FROM t WHERE c = 1").fetchall()[0][0]
    assert generalized(con, "v") == [label, alone]
    ends = "min(v)::VARCHAR, max(v)::VARCHAR FROM t GROUP BY c ORDER BY c"
    typed = [
        (f"STRUCT(min {sql_type}, max {sql_type})", *row)
        for row in con.execute(f"SELECT {ends}").fetchall()
    ]
    found = generalized(con, "(typeof(v), v.min::VARCHAR, v.max::VARCHAR)", "typed")
    if "-0.0" not in label:  # min() takes both zeros for one
        assert found == typed
    read = f"SELECT anon_min($1)::{sql_type}::VARCHAR, anon_max($1)::{sql_type}::VARCHAR"
    assert con.execute(read, [label]).fetchall()[0] == found[0][1:]


@pytest.mark.parametrize(("sql_type", "values", "label"), NUMBERS)
def test_every_value_lies_in_its_label(con, sql_type, values, label):
    classed(con, sql_type, [*values, values[0]], [values[-1], None, None])
    con.execute("CREATE OR REPLACE TABLE raw AS SELECT v, v AS original FROM t")
    rows = con.execute(
        f"SELECT bool_and(v IS NOT DISTINCT FROM '*' OR coalesce(original BETWEEN "
        f"anon_min(v)::{sql_type} AND anon_max(v)::{sql_type}, original IS NULL AND v IS NULL)), "
        "count(*) FROM rayden('raw', k := 2, quasi := ['v'], keep := ['original'])"
    ).fetchall()
    assert rows == [(True, len(values) + 4)]


@pytest.mark.parametrize(("sql_type", "values", "ordered"), TEXTS)
def test_a_set_has_the_values_sorted_by_bytes(con, sql_type, values, ordered):
    classed(con, sql_type, [*values, values[0]], values[:1] * 2)
    ordered = ordered or sorted(values)
    assert generalized(con, "anon_values(v)") == [ordered, values[:1]]
    assert generalized(con, "v", "typed") == [ordered, values[:1]]
    assert generalized(con, "typeof(v)", "typed") == ["VARCHAR[]"] * 2


def test_null_is_a_value_in_every_type(con):
    """Four classes: NULL alone, NULL beside a value, two values, one value."""
    both = [(kind, values[0], values[1]) for kind, values, _ in NUMBERS + TEXTS]
    columns = {f"v{at}": column for at, column in enumerate(both)}
    cases = (
        "CASE class_id * 2 + twin WHEN 3 THEN '{0}' WHEN 4 THEN '{0}' WHEN 0 THEN NULL "
        "WHEN 1 THEN NULL WHEN 2 THEN NULL ELSE '{1}' END::{2} AS {3}"
    )
    picked = [cases.format(a, b, kind, name) for name, (kind, a, b) in columns.items()]
    con.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT class_id, class_id AS c, {', '.join(picked)} "
        "FROM range(4) AS classes(class_id), range(2) AS twins(twin)"
    )
    quasi = str(list(columns))
    call = (
        f"FROM generalize('t', k := 2, quasi := {quasi}, keep := ['*'], format := '%s') ORDER BY c"
    )
    labels = con.execute("SELECT DISTINCT ON (c) * " + call % "label").fetchall()
    assert labels[0] == (0, *[None] * len(both))
    assert labels[1] == (1, *["*"] * len(both))
    assert not {None, "*"} & set(labels[2] + labels[3])
    tests = ", ".join(
        f"[{n} IS NULL, coalesce({n}::VARCHAR IN ('[]', '{{''min'': NULL, ''max'': NULL}}'), false)]"
        for n in columns
    )
    typed = con.execute(f"SELECT DISTINCT c, {tests} " + call % "typed").fetchall()
    expected = [[False, True], [True, False], [False, False], [False, False]]
    assert typed == [(c, *[expected[c]] * len(both)) for c in range(4)]
    text = fails(
        con, f"FROM generalize('t', k := 2, quasi := {quasi}, keep := ['*'], suppressed := 'drop')"
    )
    assert "got 2 that are * in every quasi-identifier" in text  # what suppressed rows are


@pytest.mark.parametrize(
    ("method", "sql_type"),
    [("rayden", "FLOAT"), ("generalize", "DOUBLE"), ("canon", "FLOAT"), ("vp_partition", "DOUBLE")],
)
def test_nan_and_infinity_are_counted(con, sql_type, method):
    classed(con, sql_type, ["nan", "inf", "-inf", "1", None])
    con.execute("ALTER TABLE t RENAME class_id TO class")
    more = ", classes := 'class'" if method == "generalize" else ""
    more += "" if method == "vp_partition" else ", keep := ['*']"
    assert fails(con, f"FROM {method}('t', k := 2, quasi := ['v']{more})") == (
        f"{method}: v must hold finite values, got 3 that are NaN or infinite; "
        "make them NULL or leave the rows out"
    )


@pytest.mark.parametrize(
    "unit", ["DATE", *("TIMESTAMP" + u for u in ("", "_S", "_MS", "_NS", "TZ"))]
)
def test_infinite_dates_are_counted(con, unit):
    classed(con, unit, ["infinity", "-infinity", "2000-01-01", None])
    assert fails(con, "FROM rayden('t', k := 2, quasi := ['v'], keep := ['*'])") == (
        "rayden: v must hold finite values, got 2 that are NaN or infinite; "
        "make them NULL or leave the rows out"
    )


def test_named_types_and_collations(con):
    con.execute("CREATE TYPE mood AS ENUM ('b', 'a'); CREATE TYPE money AS DECIMAL(9, 2)")
    con.execute(
        "CREATE OR REPLACE TABLE t (class_id INTEGER, m mood, p money, c VARCHAR COLLATE NOCASE)"
    )
    con.execute("INSERT INTO t VALUES (0, 'a', 1, 'x'), (0, 'b', 2, 'X'), (1, 'b', 3, 'X')")
    rows = con.execute(
        "SELECT DISTINCT * FROM generalize('t', k := 1, quasi := ['m', 'p', 'c'], keep := ['*'])"
    )
    assert sorted(rows.fetchall()) == [("b", "3.00", "X"), ("{a, b}", "[1.00, 2.00]", "{X, x}")]


@pytest.mark.parametrize("setting", ["TimeZone = 'Asia/Kathmandu'", "Calendar = 'buddhist'"])
def test_an_instant_is_printed_in_utc(con, setting):
    first = ["2000-01-01 12:00:00+02", "2000-06-01 00:00:00.5-05"]
    classed(con, "TIMESTAMPTZ", first, ["2020-01-01 00:00:00+00"] * 2)
    con.execute(f"SET {setting}")
    try:
        expected = ["[2000-01-01 10:00:00+00, 2000-06-01 05:00:00.5+00]", "2020-01-01 00:00:00+00"]
        assert generalized(con, "v") == expected
        assert generalized(con, "epoch(v.max - v.min)", "typed") == [13114800.5, 0.0]
    finally:
        con.execute("SET TimeZone = 'UTC'; RESET Calendar")


def has(con, value):
    """Whether this DuckDB has the types of an expression and can store them."""
    try:
        con.execute(f"CREATE OR REPLACE TEMP TABLE tried AS SELECT {value} FROM range(9) AS r(i)")
    except (duckdb.CatalogException, duckdb.NotImplementedException):
        return False
    return True


LIST = "[1] takes its first element, and list_aggregate() a figure of all"
REMEDIES = {
    "INTEGER[]": LIST,
    "INTEGER[2]": LIST,
    "DECIMAL(4,1)[]": LIST,
    "STRUCT(a INTEGER)": "struct_extract() takes one of its fields",
    "MAP(VARCHAR, INTEGER)": "map_extract_value() takes the value of one key",
    "UNION(n INTEGER)": "union_extract() takes one of its members",
    "BLOB": "decode() makes text of it",
    "INTERVAL": "epoch() makes seconds of it",
    "TIME WITH TIME ZONE": "TIME has no time zone",
    "BIT": "get_bit() takes one of its bits",
    "JSON": "json_extract_string() takes a part of it",
    "BIGNUM": "DOUBLE and DECIMAL hold numbers, too",
    "VARIANT": "its values need one type",
    "GEOMETRY": "ST_X() and ST_Y() take the coordinates of a point",
}


@pytest.mark.parametrize("sql_type", REFUSED)
def test_a_type_that_no_label_stands_for_is_refused(con, sql_type):
    if not has(con, REFUSED[sql_type]):
        pytest.skip(f"this DuckDB has no {sql_type}")
    for form in ("label", "typed"):
        call = f"FROM rayden('odd', k := 2, quasi := ['w', 'v'], keep := ['*'], format := '{form}')"
        source = f"WITH odd AS (SELECT {REFUSED[sql_type]} AS v, i % 2 AS w FROM range(4) AS r(i)) "
        remedy = f"; {REMEDIES[sql_type]}" if sql_type in REMEDIES else ""
        assert fails(con, source + call) == (
            "rayden: a quasi-identifier must be a number, a date, a time or text, "
            f"got v of type {sql_type}; leave it out of quasi or cast it{remedy}"
        )
