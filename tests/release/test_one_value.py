"""format := 'mean' and 'median': one value of each class in place of a range."""

import pyarrow as pa
import pytest

from anon_sql.core.labels import writing
from anon_sql.hosts.duckdb.sql_files import sql_files
from tests.oracles import adds_rows
from tests.sentence import fails

METHODS = [
    file.name
    for file in sql_files()
    if file.folder == "release" and file.name != "datafly" and not adds_rows(file.name)
]
KINDS = {
    "TINYINT": "DOUBLE", "UBIGINT": "DOUBLE", "HUGEINT": "DOUBLE", "DECIMAL(9,2)": "DOUBLE",
    "FLOAT": "DOUBLE", "DATE": "DATE", "TIME": "TIME", "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMP_S": "TIMESTAMP_S", "TIMESTAMP_NS": "TIMESTAMP_NS",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP WITH TIME ZONE", "VARCHAR": "VARCHAR",
}  # fmt: skip


@pytest.fixture
def table(con):
    con.execute("""CREATE TABLE t AS SELECT i * 7919 % 90 AS "a ""1", (i * 104729 % 977) / 7.0 AS x,
        DATE '1990-01-01' + (i * 31 % 5000)::INTEGER AS "select",
        ['q', 'r''s', '*'][1 + i % 3] AS w, i % 4 AS s, i AS rid FROM range(150) r(i)""")
    return con


QUASI = ['a "1', "x", "select"]
CALL = f"'t', k := 5, quasi := {QUASI}, keep := ['rid', '*']"


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_release_by_every_method(table, method):
    for form in ("mean", "median"):
        table.execute(f"CREATE OR REPLACE TABLE r AS FROM {method}({CALL}, format := '{form}')")
        sizes = table.execute('SELECT count(*) FROM r GROUP BY "a ""1", x, "select"').fetchall()
        assert min(sizes) >= (5,)
        assert table.execute(f"SELECT k_anonymity('t', 'r', quasi := {QUASI})").fetchall()[
            0
        ] == min(sizes)
        failed = table.execute(
            f"SELECT property FROM audit('t', 'r', k := 5, quasi := {QUASI}, keep := ['rid', '*'], "
            "unique_share := 1) WHERE passed = false"
        ).fetchall()
        assert failed == [("row_numbers",)]
        for column in ('"a ""1"', "x") if form == "mean" else ():
            sums = (
                f"SELECT sum({column})::DOUBLE FROM t WHERE rid IN (SELECT rid FROM r WHERE x > -1)"
            )
            after = table.execute(f"SELECT sum({column}) FROM r").fetchall()[0][0]
            assert after == pytest.approx(table.execute(sums).fetchall()[0][0], rel=1e-12)


def test_text_keeps_its_labels_and_a_hierarchy_its_nodes(table):
    """A column of numbers is shown as a number, whatever hierarchy guides the classes."""
    table.execute("CREATE TABLE h AS FROM numeric_hierarchy('t', 's', widths := [2, 4])")
    call = "'t', k := 5, quasi := ['s', 'w', 'x'], keep := ['rid', '*'], hierarchy := 'h'"
    table.execute(f"CREATE TABLE r AS FROM anonymize({call}, format := 'mean')")
    table.execute(f"CREATE TABLE label AS FROM anonymize({call})")
    kinds = dict(table.execute("SELECT column_name, data_type FROM duckdb_columns() "
                           "WHERE table_name = 'r'").fetchall())  # fmt: skip
    assert [kinds[name] for name in ("s", "w", "x")] == ["DOUBLE", "VARCHAR", "DOUBLE"]
    found, label = (table.execute(f"SELECT w FROM {name} ORDER BY rid").fetchall()
                    for name in ("r", "label"))  # fmt: skip
    assert {w for (w,) in found} <= {"q", "'*'", r"'r\'s'", *(w for (w,) in label)}


def test_suppressed_rows_are_null(con):
    con.execute("CREATE TABLE t AS SELECT i AS n, if(i < 6, NULL, i // 6) AS c FROM range(30) r(i)")
    call = "'t', k := 5, quasi := ['n'], keep := [], classes := 'c'"
    con.execute(f"CREATE TABLE r AS FROM generalize({call}, format := 'mean')")
    assert con.execute("SELECT count(*) FROM r WHERE n IS NULL").fetchall()[0] == (6,)
    assert con.execute("SELECT suppression_rate('t', 'r', quasi := ['n'])").fetchall()[0] == (0.2,)
    dropped = con.execute(f"FROM generalize({call}, format := 'median', suppressed := 'drop')")
    assert len(dropped.fetchall()) == 24


def test_a_value_that_is_not_that_of_the_class_is_caught(table, monkeypatch):
    real = writing.one_values

    def wrong(*given):
        values = real(*given).to_pylist()
        return pa.array([*values[1:], values[0]], pa.string())

    monkeypatch.setattr(writing, "one_values", wrong)
    for form in ("mean", "median"):
        said = fails(table, f"FROM mondrian({CALL}, format := '{form}')")
        assert said.startswith("mondrian: every value must lie in its label, got ")


def test_where_it_cannot_be(table):
    call = "'t', k := 5, quasi := ['x'], sensitive := 's', keep := ['rid', '*']"
    said = fails(table, f"FROM sdka({call}, generator := 'bootstrap', format := 'mean')")
    assert said.startswith(
        "sdka: format must not be 'mean' or 'median' for a method that adds rows"
    )
    table.execute("CREATE TABLE r AS FROM mondrian('t', k := 5, quasi := ['x'], keep := ['rid', '*'], "
                  "format := 'mean')")  # fmt: skip
    hint = "make it with format := 'label'; value_loss() measures what one value per class loses"
    for name in ("attack_linking", "attack_background"):
        assert hint in fails(table, f"FROM {name}('t', 'r', 's', quasi := ['x'])")
    asked = "['SELECT count(*) FROM t WHERE x > 30']"
    assert hint in fails(table, f"FROM query_error('t', 'r', {asked}, quasi := ['x'])")
    assert table.execute("SELECT gcp('t', 'r', quasi := ['x'])").fetchall()[0] == (None,)
    assert "must name what the raw table holds" in fails(
        table, "SELECT k_anonymity('r', 't', quasi := ['x'])"
    )


def test_the_types_of_columns(con):
    values = {"DATE": "DATE '2000-01-01' + i::INTEGER", "TIME": "TIME '00:00:00' + to_seconds(i)"}
    times = {kind: f"(TIMESTAMP '2000-01-01' + to_days(i::INTEGER))::{kind}" for kind in KINDS}
    whole = {kind: f"i::{kind}" for kind in KINDS if not kind.startswith("T") or kind == "TINYINT"}
    made = [f'{({**times, **whole, **values})[kind]} AS "{kind}"' for kind in KINDS]
    con.execute(f"CREATE TABLE t AS SELECT {', '.join(made)} FROM range(12) r(i)")
    for form, wanted in (("mean", KINDS), ("median", dict(zip(KINDS, KINDS, strict=True)))):
        call = f"FROM mondrian('t', k := 3, quasi := {list(KINDS)}, format := '{form}')"
        found = con.sql(call)
        assert dict(zip(found.columns, map(str, found.types), strict=True)) == wanted
        assert len(found.fetchall()) == 12
