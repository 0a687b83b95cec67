"""A release in parts keeps every promise of a release in one statement."""

from dataclasses import replace

import pytest

import anon_sql
from anon_sql import AnonError
from anon_sql.hosts.duckdb import rows
from anon_sql.hosts.parts import release

pytestmark = pytest.mark.oldest

QUASI = ["age", 'ci"ty.x', "born"]
CALL = {"quasi": QUASI, "sensitive": "ill ness", "identifiers": ["id", "person"], "keep": ["*"]}
TABLE = """
    CREATE TABLE big AS SELECT 18 + i * 7919 % 60 AS age,
        if(i % 17 = 0, NULL, 'it''s ' || i * i % 9) AS "ci""ty.x",
        DATE '1990-01-01' + (i * 104729 % 9000)::INTEGER AS born, i * 13 % 4 AS "ill ness",
        i % 9 / 4.0 AS score, i AS id, i // 3 AS person
    FROM range({}) r(i)"""


@pytest.fixture
def big(con):
    con.execute(TABLE.format(800))
    return con


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "asked", "checked"),
    [
        ("mondrian", {}, {}),
        ("anonymize", {"l": 3, "effort": "fast"}, {"l": 3}),
        ("mondrian", {"t": 0.2, "suppressed": "drop"}, {"t": 0.2}),
        ("rayden", {"format": "typed"}, {}),
        ("mondrian", {"format": "mean"}, {}),
        ("mondrian", {"format": "midpoint"}, {}),
        ("mondrian", *[{"beta": 0.6, "beta_kind": "basic", "max_share": 0.45}] * 2),
    ],
)
def test_a_release_is_legal_and_has_every_row(big, method, asked, checked):
    made = anon_sql.release(
        big, "big", into="release", k=5, method=method, part_rows=150, **CALL, **asked
    )
    assert made.rows == 800
    assert made.parts > 3
    assert made.suppressed == 0
    listed = "".join(f", {name} := {value!r}" for name, value in checked.items())
    failed = big.execute(
        f"SELECT property FROM audit('big', 'release', k := 5, quasi := {QUASI}, "
        f"sensitive := 'ill ness', unit := 'row'{listed}) WHERE passed = false"
    ).fetchall()
    assert [name for (name,) in failed if "unique" not in name and "identif" not in name] == []
    wanted = big.sql(
        f"FROM {method}('big', k := 5, quasi := {QUASI}, sensitive := 'ill ness', "
        "identifiers := ['id', 'person'], keep := ['*']"
        + "".join(f", {name} := {value!r}" for name, value in asked.items())
        + ")"
    )
    released = big.table("release")
    assert (released.columns, released.types) == (wanted.columns, wanted.types)
    kept = 'SELECT "ill ness", score FROM {} ORDER BY ALL'
    assert (
        big.execute(kept.format("release")).fetchall() == big.execute(kept.format("big")).fetchall()
    )


def test_one_region_is_the_release_of_one_statement(big):
    anon_sql.release(big, "big", into="release", k=5, method="mondrian", parts=1, **CALL)
    wanted = big.execute(
        f"FROM mondrian('big', k := 5, quasi := {QUASI}, sensitive := 'ill ness', "
        "identifiers := ['id', 'person'], keep := ['*'])"
    ).fetchall()
    assert sorted(map(str, big.table("release").fetchall())) == sorted(map(str, wanted))


def test_the_rows_depend_on_neither_order_nor_threads(big, tmp_path):
    given = {"k": 5, "method": "mondrian", "part_rows": 100, **CALL}
    anon_sql.release(big, "big", into="first", **given)
    big.execute("CREATE TABLE other AS FROM big ORDER BY hash(id)")
    big.execute("SET threads = 1")
    anon_sql.release(big, "other", into=str(tmp_path / "o.parquet"), **given)
    big.execute("RESET threads")
    again = big.execute(f"FROM '{tmp_path}/o.parquet'").fetchall()
    assert big.table("first").fetchall() == again


def test_files_of_a_source_in_another_order_are_equal_byte_by_byte(big, tmp_path):
    """Not even the order of the words of a file's dictionaries tells in which order rows came."""
    big.execute("CREATE TABLE more AS SELECT *, 'word ' || id * 31 % 50 AS note FROM big")
    big.execute("CREATE TABLE other AS FROM more ORDER BY hash(id)")
    files = [tmp_path / f"{table}.parquet" for table in ("more", "other")]
    for file in files:
        given = {"k": 5, "method": "mondrian", "part_rows": 100, **CALL, "keep": ["note", "*"]}
        assert anon_sql.release(big, file.stem, into=str(file), **given).parts > 3
    assert files[0].read_bytes() == files[1].read_bytes()


def test_persons_are_counted_as_in_one_statement(big):
    given = {**CALL, "identifiers": "id", "entity": "person", "effort": "fast"}
    anon_sql.release(big, "big", into="release", k=6, l=2, part_rows=150, **given)
    assert "person" not in big.table("release").columns
    smallest = big.execute(
        "SELECT min(rows) FROM (SELECT count(*) AS rows FROM release "
        'GROUP BY age, "ci""ty.x", born)'
    ).fetchall()[0][0]
    assert smallest >= 6


@pytest.mark.parametrize("name", ["region", "Region", "rows"])
def test_a_class_in_several_regions_is_checked_again(con, monkeypatch, name):
    """Rows that are alike are spread over regions, which have the same labels."""
    budget = release.budget
    monkeypatch.setattr(
        release, "budget", lambda *given: replace(budget(*given), wanted=40, most=80)
    )
    con.execute(
        f"CREATE TABLE big AS SELECT i % 3 AS {name}, i % 2 AS age, i AS x, i * 13 % 5 AS ill, "
        "i // 2 AS person FROM range(400) r(i)"
    )
    given = {"quasi": [name, "age"], "sensitive": "ill", "identifiers": "person", "keep": "x"}
    given |= {"effort": "fast"}
    made = anon_sql.release(con, "big", into="release", k=3, l=2, part_rows=40, **given)
    assert made.parts > 4
    assert con.sql("SELECT count(*) FROM release").fetchall() == [(400,)]


def test_every_type_arrives_as_it_was(con):
    con.execute("CREATE TYPE mood AS ENUM ('z', 'a')")
    con.execute(
        """CREATE TABLE big AS SELECT i % 50 AS age, (i % 3)::HUGEINT * 10::HUGEINT AS huge,
            TIME '10:00:00' + INTERVAL (i % 7) MINUTE AS clock, ['z', 'a'][1 + i % 2]::mood AS mood,
            [i % 3, NULL] AS list, {'a': i % 2, 'b': 'x'} AS pair, INTERVAL (i % 40) DAY AS days,
            170141183460469231731687303715884105727::HUGEINT - i % 5 AS wide, i::BIT AS bits,
            if(i % 2 = 0, 0.0, -0.0)::DOUBLE AS zero, '\\x01'::BLOB AS blob, uuid() AS uuid,
            TIMESTAMPTZ '2020-01-01 00:00:00+00' + INTERVAL (i) HOUR AS instant,
            (TIMESTAMP '2020-01-01' + INTERVAL (i) HOUR)::TIMESTAMP_S AS second, NULL AS nothing
        FROM range(300) r(i)"""
    )
    unlike = ["list", "pair", "days", "bits", "blob", "uuid", "wide", "*"]
    given = {"k": 5, "quasi": ["age", "huge", "clock", "mood", "second"], "keep": unlike}
    anon_sql.release(con, "big", into="release", method="mondrian", part_rows=60, **given)
    released = con.table("release")
    wanted = con.sql(
        "FROM mondrian('big', k := 5, quasi := ['age', 'huge', 'clock', 'mood', 'second'], "
        f"keep := {unlike})"
    )
    assert (released.columns, released.types) == (wanted.columns, wanted.types)
    kept = [name for name in released.columns if name not in given["quasi"]]
    for name in kept:
        values = f"SELECT {name}::VARCHAR FROM {{}} ORDER BY ALL"
        assert (
            con.execute(values.format("release")).fetchall()
            == con.execute(values.format("big")).fetchall()
        )


@pytest.mark.parametrize(
    ("column", "wanted"),
    [("1", 1), ("NULL::INTEGER", 1), ("i", 4), ("if(i % 10 = 0, i, 0)", 2), ("random()", 4)],
    ids=["constant", "NULL", "unique", "skewed", "drawn"],
)
def test_columns_that_are_hard_to_cut(con, column, wanted):
    con.execute(f"CREATE TABLE big AS SELECT {column} AS a, i AS s FROM range(400) r(i)")
    given = {"k": 5, "quasi": ["a"], "keep": ["s"], "part_rows": 100}
    made = anon_sql.release(con, "big", into="release", **given)
    assert made.parts >= wanted
    assert con.execute("SELECT k_anonymity('big', 'release', quasi := ['a'])").fetchall()[0][0] >= 5


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"k": 5000}, "mondrian: k must be at most the number of rows, 800, got k=5000"),
        ({"k": 5, "l": 9}, "mondrian: l must be at most what the whole table has in ill ness, 4"),
        ({"k": 5, "quasi": ["nobody"]}, "mondrian: quasi must name columns of the table"),
        ({"k": 5, "keep": []}, "mondrian: every column needs a role, got no role for score"),
        (
            {"k": 5, "qids": ["a"]},
            "mondrian: it has no parameter qids; did you mean quasi?",
        ),
        ({"k": 5, "method": "mondrain"}, "release: method must be a release function"),
        ({"k": 5, "method": "datafly"}, "datafly: the table must be released in one statement"),
        (
            {"k": 5, "parts": 3},
            "mondrian: the number of parts or their rows may be given",
        ),
        ({"k": 5, "part_rows": 0}, "mondrian: part_rows must be a whole number of at least 1"),
        ({"k": 5, "into": "big"}, "release: into must be a new table, got 'big'"),
        ({"k": 5, "into": "/nowhere/x.csv"}, "release: into must be in a directory that exists"),
    ],
)
def test_a_refusal_is_one_sentence_and_leaves_nothing(big, tmp_path, given, rule):
    call = {"into": str(tmp_path / "o.parquet"), "method": "mondrian", "part_rows": 100, **CALL}
    with pytest.raises(AnonError) as refused:
        anon_sql.release(big, "big", **{**call, **given})
    assert str(refused.value).startswith(rule)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_small_tables_take_one_statement(big, tmp_path):
    given = {"k": 5, "method": "mondrian", **CALL}
    made = anon_sql.release(big, "big", into=str(tmp_path / "o.csv"), **given)
    assert (made.rows, made.parts) == (800, 1)
    big.execute("CREATE TABLE nothing AS FROM big LIMIT 0")
    made = anon_sql.release(big, "nothing", into="release", part_rows=10, **given)
    assert made.rows == 0
    assert big.table("release").columns == ["age", 'ci"ty.x', "born", "ill ness", "score"]


def test_a_table_that_does_not_fit_into_memory_takes_parts(big, monkeypatch):
    setting = "SELECT current_setting('memory_limit')"
    before = big.execute(setting).fetchall()
    monkeypatch.setattr(rows, "_ROW", 2 * 10**6)
    given = {"k": 5, "method": "mondrian", "memory_limit": "1GB", **CALL}
    made = anon_sql.release(big, "big", into="release", **given)
    assert made.parts > 3
    assert big.execute(setting).fetchall() == before
