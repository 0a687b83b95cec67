"""Every column of a release has a role."""

import pytest

from tests.sentence import fails

pytestmark = [pytest.mark.quick, pytest.mark.oldest]


def columns(con, query):
    return con.sql(query).columns


def test_every_column_needs_a_role(con):
    con.execute(
        'CREATE TABLE t AS SELECT i AS code, i % 3 AS a, 1 AS "Ann 555-12345" FROM range(100) r(i)'
    )
    assert fails(con, "FROM rayden('t', quasi := ['a'])") == (
        "rayden: every column needs a role, got no role for code and 1 column whose name looks like "
        "a value; declare it (COMMENT ON COLUMN t.name IS 'anon:keep'), name it in identifiers, "
        "quasi, sensitive or keep, or pass keep := ['*'] to release all of them as they are"
    )
    call = "FROM rayden('t', quasi := ['a'], {})"
    assert "no role for code and 1 column" in fails(con, call.format("keep := []"))
    assert "no role for 1 column" in fails(con, call.format("keep := ['code']"))
    assert columns(con, call.format("keep := ['*'], identifiers := ['code']"))[:1] == ["a"]
    assert columns(con, call.format("keep := '*'"))[:2] == ["code", "a"]
    con.execute("COMMENT ON COLUMN t.code IS 'anon:identifier'")
    assert columns(con, call.format("keep := ['*']"))[:1] == ["a"]
    con.execute("COMMENT ON COLUMN t.code IS 'anon:quasi'")
    said = fails(con, call.format("keep := ['*']"))
    assert "a declared quasi-identifier must be in quasi or in keep, got neither for code" in said


def test_a_column_called_like_the_rest(con):
    con.execute('CREATE TABLE t AS SELECT i % 3 AS a, i AS "*" FROM range(100) AS r(i)')
    assert fails(con, "FROM rayden('t', quasi := ['a'], keep := ['*'])") == (
        "rayden: keep := ['*'] must be clear, got a column named *; rename it"
    )
    con.execute("COMMENT ON COLUMN t.\"*\" IS 'anon:keep'")
    assert columns(con, "FROM rayden('t', quasi := ['a'])") == ["a", "*"]
