"""Rows that are unique on the kept columns: the audit and the warning against a plain SQL count."""

import random
import warnings

import pytest

import anon_sql
from anon_sql import frames
from anon_sql.hosts.kept import columns_besides, unique_on_kept

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
    kept = [name for name in con.table("t").columns if name != "q"]
    con.execute(f"CREATE TABLE r AS FROM mondrian('t', k := 1, quasi := ['q'], keep := {kept})")
    rows = count(con, counted)
    ((found, passed),) = con.execute(
        "SELECT found, passed FROM audit('t', 'r', quasi := ['q'], keep := ['*']) "
        "WHERE property = 'identifying_combinations'"
    ).fetchall()
    ((all_rows,),) = con.execute("SELECT count(*) FROM r").fetchall()
    assert (found, passed) == (rows / all_rows, rows == 0)
    said = unique_on_kept(con, "FROM r", columns_besides(con, "FROM r", ["q"]), 0)
    assert (int(said.split()[0]) if said else 0) == rows


@pytest.mark.parametrize("rows", [29, 57, 58])
def test_a_share_that_is_reached_is_allowed(con, rows):
    """29 of 100 are more than .29 * 100 in binary fractions."""
    con.execute(
        f"CREATE TABLE t AS SELECT 1 AS q, if(i < {rows}, i, -1) AS a FROM range(100) AS r(i)"
    )
    con.execute("CREATE TABLE r AS FROM mondrian('t', quasi := ['q'], keep := ['a'])")
    share = rows / 100
    assert con.execute(
        "SELECT passed FROM audit('t', 'r', quasi := ['q'], keep := ['a'], "
        f"unique_share := {share}) WHERE property = 'identifying_combinations'"
    ).fetchall() == [(True,)]
    assert unique_on_kept(con, "FROM r", ["a"], share) is None
    assert unique_on_kept(con, "FROM r", ["a"], share - 0.01)


def test_rows_left_out_and_added_columns(con):
    """Only what the release shows is counted, with the columns that the raw table lacks."""
    con.execute("CREATE TABLE t AS SELECT i // 5 AS q, i % 2 AS a, i AS s FROM range(12) AS r(i)")
    con.execute(
        "CREATE TABLE r AS FROM mondrian('t', k := 5, quasi := ['q'], sensitive := ['s'], "
        "keep := ['a'], suppressed := 'drop')"
    )
    con.execute("ALTER TABLE r ADD COLUMN added INTEGER")
    con.execute("UPDATE r SET added = 1 WHERE s = (SELECT min(s) FROM r)")
    ((found, example),) = con.execute(
        "SELECT found * (SELECT count(*) FROM r), example FROM audit('t', 'r', 5, quasi := ['q'], "
        "sensitive := ['s'], keep := ['a'], suppressed := 'drop') "
        "WHERE property = 'identifying_combinations'"
    ).fetchall()
    assert found == pytest.approx(count(con, ["a", "added"])) == 1
    assert example.startswith("added alone")


def test_without_rows(con):
    con.execute("CREATE TABLE t (q INTEGER, a INTEGER)")
    con.execute("CREATE TABLE r (q VARCHAR, a INTEGER)")
    assert con.execute(
        "SELECT found, passed FROM audit('t', 'r', quasi := ['q'], keep := ['a']) "
        "WHERE property = 'identifying_combinations'"
    ).fetchall() == [(0, True)]
    assert unique_on_kept(con, "FROM r", ["a"], 0) is None


@pytest.mark.quick
def test_python_warns_of_them(con):
    con.execute(
        "CREATE TABLE t AS SELECT i % 5 AS age, i % 2 AS bed, i // 2 AS room, i AS ill "
        "FROM range(60) AS made(i)"
    )
    wanted = (
        "mondrian: 60 rows are unique on the kept columns together, 100.0% of the release: room "
        "alone 0.0%, with bed 100.0% of the rows are unique; anyone who knows these values finds "
        "the row; generalize, round or leave out one of these columns, and see audit"
    )
    given = {"quasi": ["age"], "sensitive": ["ill"], "k": 5}
    kept = {**given, "keep": ["bed", "room"]}
    calls = [
        lambda roles: frames.mondrian(con.table("t").df(), **roles),
        lambda roles: frames.mondrian(con.table("t"), **roles),
        lambda roles: anon_sql.release(con, "t", into="one", method="mondrian", **roles),
        lambda roles: anon_sql.release(con, "t", into="r", method="mondrian", parts=2, **roles),
    ]
    for call in calls:
        with pytest.warns(anon_sql.AnonWarning) as said:
            call(kept)
        assert [str(each.message) for each in said] == [wanted]
        assert said[0].filename == __file__
        con.execute("DROP TABLE IF EXISTS one; DROP TABLE IF EXISTS r")
    for call in calls:  # sensitive columns are not counted
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call({**given, "keep": ["bed"], "exclude": ["room"]})


@pytest.mark.quick
def test_the_warning_counts_synthetic_rows_as_the_audit_does(con):
    con.execute(
        "CREATE TABLE t AS SELECT i % 5 AS age, i % 3 AS ill, i // 2 AS room FROM range(60) AS r(i)"
    )
    roles = {"quasi": ["age"], "sensitive": ["ill"], "keep": ["room"]}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", anon_sql.AnonWarning)
        made = frames.sdka(con.table("t").df(), k=4, **roles)
    alone = int((made["room"].value_counts() == 1).sum())
    texts = [str(each.message) for each in said]
    counted = [int(text.split()[1]) for text in texts if "unique on" in text]
    assert counted == ([alone] if alone else [])
