"""sdka: what holds of the real rows, what the synthetic ones are, and what is refused."""

import random
import sys
from collections import Counter, defaultdict

import pytest

from anon_sql.core import stopping
from anon_sql.errors import AnonError
from tests.inserting import insert
from tests.sentence import fails

pytest.importorskip("sklearn", reason="needs the extra ml")

CITIES = ["Accra", "Bonn", "Cape Town", "Delhi"]
ROLES = "quasi := ['age', 'city', 'born'], sensitive := 'ill', keep := ['rid', 'score']"
CALL = f"{ROLES}, generator := 'bootstrap'"


def made(rows=300, seed=0):
    """Rows: number, text and date with NULLs; one sensitive value in ten; a row id; a kept list."""
    pick = random.Random(seed)
    return [
        (
            pick.choice([None, *range(20, 60)]),
            pick.choice([None, *CITIES, *CITIES]),
            f"{pick.randrange(1950, 1955)}-0{pick.randrange(1, 9)}-11",
            "rare" if rid % 10 == 0 else pick.choice(["flu", "flu", "none"]),
            rid,
            [pick.randrange(9), None],
        )
        for rid in range(rows)
    ]


def fill(con, rows, name="t"):
    con.execute(
        f"CREATE OR REPLACE TABLE {name} "
        "(age INTEGER, city VARCHAR, born DATE, ill VARCHAR, rid INTEGER, score INTEGER[])"
    )
    if rows:
        insert(con, name, rows)


def release(con, k=5, more="", call=CALL):
    return con.execute(f"FROM sdka('t', k := {k}, {call}{more})").fetchall()


def added(con, k=5, more="", call=CALL):
    row = con.execute(f"FROM sdka_stats('t', k := {k}, {call}{more})").fetchall()[0]
    return row[1], {one["value"]: one["rows"] for one in row[2]}


def is_real(row, table):
    """A released row with the kept values and the sensitive value of a raw one, in its own class."""
    *_, ill, _, score = table[row[4]]
    return (row[3], row[5]) == (ill, score)


def holds(label, value, read=lambda text: text):
    """Whether a value lies in its label, by a reader of the test's own."""
    if label == "*" or label is None or value is None:
        return label == "*" or (label is None and value is None)
    if label.startswith("{"):
        return value in label.strip("{}").split(", ")
    low, _, high = label.strip("[]").partition(", ")
    return read(low) <= read(str(value)) <= read(high or low)


@pytest.mark.parametrize(
    ("k", "more"), [(2, ""), (5, ""), (12, ", l := 3"), (5, ", t := 0.4"), (5, ", l := 1")]
)
def test_k_l_and_truth_over_real_rows(con, k, more):
    table = made()
    fill(con, table)
    released = release(con, k, more)
    extra, by_value = added(con, k, more)
    counts = Counter(row[3] for row in table)
    wanted = -(-max(counts.values()) // 2)
    assert by_value == {v: wanted - n for v, n in counts.items() if n < wanted}
    assert len(released) == len(table) + extra
    assert Counter(row[3] for row in released) == counts + Counter(by_value)
    by_rid = defaultdict(list)
    for row in released:
        by_rid[row[4]].append(row)
    real = []
    for rid, rows in by_rid.items():
        age, city, born = table[rid][:3]
        mine = [
            row
            for row in rows
            if is_real(row, table)
            and holds(row[0], age, int)
            and holds(row[1], city)
            and holds(row[2], born)
        ]
        assert mine, rid
        real.append((rows, mine))
    sure = [mine[0] for rows, mine in real if len(mine) == 1]
    assert len(sure) > 200  # rows whose synthetic namesakes differ from them
    doubtful = Counter(row[:3] for _, mine in real if len(mine) > 1 for row in mine)
    classes = defaultdict(list)
    for row in sure:
        classes[row[:3]].append(row[3])
    for row in released:
        assert len(classes[row[:3]]) + doubtful[row[:3]] >= k


def test_every_label_is_of_a_class_of_k_real_rows(con):
    """Row ids are quasi-identifiers of nobody here: a synthetic row has those of real ones, so
    whatever is beyond the table's own rows is synthetic."""
    fill(con, made())
    con.execute("CREATE TABLE own AS SELECT age, city, born, ill FROM t")
    con.execute(
        "CREATE TABLE r AS FROM sdka('own', k := 6, quasi := ['age', 'city', 'born'], keep := ['*'], "
        "sensitive := 'ill', generator := 'bootstrap')"
    )
    extra = con.execute(
        "SELECT synthetic_rows, smallest_class, classes FROM sdka_stats('own', k := 6, "
        "quasi := ['age', 'city', 'born'], sensitive := 'ill', generator := 'bootstrap')"
    ).fetchall()[0]
    assert con.execute("SELECT count(*) FROM r").fetchall() == [(300 + extra[0],)]
    assert extra[1] >= 6
    found = con.execute(
        "SELECT count(*), min(n), min(d) FROM (SELECT count(*) AS n, count(DISTINCT ill) AS d "
        "FROM r GROUP BY age, city, born)"
    ).fetchall()[0]
    assert found[0] == extra[2]
    assert found[1] >= 6
    assert found[2] >= 2


def test_no_synthetic_row_equals_a_real_one(con):
    """The kept columns of a synthetic row are never those of one real row with all its values."""
    fill(con, made())
    mixed = con.execute(
        "SELECT * EXCLUDE (__anon_made), __anon_made FROM __anon_synthesized('sdka', 't', 5, "
        "__anon_scope('t', {'quasi': ['age', 'city', 'born'], 'sensitive': 'ill', "
        "'keep': ['rid', 'score'], 'l': 2}), "
        "{'format': 'label', 'suppressed': 'keep', 'seed': 42, 'l_kind': 'distinct', "
        "'c': 3, 'generator': 'bootstrap', 'epochs': 1, 'target_ratio': 2.0, "
        "'dominant': 0.9, 'numbers': 'range'}, true)"
    ).fetchall()
    real = [str(row[:-1]) for row in mixed if row[-1] == 0]
    synthetic = [str(row[:-1]) for row in mixed if row[-1] == 1]
    assert len(real) == 300
    assert len(synthetic) > 50
    assert not set(real) & set(synthetic)
    for at in range(6):  # every value is one that a real row has
        assert {str(row[at]) for row in mixed if row[-1]} <= {
            str(row[at]) for row in mixed if not row[-1]
        }


def test_the_same_release_for_the_same_seed(con):
    rows = made()
    fill(con, rows)
    wanted = Counter(map(str, release(con)))
    assert Counter(map(str, release(con, more=", seed := 7"))) != wanted
    random.Random(1).shuffle(rows)
    fill(con, rows)
    for threads in (1, 3):
        con.execute(f"SET threads = {threads}")
        assert Counter(map(str, release(con))) == wanted


def test_dominant_values_and_hierarchies(con):
    """A class shows the value that it agrees on where nine in ten rows of the table have it."""
    con.execute(
        "CREATE TABLE t AS SELECT if(i % 20 = 0, 'b', 'a') AS c, i % 4 AS n, "
        "['x', 'y', 'z'][1 + i % 3] AS s FROM range(400) AS r(i)"
    )
    con.execute(
        "CREATE TABLE h AS FROM (VALUES ('c', 'a', 1, 'A'), ('c', 'b', 1, 'B'), ('c', 'a', 2, '*'), "
        "('c', 'b', 2, '*')) AS r(attribute, value, level, label)"
    )
    call = "FROM sdka('t', k := 4, quasi := ['c', 'n'], keep := ['*'], sensitive := 's', hierarchy := 'h'"

    def shown(more=""):
        return set(con.execute(f"SELECT DISTINCT c FROM ({call}{more}))").fetchall())

    assert shown() == {("a",), ("B",)}
    assert shown(", dominant := 1") == {("A",), ("B",)}
    assert shown(", dominant := 0") == {("a",), ("b",)}
    typed = con.execute(
        f"SELECT DISTINCT c FROM ({call}, format := 'typed')) ORDER BY c"
    ).fetchall()
    assert typed == [(["a"],), (["b"],)]


def test_centres_are_values_of_the_class(con):
    table = made()
    fill(con, table)
    ranges, centres = release(con), release(con, more=", numbers := 'centre'")
    assert len(ranges) == len(centres)
    ages = {str(row[0]) for row in table}
    assert {row[0] for row in centres} - {"*", None} <= ages
    typed = release(con, more=", numbers := 'centre', format := 'typed'")
    assert all(row[0] is None or row[0]["min"] == row[0]["max"] for row in typed)


def test_audit_and_gcp(con):
    fill(con, made())
    con.execute(f"CREATE TABLE r AS FROM sdka('t', k := 5, {CALL})")
    extra = added(con)[0]
    rows = con.execute(
        f"SELECT property, passed FROM audit('t', 'r', 5, l := 2, synthetic := {extra}, "
        f"unique_share := 1, {ROLES})"
    ).fetchall()
    assert dict(rows)["rows"] is True
    assert not [name for name, passed in rows if passed is False]
    assert con.execute("SELECT gcp('t', 'r', quasi := ['age', 'city', 'born'])").fetchall() == [
        (None,)
    ]


def test_plain_k_means(con):
    """Without l and without records, the truth of every label and k are all that is asked."""
    fill(con, made())
    table = made()
    released = release(con, 7, ", l := 1, target_ratio := 1e9")
    assert sorted(row[4] for row in released) == list(range(300))
    assert min(Counter(row[:3] for row in released).values()) >= 7
    assert all(holds(row[0], table[row[4]][0], int) for row in released)


def test_persons_and_two_sensitive_columns(con):
    con.execute(
        "CREATE TABLE t AS SELECT i // 2 AS who, i * 7 % 31 AS age, if(i % 9 = 0, 'a', 'b') AS s, "
        "if(i % 8 = 0, NULL, i % 3) AS w, i % 50 AS kept FROM range(300) AS r(i)"
    )
    given = "quasi := 'age', sensitive := ['s', 'w'], entity := 'who', generator := 'bootstrap', keep := '*'"
    given = given.replace("'age'", "['age']")
    released = con.sql(f"FROM sdka('t', k := 4, {given})")
    assert released.columns == ["age", "s", "w", "kept"]
    assert len(released.fetchall()) > 300


def test_empty_tables_and_columns_of_our_names(con):
    fill(con, [])
    assert release(con) == []
    assert con.execute(f"FROM sdka_stats('t', {CALL})").fetchall()[0][:3] == (0, 0, [])
    odd = ["k", "tbl", "l", "at", "a b", 'a"b', "select", "positions", "made", "real"]
    columns = ", ".join(
        f'i % {at + 2} AS "{name.replace(chr(34), chr(34) * 2)}"' for at, name in enumerate(odd)
    )
    con.execute(f"CREATE TABLE o AS SELECT {columns}, if(i % 9 = 0, 1, 2) AS s FROM range(90) r(i)")
    found = con.sql(
        f"FROM sdka('o', k := 4, quasi := {odd[:5]}, keep := ['*'], sensitive := 's', generator := 'bootstrap')"
    )
    assert found.columns == [*odd, "s"]
    assert len(found.fetchall()) == 120


def test_a_column_without_a_role_is_refused_before_anything_is_made(con):
    fill(con, made())
    said = fails(con, "FROM sdka('t', quasi := ['age'], sensitive := 'ill')")
    assert said.startswith(
        "sdka: every column needs a role, got no role for city, born, rid, score"
    )


def test_nothing_to_add_needs_no_generator(con, monkeypatch):
    monkeypatch.setitem(sys.modules, "ctgan", None)
    fill(con, made())
    assert len(release(con, more=", target_ratio := 1e9", call=ROLES)) == 300
    assert fails(con, f"FROM sdka('t', {ROLES})") == (
        "sdka: generator := 'ctgan' needs the extra ctgan, got no package ctgan; "
        "pip install 'anon-sql[ctgan]', or use generator := 'bootstrap'"
    )


def test_the_missing_extra_is_one_sentence(con, monkeypatch):
    fill(con, made())
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    assert fails(con, f"FROM sdka('t', {CALL})") == (
        "sdka: k-means needs the extra ml, got no package threadpoolctl; pip install 'anon-sql[ml]'"
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("quasi := ['age'], keep := ['*'], l := 1", "synthetic records need a sensitive column"),
        ("quasi := ['age'], keep := ['rid']", "l and t need a sensitive column"),
        (f"{CALL}, target_ratio := 0.5", "target_ratio must be a number of at least 1, got 0.5"),
        (f"{CALL}, dominant := 2", "dominant must be a number of at least 0 and at most 1, got 2"),
        (f"{CALL}, numbers := 'mean'", "numbers must be one of 'range', 'centre', got 'mean'"),
        (f"{CALL}, epochs := 0", "epochs must be a whole number of at least 1, got 0"),
        (f"{ROLES}, generator := 'gan'", "generator must be one of 'ctgan', 'bootstrap', got"),
        (f"{CALL}, l := 4", "l must be at most what the whole table has in ill, 3 (distinct)"),
        (f"{CALL}, k := 301", "k must be at most the number of rows, 300, got k := 301"),
    ],
)
def test_what_is_refused(con, given, sentence):
    fill(con, made())
    assert fails(con, f"FROM sdka('t', {given})").startswith(f"sdka: {sentence}")


def test_ctrl_c_during_k_means(con, monkeypatch):
    fill(con, made())

    def stopped(function):
        raise AnonError(function, "stopped on request")

    monkeypatch.setattr("anon_sql.core.running.check", stopped)
    assert fails(con, f"FROM sdka('t', {CALL})") == "sdka: stopped on request"
    assert stopping.check("sdka") is None


@pytest.mark.slow
def test_the_real_ctgan(con):
    pytest.importorskip("ctgan", reason="needs the extra ctgan")
    fill(con, made())
    released = con.execute(f"FROM sdka('t', k := 5, {ROLES}, epochs := 1)").fetchall()
    assert len(released) > 300
