"""generalize: classes of one's own become a release, checked like any other."""

from collections import Counter

from tests.sentence import fails

STEPS = """
WITH parts AS (FROM vp_partition('people', k := 6)),
scored AS (FROM cof_score('parts', k := 6, quasi := ['age', 'city', 'sex', 'born'])),
FROM generalize('scored', k := 6, quasi := ['age', 'city', 'sex', 'born'],
    identifiers := ['person_id'], sensitive := 'illness', keep := ['score'])
""".replace("])),\nFROM", "]))\nFROM")


def test_the_steps_compose_through_ctes(people):
    found = people.sql(STEPS)
    assert found.columns == ["age", "city", "sex", "born", "score", "illness"]
    rows = found.fetchall()
    assert len(rows) == 120
    assert min(Counter(row[:4] for row in rows).values()) >= 6


def test_the_tree_alone_equals_rayden_without_outliers(people):
    by_steps = (
        "WITH parts AS (SELECT * EXCLUDE (person_id) FROM people), "
        "classed AS (FROM vp_partition('parts', k := 6, quasi := ['age', 'city', 'sex', 'born'])) "
        "FROM generalize('classed', k := 6, quasi := ['age', 'city', 'sex', 'born'], keep := ['*'])"
    )
    whole = "FROM rayden('people', k := 6, alpha := 1000)"
    assert Counter(people.execute(by_steps).fetchall()) == Counter(people.execute(whole).fetchall())


def test_labels_by_hand(con):
    con.execute(
        """
        CREATE TABLE t AS FROM (VALUES
            (31, 'x', DATE '2000-01-01', 'p', 1), (35, 'y', DATE '2000-01-01', 'q', 1),
            (NULL, NULL, NULL, 'r', 2), (NULL, NULL, NULL, 's', 2),
            (40, 'z', DATE '2001-01-01', 't', 3), (NULL, 'y', DATE '2002-01-01', 'u', 3)
        ) AS made(age, c, d, kept, class_id)
        """
    )
    call = (
        "FROM generalize('t', k := 2, quasi := ['age', 'c', 'd'], keep := ['kept']{}) ORDER BY kept"
    )
    assert con.execute(call.format("")).fetchall() == [
        ("[31, 35]", "{x, y}", "2000-01-01", "p"),
        ("[31, 35]", "{x, y}", "2000-01-01", "q"),
        (None, None, None, "r"),
        (None, None, None, "s"),
        ("*", "{y, z}", "[2001-01-01, 2002-01-01]", "t"),
        ("*", "{y, z}", "[2001-01-01, 2002-01-01]", "u"),
    ]
    typed = con.execute(call.format(", format := 'typed'")).fetchall()
    assert typed[0][:2] == ({"min": 31, "max": 35}, ["x", "y"])
    assert typed[2][:3] == ({"min": None, "max": None}, [], {"min": None, "max": None})
    assert typed[4][:2] == (None, ["y", "z"])


def test_rows_without_a_class_are_suppressed_together_or_join(con):
    table = "CREATE OR REPLACE TABLE t AS SELECT i AS n, i % 2 AS kept, if(i < {}, NULL, i // 10) AS class_id FROM range(40) r(i)"
    call = "SELECT n, count(*) FROM generalize('t', k := 4, quasi := ['n'], keep := ['*']{}) GROUP BY n ORDER BY n"
    con.execute(table.format(10))
    assert con.execute(call.format("")).fetchall()[0] == ("*", 10)
    assert ("*", 10) not in con.execute(call.format(", suppressed := 'drop'")).fetchall()
    con.execute(table.format(3))  # three rows may not be starred together: k is 4
    assert dict(con.execute(call.format("")).fetchall()) == {
        "[0, 9]": 10, "[10, 19]": 10, "[20, 29]": 10, "[30, 39]": 10,
    }  # fmt: skip
    dropped = con.execute(call.format(", suppressed := 'drop'")).fetchall()
    assert sum(size for _, size in dropped) == 37


def test_a_class_column_of_any_type_and_name(con):
    con.execute(
        "CREATE TABLE t AS SELECT i % 7 AS n, 'class ' || (i // 10) AS \"My Class\" FROM range(40) r(i)"
    )
    found = con.sql(
        "FROM generalize('t', k := 5, quasi := ['n'], keep := ['*'], classes := 'my class')"
    )
    assert found.columns == ["n"]
    assert len(found.fetchall()) == 40
    assert fails(con, "FROM generalize('t', k := 5, quasi := ['n'], keep := ['*'])") == (
        "generalize: classes must name a column of the table, got 'class_id'; "
        "did you mean My Class? (n, My Class)"
    )


def test_a_suppressed_class_and_a_class_of_nulls_stay_apart(con):
    """DuckDB hashes NULL and a struct of NULLs alike; the check must not take them for one."""
    con.execute(
        "CREATE TABLE t AS FROM (VALUES (NULL, NULL, 1), (10, 'A', 2), (14, 'A', 2), (70, 'B', NULL)) "
        "AS made(age, city, class_id), range(3)"
    )
    con.execute("ALTER TABLE t DROP COLUMN range")
    for form in ("label", "typed"):
        for suppressed, rows in (("keep", 12), ("drop", 9)):
            found = con.execute(
                "FROM generalize('t', k := 3, quasi := ['age', 'city'], keep := ['*'], "
                f"format := '{form}', suppressed := '{suppressed}')"
            ).fetchall()
            assert len(found) == rows


def test_columns_that_are_dropped_have_no_role(con):
    con.execute(
        "CREATE TABLE t AS SELECT i % 7 AS n, i // 10 AS class_id, 1.5 AS cof FROM range(40) r(i)"
    )
    for arguments in (
        "quasi := ['n', 'class_id']",
        "quasi := ['n', 'cof']",
        "quasi := ['n'], keep := ['cof']",
    ):
        said = fails(con, f"FROM generalize('t', k := 5, {arguments})")
        assert said.startswith("generalize: columns of classes and scores are dropped, got c")
    assert fails(
        con, "FROM generalize('t', k := 5, quasi := ['n'], keep := ['*'], classes := NULL)"
    ) == ("generalize: classes must name a column of the table, got NULL")
    con.execute("CREATE TABLE u AS SELECT i % 7 AS n, [i // 10] AS class_id FROM range(40) r(i)")
    assert fails(con, "FROM generalize('u', k := 5, quasi := ['n'], keep := ['*'])") == (
        "generalize: classes must be numbers or text, got a column of type BIGINT[]"
    )
    assert fails(
        con, "FROM generalize('t', k := 5, quasi := ['n'], keep := ['*'], classes := 1)"
    ).startswith("generalize: classes must name a column of the table, got '1'")


def test_a_range_and_null_alone_are_two_labels(con):
    """Of which a hash of ends that forgets what they are makes one: NULL, and -129 beside 0."""
    con.execute(
        "CREATE TABLE t AS SELECT if(i < 5, NULL, if(i % 2 = 0, -129, 0)) AS n, i // 5 AS class_id "
        "FROM range(15) r(i)"
    )
    shown = con.execute(
        "SELECT n, count(*) FROM generalize('t', k := 5, quasi := ['n'], keep := ['*']) GROUP BY n"
    )
    assert sorted(shown.fetchall(), key=str) == [("[-129, 0]", 10), (None, 5)]
