"""DOP: what the paper promises, on made and on real data; the paper's own cells."""

import numpy as np
import pytest

from anon_sql.core.running import Workers
from anon_sql.methods.dop import Dop, cut, dop
from anon_sql.methods.legal_classes import merge_until_legal
from anon_sql.methods.method import Call
from anon_sql.methods.searching import total_loss
from anon_sql.privacy.constraint import Constraint, Sensitive, constraint
from anon_sql.privacy.l_diversity import LDiversity
from tests.conftest import QUASI
from tests.oracles import sizes, table_of
from tests.sentence import fails

OPTIONS = {"eps": None, "min_samples": None, "loss": "lil", "noise": "class"}
CELLS = {  # file, quasi-identifiers and sensitive column as the paper has them
    "bank": ("bank", ["age", "job", "marital", "education", "balance"], "y"),
    "heart": ("heart_cleveland", ["cp", "trestbps", "chol"], "target"),
    "student": ("student_por", ["age", "Medu", "Fedu", "traveltime", "studytime"], "G3"),
}


def call(rule, function="dop", **options):
    return Call(function, rule, 42, Workers(function, 1), Dop(**{**OPTIONS, **options}))


def read(con, folder, name):
    """A table of the paper as ``t``; cp is a category there and an integer in the file."""
    file, quasi, sensitive = CELLS[name]
    columns = [column if column != "cp" else "cp::VARCHAR AS cp" for column in quasi]
    con.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT {', '.join(columns)}, {sensitive} "
        f"FROM '{folder}/{file}.parquet'"
    )
    return quasi, sensitive


def ncp(con, method, name, k, l, **options):  # noqa: E741
    _, quasi, sensitive = CELLS[name]
    given = "".join(f", {option} := '{value}'" for option, value in options.items())
    con.execute(
        f"CREATE OR REPLACE TABLE r AS FROM {method}('t', k := {k}, l := {l}, quasi := {quasi}, "
        f"sensitive := '{sensitive}'{given})"
    )
    assert min(sizes(con, "r", quasi)) >= k
    diverse = con.execute(f"SELECT l_diversity('t', 'r', '{sensitive}', quasi := {quasi})")
    assert diverse.fetchall()[0][0] >= l
    return con.execute(f"SELECT gcp('t', 'r', ncp := 'dop', quasi := {quasi})").fetchall()[0][0]


@pytest.mark.slow
@pytest.mark.parametrize("name", CELLS)
def test_the_papers_cells(con, shared_data, name):
    read(con, shared_data, name)
    for loss in ("lil", "ncp"):
        assert ncp(con, "dop", name, 1, 1, loss=loss) == 0
    for k in (2, 5, 10):
        by_numbers = ncp(con, "dop", name, k, 2)
        by_all = ncp(con, "dop", name, k, 2, loss="ncp")
        assert by_all < by_numbers
        for columns in ("any", "widest"):
            assert by_all < ncp(con, "mondrian", name, k, 2, columns=columns)


def test_adult_satisfies_k_and_loses_less_than_mondrian(adult):
    adult.execute("DELETE FROM adult WHERE rowid >= 2_000")
    adult.execute("CREATE TABLE r AS FROM dop('adult', k := 10, loss := 'ncp')")
    found = sizes(adult, "r", QUASI)
    assert min(found) >= 10
    assert sum(found) == 2_000
    adult.execute("CREATE TABLE m AS FROM mondrian('adult', k := 10)")
    lost = adult.execute("SELECT gcp('adult', 'r'), gcp('adult', 'm')").fetchall()[0]
    assert lost[0] < lost[1]


def lost(table, classes, rule):
    merged = merge_until_legal(table, classes, rule, Workers("test", 1))
    return total_loss(table, merged, Workers("test", 1))


def flags(seed=0, rows=200):
    """Rows in the plane, and a rare word that lies apart."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 40, (rows, 2)) / 39
    codes = ((points[:, 0] < 0.2) & (rng.random(rows) < 0.8)).astype(np.int32)
    return table_of(points), constraint(
        3, [Sensitive("w", codes, 2, False)], None, [LDiversity(l=2)]
    )


@pytest.mark.parametrize("loss", ["lil", "ncp"])
def test_the_cheaper_of_two_ways_is_kept(loss):
    """Asking before each cut and merging after it: what is kept loses no more than either."""
    for seed in range(3):
        table, rule = flags(seed)
        asked = call(rule, loss=loss, noise="split")
        kept = lost(table, dop(table, asked).classes, rule)
        one, none = np.zeros(table.rows, np.int32), np.zeros(table.rows, np.bool_)
        ways = [cut(table, asked, one, none, all_rules=way)[0] for way in (True, False)]
        assert kept <= min(lost(table, way, rule) for way in ways) + 1e-9


def test_noise_is_one_class_or_cut_or_left_out(con):
    """Two dense squares, and eight rows far from them and from each other."""
    con.execute(
        "CREATE TABLE t AS SELECT i AS rid, (i % 2) * 1000 + i % 20 AS x, (i % 2) * 1000 + i % 13 AS y "
        "FROM range(100) AS r(i) UNION ALL SELECT 100 + i, 300 + 40 * i, 900 - 75 * i FROM range(8) AS r(i)"
    )
    text = (
        "FROM {}('t', k := 4, quasi := ['x', 'y'], keep := 'rid', eps := 0.03, min_samples := 4{})"
    )

    def outside(more, far=100):
        rows = con.execute(text.format("dop", more)).fetchall()
        return len(rows), len({row[1:] for row in rows if row[0] >= far})

    stats = con.sql(text.format("dop_stats", ""))
    assert stats.select("eps, min_samples, clusters, noise, joined").fetchall() == [
        (0.03, 4, 2, 8, 0)
    ]
    assert outside("") == (108, 1)
    assert outside(", noise := 'split'") == (108, 2)
    con.execute("DELETE FROM t WHERE rid >= 103")
    assert outside(", noise := 'suppress', suppressed := 'drop'") == (100, 0)
    assert outside(", noise := 'suppress'")[0] == 103  # three rows cannot be shown together
    assert outside("")[0] == 103


def test_text_alone_and_rows_all_equal(con):
    con.execute(
        "CREATE TABLE t AS SELECT 'v' || i % 6 AS a, 'w' || i % 5 AS b FROM range(90) AS r(i)"
    )
    for loss in ("lil", "ncp"):
        con.execute(
            f"CREATE OR REPLACE TABLE r AS FROM dop('t', k := 3, quasi := ['a', 'b'], loss := '{loss}')"
        )
        assert sizes(con, "r", ["a", "b"]) == [3] * 30
    con.execute("CREATE TABLE same AS SELECT 1 AS a FROM range(20)")
    assert con.execute("FROM dop('same', k := 4, quasi := ['a'])").fetchall() == [("1",)] * 20


def test_a_table_below_two_classes_is_one(con):
    con.execute("CREATE TABLE t AS SELECT i AS a FROM range(7) AS r(i)")
    assert set(con.execute("FROM dop('t', k := 4, quasi := ['a'])").fetchall()) == {("[0, 6]",)}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("eps := 0", "eps must be a number above 0, got 0"),
        ("eps := 'far'", "eps must be a number above 0, got a VARCHAR"),
        ("min_samples := 0", "min_samples must be a whole number of at least 1, got 0"),
        ("min_samples := 2.5", "min_samples must be a whole number of at least 1, got 2.5"),
        ("loss := 'gcp'", "loss must be one of 'lil', 'ncp', got 'gcp'"),
        ("noise := NULL", "noise must be one of 'class', 'split', 'suppress', got NULL"),
    ],
)
def test_options_that_cannot_be(people, given, message):
    assert fails(people, f"FROM dop('people', {given})").startswith(f"dop: {message}")


def test_no_cut_needs_a_constraint_but_k():
    table = table_of(np.arange(12)[:, None] / 11)
    assert sorted(np.bincount(dop(table, call(Constraint(5))).classes)) == [5, 7]
