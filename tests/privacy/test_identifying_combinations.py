"""Rows that are unique on the kept columns: the audit and the warning against a plain SQL count."""

import random

import pytest

from anon_sql.apps.cli.earlier import kept_columns, unique_on_kept

VALUES = {  # some values of each type are equal, some only look or hash alike
    "DOUBLE": ("0.0", "-0.0", "'nan'", "'inf'", "1.5"),
    "VARCHAR": ("'a'", "'A'", "''", "'NULL'", "'*'"),
    "DECIMAL(4,2)": ("1.5", "1.50", "0"),
    "BLOB": ("''", "'a'", "'\\x00'"),
    "BIT": ("'1'", "'01'", "'001'"),
    "TIMESTAMP": ("'infinity'", "'2020-01-01'"),
    "INTEGER[]": ("[]", "[1]", "[1, 2]", "[NULL]"),
    "INTEGER[][]": ("[[1], [2]]", "[[1, 2]]", "[[]]", "[[1], [2], []]"),
    "STRUCT(a INTEGER, b VARCHAR)": (
        "{'a': 1, 'b': 'NULL'}",
        "{'a': 1, 'b': NULL}",
        "{'a': NULL, 'b': NULL}",
    ),
    "MAP(VARCHAR, INTEGER)": ("MAP {'a': 1}", "MAP {}", "MAP {'a': 1, 'b': 2}"),
    "UNION(n INTEGER, s VARCHAR)": ("1::INTEGER", "2::INTEGER", "'x'::VARCHAR"),
    "INTERVAL": ("'1 month'", "'30 days'", "'1 day'", "'24 hours'"),
}


def filled(con, draw):
    """Make a table ``t`` of a column q and up to three of ``VALUES``; return how each is counted."""
    kinds = draw.sample(list(VALUES), draw.randint(1, 3))
    names = [f'"kept {at}"' for at in range(len(kinds))]
    columns = ", ".join(f"{n} {kind}" for n, kind in zip(names, kinds, strict=True))
    con.execute(f"CREATE OR REPLACE TABLE t (q INTEGER, {columns})")
    for at in range(draw.choice([1, 2, 6, 30])):
        row = ", ".join(draw.choice((*VALUES[kind], "NULL")) for kind in kinds)
        con.execute(f"INSERT INTO t SELECT {at % 4}, {row}")
    nested = ("]", ")", "INTERVAL")  # by their text, as a reader sees them
    return [
        f"{name}::VARCHAR" if kind.endswith(nested) and kind[:3] != "DEC" else name
        for name, kind in zip(names, kinds, strict=True)
    ]


def count(con, columns):
    ((rows,),) = con.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM r GROUP BY {', '.join(columns)} HAVING count(*) = 1)"
    ).fetchall()
    return rows


@pytest.mark.parametrize("seed", range(25))
def test_the_audit_and_the_warning_count_as_sql_does(con, seed):
    counted = filled(con, random.Random(seed))
    con.execute("CREATE TABLE r AS FROM mondrian('t', k := 1, qids := ['q'], keep := ['*'])")
    rows = count(con, counted)
    ((found, passed),) = con.execute(
        "SELECT found, passed FROM audit('t', 'r', qids := ['q'], keep := ['*']) "
        "WHERE property = 'identifying combinations'"
    ).fetchall()
    ((all_rows,),) = con.execute("SELECT count(*) FROM r").fetchall()
    assert (found, passed) == (rows / all_rows, rows == 0)
    said = unique_on_kept(con, "r", kept_columns(con, "r", ["q"]), 0)
    assert (int(said.split()[0]) if said else 0) == rows


@pytest.mark.parametrize("rows", [29, 57, 58])
def test_a_share_that_is_reached_is_allowed(con, rows):
    """29 of 100 are more than .29 * 100 in binary fractions."""
    con.execute(
        f"CREATE TABLE t AS SELECT 1 AS q, if(i < {rows}, i, -1) AS a FROM range(100) AS r(i)"
    )
    con.execute("CREATE TABLE r AS FROM mondrian('t', qids := ['q'], keep := ['a'])")
    share = rows / 100
    assert con.execute(
        "SELECT passed FROM audit('t', 'r', qids := ['q'], keep := ['a'], "
        f"unique_share := {share}) WHERE property = 'identifying combinations'"
    ).fetchall() == [(True,)]
    assert unique_on_kept(con, "r", ["a"], share) is None
    assert unique_on_kept(con, "r", ["a"], share - 0.01)


def test_rows_left_out_and_added_columns(con):
    """Only what the release shows is counted, with the columns that the raw table lacks."""
    con.execute("CREATE TABLE t AS SELECT i // 5 AS q, i % 2 AS a, i AS s FROM range(12) AS r(i)")
    con.execute(
        "CREATE TABLE r AS FROM mondrian('t', k := 5, qids := ['q'], sensitive := ['s'], "
        "keep := ['a'], suppressed := 'drop')"
    )
    con.execute("ALTER TABLE r ADD COLUMN added INTEGER")
    con.execute("UPDATE r SET added = 1 WHERE s = (SELECT min(s) FROM r)")
    ((found, example),) = con.execute(
        "SELECT found * (SELECT count(*) FROM r), example FROM audit('t', 'r', 5, qids := ['q'], "
        "sensitive := ['s'], keep := ['a'], suppressed := 'drop') "
        "WHERE property = 'identifying combinations'"
    ).fetchall()
    assert found == pytest.approx(count(con, ["a", "added"])) == 1
    assert example.startswith("added alone")


def test_without_rows(con):
    con.execute("CREATE TABLE t (q INTEGER, a INTEGER)")
    con.execute("CREATE TABLE r (q VARCHAR, a INTEGER)")
    assert con.execute(
        "SELECT found, passed FROM audit('t', 'r', qids := ['q'], keep := ['a']) "
        "WHERE property = 'identifying combinations'"
    ).fetchall() == [(0, True)]
    assert unique_on_kept(con, "r", ["a"], 0) is None
