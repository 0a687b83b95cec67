"""The last look: a fault anywhere before it makes a call fail, and nothing is released."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from anon_sql.core.labels import grammar, writing
from anon_sql.hosts.duckdb.functions import release
from anon_sql.methods.method import Method, Partition, _methods, find_method
from anon_sql.pipeline import compute as pipeline
from anon_sql.pipeline import partition
from tests.sentence import fails

pytestmark = [pytest.mark.quick, pytest.mark.oldest]

TABLE = "CREATE TABLE t AS SELECT i % 12 AS n, ['u', 'v', 'w'][1 + i % 3] AS c, i AS rid FROM range(60) r(i)"
CALL = "FROM rayden('t', k := 5, quasi := ['n', 'c'], keep := ['rid'])"


@pytest.fixture
def table(con):
    con.execute(TABLE)
    return con


def test_a_class_of_too_few_rows(table, monkeypatch):
    """A partitioner that breaks k is stopped by the labels it would have released."""
    broken = Method(
        "rayden",
        find_method("rayden").takes,
        lambda quasi, call: Partition((np.arange(quasi.rows) // 4).astype(np.int32)),
    )
    monkeypatch.setitem(_methods, "rayden", broken)
    said = fails(table, CALL)
    assert said.startswith("rayden: every class of labels must have at least 5 rows, got ")
    assert said.endswith("that do not; nothing was released; please report this")
    with pytest.raises(duckdb.Error):
        table.execute(f"CREATE TABLE r AS {CALL}")
    assert table.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'r'"
    ).fetchall() == [(0,)]


@pytest.mark.parametrize("asked", ["l := 3", "t := 0.2", "entity := 'person'"])
def test_a_class_that_breaks_l_t_or_counts_rows_for_persons(con, monkeypatch, asked):
    """Merging that is left out is found in the labels."""
    con.execute(
        "CREATE TABLE t AS SELECT i // 10 AS n, i // 10 % 4 AS s, i // 3 AS person FROM range(60) r(i)"
    )
    monkeypatch.setattr(partition, "protect", lambda table, classes, *_: classes)
    monkeypatch.setattr(pipeline, "merge_equal_labels", lambda *_: None)
    said = fails(
        con,
        f"FROM rayden('t', k := 5, quasi := ['n'], identifiers := ['person'], sensitive := 's', {asked})",
    )
    assert said.startswith("rayden: every class of labels must satisfy k, l and t, got ")


def test_a_range_that_leaves_out_a_value(table, monkeypatch):
    """Ends taken from the wrong rows: the printed range is read back and compared."""
    from anon_sql.kernels import hashing

    real = hashing.extremes

    def wrong(order, starts, keys, present):
        low, _, nulls = real(order, starts, keys, present)
        return low, low, nulls

    monkeypatch.setattr(hashing, "extremes", wrong)
    said = fails(table, CALL)
    assert said.startswith("rayden: every value must lie in its label, got ")
    assert "values of n that do not" in said


@pytest.mark.parametrize("broken", [[1], [-1] * 6, [7] * 6])
def test_a_class_without_a_label(con, monkeypatch, broken):
    """One label for all classes, one that is none, one beyond those that were printed."""
    con.execute("CREATE TABLE t AS SELECT i % 2 AS n, i // 10 AS class_id FROM range(60) r(i)")
    real = pipeline.make_labels

    def wrong(*given, **named):
        return [
            writing.Labels(made.printed, np.array(broken, np.int32))
            for made in real(*given, **named)
        ]

    monkeypatch.setattr(pipeline, "make_labels", wrong)
    assert fails(con, "FROM generalize('t', k := 10, quasi := ['n'], keep := [])") == (
        "generalize: every class must have a label that was printed, got one without in n; "
        "nothing was released; please report this"
    )


def test_a_set_that_leaves_out_a_value(table, monkeypatch):
    monkeypatch.setattr(grammar, "joined", lambda written: written[0])
    said = fails(table, CALL)
    assert said.startswith("rayden: every value must lie in its label, got ")
    assert "values of c that do not" in said


def test_a_print_that_reads_back_as_something_else(table, monkeypatch):
    """Numbers that are printed wrongly are caught when their labels are read."""
    monkeypatch.setattr(
        writing, "printed", lambda ends, _: [pa.array(["7"] * len(e)) for e in ends]
    )
    said = fails(table, "FROM rayden('t', k := 5, quasi := ['n'], keep := ['c', 'rid'])")
    assert "every value must lie in its label" in said or "at least 5 rows" in said


HARMFUL = [
    "list_select(a, b) AS [1]", "list_extract(a, b) AS 'all'", "array_extract(a, b) AS 'all'",
    "struct_extract(a, b) AS 'all'", "map_extract_value(a, b) AS ['all']", "hash(a) AS 1",
    "list_transform(a, b) AS a", "create_sort_key(a, b) AS 'x'::BLOB", "typeof(a) AS 'VARCHAR'",
    "any_value(a) AS 'x'", "starts_with(a, b) AS true", '"||"(a, b) AS a', "alias(a) AS 'n'",
]  # fmt: skip


@pytest.mark.makes_functions
@pytest.mark.parametrize("format", ["label", "typed"])
def test_macros_of_the_user_change_nothing(con, format):
    """Macros that are called like functions of DuckDB are not called by a release."""
    con.execute(TABLE)
    con.execute("ALTER TABLE t ADD COLUMN s VARCHAR")
    con.execute("UPDATE t SET s = 'abcde'[1 + rid % 5]")
    call = (
        "FROM rayden('t', k := 5, quasi := ['n', 'c'], keep := ['rid'], sensitive := 's', l := 2, "
        f"format := '{format}')"
    )
    before = con.execute(call).fetchall()
    for macro in HARMFUL:
        con.execute(f"CREATE OR REPLACE MACRO {macro}")
    assert con.execute(call).fetchall() == before


def test_two_classes_that_print_alike_are_one(con):
    con.execute("CREATE TABLE t AS SELECT i // 3 AS class_id, 'x' AS c FROM range(30) r(i)")
    con.execute("CREATE TABLE ok AS SELECT i // 5 AS class_id, 'x' AS c FROM range(30) r(i)")
    rows = con.execute("FROM generalize('ok', k := 5, quasi := ['c'], keep := ['*'])").fetchall()
    assert rows == [("x",)] * 30
    assert fails(con, "FROM generalize('t', k := 5, quasi := ['c'], keep := ['*'])") == (
        "generalize: every class must have at least 5 rows, got 10 that do not; "
        "merge them, or set their class to NULL to suppress their rows"
    )


def test_rows_other_than_those_that_were_checked(table, monkeypatch):
    """Were the rows read twice, each reading in an order of its own, places would mean other rows."""
    real = release.one_struct
    other = {"buffer": pa.array([0], pa.int64())}
    monkeypatch.setattr(release, "one_struct", lambda fields: real({**fields, **other}))
    assert fails(table, CALL) == (
        "rayden: the rows released must be those that were checked; nothing was "
        "released; please report this"
    )
