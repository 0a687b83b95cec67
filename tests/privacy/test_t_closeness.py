"""t_closeness: by hand, the paper's example, a plain twin, and what it refuses."""

from collections import defaultdict
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawing import examples
from tests.inserting import insert
from tests.sentence import fails


def closeness(con, released="label", sensitive="'s'", raw="raw", **more):
    given = "".join(f", {name} := {value}" for name, value in {"quasi": ["a"], **more}.items())
    return con.execute(f"SELECT t_closeness('{raw}', '{released}', {sensitive}{given})").fetchall()[
        0
    ][0]


def shares(values):
    return {value: Fraction(values.count(value), len(values)) for value in values}


def equal(part, whole):
    p, q = shares(part), shares(whole)
    return sum(abs(p.get(value, 0) - q[value]) for value in q) / 2


def ordered(part, whole):
    p, q, run, total = shares(part), shares(whole), Fraction(0), Fraction(0)
    for value in sorted(q):
        run += p.get(value, 0) - q[value]
        total += abs(run)
    return total / (len(q) - 1) if len(q) > 1 else Fraction(0)


def hierarchical(part, whole, node, height):
    """(extra, cost) of a node: a value or a list of nodes; height: of the whole tree."""
    if not isinstance(node, list):
        return shares(part).get(node, 0) - shares(whole).get(node, 0), Fraction(0)
    found = [hierarchical(part, whole, child, height) for child in node]
    over = sum(extra for extra, _ in found if extra > 0)
    under = -sum(extra for extra, _ in found if extra < 0)
    cost = Fraction(deep(node), height) * min(over, under)
    return over - under, cost + sum(cost for _, cost in found)


def deep(node):
    return 1 + max(map(deep, node)) if isinstance(node, list) else 0


def test_the_example_of_the_paper(con):
    """Li et al. 2007, section 5: salaries 3 … 11k, classes {3, 4, 5} and {6, 8, 11}."""
    salaries = [3, 4, 5, 6, 11, 8, 7, 9, 10]
    con.execute("CREATE TABLE raw (a INTEGER, s INTEGER)")
    insert(con, "raw", list(enumerate(salaries)))
    con.execute(
        "CREATE TABLE label AS SELECT '[' || a // 3 * 3 || ', ' || a // 3 * 3 + 2 || ']' AS a, s FROM raw"
    )
    assert closeness(con) == 0.375
    con.execute("CREATE TABLE one AS FROM label WHERE a = '[3, 5]'")
    assert closeness(con, "one") == pytest.approx(1 / 6)


def test_equal_distance_by_hand(wards, shape):
    """All: flu 5, gout 3, ulcer 1, NULL 3 of 12. Starred: flu 1, NULL 2 of 3."""
    assert closeness(wards, shape) == pytest.approx(2 / 3 - 3 / 12)
    wards.execute(f"DELETE FROM {shape} WHERE a IS NULL OR a::VARCHAR = '*'")
    assert closeness(wards, shape) == pytest.approx(3 / 4 - 5 / 12)


def test_ordered_distance_with_ties_by_hand(wards, shape):
    """All: 1, 2 and 3 are 3, 4 and 5 of 12. The starred are 3 only."""
    assert closeness(wards, shape, "'n'") == pytest.approx((3 / 12 + 7 / 12) / 2)
    wards.execute(f"DELETE FROM {shape} WHERE a IS NULL OR a::VARCHAR = '*'")
    assert closeness(wards, shape, "'n'") == pytest.approx(
        max((1 / 4 + 1 / 6) / 2, (3 / 12 + (2 / 3 - 7 / 12)) / 2)
    )


def test_numbers_with_nulls_are_compared_as_text(wards):
    wards.execute("UPDATE raw SET n = NULL WHERE n = 2; UPDATE label SET n = NULL WHERE n = 2")
    assert closeness(wards, sensitive="'n'") == pytest.approx(1 - 5 / 12)


@pytest.mark.oldest
def test_hierarchical_distance_by_hand(wards, shape):
    """All: x 4, y 4, z 4. Starred: z; 2/3 moves from A to B at the root's height.
    Without it: x y y, x to y at half the height and a third from B to A."""
    assert closeness(wards, shape, "'w'", hierarchy="'tree'") == pytest.approx(2 / 3)
    wards.execute(f"DELETE FROM {shape} WHERE a IS NULL OR a::VARCHAR = '*'")
    assert closeness(wards, shape, "'w'", hierarchy="'tree'") == pytest.approx(1 / 3)
    wards.execute(f"DELETE FROM {shape} WHERE a::VARCHAR LIKE '%6%'")
    assert closeness(wards, shape, "'w'", hierarchy="'tree'") == pytest.approx(
        1 / 2 * 1 / 12 + 1 / 12
    )


def test_null_stands_below_the_root(wards):
    wards.execute("UPDATE raw SET w = NULL WHERE w = 'z'; UPDATE label SET w = NULL WHERE w = 'z'")
    assert closeness(wards, sensitive="'w'", hierarchy="'tree'") == pytest.approx(2 / 3)


def test_the_worst_of_several_columns(wards):
    each = [closeness(wards, sensitive=f"'{name}'") for name in "snw"]
    assert closeness(wards, sensitive="['s', 'n', 'w']") == max(each)


def test_rows_left_out_are_no_class_but_of_the_table(wards):
    wards.execute("CREATE TABLE one AS FROM label WHERE a = '[0, 3]'")
    assert closeness(wards, "one") == pytest.approx(3 / 4 - 5 / 12)


def test_the_table_itself_and_a_constant(con):
    con.execute("CREATE TABLE raw AS SELECT i AS a, i % 3 AS n, 5 AS s FROM range(9) AS r(i)")
    con.execute("CREATE TABLE label AS SELECT '[0, 8]' AS a, n, s FROM raw")
    assert closeness(con, sensitive="['n', 's']") == 0
    con.execute("CREATE TABLE none AS FROM label LIMIT 0")
    assert closeness(con, "none") is None


VALUE = {"s": st.none() | st.sampled_from("vwxyz"), "n": st.integers(-9, 9)}
TREE = [[["v"], "w"], ["x", "y"], "z", None]
PATHS = {"v": ["vv", "vw", "*"], "w": ["vw", "*"], "x": ["xy", "*"], "y": ["xy", "*"], "z": ["*"]}


def test_against_the_twin(con):
    con.execute("CREATE TABLE raw (a INTEGER, s VARCHAR, n INTEGER)")
    con.execute("CREATE TABLE label (a VARCHAR, s VARCHAR, n INTEGER)")
    con.execute(
        "CREATE TABLE tree (attribute VARCHAR, value VARCHAR, level INTEGER, label VARCHAR)"
    )
    for value, path in PATHS.items():
        for level, label in enumerate(path):
            con.execute("INSERT INTO tree VALUES ('S', ?, ?, ?)", [value, level + 1, label])

    @examples(25)
    @given(st.lists(st.tuples(st.integers(0, 4), VALUE["s"], VALUE["n"]), min_size=1, max_size=16))
    def holds(rows):
        con.execute("DELETE FROM raw; DELETE FROM label")
        insert(con, "raw", rows)
        con.execute(
            "INSERT INTO label SELECT CASE a WHEN 3 THEN '*' ELSE a::VARCHAR END, s, n FROM raw WHERE a < 4"
        )
        texts, numbers = [row[1] for row in rows], [row[2] for row in rows]
        classes = defaultdict(list)
        for a, *values in rows:
            if a < 4:
                classes[a].append(values)
        parts = [tuple(zip(*part, strict=True)) for part in classes.values()]
        expected = {
            "'s'": [equal(s, texts) for s, _ in parts],
            "'n'": [ordered(n, numbers) for _, n in parts],
            "'s', hierarchy := 'tree'": [hierarchical(s, texts, TREE, 3)[1] for s, _ in parts],
        }
        for call, found in expected.items():
            most = max(found, default=None)
            assert closeness(con, sensitive=call) == (
                None if most is None else pytest.approx(float(most))
            )

    holds()


@pytest.mark.oldest
@pytest.mark.parametrize(
    "made",
    [
        *("v::TINYINT", "v::HUGEINT", "v::DECIMAL(9, 2)", "v::FLOAT", "v::DOUBLE"),
        *("DATE '2020-01-01' + v::INTEGER", "TIME '01:00:00' + INTERVAL (v) MINUTE"),
        *(
            "TIMESTAMP '2020-01-01' + INTERVAL (v) HOUR",
            "TIMESTAMPTZ '2020-01-01' + INTERVAL (v) DAY",
        ),
    ],
)
def test_every_type_that_has_an_order(con, made):
    con.execute(
        f"CREATE TABLE raw AS SELECT i AS a, {made} AS s FROM (SELECT i, i - 4 AS v FROM range(9) AS r(i))"
    )
    con.execute(
        "CREATE TABLE label AS SELECT '[' || a // 3 * 3 || ', ' || a // 3 * 3 + 2 || ']' AS a, s FROM raw"
    )
    assert closeness(con) == 0.375


@pytest.mark.oldest
def test_a_release_in_another_type(wards):
    wards.execute("CREATE TABLE wide AS SELECT * REPLACE (n::BIGINT AS n) FROM label")
    assert closeness(wards, "wide", "'n'") == closeness(wards, sensitive="'n'")


def test_values_that_the_raw_table_lacks(wards):
    wards.execute("UPDATE label SET s = 'none' WHERE s IS NULL")
    assert fails(wards, "SELECT t_closeness('raw', 'label', 's', quasi := ['a'])") == (
        "t_closeness: every sensitive value of the release must stand in the raw table, got 3 rows "
        "with one that does not; the raw table comes first and its release second"
    )


def test_values_that_the_hierarchy_lacks(wards):
    wards.execute("DELETE FROM tree WHERE value = 'z'")
    said = fails(
        wards, "SELECT t_closeness('raw', 'label', 'w', quasi := ['a'], hierarchy := 'tree')"
    )
    assert said == (
        "t_closeness: the hierarchy must cover every value of w, got 1 value that it lacks; "
        "check_hierarchy() lists them"
    )


def test_what_it_refuses(wards, shape):
    assert fails(wards, f"SELECT t_closeness('raw', '{shape}', quasi := ['a'])").startswith(
        "t_closeness: at least one sensitive column is needed"
    )
    assert fails(wards, f"SELECT t_closeness('{shape}', 'raw', 's', quasi := ['a'])").startswith(
        "t_closeness: the raw table must come first and its release second, got "
    )


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            "('w', 'hiv', 1, 'lung'), ('w', 'flu', 1, 'lung'), ('w', 'hiv', 1, 'blood')",
            "a hierarchy must list a value once, got a value of w with two labels at a level",
        ),
        (
            "('w', 'hiv', 1, 'lung'), ('w', 'hiv', 2, 'a'), ('w', 'flu', 1, 'lung'), ('w', 'flu', 2, 'b')",
            "a label of a hierarchy must have one parent, got a label of w with 2 parents",
        ),
        (
            "('w', 'hiv', 1, 'blood'), ('w', 'flu', 1, 'hiv')",
            "a label of a hierarchy must not be a value of another branch, got a label of w with "
            "the label of 1 other values",
        ),
        (
            "('w', 'hiv', 1, 'a'), ('w', 'hiv', 2, 'b'), ('w', 'hiv', 3, 'a'), ('w', 'flu', 1, 'a')",
            "a label of a hierarchy must not be above itself, got a label of w with a path that "
            "comes back to it",
        ),
        (
            "('w', 'hiv', 1, '*'), ('w', 'hiv', 2, 'ill'), ('w', 'flu', 1, '*')",
            "the label * of a hierarchy must be its root, got a label of w with labels above it",
        ),
    ],
)
def test_no_sensitive_value_is_named(con, rows, said):
    """A faulty hierarchy of a sensitive column: its labels may be values of the column too."""
    con.execute("CREATE TABLE t AS SELECT 1 AS a, unnest(['hiv', 'flu']) AS w")
    con.execute("CREATE TABLE r AS SELECT '1' AS a, w FROM t")
    con.execute(f"CREATE TABLE h AS FROM (VALUES {rows}) AS v(attribute, value, level, label)")
    found = fails(con, "SELECT t_closeness('t', 'r', 'w', quasi := ['a'], hierarchy := 'h')")
    assert found == f"t_closeness: {said}; check_hierarchy() lists all that is wrong with w"
