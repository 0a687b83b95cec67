"""Python functions: when DuckDB calls them, how often, and with what.

Releases pick columns by a function that runs while a statement is bound, and hand rows over through
functions that must run once for each row.
"""

import duckdb
import pyarrow as pa
import pytest

pytestmark = [pytest.mark.quick, pytest.mark.oldest]


@pytest.fixture
def calls():
    return []


@pytest.fixture
def bare(calls):
    """A connection without the package, with functions that note their arguments."""
    con = duckdb.connect()
    add(con, calls)
    con.execute("CREATE TABLE t AS SELECT i AS a, i AS b, i AS c FROM range(5000) r(i)")
    return con


def add(con, calls):
    def chosen(wanted, names):
        calls.append(names.to_pylist())
        return pa.array([name in wanted[0].as_py() for name in names.to_pylist()])

    def noted(values):
        calls.append(len(values))
        return pa.array(values.to_pylist(), pa.int64())

    for name, call, kind, volatile in (
        ("chosen", chosen, "BOOLEAN", False),
        ("noted", noted, "BIGINT", True),
    ):
        con.create_function(
            name, call, None, kind, type="arrow", null_handling="special", side_effects=volatile
        )


def test_a_function_in_a_lambda_of_columns_is_folded_when_the_statement_is_bound(bare, calls):
    found = bare.sql("SELECT COLUMNS(lambda c: chosen(['a', 'c'], c)) FROM t")
    assert found.columns == ["a", "c"]
    assert {name for names in calls for name in names} == {"a", "b", "c"}


@pytest.mark.parametrize("temporary", ["", "TEMP"])
def test_so_is_one_in_a_macro_whose_parameter_it_takes(bare, temporary):
    bare.execute(
        f"CREATE {temporary} MACRO of(tbl, wanted) AS TABLE SELECT "
        "struct_pack(*COLUMNS(lambda c: chosen(wanted, c))) AS picked FROM query_table(tbl)"
    )
    assert bare.sql("FROM of('t', ['b', 'a'])").types[0].children[0][0] == "a"
    assert bare.execute("SELECT count(picked.b) FROM of('t', ['b', 'a'])").fetchall() == [(5000,)]


def test_columns_are_renamed_by_the_name_that_matched(bare):
    query = "SELECT COLUMNS(lambda c: chosen(['a'], c)) AS 'kept_\\0', COLUMNS('^b') FROM t"
    assert bare.sql(query).columns == ["kept_a", "b"]


def test_a_macro_reads_a_cte_of_the_statement_that_calls_it(bare):
    bare.execute("CREATE MACRO counted(tbl) AS TABLE SELECT count(*) AS n FROM query_table(tbl)")
    assert bare.execute("WITH u AS (FROM t LIMIT 7) FROM counted('u')").fetchall() == [(7,)]


def test_a_volatile_function_runs_once_for_each_row(bare, calls):
    found = bare.execute("SELECT sum(noted(a)) FROM t").fetchall()
    assert found == [(sum(range(5000)),)]
    assert sum(calls) == 5000


TWICE = "WITH one AS MATERIALIZED (SELECT noted(1) AS n) SELECT x.n, y.n FROM one x, one y"


def test_a_volatile_function_in_a_materialized_cte_runs_once(bare, calls):
    assert bare.execute(TWICE).fetchall() == [(1, 1)]
    assert calls == [1]


def test_so_it_does_in_a_macro_that_was_stored_in_a_file(tmp_path, calls):
    """A stored macro loses AS MATERIALIZED; only that the function is volatile counts then."""
    path = tmp_path / "stored.duckdb"
    with duckdb.connect(path) as con:
        add(con, calls)
        con.execute(f"CREATE MACRO twice() AS TABLE {TWICE}")
    with duckdb.connect(path) as con:
        add(con, calls)
        assert con.execute("FROM twice()").fetchall() == [(1, 1)]
    assert calls == [1]


def test_null_is_passed_to_a_function_as_a_value(bare, calls):
    assert bare.execute("SELECT noted(NULL::BIGINT)").fetchall() == [(None,)]
    assert calls == [1]


def test_a_table_without_rows_gives_a_function_nothing_to_do(bare, calls):
    assert bare.execute("SELECT noted(a) FROM t WHERE a < 0").fetchall() == []
    assert sum(calls) == 0


def test_a_name_that_is_registered_is_seen_by_every_cursor(bare, calls):
    assert bare.cursor().execute("SELECT noted(3)").fetchall() == [(3,)]
    assert calls == [1]
