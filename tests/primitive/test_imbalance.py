"""imbalance: by hand, any type, and what it refuses."""

import pytest

from tests.sentence import fails


def test_by_hand(con):
    con.execute(
        "CREATE TABLE t AS SELECT unnest(['a','b','a','c','a','c', NULL]) AS \"S\", "
        "unnest([1, 1, 1, 2, 2, 3, NULL]) AS n, 'x' AS kept"
    )
    found = con.execute("FROM imbalance('t', ['N', 's'])").fetchall()
    assert found == [  # in the order of the table
        *(("S", "a", 3, 1.0), ("S", "c", 2, 1.5), ("S", "b", 1, 3.0), ("S", None, 1, None)),
        *(("n", "1", 3, 1.0), ("n", "2", 2, 1.5), ("n", "3", 1, 3.0), ("n", None, 1, None)),
    ]


def test_null_is_never_the_most_frequent(con):
    con.execute("CREATE TABLE t AS SELECT unnest([NULL, NULL, 'a', 'b', 'b']) AS s")
    found = con.execute("FROM imbalance('t', 's')").fetchall()
    assert found == [("s", "b", 2, 1.0), ("s", None, 2, None), ("s", "a", 1, 2.0)]


def test_declared(people):
    counts = people.execute("SELECT illness, count(*) AS n FROM people GROUP BY 1").fetchall()
    most = max(n for _, n in counts)
    found = people.execute("FROM imbalance('people')").fetchall()
    assert sorted(found) == sorted(("illness", word, n, most / n) for word, n in counts)
    people.execute("ALTER TABLE people ADD COLUMN x DATE DEFAULT DATE '2000-01-01'")
    found = people.execute("FROM imbalance('people', 'x')").fetchall()
    assert [row[0] for row in found] == ["illness"] * 3 + ["x"]
    assert found[-1] == ("x", "2000-01-01", 120, 1.0)


def test_no_rows(con):
    con.execute("CREATE TABLE t (s VARCHAR)")
    assert con.execute("FROM imbalance('t', 's')").fetchall() == []


@pytest.mark.parametrize("name", ["a b", "'", '"', "tbl", "sensitive", "value", "rows", "É"])
def test_a_column_of_any_name(con, name):
    quoted = '"' + name.replace('"', '""') + '"'
    con.execute(f"CREATE TABLE t AS SELECT 1 AS {quoted}, 2 AS other")
    text = "'" + name.replace("'", "''") + "'"
    assert con.execute(f"FROM imbalance('t', {text})").fetchall() == [(name, "1", 1, 1.0)]


def test_what_it_refuses(people):
    people.execute("CREATE TABLE bare AS FROM people")
    said = fails(people, "FROM imbalance('bare')")
    assert said.startswith("imbalance: at least one sensitive column is needed; pass")
    said = fails(people, "FROM imbalance('people', 'ill')")
    assert said.startswith("imbalance: sensitive must name columns of the table, got 'ill'")
    assert people.execute("FROM imbalance('people', 'age')").fetchall()  # a call overrides
    people.execute("COMMENT ON COLUMN bare.age IS 'anon:secret'")
    said = fails(people, "FROM imbalance('bare', 'illness')")
    assert said.startswith("imbalance: the comment on column age is not clear")
