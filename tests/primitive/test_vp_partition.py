"""vp_partition: the tree's leaves as a column, and nothing that makes it look like a release."""

import random
from collections import Counter

import pytest

from tests.inserting import insert
from tests.sentence import fails


def test_the_sources_columns_and_a_class(people):
    found = people.sql("FROM vp_partition('people', k := 7)")
    assert found.columns == [
        *("person_id", "age", "city", "sex", "born", "score", "illness", "class_id"),
    ]
    assert str(found.types[-1]) == "INTEGER"
    counts = people.execute("SELECT count(*) FROM vp_partition('people', k := 7) GROUP BY class_id")
    sizes = [count for (count,) in counts.fetchall()]
    assert sum(sizes) == 120
    assert min(sizes) >= 7
    assert max(sizes) <= 13


@pytest.mark.parametrize("cut", ["balanced", "aligned"])
def test_leaf_sizes(people, cut):
    query = f"SELECT count(*) FROM vp_partition('people', k := 9, cut := '{cut}') GROUP BY class_id"
    sizes = Counter(size for (size,) in people.execute(query).fetchall())
    assert set(sizes) <= set(range(9, 18))
    if cut == "aligned":
        assert sizes[9] >= sum(sizes.values()) - 1


def test_equal_rows_may_part_only_among_themselves(con):
    """The tie rule: a shuffled table gives the same classes, up to rows that are equal."""
    pick = random.Random(3)
    rows = [(pick.randrange(5), pick.choice("abc"), pick.randrange(3)) for _ in range(500)]
    found = []
    for order in (rows, rows[::-1], pick.sample(rows, len(rows))):
        con.execute("CREATE OR REPLACE TABLE t (n INTEGER, c VARCHAR, s INTEGER)")
        insert(con, "t", order)
        classes: dict[int, list] = {}
        for n, c, s, class_id in con.execute(
            "FROM vp_partition('t', k := 6, quasi := ['n', 'c'])"
        ).fetchall():
            classes.setdefault(class_id, []).append((n, c, s))
        found.append(Counter(tuple(sorted(members)) for members in classes.values()))
    assert found[0] == found[1] == found[2]


def test_a_column_called_class_id_is_refused(con):
    con.execute("CREATE TABLE t AS SELECT i % 3 AS a, i AS CLASS_ID FROM range(30) r(i)")
    assert fails(con, "FROM vp_partition('t', quasi := ['a'])") == (
        "vp_partition: the table must not have a column class_id, got CLASS_ID; rename it"
    )
    assert fails(con, "FROM cof_score('t', quasi := ['b'])") == (
        "cof_score: quasi must name columns of the table, got 'b'; choose from a, CLASS_ID"
    )


def test_an_empty_table(con):
    con.execute("CREATE TABLE t (a INTEGER, b VARCHAR)")
    assert con.execute("FROM vp_partition('t', quasi := ['a'])").fetchall() == []
