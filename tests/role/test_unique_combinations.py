"""unique_combinations: the minimal sample uniques of a plain enumeration, scored as in SUDA."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import prod

import hypothesis.strategies as st
import pytest
from hypothesis import given

from tests.drawing import examples
from tests.inserting import insert
from tests.sentence import fails

NAMES = "abcde"
VALUES = st.sampled_from([None, 1, 2, 3])
ROWS = st.lists(st.tuples(*[VALUES] * len(NAMES)), min_size=1, max_size=14)


def enumerated(rows, most):
    """The rows of which each set is a minimal unique, by the definition."""

    def unique(at):
        count = Counter(tuple(row[i] for i in at) for row in rows)
        return {number for number, row in enumerate(rows) if count[tuple(row[i] for i in at)] == 1}

    columns = range(len(rows[0]))
    sets = [chosen for size in range(1, most + 1) for chosen in combinations(columns, size)]
    alone = {chosen: unique(chosen) for chosen in sets}
    minimal = {
        chosen: alone[chosen].difference(*(alone[s] for s in sets if set(s) < set(chosen)))
        for chosen in sets
    }
    return {chosen: len(found) for chosen, found in minimal.items() if found}


def combined(con, call):
    return con.execute(
        f"SELECT columns, size, rows, share, score FROM unique_combinations({call})"
    ).fetchall()


@pytest.mark.parametrize("most", [1, 2, 3, 5, 7])
def test_equal_to_a_plain_enumeration(con, most):
    con.execute(f"CREATE TABLE t ({', '.join(f'{name} INTEGER' for name in NAMES)})")

    @examples(60)
    @given(ROWS)
    def holds(rows):
        con.execute("DELETE FROM t")
        insert(con, "t", rows)
        expected = enumerated(rows, min(most, 5))
        found = combined(con, f"'t', max_columns := {most}")
        assert {tuple(NAMES.index(c) for c in row[0]): row[2] for row in found} == expected
        largest = min(most, 5)
        scores = {c: n * prod(5 - i for i in range(len(c), largest)) for c, n in expected.items()}
        total = sum(scores.values())
        for columns, size, number, share, score in found:
            at = tuple(NAMES.index(c) for c in columns)
            assert size == len(at)
            assert share == number / len(rows)
            assert score == pytest.approx(float(Fraction(scores[at], total)))
        listed = [row[4] for row in found]
        assert listed == sorted(listed, reverse=True)

    holds()


def test_people(people):
    found = combined(people, "'people'")
    assert not [row for row in found if "person_id" in row[0]]  # declared as identifier
    assert found[0][:4] == (["born"], 1, 120, 1.0)
    assert not [row for row in found if "born" in row[0] and row[1] > 1]
    named = combined(people, "'people', columns := ['PERSON_ID', 'sex', 'sex']")
    assert [row[0] for row in named] == [["person_id"]]
    assert combined(people, "'people', columns := 'sex'") == []
    assert fails(people, "FROM unique_combinations('people', columns := [])") == (
        "unique_combinations: columns must name a column"
    )
    by_column = people.execute(
        "SELECT name, sum(score) AS part "
        "FROM (SELECT unnest(columns) AS name, score FROM unique_combinations('people')) "
        "GROUP BY name ORDER BY part DESC, name"
    ).fetchall()
    assert by_column[0][0] == "born"
    assert all(0 < part <= 1 for _, part in by_column)


def test_a_shadowed_table_needs_columns(many_people):
    people = many_people
    cte = "WITH people AS (SELECT age, sex FROM people) SELECT columns FROM unique_combinations('people'{})"
    assert "comments count only where" in fails(people, cte.format(""))
    assert people.execute(cte.format(", columns := ['age', 'sex']")).fetchall() == []
    other = "WITH p AS (SELECT age, born FROM people) SELECT columns FROM unique_combinations('p')"
    assert people.execute(other).fetchall() == [(["born"],)]


def test_hostile_names_and_types(con):
    con.execute(
        """CREATE TABLE t AS SELECT [i % 2] AS "columns", {'a': i} AS "a""b", NULL AS tbl, i % 3 AS
        "select", i % 5 AS max_columns FROM range(10) AS r(i)"""
    )
    found = {tuple(sorted(row[0])): row[2] for row in combined(con, "'t'")}
    assert found == {
        ('a"b',): 10,
        ("columns", "max_columns"): 10,
        ("max_columns", "select"): 10,
        ("columns", "select"): 2,
    }
    message = fails(con, "FROM unique_combinations('t', max_columns = 3)")
    assert message.startswith("unique_combinations: max_columns must be a whole number from 1 on")


def test_files(con, tmp_path):
    con.execute(
        f"COPY (SELECT i // 2 AS a, i % 2 AS b FROM range(8) AS r(i)) TO '{tmp_path}/t.csv'"
    )
    assert combined(con, f"'{tmp_path}/t.csv'") == [(["a", "b"], 2, 8, 1.0, 1.0)]


def test_an_empty_table_and_one_row(con):
    con.execute("CREATE TABLE t (a INTEGER, b VARCHAR)")
    assert combined(con, "'t'") == []
    con.execute("INSERT INTO t VALUES (NULL, NULL)")
    assert combined(con, "'t'") == [(["a"], 1, 1, 1.0, 0.5), (["b"], 1, 1, 1.0, 0.5)]


@pytest.mark.parametrize("most", ["0", "-1", "NULL", "1.5", "'3'", "true"])
def test_a_size_that_is_none(con, most):
    con.execute("CREATE TABLE t AS SELECT 1 AS a")
    message = fails(con, f"FROM unique_combinations('t', max_columns := {most})")
    assert message.startswith("unique_combinations: max_columns must be a whole number from 1 on")


def test_refusals(people):
    message = fails(people, "FROM unique_combinations('people', columns := ['agee'])")
    assert message.startswith(
        "unique_combinations: columns must name columns of the table, got 'agee'; did you mean age?"
    )
    assert "columns must be a list" in fails(
        people, "FROM unique_combinations('people', columns := [1])"
    )
    assert "columns must name a column" in fails(
        people, "FROM unique_combinations('people', columns := [])"
    )
    wide = ", ".join(f"i % 2 AS c{at}" for at in range(60))
    people.execute(f"CREATE TABLE wide AS SELECT {wide} FROM range(10) AS r(i)")
    message = fails(people, "FROM unique_combinations('wide', max_columns := 5)")
    assert "lower max_columns" in message
    people.execute("COMMENT ON COLUMN people.sex IS 'anon: quasi'")
    assert "is not clear" in fails(people, "FROM unique_combinations('people')")


def test_the_order_of_rows_changes_nothing(people):
    before = combined(people, "'people'")
    people.execute(
        "CREATE TABLE turned AS SELECT * EXCLUDE person_id FROM people ORDER BY hash(born)"
    )
    assert combined(people, "'turned'") == before
