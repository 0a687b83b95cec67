"""lattice: the nodes of the very release that the same call makes."""

import pytest

HIERARCHY = (
    "CREATE TABLE h AS FROM numeric_hierarchy('people', 'age', [10, 20]) "
    "UNION ALL FROM prefix_hierarchy('people', 'city', [1]) "
    "UNION ALL FROM date_hierarchy('people', 'born', ['month', 'year', 'decade']) "
    "UNION ALL SELECT 'sex', unnest(['f', 'm']), 1, '*'"
)


@pytest.mark.parametrize(
    "more",
    [
        "k := 5",
        "k := 5, suppression_limit := 0.1",
        "k := 5, suppression_limit := 0.1, suppressed := 'drop', minimize := 'height'",
        "k := 20, l := 3, minimize := 'dm'",
        "k := 3, suppression_limit := 0.2, t := 0.3, strata := ['sex']",
    ],
)
def test_the_best_row_is_the_release(people, more):
    people.execute(HIERARCHY)
    given = f"('people', {more}, hierarchy := 'h')"
    looked = people.execute(f"FROM lattice{given}").fetchall()
    people.execute(f"CREATE TABLE r AS FROM full_domain{given}")
    measured = people.execute(
        "SELECT gcp, suppressed, classes, dm FROM utility('people', 'r', hierarchy := 'h')"
    ).fetchall()
    ((levels, lost, suppressed, classes, legal, _),) = [row for row in looked if row[5]]
    assert measured[0][:3] == (pytest.approx(lost), suppressed, classes)
    assert legal
    assert list(levels) == ["age", "city", "sex", "born"]
    if "sex" in more:
        assert {row[0]["sex"] for row in looked} == {0}
    if "minimize" not in more:
        assert lost == min(row[1] for row in looked if row[4])
    assert len({tuple(row[0].values()) for row in looked}) == len(looked) < 4 * 3 * 2 * 5


def test_columns_and_types_also_of_a_table_without_rows(people):
    found = people.sql("FROM lattice('people', k := 5)")
    assert dict(zip(found.columns, map(str, found.types), strict=True)) == {
        "levels": "MAP(VARCHAR, INTEGER)",
        "loss": "DOUBLE",
        "suppressed": "BIGINT",
        "classes": "BIGINT",
        "legal": "BOOLEAN",
        "best": "BOOLEAN",
    }
    people.execute("CREATE TABLE none AS FROM people LIMIT 0")
    assert people.execute("FROM lattice('none', quasi := ['age', 'city'])").fetchall() == []


def test_without_a_legal_node_no_row_is_the_best(con):
    con.execute("CREATE TABLE t AS SELECT i AS a FROM range(9) AS r(i)")
    con.execute(
        "CREATE TABLE h AS SELECT 'a' AS attribute, i AS value, 1 AS level, '*' AS label FROM range(9) AS r(i)"
    )
    call = "lattice('t', k := 5, quasi := 'a', hierarchy := 'h', suppressed := 'drop')"
    assert con.execute(f"SELECT DISTINCT legal, best FROM {call}").fetchall() == [(False, False)]


def test_any_number_of_threads_and_any_order(people):
    call = "quasi := ['age', 'city', 'sex', 'born'], k := 4, suppression_limit := 0.1"
    wanted = people.execute(f"FROM lattice('people', {call})").fetchall()
    people.execute("SET threads = 1")
    people.execute("CREATE TABLE other AS FROM people ORDER BY hash(person_id)")
    assert people.execute(f"FROM lattice('other', {call})").fetchall() == wanted
