"""suppressed := 'drop' leaves out the rows that a parameter asks for, and never a whole table.

Rows return to classes where the release could not satisfy k, l and t without them.

What is left out is counted in plain SQL: the rows of the table less those of the release.
"""

from collections import Counter

import duckdb
import pytest

from anon_sql import datasets
from anon_sql.methods.method import release_methods
from tests.conftest import QUASI
from tests.sentence import fails

METHODS = sorted(release_methods())
LIMITED = ("anonymize", "datafly", "full_domain")
OF_METHOD = {"datafly": ["c"], "canon": ["n"]}  # the one needs a hierarchy, the other takes none
MORE = {"sdka": ", generator := 'bootstrap', l := 1", "anonymize": ", effort := 'fast'"}


def stars(quasi):
    """The condition that a row of a release is * in every quasi-identifier."""
    return " AND ".join(f"{name} = '*'" for name in quasi)


def of(method, k, mode, more="", quasi=None):
    """A call of a release function, and its quasi-identifiers; all other columns are identifiers."""
    quasi = quasi or OF_METHOD.get(method, ["c", "n"])
    others = sorted({"c", "n"} - {*quasi})
    tree = ", hierarchy := 'tree'" if "c" in quasi else ""
    call = (
        f"{method}('t', k := {k}, quasi := {quasi}, sensitive := ['s'], identifiers := {others}, "
        f"suppressed := '{mode}'{tree}{MORE.get(method, '')}{more})"
    )
    return call, quasi


@pytest.fixture
def made(con):
    """Text whose root is *, a number that is NULL in places, and a sensitive value."""
    con.execute(
        "CREATE TABLE t AS SELECT chr(97 + (i * i % 12)::INT) AS c, "
        "if(i % 10 = 0, NULL, i * 7919 % 50) AS n, i % 3 AS s FROM range(60) AS r(i)"
    )
    con.execute(
        "CREATE TABLE tree AS SELECT 'c' AS attribute, chr(97 + v::INT) AS value, l AS level, "
        "[chr(97 + v::INT), if(v < 8, 'low', 'high'), '*'][1 + l] AS label "
        "FROM range(12) AS a(v), (SELECT unnest([0, 1, 2])::INTEGER AS l)"
    )
    return con


def need(method):
    if method == "sdka":
        pytest.importorskip("sklearn", reason="needs the extra ml")


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_no_table_is_emptied_because_its_only_class_is_starred(made, method):
    """By the root of a hierarchy, or by NULL beside values."""
    need(method)
    for quasi in [OF_METHOD[method]] if method in OF_METHOD else [["c"], ["n"], ["c", "n"]]:
        call, _ = of(method, 60, "keep", quasi=quasi)
        shown = made.execute(f"SELECT count(*), count_if({stars(quasi)}) FROM {call}").fetchall()
        assert shown == [(60, 60)]
        said = fails(made, f"FROM {of(method, 60, 'drop', quasi=quasi)[0]}")
        assert said.startswith(f"{method}: ")
        assert "suppressed := 'keep'" in said
        if method not in LIMITED:
            assert "may leave out no row, got 60 that are * in every quasi-identifier" in said


@pytest.mark.slow
@pytest.mark.parametrize("share", [None, 0, 0.1, 0.4, 1])
@pytest.mark.parametrize("method", METHODS)
def test_no_more_rows_are_left_out_than_may_be(made, method, share):
    need(method)
    if share is not None and method not in LIMITED:
        return
    more = "" if share is None else f", suppression_limit := {share}"
    for k in (2, 25):
        most = int(share * 60) if share is not None else k if method == "datafly" else 0
        kept, quasi = of(method, k, "keep", more)
        query = f"SELECT count(*), count_if({stars(quasi)}) FROM {kept}"
        rows, starred = made.execute(query).fetchall()[0]
        assert rows == 60 or method == "sdka"
        dropped, _ = of(method, k, "drop", more)
        try:
            made.execute(f"CREATE OR REPLACE TABLE r AS FROM {dropped}")
        except duckdb.Error:
            assert "suppressed := 'keep'" in fails(made, f"FROM {dropped}")
            assert starred > most or starred == 60
            continue
        (shown, still) = made.execute(
            f"SELECT count(*), count_if({stars(quasi)}) FROM r"
        ).fetchone()
        left = rows - shown
        assert left <= most
        assert shown > 0
        assert still == 0
        if method in LIMITED:  # to be shown, suppressed rows need company
            tree = ", hierarchy := 'tree'" if "c" in quasi else ""
            counted = f"SELECT suppressed FROM utility('t', 'r', quasi := {quasi}{tree})"
            assert made.execute(counted).fetchall() == [(left,)]
        else:
            assert (left, starred) == (0, 0)


def test_what_is_dropped_where_a_limit_allows_it_is_what_a_class_shows_as_stars(made):
    """The rows of one class are * by themselves: left out within the limit, refused beyond it."""
    made.execute("CREATE OR REPLACE TABLE t AS SELECT if(i < 50, 'a', chr((97 + i - 48)::INT)) AS c, i % 2 AS s "
                 "FROM range(60) AS r(i)")  # fmt: skip
    made.execute("UPDATE t SET c = 'l' WHERE c IN ('c', 'd')")
    call = (
        "('t', k := 10, quasi := ['c'], sensitive := ['s'], hierarchy := 'tree', "
        "suppressed := 'drop', suppression_limit := {})"
    )
    assert made.execute(f"SELECT c, count(*) FROM anonymize{call.format(0.2)} GROUP BY c").fetchall() == [("a", 50)]  # fmt: skip
    stats = "SELECT allowed, suppressed, suppression_rate, gcp, gcp_of_rest, reason FROM "
    assert made.execute(f"{stats} anonymize_stats{call.format(0.2)}").fetchall() == [
        (12, 10, 10 / 60, 10 / 60, 0.0, "their class is * in every quasi-identifier")
    ]
    for function in ("anonymize", "anonymize_stats"):
        assert fails(made, f"FROM {function}{call.format(0.16)}") == (
            "anonymize: suppressed := 'drop' may leave out at most 9 rows, got 10 that are * in "
            "every quasi-identifier; raise suppression_limit, or suppressed := 'keep' shows them"
        )


@pytest.mark.parametrize("mode", ["keep", "drop"])
@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("rayden", ", unrecovered := 'suppress', threshold := 1.6"),
        ("mondrian_cof", ", unrecovered := 'suppress', threshold := 1.6"),
        ("dop", ", noise := 'suppress', eps := 0.05"),
    ],
)
def test_statistics_count_the_rows_that_the_release_suppresses(con, method, more, mode):
    con.execute(
        "CREATE TABLE t AS SELECT i % 9 AS c, i % 7 AS n, i % 3 AS s FROM range(200) AS r(i) "
        "UNION ALL SELECT 400 + i * i * 50, 400 - i * 37, i FROM range(12) AS r(i)"
    )
    con.execute("INSERT INTO t SELECT NULL, NULL, i FROM range(3) AS r(i)")
    some = 0
    for k in (3, 20, 40):
        given = f"('t', k := {k}, quasi := ['c', 'n'], sensitive := ['s'], suppressed := '{mode}'{more})"
        try:
            con.execute(f"CREATE OR REPLACE TABLE r AS FROM {method}{given}")
        except duckdb.Error:
            assert mode == "drop"
            said = fails(con, f"FROM {method}{given}")
            assert said == fails(con, f"FROM {method}_stats{given}")
            continue
        starred = stars(["c", "n"])
        shown, still = con.execute(f"SELECT count(*), count_if({starred}) FROM r").fetchall()[0]
        assert (still if mode == "drop" else 215 - shown) == 0
        counted = "SELECT suppressed, suppression_rate FROM {}"
        wanted = [(215 - shown + still, (215 - shown + still) / 215)]
        assert con.execute(counted.format(f"{method}_stats{given}")).fetchall() == wanted
        utility = "utility('t', 'r', quasi := ['c', 'n'])"
        assert con.execute(counted.format(utility)).fetchall() == wanted
        some += wanted[0][0]
    assert some


@pytest.mark.parametrize("mode", ["keep", "drop"])
def test_statistics_of_anonymize_count_the_rows_that_it_suppresses(con, mode):
    datasets.adult(con, 3000, table="t", roles=False)
    given = (
        f"('t', k := 80, quasi := {QUASI}, sensitive := ['income'], keep := ['*'], effort := 'fast', "
        f"suppression_limit := 0.1, suppressed := '{mode}')"
    )
    con.execute(f"CREATE TABLE r AS FROM anonymize{given}")
    left = 3000 - con.table("r").shape[0]
    assert (left > 0) == (mode == "drop")
    (counted,) = con.execute(f"SELECT suppressed FROM anonymize_stats{given}").fetchall()[0]
    assert con.execute(
        f"SELECT suppressed FROM utility('t', 'r', quasi := {QUASI})"
    ).fetchall() == [(counted,)]
    assert left in (0, counted)
    assert 0 < counted <= 300


CLASSED = """
    CREATE TABLE t AS SELECT if(i < 30, i, if(i % 2 = 0, NULL, i)) AS n,
        if(i < {null}, NULL, i // 10) AS class_id FROM range(40) AS r(i)
"""
GENERALIZE = "generalize('t', k := 5, quasi := ['n'], suppressed := '{}'{})"


def test_generalize_leaves_out_rows_whose_class_is_null_and_no_others(con):
    con.execute(CLASSED.format(null=10))
    shown = con.execute(f"SELECT n, count(*) FROM {GENERALIZE.format('keep', '')} GROUP BY n")
    assert dict(shown.fetchall())["*"] == 20  # of them 10 that are in a class with NULL
    assert fails(con, f"FROM {GENERALIZE.format('drop', '')}") == (
        "generalize: suppressed := 'drop' may leave out at most 10 rows, got 20 that are * in every "
        "quasi-identifier; suppressed := 'keep' shows them"
    )
    con.execute("UPDATE t SET n = 7 WHERE n IS NULL")
    rows = con.execute(f"SELECT count(*) FROM {GENERALIZE.format('drop', '')}").fetchall()
    assert rows == [(30,)]


@pytest.mark.parametrize("form", ["mean", "median", "midpoint", "typed"])
def test_a_row_of_null_in_a_shape_without_stars_is_left_out_only_if_asked_for(con, form):
    """A class that has a NULL shows NULL as its mean, as a suppressed row does."""
    con.execute(CLASSED.format(null=10))
    said = fails(con, f"FROM {GENERALIZE.format('drop', f', format := {form!r}')}")
    assert "may leave out at most 10 rows, got 20" in said
    con.execute("UPDATE t SET n = NULL WHERE class_id = 3")
    call = GENERALIZE.format("drop", f", format := '{form}'")
    if form == "typed":  # a class of NULL alone shows that it is
        assert con.execute(f"SELECT count(*) FROM {call}").fetchall() == [(30,)]
    else:
        assert "may leave out at most 10 rows, got 20" in fails(con, f"FROM {call}")
    con.execute("UPDATE t SET n = 1 WHERE class_id = 3")
    assert con.execute(f"SELECT count(*), count(n) FROM {call}").fetchall() == [(30, 30)]


def test_a_release_of_a_table_with_rows_is_never_empty(con, made):
    con.execute("CREATE TABLE few AS SELECT chr(97 + i::INT) AS c FROM range(6) AS r(i)")
    roles = "quasi := ['c'], hierarchy := 'tree', suppressed := 'drop'"
    empty = "a release must have a row of the table that is not suppressed"
    said = fails(con, f"FROM datafly('few', k := 6, {roles})")
    assert said == f"datafly: {empty}; suppressed := 'keep' shows them"
    height = f"full_domain('few', k := 2, {roles}, suppression_limit := 1, minimize := 'height')"
    assert con.execute(f"SELECT c, count(*) FROM {height} GROUP BY c").fetchall() == [("low", 6)]
    con.execute("CREATE TABLE none AS SELECT i AS n, NULL::INT AS class_id FROM range(6) AS r(i)")
    call = "generalize('none', k := 2, quasi := ['n'], suppressed := 'drop')"
    assert empty in fails(con, f"FROM {call}")
    con.execute("DELETE FROM none")
    assert con.execute(f"FROM {call}").fetchall() == []


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_table_has_an_empty_release(made, method):
    need(method)
    made.execute("DELETE FROM t")
    call, _ = of(method, 5, "drop")
    assert made.execute(f"FROM {call}").fetchall() == []


def test_strata_count_as_quasi_identifiers_that_a_row_shows(made):
    """A row that shows its stratum is not suppressed, though all else of it is *."""
    roles = "quasi := ['c', 'n'], strata := ['n'], hierarchy := 'tree', suppressed := '{}'"
    made.execute("CREATE OR REPLACE TABLE t AS SELECT chr((97 + i % 12)::INT) AS c, i % 2 AS n FROM range(60) AS r(i)")  # fmt: skip
    for method in ("anonymize", "mondrian", "full_domain", "datafly"):
        call = f"{method}('t', k := 30, {roles.format('drop')})"
        if method == "datafly":
            call = f"{method}('t', k := 30, {roles.format('drop')}, suppression_limit := 0)"
            made.execute("INSERT INTO tree SELECT 'n', n, l, ['0', '*'][1 + l] FROM "
                         "(VALUES ('0'), ('1')) AS a(n), (SELECT unnest([0, 1])::INTEGER AS l)")  # fmt: skip
            made.execute("UPDATE tree SET label = value WHERE attribute = 'n' AND level = 0")
        found = made.execute(
            f"SELECT c, n::VARCHAR, count(*) FROM {call} GROUP BY ALL ORDER BY ALL"
        )
        assert found.fetchall() == [("*", "0", 30), ("*", "1", 30)]


def test_the_k_rows_of_datafly_are_those_of_the_table_not_of_each_stratum(made):
    """Strata share them by their sizes."""
    made.execute("CREATE OR REPLACE TABLE t AS SELECT if(i < 54, 'a', chr((98 + i % 7)::INT)) AS c, i % 2 AS n FROM range(60) AS r(i)")  # fmt: skip
    made.execute("INSERT INTO tree SELECT 'n', n, l, if(l = 0, n, '*') FROM "
                 "(VALUES ('0'), ('1')) AS a(n), (SELECT unnest([0, 1])::INTEGER AS l)")  # fmt: skip
    roles = "quasi := ['c', 'n'], hierarchy := 'tree', strata := ['n'], suppressed := 'drop'"
    for k in (4, 5, 6):
        (rows,) = made.execute(f"SELECT count(*) FROM datafly('t', k := {k}, {roles})").fetchone()
        assert 60 - k <= rows


@pytest.fixture
def big(con):
    con.execute("CREATE TABLE big AS SELECT (i*7919)%1009 a, (i*31)%17 b FROM range(500) t(i)")
    return con


@pytest.mark.parametrize("suppressed", ["keep", "drop"])
@pytest.mark.parametrize("method", ["rayden", "mondrian_cof"])
def test_too_few_rows_left_for_k(big, method, suppressed):
    """Without its outliers the table has fewer than 400 rows."""
    released = big.execute(
        f"FROM {method}('big', k := 400, quasi := ['a', 'b'], alpha := 0.5, repair := 'merge', "
        f"unrecovered := 'suppress', suppressed := '{suppressed}')"
    ).fetchall()
    assert Counter(released) == {("[0, 1006]", "[0, 16]"): 500}


def test_too_few_values_left_for_t(con):
    """The classes could be near the table's distribution only together with every outlier."""
    con.execute("CREATE TABLE few AS SELECT (i*i)%23 a, (i*31)%17 b, i%3 s FROM range(24) t(i)")
    released = con.execute(
        "FROM rayden('few', k := 19, quasi := ['a', 'b'], sensitive := 's', t := 0.0, alpha := 0.2, "
        "tries := 1, repair := 'merge', unrecovered := 'suppress', suppressed := 'drop')"
    ).fetchall()
    assert Counter(row[:2] for row in released) == {("[0, 18]", "[0, 16]"): 24}


def test_noise_that_leaves_too_few_rows(con):
    """DBSCAN finds 4 rows of a cluster and 20 of noise, which alone would be legal."""
    con.execute("CREATE TABLE few AS SELECT if(i < 4, 0, i*i)::INTEGER a FROM range(24) t(i)")
    released = con.execute(
        "FROM dop('few', k := 12, quasi := ['a'], eps := 0.001, min_samples := 4)"
    ).fetchall()
    assert sorted(Counter(released).values()) == [12, 12]
