"""Every fault of a hierarchy, listed."""

import pytest

from tests.inserting import insert

pytestmark = [pytest.mark.quick, pytest.mark.oldest]

COLUMNS = "(attribute VARCHAR, value VARCHAR, level INTEGER, label VARCHAR)"


@pytest.fixture
def check(con):
    con.execute(f"CREATE TABLE h {COLUMNS}")

    def faults(*rows, table="t"):
        con.execute("DELETE FROM h")
        insert(con, "h", rows)
        return con.execute(f"FROM check_hierarchy('{table}', 'h')").fetchall()

    return faults


def path(attribute, value, *labels):
    return [(attribute, value, level, label) for level, label in enumerate(labels, 1)]


def test_every_fault_is_a_row_and_a_sound_hierarchy_has_none(con, check):
    con.execute("CREATE TABLE t AS SELECT * FROM (VALUES ('a', 1), ('b', 2), (NULL, 3)) AS v(s, n)")
    sound = [*path("S", "a", "x", "*"), *path("S", "b", "x", "*")]
    assert check(*sound) == []
    assert check(*sound, *path("other", "z", "x", "*")) == []
    assert check(*path("s", "a", "x", "*")) == [("s", "not covered", "b", "no row")]
    assert check(*sound, *path("s", "a", "x")) == [
        ("s", "listed twice", "a", "two labels at a level")
    ]
    assert check(*path("s", "a", "x", "A"), *path("s", "b", "x", "B")) == [
        ("s", "two parents", "x", "A, B")
    ]
    assert check(*path("s", "a", "b", "*"), *path("s", "b", "*")) == [
        ("s", "also a leaf", "b", "the label of 1 other values")
    ]
    assert [row[1] for row in check(*path("s", "a", "x", "y"), *path("s", "b", "y", "x"))] == [
        "above itself"
    ]
    assert check(*path("s", "a", "*", "x"), *path("s", "b", "*", "x")) == [
        ("s", "* below a label", "*", "x")
    ]
    several = [*path("s", "a", "x", "A"), *path("s", "c", "x", "B"), *path("n", "1", "*")]
    assert check(*several) == [
        ("s", "not covered", "b", "no row"),
        ("s", "two parents", "x", "A, B"),
        ("n", "not covered", "2", "no row"),
        ("n", "not covered", "3", "no row"),
    ]


def test_values_meet_in_the_type_of_the_column(con, check):
    con.execute(
        "CREATE TABLE t AS SELECT 39 AS i, 39.5 AS d, 0.1::FLOAT AS f, DATE '2020-01-01' AS day, "
        "true AS b, 'x'::ENUM('x', 'y') AS e, TIMESTAMPTZ '2020-01-01 12:00:00+00' AS at, "
        "170141183460469231731687303715884105727::HUGEINT AS h, "
        "'5D7A5F6E-0000-0000-0000-000000000001'::UUID AS u, -0.0::DOUBLE AS zero"
    )
    values = {
        "i": "39.0",
        "d": "39.50",
        "f": "0.1",
        "day": "2020-1-1",
        "b": "TRUE",
        "e": "x",
        "at": "2020-01-01 13:00:00+01",
        "h": "170141183460469231731687303715884105727",
        "u": "5D7A5F6E-0000-0000-0000-000000000001",
        "zero": "0",
    }
    assert check(*(row for name, value in values.items() for row in path(name, value, "*"))) == []
    assert check(*path("i", "39", "*"), *path("i", "39.0", "*")) == [
        ("i", "listed twice", "39", "two labels at a level")
    ]
    assert check(*path("i", "n/a", "*")) == [("i", "not covered", "39", "no row")]
    assert check(*path("e", "X", "*")) == [("e", "not covered", "x", "no row")]


def test_a_view_or_a_cte_may_be_the_hierarchy(con):
    con.execute("CREATE TABLE t AS SELECT 'a' AS s")
    row = "SELECT 's' AS attribute, 'b' AS value, 1 AS level, '*' AS label"
    con.execute(f"CREATE VIEW seen AS {row}")
    wanted = [("s", "not covered", "a", "no row")]
    assert con.execute("FROM check_hierarchy('t', 'seen')").fetchall() == wanted
    assert con.execute(f"WITH c AS ({row}) FROM check_hierarchy('t', 'c')").fetchall() == wanted


def test_the_hierarchies_of_adult(con, shared_data):
    con.execute(f"CREATE TABLE adult AS FROM '{shared_data}/adult.parquet'")
    for folder, faults in (
        ("adult", []),
        ("adult_anjana", [("age", "not covered", "89", "no row")]),
        ("adult_taxonomy", []),
    ):
        con.execute(
            f"CREATE OR REPLACE TABLE h AS "
            f"FROM read_hierarchies('{shared_data}/hierarchies/{folder}/*.csv')"
        )
        assert con.execute("FROM check_hierarchy('adult', 'h')").fetchall() == faults
