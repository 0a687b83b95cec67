"""data_quality: each fault by hand, what is no fault, and that no value is shown."""

import pytest

from tests.sentence import fails


def faults(con, call="'t'"):
    return [row[:3] for row in con.execute(f"FROM data_quality({call})").fetchall()]


def test_a_table_without_faults(con):
    con.execute("CREATE TABLE t AS SELECT i, 'word ' || i AS w, i / 3 AS x FROM range(20) AS r(i)")
    assert faults(con) == []
    con.execute("DELETE FROM t")
    assert faults(con) == []


def test_all_that_is_said_in_the_order_of_the_columns(con):
    con.execute("CREATE TABLE t AS SELECT unnest(['a', 'A', NULL, 'b']) AS w, 1 AS n")
    con.execute("INSERT INTO t VALUES ('b', 1)")
    assert con.execute("FROM data_quality('t')").fetchall() == [
        ("w", "missing", 1, 0.2),
        ("w", "spelling", 1, 0.2),
        (None, "duplicate", 1, 0.2),
    ]


def test_text(con):
    """Three spellings of Bonn, of which the most frequent is right; what stands for nothing."""
    words = ["Bonn", "Bonn", "bonn", " Bonn ", "Cape  Town", "Cape Town", "Cape Town", "capetown"]
    words += ["?", " ", "", "n/a", "NULL", "-", "nothing"]
    con.execute(
        "CREATE TABLE t AS SELECT unnest($1) AS w, unnest($2) AS id", [words, list(range(15))]
    )
    con.execute("ALTER TABLE t ADD COLUMN e ENUM('x', 'X')")
    con.execute("UPDATE t SET e = 'x'; UPDATE t SET e = 'X' WHERE id > 10")
    assert faults(con) == [("w", "placeholder", 6), ("w", "spelling", 4), ("e", "spelling", 4)]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *((kind, "v") for kind in ("INTEGER", "HUGEINT", "DECIMAL(9, 2)", "FLOAT", "DOUBLE")),
        ("DATE", "DATE '2000-01-01' + v::INTEGER"),
        ("TIME", "TIME '01:00:00' + to_seconds(v)"),
        *((kind, "TIMESTAMP '2000-01-01' + to_hours(v)") for kind in ("TIMESTAMP", "TIMESTAMPTZ")),
        ("TIMESTAMP_NS", "TIMESTAMP '2000-01-01' + to_hours(v)"),
    ],
)
def test_outliers(con, kind, value):
    """0 … 8: quartiles 2 and 6, fences -4 and 12. With 13 and -5 they are 1.5, 6.5, -6 and 14."""
    for more, wanted in (("", []), ("14", [("x", "outlier", 1)]), ("13, 14", [])):
        extra = f" UNION ALL SELECT unnest([{more}]) AS v" if more else ""
        con.execute(
            f"CREATE OR REPLACE TABLE t AS SELECT ({value})::{kind} AS x "
            f"FROM (SELECT range AS v FROM range(9){extra})"
        )
        assert faults(con) == wanted


def test_no_outliers_where_half_of_the_rows_agree(con):
    con.execute("CREATE TABLE t AS SELECT if(i < 90, 0, i) AS x, i AS id FROM range(100) AS r(i)")
    assert faults(con) == []


def test_not_finite(con):
    con.execute(
        "CREATE TABLE t AS SELECT unnest(['nan', 'inf', '1', '2']::DOUBLE[]) AS x, "
        "unnest(['infinity', '-infinity', '2000-01-01', NULL]::DATE[]) AS d, "
        "unnest(['infinity', '2000-01-01', NULL, NULL]::TIMESTAMP[]) AS s"
    )
    assert faults(con) == [
        *(("x", "not finite", 2), ("d", "missing", 1), ("d", "not finite", 2)),
        *(("s", "missing", 2), ("s", "not finite", 1)),
    ]


def test_duplicates_but_for_identifiers(people):
    assert faults(people, "'people'") == [("age", "missing", 8), ("city", "missing", 6)]
    people.execute("INSERT INTO people SELECT * REPLACE (person_id + 120 AS person_id) FROM people")
    assert faults(people, "'people'")[-1] == (None, "duplicate", 120)
    people.execute("CREATE TABLE bare AS FROM people")
    assert faults(people, "'bare'")[-1] == ("city", "missing", 12)
    assert faults(people, "'bare', identifiers := ['PERSON_ID']")[-1] == (None, "duplicate", 120)
    every = "['person_id', 'age', 'city', 'sex', 'born', 'score', 'illness']"
    assert faults(people, f"'bare', identifiers := {every}")[-1] == ("city", "missing", 12)


def test_other_types_and_names(con):
    con.execute(
        'CREATE TABLE t AS SELECT [i] AS "text", {\'a\': i} AS "number", i % 2 = 0 AS "name", '
        'uuid() AS "\'", i::VARCHAR::BLOB AS fault, NULL AS "missing" FROM range(5) AS r(i)'
    )
    assert faults(con) == [("missing", "missing", 5)]


def test_what_it_refuses(people):
    said = fails(people, "FROM data_quality('people', identifiers := ['person'])")
    assert said.startswith("data_quality: identifiers must name columns of the table, got 'person'")
    people.execute("COMMENT ON COLUMN people.age IS 'anon:secret'")
    said = fails(people, "FROM data_quality('people')")
    assert said.startswith("data_quality: the comment on column age is not clear")
