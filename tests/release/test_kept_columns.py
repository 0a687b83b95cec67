"""Kept columns of any type are untouched and beside their own row, and show no order."""

import pytest

from tests.test_types import has

KEPT = [
    "[i, NULL, 2 * i]", "[[i]::HUGEINT[], NULL]", "{'a': i, 'b': {'c': [i::VARCHAR, NULL]}}",
    "MAP {'k' || i: {'x': i}}", "json_object('i', i, 'n', NULL)", "INTERVAL (i) MONTH",
    "('x' || chr(i::INTEGER))::BLOB", "[i::UNION(n BIGINT, t VARCHAR), ('x' || i)::UNION(n BIGINT, t VARCHAR)][1 + i % 2]",
    "'2000-01-01 00:00:00+00'::TIMESTAMPTZ + INTERVAL (i) DAY",
    "(['a', 'b'][1 + i % 2])::ENUM('b', 'a')", "i + 0.0000000001::DECIMAL(38,10)",
    "170141183460469231731687303715884105727 - i", "(i % 2)::VARCHAR::BIT", "[i, i]::INTEGER[2]",
    "'10:00:00+01'::TIMETZ", "if(i = 3, 'nan', (i / 7)::VARCHAR)::DOUBLE", "i::VARCHAR::BIGNUM",
    "i::VARIANT", "'POINT (1 2)'::GEOMETRY", "NULL::JSON", "md5(i::VARCHAR)::UUID",
    "repeat('é', i::INTEGER)", "'2000-01-01'::TIMESTAMP_NS + INTERVAL (i) DAY", "i::UTINYINT",
]  # fmt: skip


@pytest.mark.parametrize("form", ["label", "typed"])
def test_kept_columns_are_untouched_and_beside_their_own_row(con, form):
    values = {f"v{at}": value for at, value in enumerate(KEPT) if has(con, value)}
    assert len(values) >= len(KEPT) - 2
    made = ", ".join(f"{value} AS {name}" for name, value in values.items())
    con.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT i AS rid, i % 3 AS q, {made} FROM range(12) AS r(i)"
    )
    keep = ["rid", *values]
    call = f"rayden('t', k := 3, quasi := ['q'], keep := {keep}, format := '{form}')"
    seen = ", ".join(f"[typeof({name}), {name}::VARCHAR, hash({name})::VARCHAR]" for name in values)
    released = con.execute(f"SELECT rid, {seen} FROM {call} ORDER BY rid").fetchall()
    assert released == con.execute(f"SELECT rid, {seen} FROM t ORDER BY rid").fetchall()


@pytest.mark.parametrize(
    "values",
    [
        "(['a', 'b'], ['c']), (['a'], ['b', 'c'])",
        "(NULL, 1), ([]::INTEGER[], 1), ([NULL]::INTEGER[], 1)",
        "(NULL, 1), ({'x': NULL::INTEGER}, 1)",
    ],
)
def test_kept_values_that_duckdb_hashes_alike_do_not_show_the_scan_order(con, values):
    con.execute(
        "CREATE OR REPLACE TABLE t AS SELECT 1 AS a, p, q, row_number() OVER () AS place "
        f"FROM (VALUES {values}) AS made(p, q), range(7)"
    )
    call = "FROM anonymize('%s', k := 2, quasi := ['a'], keep := ['p', 'q'])"
    found = []
    for way in ("ASC", "DESC"):
        con.execute(
            f"CREATE OR REPLACE TABLE s_{way} AS SELECT * EXCLUDE (place) FROM t ORDER BY place {way}"
        )
        found.append([str(row) for row in con.execute(call % f"s_{way}").fetchall()])
    assert found[0] == found[1]
