"""Routing statements are total, quoted, the same for both dialects, and free of values."""

import re

import pytest
import sqlglot

from anon_sql.regions import sql as region_sql
from anon_sql.regions import sql as sampling
from anon_sql.regions.sql import REGION
from tests.regions.by_duckdb import Routed, asked
from tests.regions.region_case import routed_select

TYPES = {
    "TINYINT": "i % 100",
    "HUGEINT": "i * 10::HUGEINT",
    "UHUGEINT": "'340282366920938463463374607431768211455'::UHUGEINT - i::UHUGEINT",
    "DECIMAL(30,5)": "i / 7",
    "FLOAT": "i / 3",
    "DOUBLE": "-i / 3",
    "DATE": "DATE '0040-01-01 (BC)' + (i * 100)::INTEGER",
    "TIME": "TIME '01:00:00' + INTERVAL (i) SECOND",
    "TIMESTAMP": "TIMESTAMP '1990-01-01' + INTERVAL (i) HOUR",
    "TIMESTAMP_S": "TIMESTAMP '1990-01-01' + INTERVAL (i) HOUR",
    "TIMESTAMP_NS": "TIMESTAMP '1990-01-01' + INTERVAL (i) HOUR",
    "TIMESTAMPTZ": "TIMESTAMPTZ '1990-01-01 00:00:00+00' + INTERVAL (i) HOUR",
    "VARCHAR": "'it''s \"' || i",
    "BOOLEAN": "i % 2 = 0",
    "ENUM('z', 'a''b')": "['z', 'a''b'][1 + i % 2]",
    "UUID": "md5(i::VARCHAR)::UUID",
}
HOSTILE = 'SELECT "x".y -- é'


def routed(con, kind, expression, **more):
    con.execute(
        f"CREATE OR REPLACE TABLE big AS SELECT CAST(if(i % 11 = 0, NULL, {expression}) AS {kind}) "
        f'AS "{HOSTILE.replace(chr(34), chr(34) * 2)}", i AS s FROM range(90) r(i)'
    )
    call = asked(con, "big", k=3, quasi=[HOSTILE], keep=["s"], **more)
    return call, Routed(con, "big", call, 30)


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_can_be_cut(con, kind):
    _, found = routed(con, kind, TYPES[kind])
    by_statement, in_memory = found.leaves()
    assert by_statement == in_memory
    parts = found.parts()
    assert sum(part.num_rows for part in parts.values()) == 90
    assert sorted(s for part in parts.values() for s in part.column("s").to_pylist()) == [
        *range(90)
    ]
    if kind not in ("BOOLEAN", "ENUM('z', 'a''b')"):
        assert len(found.tree.points) > 0
        assert max(found.regions.rows) <= 60


def test_rows_that_the_sample_lacks_have_a_region(con):
    call, found = routed(con, "DOUBLE", "i")
    name = '"' + HOSTILE.replace('"', '""') + '"'
    con.execute(
        f"UPDATE big SET {name} = TRY_CAST(['', 'nan', 'inf', '-1e300'][1 + s % 4] AS DOUBLE)"
    )
    sql = routed_select(call, found.regions, "big", "cuts", rows=False)
    regions = [row[0] for row in con.execute(sql).fetchall()]
    assert len(regions) == 90
    by_statement, in_memory = found.leaves()
    assert by_statement == in_memory
    assert set(regions) <= set(range(found.regions.count))


def test_statements_name_no_value_of_the_data(con):
    call, found = routed(con, "BIGINT", "123400000 + i * 37")
    assert all(point.text.startswith("1234") for point in found.tree.points)
    for dialect in ("duckdb", "spark"):
        assert "1234" not in region_sql.count_select(call, dialect, "big", None)
        assert "1234" not in region_sql.dealt_select(call, dialect, "big", "number")


def test_both_dialects_say_the_same(con):
    call, _ = routed(con, "VARCHAR", "'c' || i % 20", l=1)
    spark, duck = (region_sql.count_select(call, d, "big", None) for d in ("spark", "duckdb"))
    assert REGION.upper() in spark.upper()
    assert sqlglot.transpile(duck, read="duckdb", write="spark") == [spark]
    for statement in (
        sampling.sample_select(call, "spark", "big", 7),
        region_sql.dealt_select(call, "spark", "big", "number"),
    ):
        assert re.search(r"SHIFTRIGHTUNSIGNED\(XXHASH64\(\d+, ", statement)
        assert f"`{HOSTILE}`" in statement
