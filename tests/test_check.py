"""The last look: a fault anywhere before it makes a call fail, and nothing is released."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from anon_sql import labels, methods
from anon_sql.arrow import one_list
from anon_sql.calls import check, describe, partition
from tests.test_roles import fails

TABLE = "CREATE TABLE t AS SELECT i % 12 AS n, ['u', 'v', 'w'][1 + i % 3] AS c, i AS rid FROM range(60) r(i)"
CALL = "FROM rayden('t', k := 5, qids := ['n', 'c'], keep := ['rid'])"


@pytest.fixture
def table(con):
    con.execute(TABLE)
    return con


def test_a_class_of_too_few_rows(table, monkeypatch):
    """A partitioner that breaks k is stopped by the labels it would have released."""
    broken = methods.Method(
        "rayden",
        methods.find("rayden").options,
        lambda quasi, call: methods.Partition((np.arange(quasi.rows) // 4).astype(np.int32)),
    )
    monkeypatch.setitem(methods._methods, "rayden", broken)
    said = fails(table, CALL)
    assert said.startswith("rayden: every class of labels must have at least 5 rows, got ")
    assert said.endswith("that do not; nothing was released; please report this")
    with pytest.raises(duckdb.Error):
        table.execute(f"CREATE TABLE r AS {CALL}")
    assert table.sql("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'r'").fetchall() == [
        (0,)
    ]


@pytest.mark.parametrize("asked", ["l := 3", "t := 0.2", "entity := 'person'"])
def test_a_class_that_breaks_l_t_or_counts_rows_for_persons(con, monkeypatch, asked):
    """Merging that is left out is found in the labels."""
    con.execute(
        "CREATE TABLE t AS SELECT i // 10 AS n, i // 10 % 4 AS s, i // 3 AS person FROM range(60) r(i)"
    )
    monkeypatch.setattr(partition, "protect", lambda table, classes, *_: classes)
    said = fails(con, f"FROM rayden('t', k := 5, qids := ['n'], sensitive := 's', {asked})")
    assert said.startswith("rayden: every class of labels must satisfy k, l and t, got ")


def test_a_range_that_leaves_out_a_value(table, monkeypatch):
    """Ends taken from the wrong rows: the printed range is read back and compared."""
    from anon_sql.kernels import grouping

    real = grouping.extremes

    def wrong(order, starts, keys, present):
        low, _, nulls = real(order, starts, keys, present)
        return low, low, nulls

    monkeypatch.setattr(grouping, "extremes", wrong)
    said = fails(table, CALL)
    assert said.startswith("rayden: every value must lie in its label, got ")
    assert "values of n that do not" in said


@pytest.mark.parametrize("broken", [[1], [0] * 6, [7] * 6])
def test_a_class_without_a_label(con, monkeypatch, broken):
    """One label for all classes, one that is none, one beyond those that were printed."""
    con.execute("CREATE TABLE t AS SELECT i % 2 AS n, i // 10 AS class_id FROM range(60) r(i)")
    real = describe.describe

    def wrong(*given):
        made = real(*given)
        fields = {field.name: made.field(field.name) for field in describe.PART}
        return describe.part(**{**fields, "label": one_list(broken, pa.int32())})

    monkeypatch.setattr(partition, "describe", wrong)
    assert fails(con, "FROM generalize('t', k := 10, qids := ['n'], keep := [])") == (
        "generalize: every class must have a label that was printed, got one without in n; "
        "nothing was released; please report this"
    )


def test_a_set_that_leaves_out_a_value(table, monkeypatch):
    monkeypatch.setattr(labels, "joined", lambda written: written[0])
    said = fails(table, CALL)
    assert said.startswith("rayden: every value must lie in its label, got ")
    assert "values of c that do not" in said


def test_a_print_that_reads_back_as_something_else(con):
    """A macro that prints numbers wrongly is caught by the readers, whoever put it there."""
    con.execute(TABLE)
    con.execute("CREATE OR REPLACE MACRO __anon_text(x) AS '7'")
    said = fails(con, "FROM rayden('t', k := 5, qids := ['n'], keep := ['c', 'rid'])")
    assert "every value must lie in its label" in said or "at least 5 rows" in said


def test_two_classes_that_print_alike_are_one(con):
    con.execute("CREATE TABLE t AS SELECT i // 3 AS class_id, 'x' AS c FROM range(30) r(i)")
    con.execute("CREATE TABLE ok AS SELECT i // 5 AS class_id, 'x' AS c FROM range(30) r(i)")
    rows = con.sql("FROM generalize('ok', k := 5, qids := ['c'])").fetchall()
    assert rows == [("x",)] * 30
    assert fails(con, "FROM generalize('t', k := 5, qids := ['c'])") == (
        "generalize: every class must have at least 5 rows, got 10 that do not; "
        "merge them, or set their class to NULL to suppress their rows"
    )


def test_nothing_but_the_check_gives_rows(con):
    """The statement that makes the release reads its rows out of what the check returns."""
    con.execute(TABLE)
    plan = con.sql(f"EXPLAIN {CALL}").fetchall()[0][1]
    assert "__anon_rows" in plan
    assert partition.PARTS.startswith("STRUCT(columns MAP")


def test_rows_other_than_those_that_were_checked(table, monkeypatch):
    """Were the rows read twice, each reading in an order of its own, places would mean other rows."""
    real = check.one_struct
    other = {"intake": pa.array([0], pa.int64())}
    monkeypatch.setattr(check, "one_struct", lambda fields: real({**fields, **other}))
    assert fails(table, CALL) == (
        "rayden: the rows released must be those that were checked, got others; nothing was "
        "released; please report this"
    )
