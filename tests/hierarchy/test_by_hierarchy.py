"""Releases by hierarchies that are refused, and names, values and nodes that are odd."""

import duckdb
import pytest

from tests.oracles import quoted
from tests.sentence import fails
from tests.test_hierarchical import METHODS, PATHS, fill, hierarchy

pytestmark = [pytest.mark.quick, pytest.mark.oldest]


@pytest.mark.parametrize("method", [*METHODS, "vp_partition", "rayden_stats"])
def test_a_value_that_is_not_covered_is_an_error_that_counts(con, method):
    hierarchy(con)
    con.execute(
        "CREATE TABLE t AS SELECT unnest(['it''s', 'secret', 'hidden', 'secret', NULL]) AS s"
    )
    said = fails(con, f"FROM {method}('t', k := 2, quasi := ['s'], hierarchy := 'h')")
    assert said.endswith(
        ": the hierarchy must cover every value of s, got 2 values that it lacks; "
        "check_hierarchy() lists them"
    )
    assert "secret" not in said


def test_a_hierarchy_that_is_no_tree_and_one_that_is_not_there(con):
    con.execute("CREATE TABLE t AS SELECT 'a' AS s FROM range(3)")
    hierarchy(con, {"s": {"a": ["x", "A"], "b": ["x", "B"]}})
    call = "FROM rayden('t', k := 2, quasi := ['s'], hierarchy := '{}')"
    assert fails(con, call.format("h")) == (
        "rayden: a label of a hierarchy must have one parent, got 'x' of s with A, B; "
        "check_hierarchy() lists all that is wrong with s"
    )
    with pytest.raises(duckdb.CatalogException, match="nowhere"):
        con.execute(call.format("nowhere")).fetchall()
    lacks = "hierarchy: the relation must have the columns attribute, value, level and label, got "
    made = "; read_hierarchies() and numeric_hierarchy() make one"
    assert fails(con, call.format("t")) == lacks + "nothing in attribute, value, label" + made
    con.execute("CREATE TABLE part AS SELECT attribute, value, level FROM h")
    assert fails(con, call.format("part")) == lacks + "nothing in label" + made
    assert fails(con, "FROM check_hierarchy('t', 'part')") == lacks + "nothing in label" + made
    con.execute("CREATE TABLE words AS SELECT * REPLACE ('low' AS level) FROM h")
    assert fails(con, call.format("words")) == (
        "rayden: levels of the hierarchy of s must be numbers, got NULL"
    )


def test_attributes_meet_columns_in_any_case_and_the_others_stay_as_they_are(con):
    con.execute(
        'CREATE TABLE t AS SELECT [\'a\', \'b\'][1 + i % 2] AS "Key ""1""", i % 5 AS n, '
        "['u', 'v'][1 + i % 2] AS c FROM range(20) AS r(i)"
    )
    hierarchy(con, {'KEY "1"': {"a": ["x"], "b": ["x"], "z": ["y"]}, "elsewhere": {"a": ["q"]}})
    con.execute("CREATE TABLE classed AS SELECT *, 1 AS class_id FROM t")
    given = "quasi := ['key \"1\"', 'n', 'c']"
    rows = con.execute(f"FROM generalize('classed', k := 5, {given}, hierarchy := 'h')").fetchall()
    assert set(rows) == {("x", "[0, 4]", "{u, v}")}
    with_cte = f"WITH c AS (FROM h) FROM generalize('classed', k := 5, {given}, hierarchy := 'c')"
    assert con.execute(with_cte).fetchall() == rows


def test_columns_and_tables_called_like_those_of_a_hierarchy(con):
    names = ["attribute", "value", "level", "label", "hierarchy"]
    columns = ", ".join(f"['a', 'b'][1 + (i // {2**at}) % 2] AS {n}" for at, n in enumerate(names))
    con.execute(f"CREATE TABLE hierarchy AS SELECT {columns} FROM range(64) AS r(i)")
    hierarchy(
        con, {name: {"a": ["x", "*"], "b": ["x", "*"], "c": ["*"]} for name in names}, "label"
    )
    call = f"k := 4, quasi := {names}, hierarchy := 'label'"
    for method in METHODS:
        con.execute(f"CREATE OR REPLACE TABLE r AS FROM {method}('hierarchy', {call})")
        sizes = con.execute(f"SELECT count(*) FROM r GROUP BY {quoted(names)}").fetchall()
        assert min(size for (size,) in sizes) >= 4
        found = con.execute(
            f"SELECT gcp('hierarchy', 'r', quasi := {names}, hierarchy := 'label')"
        ).fetchall()
        plain = con.execute(
            f"SELECT {' + '.join(f'count_if({n} = $$x$$)' for n in names)} FROM r"
        ).fetchall()
        assert found[0][0] == pytest.approx(plain[0][0] * 2 / 3 / (5 * 64))


def test_distance_is_a_mismatch_and_canon_refuses(con):
    hierarchy(con, {"n": {str(i): ["even" if i % 2 == 0 else "odd"] for i in range(10)}})
    con.execute("CREATE TABLE t AS SELECT i % 10 AS n, i AS rid FROM range(100) AS r(i)")
    plain = con.execute(
        "SELECT count(DISTINCT n) FROM vp_partition('t', k := 10, quasi := ['n'], hierarchy := 'h', "
        "cut := 'aligned') GROUP BY class_id"
    ).fetchall()
    assert len(plain) == 10
    said = fails(con, "FROM canon('t', k := 10, quasi := ['n'], keep := ['rid'], hierarchy := 'h')")
    assert said == (
        "canon: a quasi-identifier must have no hierarchy, because the distance needs numbers, "
        "got one for n; use rayden, or leave its attribute out of the hierarchy"
    )


def test_a_measure_refuses_labels_of_another_hierarchy(con):
    hierarchy(con, {"n": {"1": ["low"], "2": ["low"], "3": ["high"]}})
    con.execute("CREATE TABLE t AS SELECT unnest([1, 2, 3]) AS n")
    con.execute("CREATE TABLE r AS SELECT unnest(['low', 'low', 'middle']) AS n")
    said = fails(con, "SELECT gcp('t', 'r', quasi := ['n'], hierarchy := 'h')")
    assert said == "gcp: a label of n must be a node of its hierarchy or *, got 1 class with other"


def test_a_node_without_quotes_over_a_value_that_needs_them(con):
    """The raw value '*' looks like a label, which is no sign of swapped arguments here."""
    hierarchy(con, {"s": {"*": ["star"], "a": ["star"], "b": ["other"]}})
    con.execute("CREATE TABLE t AS SELECT unnest(['*', 'a']) AS s")
    con.execute(
        "CREATE TABLE r AS FROM basic_mondrian('t', k := 2, quasi := ['s'], hierarchy := 'h')"
    )
    assert con.execute("FROM r").fetchall() == [("star",), ("star",)]
    found = con.execute("SELECT gcp('t', 'r', quasi := ['s'], hierarchy := 'h')").fetchall()
    assert found[0][0] == pytest.approx(2 / 3)


def test_a_label_that_lies_is_caught(con, monkeypatch):
    """Every printed node is looked up again, and the value below it."""
    from anon_sql.core.hierarchy import tree as module

    hierarchy(con)
    fill(con, [(name, None, None) for name in PATHS["s"]] * 3)
    real = module.HierarchyTree.ancestor

    def wrong(self, low, high):
        return real(self, low, low)

    monkeypatch.setattr(module.HierarchyTree, "ancestor", wrong)
    said = fails(
        con,
        "FROM rayden('t', k := 10, quasi := ['s'], keep := ['n', 'd', 'rid'], hierarchy := 'h')",
    )
    assert said.startswith("rayden: every value must lie in its label, got ")
