"""Rows are kept once, in the order of the lists beside them, and no longer than a release needs."""

import time

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from anon_sql.audit import reading
from anon_sql.audit.reading import RawRows, ReleasedRows
from anon_sql.core.running import Workers
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb import rows as buffer
from anon_sql.hosts.duckdb import rows as memory
from anon_sql.hosts.duckdb.functions import audit as functions
from anon_sql.hosts.duckdb.rows import RunningStatement
from anon_sql.pipeline.request import Request
from tests.sentence import fails

pytestmark = pytest.mark.oldest

HERE = RunningStatement("db", 7, 1)
CALL = Request("test", 1, {})
ONE = Workers("test")


def chunk(*rows):
    fields = [("n", pa.int32()), ("word", pa.string())]
    return pa.chunked_array([pa.array([{"n": n, "word": w} for n, w in rows], pa.struct(fields))])


@pytest.fixture
def number():
    before = set(buffer._open)
    yield buffer.start(CALL, HERE, 5, "the table must fit into memory, got more")
    for left in set(buffer._open) - before:
        del buffer._open[left]


def fill(number):
    return [
        buffer.add(number, rows)
        for rows in (chunk((1, "b"), (2, None)), chunk((3, "a")), chunk((4, "b"), (5, "c")))
    ]


def test_rows_are_numbered_as_they_come(number):
    assert fill(number) == [0, 2, 3]


@pytest.mark.parametrize(
    "order", [[0, 1, 2, 3, 4], [3, 4, 0, 1, 2], [2, 3, 4, 0, 1], [4, 2, 0, 1, 3]]
)
def test_rows_in_the_order_of_the_lists(number, order):
    fill(number)
    found = buffer.claim(number).in_order(np.array(order, np.int32), ONE)
    assert found["n"].to_pylist() == [at + 1 for at in order]
    assert pa.types.is_dictionary(found["word"].type)
    assert found["word"].to_pylist() == [["b", None, "a", "b", "c"][at] for at in order]


@pytest.mark.parametrize(
    "order",
    [
        [0, 1, 2, 3],
        [0, 1, 2, 3, 3],
        [0, 1, 2, 3, 5],
        [-1, 0, 1, 2, 3],
        [1, 2, 3, 4, 5],
        [0] * 5,
        [],
    ],
)
def test_a_row_that_is_lost_or_held_twice(number, order):
    fill(number)
    with pytest.raises(AnonError, match="every row must be read once, got 5 read and"):
        buffer.claim(number).in_order(np.array(order, np.int32), ONE)


def test_more_rows_than_there_may_be(number):
    fill(number)
    with pytest.raises(AnonError, match=r"^test: the table must fit into memory, got more$"):
        buffer.add(number, chunk((6, "d")))
    assert not buffer._open[number].chunks
    with pytest.raises(AnonError, match=r"^test: the table must fit into memory, got more$"):
        buffer.add(number, chunk((7, "e")))


def test_nobody_gets_a_buffer_twice(number):
    buffer.claim(number)
    with pytest.raises(AnonError, match="a statement must find the rows it has read"):
        buffer.claim(number)


def test_a_connection_that_starts_another_statement_forgets_the_last(number):
    same = buffer.start(CALL, HERE, 1, "")
    others = [buffer.start(CALL, RunningStatement(db, 8, 1), 1, "") for db in ("db", "other")]
    assert {number, same, *others} <= set(buffer._open)
    buffer.start(CALL, RunningStatement("db", 7, 2), 1, "")
    assert not {number, same} & set(buffer._open)
    assert set(others) <= set(buffer._open)


def test_what_nobody_came_for_in_an_hour_is_forgotten(number, monkeypatch):
    now = time.monotonic()
    monkeypatch.setattr(buffer.time, "monotonic", lambda: now + buffer.HOUR + 1)
    buffer.start(CALL, RunningStatement("another", 1, 1), 1, "")
    assert number not in buffer._open


def test_a_release_leaves_nothing_behind(con):
    before = set(buffer._open)
    con.execute("CREATE TABLE t AS SELECT i % 7 AS n, 'w' || i % 3 AS w FROM range(5000) r(i)")
    con.sql("FROM rayden('t', k := 5, quasi := ['n', 'w'])").fetchall()
    assert set(buffer._open) == before
    fails(con, "FROM rayden('t', k := 5001, quasi := ['n', 'w'])")
    assert set(buffer._open) == before
    con.execute("CREATE TABLE none AS FROM t LIMIT 0")
    assert con.sql("FROM rayden('none', k := 5, quasi := ['n', 'w'])").fetchall() == []
    assert set(buffer._open) == before


def test_a_statement_that_fails_while_it_reads_is_forgotten_at_the_next(con):
    before = set(buffer._open)
    con.execute(
        "CREATE VIEW v AS SELECT i % 7 AS n, if(i < 9000, 'w', error('read no further')) AS w "
        "FROM range(10000) r(i)"
    )
    with pytest.raises(duckdb.Error, match="read no further"):
        con.sql("FROM rayden('v', k := 5, quasi := ['n', 'w'])").fetchall()
    assert len(set(buffer._open) - before) == 1
    con.execute("CREATE TABLE t AS SELECT 1 AS n")
    con.sql("FROM rayden('t', k := 1, quasi := ['n'])").fetchall()
    assert set(buffer._open) == before


def test_an_audit_leaves_nothing_behind(con):
    before = set(buffer._open)
    con.execute(
        "CREATE TABLE t AS SELECT i % 7 AS n, i AS w FROM range(5000) r(i); "
        "CREATE TABLE r AS SELECT '[0, 6]' AS n, w FROM t; "
        "CREATE VIEW v AS SELECT n, if(w < 4900, w, error('read no further')) AS w FROM t"
    )
    one = "FROM audit('t', 'r', 5, quasi := ['n'], keep := ['w'])"
    found = con.sql(one).fetchall()
    assert sorted(con.sql(f"{one} UNION ALL {one}").fetchall()) == sorted(found * 2)
    assert set(buffer._open) == before
    with pytest.raises(duckdb.Error, match="read no further"):
        con.sql(one.replace("'t'", "'v'")).fetchall()
    assert con.sql(one).fetchall() == found
    assert set(buffer._open) == before


def test_an_audit_of_more_rows_than_fit_into_memory(con, monkeypatch):
    con.execute(
        "CREATE TABLE t AS SELECT i % 7 AS n, i AS w FROM range(5000) r(i); "
        "CREATE TABLE r AS SELECT '[0, 6]' AS n, w FROM t"
    )
    one = "FROM audit('t', 'r', 5, quasi := ['n'], keep := ['w'])"
    monkeypatch.setattr(memory, "audited_rows", lambda *columns: 5000 if columns == (1, 2) else 0)
    assert len(con.sql(one).fetchall()) == 20  # w is alone on every row
    monkeypatch.setattr(memory, "audited_rows", lambda *_: 4999)
    assert fails(con, one) == (
        "audit: the rows must fit into memory, got more than 4,999 of one table; "
        "run it where more memory is free"
    )


def test_equal_rows_together_and_apart_are_audited_alike(con, monkeypatch):
    """The first rows are different, and later ones are not; labels, values and rows are wrong."""
    con.execute(
        "SET threads = 1; CREATE TABLE t AS SELECT if(i < 3000, i, i % 9)::INTEGER AS n, "
        "'w' || if(i < 3000, i % 90, i % 3) AS w, 's' || hash(i) % 3 AS s FROM range(20000) r(i); "
        "CREATE TABLE r AS FROM anonymize('t', k := 5, quasi := ['n', 'w'], keep := ['s']); "
        "UPDATE r SET n = '[0, 1]' WHERE rowid % 97 = 0; UPDATE r SET s = 's1' WHERE rowid < 90; "
        "DELETE FROM r WHERE rowid % 1000 = 5"
    )
    one = "FROM audit('t', 'r', 5, l := 2, t := .3, quasi := ['n', 'w'], sensitive := ['s'])"
    together = con.sql(one).fetchall()
    assert sum(row[3] is False for row in together) > 4
    for most in ("BATCH_ROWS", "BATCH_BYTES"):
        with monkeypatch.context() as patched:
            patched.setattr(reading, most, 1)
            assert con.sql(one).fetchall() == together
    monkeypatch.setattr(reading, "PROBE_ROWS", 1)
    assert con.sql(one).fetchall() == together
    for name, side in (("RawRows", RawRows), ("ReleasedRows", ReleasedRows)):
        monkeypatch.setattr(functions, name, lambda _, side=side: side(False))
    assert con.sql(one).fetchall() == together


@pytest.mark.parametrize("side", [RawRows, ReleasedRows])
def test_an_audit_of_rows_that_were_not_all_read(con, monkeypatch, side):
    con.execute(
        "CREATE TABLE t AS SELECT i % 7 AS n FROM range(5000) r(i); "
        "CREATE TABLE r AS SELECT '[0, 6]' AS n FROM t"
    )
    add = side.add

    def first_only(self, rows, *given):
        if not self.rows:
            add(self, rows, *given)

    monkeypatch.setattr(side, "add", first_only)
    monkeypatch.setattr(reading, "BATCH_ROWS", 1)
    assert fails(con, "FROM audit('t', 'r', 5, quasi := ['n'])") == (
        "audit: every row must be read once, got 2048 read of 5000; please report this"
    )


def test_two_releases_in_one_statement(con):
    con.execute("CREATE TABLE t AS SELECT i % 7 AS n, 'w' || i % 3 AS w FROM range(5000) r(i)")
    one = "FROM rayden('t', k := 5, quasi := ['n', 'w'])"
    single = sorted(con.sql(one).fetchall())
    assert sorted(con.sql(f"{one} UNION ALL {one}").fetchall()) == sorted(single * 2)


def test_a_prepared_release_runs_again(con):
    con.execute("CREATE TABLE t AS SELECT i % 7 AS n, 'w' || i % 3 AS w FROM range(5000) r(i)")
    con.execute("PREPARE again AS FROM rayden('t', k := 5, quasi := ['n', 'w'])")
    first = sorted(con.execute("EXECUTE again").fetchall())
    assert sorted(con.execute("EXECUTE again").fetchall()) == first
    assert len(first) == 5000


@pytest.mark.slow
def test_kept_values_stay_with_their_row_whatever_thread_reads_it(con):
    con.execute("SET threads = 4")
    con.execute(
        "CREATE TABLE t AS SELECT hash(i) % 90 AS n, 'w' || hash(i, 1) % 30 AS w, i AS rid "
        "FROM range(400000) r(i)"
    )
    con.execute("CREATE TABLE r AS FROM rayden('t', k := 20, quasi := ['n', 'w'], keep := ['rid'])")
    wrong = (
        "SELECT count(*) FROM r JOIN t USING (rid) WHERE t.n NOT BETWEEN "
        "anon_min(r.n)::INTEGER AND anon_max(r.n)::INTEGER "
        "OR NOT list_contains(coalesce(anon_values(r.w), [t.w]), t.w)"
    )
    assert con.sql(f"SELECT (FROM (SELECT count(DISTINCT rid) FROM r)), ({wrong})").fetchall() == [
        (400000, 0)
    ]
