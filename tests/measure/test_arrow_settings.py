"""Settings that change the types in which DuckDB hands values over change no result."""

import duckdb
import pytest

QUASI = "quasi := ['age', 'city']"
QUERIES = "['SELECT count(*) FROM raw WHERE age > 30 AND city <> ''b''', 'SELECT sum(pay) FROM raw WHERE city LIKE ''a%'' GROUP BY ill']"
CALLS = [
    f"FROM query_error('t', 'label', {QUERIES}, {QUASI})",
    f"FROM query_error('t', 'typed', {QUERIES}, {QUASI})",
    f"FROM query_error('t', 'typed', {QUERIES}, {QUASI}, mode := 'literal')",
    f"FROM query_error('t', 'nodes', {QUERIES}, {QUASI}, hierarchy := 'h')",
    f"FROM query_workload('t', n := 3, {QUASI})",
    f"FROM classification('t', 'typed', target := 'ill', model := 'knn', {QUASI})",
    "FROM data_quality('t')",
    "FROM imbalance('t', 'ill')",
    "FROM numeric_hierarchy('t', 'age')",
    "FROM date_hierarchy('t', 'born')",
    "FROM prefix_hierarchy('t', 'city', [1])",
    "FROM check_hierarchy('t', 'broken')",
    "SELECT DISTINCT anon_min(age), anon_max(age), anon_values(city) FROM label ORDER BY ALL",
    "SELECT DISTINCT anon_values(city, 'h', 'city') AS v FROM nodes ORDER BY ALL",
    "SELECT gower(a, b, gower_ranges('t', ['age', 'city'])) FROM t AS a, t AS b ORDER BY ALL",
    "SELECT rewrite_query('SELECT count(*) FROM raw', 't', 'label', quasi := ['age'])",
]
SETTINGS = ["arrow_large_buffer_size = true"]
if duckdb.__version__ >= "2":
    SETTINGS.append("arrow_output_version = '1.5'")


@pytest.mark.parametrize("setting", SETTINGS)
def test_no_result_depends_on_a_setting(con, setting):
    con.execute(
        """
        CREATE TABLE t AS
        SELECT
            20 + i * 7 % 17 AS age, ['a', 'ab', 'b', NULL][1 + i * i % 4] AS city, i * 31 % 40 AS pay,
            ['flu', 'none'][1 + i * 13 % 2] AS ill, DATE '2020-01-01' + i::INTEGER AS born
        FROM range(40) AS r(i);
        CREATE TABLE h AS FROM prefix_hierarchy('t', 'city', [1]);
        CREATE TABLE broken AS SELECT * REPLACE ('b' AS label) FROM h WHERE value <> 'ab';
        """
    )
    for form in ("label", "typed"):
        con.execute(
            f"CREATE TABLE {form} AS FROM mondrian('t', k := 3, {QUASI}, keep := ['pay', 'ill', "
            f"'born'], format := '{form}')"
        )
    con.execute(
        f"CREATE TABLE nodes AS FROM mondrian('t', k := 3, {QUASI}, keep := ['pay', 'ill', 'born'], "
        "hierarchy := 'h')"
    )
    before = [con.execute(call).fetchall() for call in CALLS]
    con.execute(f"SET {setting}")
    for call, wanted in zip(CALLS, before, strict=True):
        assert con.execute(call).fetchall() == wanted, call
