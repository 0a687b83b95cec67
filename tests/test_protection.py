"""l, t and persons in every release function, judged by the released rows alone."""

import random
from collections import Counter, defaultdict

import pytest

from anon_sql.hosts.duckdb.sql_files import sql_files
from tests.inserting import insert
from tests.kernels.legal import legal
from tests.oracles import adds_rows

NEED_HIERARCHIES = {"datafly"}
METHODS = [
    file.name
    for file in sql_files()
    if file.folder == "release" and file.name not in NEED_HIERARCHIES and not adds_rows(file.name)
]
ASKED = {
    "distinct": {"l": 2},
    "three": {"l": 3, "k": 2},
    "entropy": {"l": 1.7, "kind": "entropy"},
    "recursive": {"l": 2, "kind": "recursive", "c": 2.0},
    "near": {"t": 0.25},
    "both": {"l": 2, "t": 0.4},
    "likeness": {"beta": 0.5},
    "basic likeness": {"beta": 1.2, "beta_kind": "basic"},
    "disclosure": {"delta": 1.5, "l": 2},
    "shares": {"max_share": 0.7},
    "persons": {"persons": True},
    "persons near": {"persons": True, "l": 2, "t": 0.4},
}


def fill(con, rows=150, seed=0, nulls=True):
    """Two numbers, a sensitive number and text, and whose each row is."""
    pick = random.Random(seed)
    none = [None] if nulls else []
    table = [
        (
            pick.choice([*none, *range(9)]),
            pick.choice([0.5, 1.25, -3.0, 100.0, 7.75]),
            pick.choice([1, 2, 3, 5, 8, *none]),
            pick.choice(["a", "a", "a", "b", "c", *none]),
            pick.randrange(rows // 3),
            rid,
        )
        for rid in range(rows)
    ]
    con.execute(
        "CREATE OR REPLACE TABLE t (n INTEGER, x DOUBLE, s INTEGER, w VARCHAR, p INTEGER, rid INTEGER)"
    )
    insert(con, "t", table)
    return table


def call(method, how, table="t", **more):
    how = dict(how)
    given = {
        "quasi": ["n", "x"],
        "sensitive": ["s", "w"],
        "keep": ["rid"],
        **({"l": how["l"]} if "l" in how else {}),
        **({"l_kind": how["kind"]} if "kind" in how else {}),
        **({"c": how["c"]} if "c" in how else {}),
        **{
            name: how[name]
            for name in ("t", "beta", "delta", "beta_kind", "max_share")
            if name in how
        },
        **({"entity": "p"} if how.get("persons") else {"identifiers": ["p"]}),
        **more,
    }
    arguments = ", ".join(f"{name} := {value!r}" for name, value in given.items())
    return f"FROM {method}('{table}', k := {how.get('k', 3)}, {arguments})"


def definition(how):
    return {"k": 3, "l": 1, "kind": "distinct", "c": 3.0, "t": 1.0, "persons": False, **how}


def classes(released, table):
    """The raw rows of each class of labels: (number, text, person)."""
    found = defaultdict(list)
    for row in released:
        _, _, number, text, person, _ = table[row[-1]]
        found[row[:2]].append((number, text, person))
    return list(found.values())


PAIRS = [
    (method, asked, (m + a) % 4 == 0)
    for m, method in enumerate(METHODS)
    for a, asked in enumerate(ASKED)
    if (m + a) % 2 == 0
]


@pytest.mark.parametrize(("method", "asked", "nulls"), PAIRS)
def test_every_class_of_labels_is_legal(con, method, asked, nulls):
    """Every method with half of what can be asked for, and each of that with half of the methods."""
    table = fill(con, nulls=nulls)
    how = definition(ASKED[asked])
    released = con.execute(call(method, ASKED[asked])).fetchall()
    assert Counter(row[-1] for row in released) == Counter(range(len(table)))
    whole = [row[2:5] for row in table]
    assert all(legal(rows, whole, how) for rows in classes(released, table))


@pytest.mark.parametrize("method", METHODS)
def test_persons_are_dropped_from_the_release(con, method):
    fill(con)
    columns = con.sql(call(method, {"persons": True})).columns
    assert columns == ["n", "x", "s", "w", "rid"]


def test_full_domain_generalization_keeps_l_and_t(con):
    table = fill(con, nulls=False)
    con.execute(
        "CREATE TABLE h AS FROM numeric_hierarchy('t', 'n', [3, 9]) "
        "UNION ALL FROM numeric_hierarchy('t', 'x', [10, 200])"
    )
    for how in ({"l": 2}, {"t": 0.3}, {"l": 2, "t": 0.4, "persons": True}):
        for suppressed in ("keep", "drop"):
            text = call("datafly", how, hierarchy="h", suppressed=suppressed)
            released = con.execute(text).fetchall()
            whole = [row[2:5] for row in table]
            assert released
            assert all(legal(rows, whole, definition(how)) for rows in classes(released, table))


def test_suppressed_rows_are_a_legal_class_or_none(con):
    table = fill(con, rows=300)
    whole = [row[2:5] for row in table]
    for seed in range(4):
        text = call("rayden", {"l": 2, "t": 0.4}, unrecovered="suppress", alpha=1.0, seed=seed)
        released = con.execute(text).fetchall()
        how = definition({"l": 2, "t": 0.4})
        assert len(released) == len(table)
        assert all(legal(rows, whole, how) for rows in classes(released, table))


def test_given_classes_must_be_legal(con):
    fill(con, nulls=False)
    made = "SELECT *, rid % 2 AS class_id FROM t"
    con.execute(f"CREATE TABLE fine AS {made}")
    assert len(con.execute(call("generalize", {"l": 2}, "fine")).fetchall()) == 150
    con.execute("CREATE TABLE flat AS SELECT * REPLACE (if(class_id = 1, 'a', w) AS w) FROM fine")
    with pytest.raises(
        Exception, match="generalize: every class must satisfy k, l and t, got 1 that does not"
    ):
        con.execute(call("generalize", {"l": 2}, "flat")).fetchall()


def test_the_same_release_for_the_same_rows(con):
    table = fill(con)
    wanted = Counter(con.execute(call("anonymize", ASKED["both"])).fetchall())
    random.Random(1).shuffle(table)
    con.execute("DELETE FROM t")
    insert(con, "t", table)
    for threads in (1, 3):
        con.execute(f"SET threads = {threads}")
        assert Counter(con.execute(call("anonymize", ASKED["both"])).fetchall()) == wanted


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            "l := 4, sensitive := 'w'",
            "l must be at most what the whole table has in w, 3 (distinct), got l := 4",
        ),
        (
            "l := 3, l_kind := 'entropy', sensitive := 'w'",
            "l must be at most what the whole table has in w, 2.",
        ),
        (
            "l := 2, c := 0.5, l_kind := 'recursive', sensitive := 'w'",
            "in w, 0 (recursive), got l := 2",
        ),
        ("l := 2", "l and t need a sensitive column"),
        ("t := 0.5", "l and t need a sensitive column"),
        ("beta := 0.5", "beta and delta need a sensitive column"),
        ("delta := 0, sensitive := 'w'", "delta must be a number above 0, got 0"),
        ("beta := true, sensitive := 'w'", "beta must be a number above 0, got a BOOLEAN"),
        (
            "l := 2.5, sensitive := 'w'",
            "l must be a whole number where l_kind is 'distinct', got 2.5",
        ),
        ("l := 'two', sensitive := 'w'", "l must be a number of at least 1, got a VARCHAR"),
        ("l := NULL", "l must be a number of at least 1, got NULL"),
        ("l := true, sensitive := 'w'", "l must be a number of at least 1, got a BOOLEAN"),
        ("t := 1.5", "t must be a number of at least 0 and at most 1, got 1.5"),
        ("c := 0", "c must be a number above 0, got 0"),
        ("l_kind := 'distinkt'", "did you mean distinct?"),
        ("entity := 'q'", "entity must name a column of the table, got 'q'; choose from n, x"),
        ("entity := 'n'", "a column has one role, got n as identifier and as quasi"),
        ("entity := 7", "entity must name a column of the table, got int"),
        ("k := 51, entity := 'p', sensitive := 'w'", "k must be at most the number of entities, 4"),
    ],
)
def test_what_cannot_be_is_one_sentence(con, asked, message):
    fill(con, nulls=False)
    k = "" if asked.startswith("k") else "k := 3, "
    with pytest.raises(Exception, match=r"anonymize: ") as caught:
        con.execute(
            f"FROM anonymize('t', {k}quasi := ['n', 'x'], keep := ['rid', '*'], {asked})"
        ).fetchall()
    assert message in str(caught.value)


def test_declared_columns_are_protected(con):
    fill(con, nulls=False)
    for column, tag in (
        ("n", "quasi"),
        ("x", "quasi"),
        ("w", "sensitive"),
        ("p", "identifier"),
        ("rid", "keep"),
    ):
        con.execute(f"COMMENT ON COLUMN t.{column} IS 'anon:{tag}'")
    released = con.execute(
        "FROM anonymize('t', k := 3, l := 2, entity := 'P', keep := '*')"
    ).fetchall()
    groups = defaultdict(set)
    for row in released:
        groups[row[:2]].add(row[3])
    assert min(map(len, groups.values())) >= 2


def test_a_hierarchy_of_a_sensitive_column_is_no_licence(con):
    """t holds by the distance of any kind that a measure may take."""
    fill(con, nulls=False)
    con.execute("CREATE TABLE h AS FROM numeric_hierarchy('t', 's', [4, 12])")
    con.execute(f"CREATE TABLE r AS {call('anonymize', {'t': 0.3}, hierarchy='h')}")
    for hierarchy in ("NULL", "'h'"):
        t = con.execute(
            f"SELECT t_closeness('t', 'r', ['s', 'w'], quasi := ['n', 'x'], hierarchy := {hierarchy})"
        ).fetchall()[0][0]
        assert t <= 0.3 + 1e-9
