"""Releases by hierarchies, as users call them: labels, both formats and loss."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anon_sql
from anon_sql.hosts.duckdb.sql_files import sql_files
from tests.drawing import examples
from tests.inserting import insert
from tests.oracles import adds_rows
from tests.sentence import fails

METHODS = ["anonymize", "rayden", "basic_mondrian", "datafly", "full_domain"]
OLDEST = {"anonymize", "datafly"}  # to DuckDB, the SQL of the others differs in names alone
BY_METHOD = pytest.mark.parametrize(
    "method", [pytest.param(m, marks=[pytest.mark.oldest] * (m in OLDEST)) for m in METHODS]
)
LOWEST = [  # all that print the lowest common ancestor
    file.name
    for file in sql_files()
    if file.folder == "release"
    and file.name not in ("canon", "datafly", "full_domain")
    and not adds_rows(file.name)
]
# Ragged, with a root of another name, quotes, values that differ in case, and numbers as text.
PATHS = {
    "s": {
        "it's": ["a, b", "x", "All"],
        "It's": ["a, b", "x", "All"],
        "[": ["x", "All"],
        "*": ["NULL", "y", "All"],
        "": ["NULL", "y", "All"],
        "u v": ["y", "All"],
        "é": ["All"],
    },
    "n": {
        "1": ["1 to 2", "20", "*"],
        "2.0": ["1 to 2", "20", "*"],
        "03": ["20", "*"],
        "10": ["ten", "*"],
        "11": ["ten", "*"],
        "40": ["*"],
        "-5": ["*"],
    },
    "d": {
        "2020-01-31": ["2020-01", "2020", "*"],
        "2020-1-05": ["2020-01", "2020", "*"],
        "2020-12-01": ["2020-12", "2020", "*"],
        "1999-12-31": ["1999", "*"],
    },
}
LEAVES = {  # the values of the table, as they are printed, and how their paths call them
    "s": {name: name for name in PATHS["s"]},
    "n": {"1": "1", "2": "2.0", "3": "03", "10": "10", "11": "11", "40": "40", "-5": "-5"},
    "d": {"2020-01-31": "2020-01-31", "2020-01-05": "2020-1-05", "2020-12-01": "2020-12-01"},
}
QUASI = ["s", "n", "d"]
PRINTED = {"20": "'20'", "a, b": "'a, b'", "NULL": "'NULL'", "All": "*"}
LEAF = {"it's": r"'it\'s'", "It's": r"'It\'s'", "[": "'['", "*": "'*'", "": "''"}
ROW = st.tuples(*(st.sampled_from([None, *LEAVES[name]]) for name in QUASI))


def hierarchy(con, paths=PATHS, name="h"):
    con.execute(
        f"CREATE OR REPLACE TABLE {name} "
        "(attribute VARCHAR, value VARCHAR, level INTEGER, label VARCHAR)"
    )
    insert(
        con,
        name,
        [
            (attribute, value, level, label)
            for attribute, path_of in paths.items()
            for value, path in path_of.items()
            for level, label in enumerate(path, 1)
        ],
    )


def fill(con, rows):
    con.execute("CREATE OR REPLACE TABLE t (s VARCHAR, n INTEGER, d DATE, rid INTEGER)")
    insert(con, "t", [(*row, at) for at, row in enumerate(rows)])


def way(name, value):
    """Printed labels above a printed value, itself first; a twin."""
    path = PATHS[name][LEAVES[name][value]]
    own = LEAF.get(value, value) if name == "s" else value
    return [own, *(PRINTED.get(p, p) if not (name == "d" and p == "20") else p for p in path)]


def expected(name, values):
    """The label of a class that holds these printed values, by the lowest common ancestor."""
    if None in values:
        return None if values == {None} else "*"
    ways = [way(name, value) for value in values]
    return next(label for label in ways[0] if all(label in other for other in ways))


def loss(name, label):
    """NCP of a label: 0 for a leaf, else leaves below / all leaves."""
    if label is None:
        return 0.0
    below = sum(
        label in [LEAF.get(v, v), *(PRINTED.get(p, p) for p in path)]
        for v, path in PATHS[name].items()
    )
    leaf = label in [way(name, value)[0] for value in LEAVES[name]]
    return 1.0 if label == "*" else 0.0 if leaf or below == 1 else below / len(PATHS[name])


@pytest.fixture(scope="module")
def shared():
    with anon_sql.connect() as con:
        hierarchy(con)
        yield con


def released(con, method, k=2, table="t", quasi=QUASI, **more):
    arguments = {"quasi": quasi, "keep": ["rid"], "hierarchy": "h", **more}
    given = ", ".join(f"{name} := {value!r}" for name, value in arguments.items())
    return con.execute(f"FROM {method}('{table}', k := {k}, {given}) ORDER BY rid").fetchall()


@pytest.mark.parametrize("method", LOWEST)
@examples(3)
@given(rows=st.lists(ROW, min_size=3, max_size=30))
def test_a_label_is_the_lowest_common_ancestor_of_its_class(shared, method, rows):
    fill(shared, rows)
    shown = released(shared, method)
    classes = {}
    for row in shown:
        classes.setdefault(row[:3], []).append(rows[row[3]])
    assert min(map(len, classes.values())) >= 2
    for labels, members in classes.items():
        for at, name in enumerate(QUASI):
            assert labels[at] == expected(name, {row[at] for row in members})


@pytest.mark.slow
@BY_METHOD
@examples(4)
@given(rows=st.lists(ROW, min_size=3, max_size=30))
def test_both_formats_say_the_same_and_lose_what_a_plain_sum_says(shared, method, rows):
    fill(shared, rows)
    shown = released(shared, method)
    call = f"quasi := {QUASI}, hierarchy := 'h'"
    shared.execute(
        f"CREATE OR REPLACE TABLE v AS FROM {method}('t', k := 2, {call}, keep := ['rid'], format := 'typed')"
    )
    typed = shared.execute("FROM v ORDER BY rid").fetchall()
    total = 0.0
    for labels, values, (_, _, _, rid) in zip(shown, typed, shown, strict=True):
        for name, label, value, own in zip(QUASI, labels, values, rows[rid], strict=False):
            total += loss(name, label)
            assert label == "*" or (label is None) == (own is None)
            if label == "*":
                assert value is None
            elif label is None:
                assert value == ([] if name == "s" else {"min": None, "max": None})
            elif name == "s":
                below = [v for v in LEAVES["s"] if label in way("s", v)]
                assert value == sorted(below, key=str.encode)
                assert own in below
            else:
                below = [v for v in LEAVES[name] if label in way(name, v)]
                ends = [str(value["min"]), str(value["max"])]
                assert set(ends) <= set(below) | {"1999-12-31"}
                assert own in below
    shared.execute("CREATE OR REPLACE TABLE r (s VARCHAR, n VARCHAR, d VARCHAR, rid INTEGER)")
    insert(shared, "r", shown)
    for table in "rv":
        found = shared.execute(f"SELECT gcp('t', '{table}', {call})").fetchall()[0][0]
        assert found == pytest.approx(total / (3 * len(rows)))


@pytest.mark.oldest
def test_the_leaves_of_a_number_that_is_no_leaf_of_ranges(con):
    """'typed' gives the ends of a node, so its node must be a range."""
    con.execute("CREATE TABLE t AS SELECT i % 4 AS n, i AS rid FROM range(12) AS r(i)")
    odd = {str(i): ["even" if i % 2 == 0 else "odd", "*"] for i in range(4)}
    hierarchy(con, {"n": odd})
    call = "FROM basic_mondrian('t', k := 4, quasi := ['n'], keep := ['rid'], hierarchy := 'h'"
    assert {row[0] for row in con.execute(f"{call})").fetchall()} == {"even", "odd"}
    said = fails(con, f"{call}, format := 'typed')")
    assert said.startswith(
        "basic_mondrian: format := 'typed' needs a hierarchy whose nodes are ranges"
    )


@BY_METHOD
def test_a_leaf_that_the_column_cannot_hold_counts_as_a_leaf(con, method):
    con.execute("CREATE TABLE t AS SELECT 1 + i % 2 AS n, i AS rid FROM range(3) AS r(i)")
    hierarchy(con, {"n": {"1": ["low", "*"], "2": ["low", "*"], "n/a": ["low", "*"], "7": ["*"]}})
    con.execute(
        f"CREATE TABLE r AS FROM {method}('t', k := 2, quasi := ['n'], keep := ['rid'], hierarchy := 'h', suppressed := 'keep')"
    )
    assert set(con.execute("SELECT DISTINCT n FROM r").fetchall()) <= {("low",), ("*",)}
    if method != "datafly":
        assert con.execute("SELECT gcp('t', 'r', quasi := ['n'], hierarchy := 'h')").fetchall() == [
            (0.75,)
        ]


@BY_METHOD
def test_the_same_release_for_any_threads_and_order(con, method):
    hierarchy(con)
    rows = [
        tuple(
            None if i * 7 % 11 == at else list(LEAVES[name])[i * (at + 3) % len(LEAVES[name])]
            for at, name in enumerate(QUASI)
        )
        for i in range(200)
    ]
    fill(con, rows)
    wanted = Counter(released(con, method, k=5))
    for threads in (1, 2, 4):
        con.execute(f"SET threads = {threads}")
        assert Counter(released(con, method, k=5)) == wanted
    con.execute("CREATE OR REPLACE TABLE t AS FROM t ORDER BY rid DESC")
    con.execute("CREATE OR REPLACE TABLE h AS FROM h ORDER BY hash(value, label)")
    assert Counter(released(con, method, k=5)) == wanted


@BY_METHOD
def test_k_of_one_an_empty_table_and_a_k_too_large(con, method):
    hierarchy(con)
    fill(con, [("it's", 2, "2020-01-31"), (None, 40, None)])
    assert released(con, method, k=1) == [
        (r"'it\'s'", "2", "2020-01-31", 0),
        (None, "40", None, 1),
    ]
    said = fails(
        con, f"FROM {method}('t', k := 3, quasi := {QUASI}, keep := ['rid'], hierarchy := 'h')"
    )
    assert said == f"{method}: k must be at most the number of rows, 2, got k := 3"
    con.execute("DELETE FROM t")
    assert released(con, method) == []
