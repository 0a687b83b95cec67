"""like: a table recoded by the bins of an earlier release of full_domain or datafly."""

from collections import Counter, defaultdict

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import anon_sql
from tests.drawing import examples
from tests.inserting import insert
from tests.sentence import fails
from tests.test_hierarchical import PATHS, QUASI, ROW, hierarchy, way

TYPES = """
    SELECT (i * 37 % 90 - 20)::INTEGER AS a, (i * 31 % 70) / 8 AS b,
        (i * 7 % 300 / 4)::DECIMAL(9, 2) AS c, DATE '2000-02-28' + (i * 11 % 3000)::INTEGER AS d,
        TIMESTAMPTZ '2020-01-01' + to_hours(i * 13 % 5000) AS e, TIME '10:00' + to_minutes(i % 200)
        AS f, [NULL, 'x', 'it''s, {a}', '*', ''][1 + i % 5] AS g, i % 2 = 0 AS "like", i AS rid
    FROM range(400) AS r(i)
"""


@pytest.fixture(scope="module")
def shared():
    with anon_sql.connect() as con:
        hierarchy(con)
        yield con


def covers(name, label):
    """The values of the hierarchy that a label covers."""
    return {value for value in PATHS[name] if label in ways(name, value)}


def ways(name, value):
    printed = {"2.0": "2", "03": "3", "2020-1-05": "2020-01-05"}.get(value, value)
    return way(name, printed) if printed != "1999-12-31" else ["1999-12-31", "1999", "*"]


@pytest.mark.parametrize("method", ["full_domain", "datafly"])
@examples(20)
@given(
    may=st.lists(ROW, min_size=3, max_size=20),
    june=st.lists(ROW, min_size=3, max_size=20),
    k=st.integers(1, 3),
    mode=st.sampled_from(["keep", "drop"]),
)
@example(
    may=[(None,) * 3] * 3, june=[(None,) * 3] * 2 + [(None, None, "2020-01-31")], k=2, mode="drop"
)
def test_months_lie_side_by_side(shared, method, may, june, k, mode):
    """Labels of both months are one or disjoint, and what is below k in June is suppressed."""
    for name, rows in (("may", may), ("june", june)):
        shared.execute(f"CREATE OR REPLACE TABLE {name} (s VARCHAR, n INTEGER, d DATE, rid INT)")
        insert(shared, name, [(*row, at) for at, row in enumerate(rows)])
    given = f"k := {k}, quasi := {QUASI}, keep := ['rid', '*'], hierarchy := 'h', suppression_limit := 1"
    shared.execute(f"CREATE OR REPLACE TABLE first AS FROM {method}('may', {given})")
    first = shared.execute("FROM first").fetchall()
    again = f"FROM {method}('june', {given}, like := 'first', suppressed := '{mode}')"
    starred = ("*",) * 3
    kept = shared.execute(again.replace("'drop'", "'keep'")).fetchall()
    second, refused = rows_or_error(shared, again)
    if refused:  # 'keep' may star a class of k rows, so that k rows are starred; 'drop' need not
        assert mode == "drop"
        assert all(row[:3] == starred for row in kept)
        assert "a release must have a row of the table" in refused
        return
    shown = [row for row in second if row[:3] != starred]
    assert min(Counter(row[:3] for row in second).values(), default=k) >= k
    assert len(second) == len(june) or mode == "drop"
    for at, name in enumerate(QUASI):
        if first:
            assert {row[at] for row in shown} <= {row[at] for row in first}
        labels = {row[at] for row in first if row[:3] != starred} | {row[at] for row in shown}
        if shown and any(row[:3] != starred for row in first):
            seen = [value for label in labels - {None} for value in covers(name, label)]
            assert len(seen) == len(set(seen))
        for row in shown:
            assert (
                row[at] is None or june[row[3]][at] is None or row[at] in ways_of(name, row, june)
            )
    if first and all(row[:3] != starred for row in first) and k > 1:
        same = Counter(row[:3] for row in first)
        itself = f"FROM {method}('may', {given}, like := 'first')"
        assert Counter(row[:3] for row in shared.execute(itself).fetchall()) == same


def rows_or_error(con, query):
    try:
        return con.execute(query).fetchall(), ""
    except duckdb.Error as error:
        return [], str(error)


def ways_of(name, row, rows):
    return way(name, rows[row[3]][QUASI.index(name)])


@pytest.mark.parametrize("form", ["label", "typed"])
def test_every_type_without_a_hierarchy(con, form):
    """Its own release again, and other rows in the same ranges."""
    con.execute(f"CREATE TABLE t AS {TYPES}")
    names = ["a", "b", "c", "d", "e", "f", "g", "like"]
    parts = (["a", "g"], ["b", "like"], ["d"], ["c", "e"], ["f"])
    for part in parts if form == "label" else parts[:3]:
        given = f"quasi := {part}, keep := ['rid', '*'], suppression_limit := 0.05"
        con.execute(f"CREATE OR REPLACE TABLE may AS FROM full_domain('t', k := 12, {given})")
        shape = f"{given}, k := 12, format := '{form}'"
        wanted = con.execute(f"FROM full_domain('t', {shape})").fetchall()
        again = con.execute(f"FROM full_domain('t', {shape}, like := 'may')").fetchall()
        assert len(again) == len(wanted)
        if form == "typed":
            continue  # the ends of a range are those of the label, those of a node its values
        assert Counter(again) == Counter(wanted)
        fewer = "(FROM t WHERE rid % 4 > 0)"
        few = con.execute(
            f"WITH june AS {fewer} FROM full_domain('june', k := 5, {given}, like := 'may')"
        ).fetchall()
        places = [names.index(name) for name in part]
        before = [{row[at] for row in con.execute("FROM may").fetchall()} for at in places]
        for row in few:
            assert all(row[at] in held for at, held in zip(places, before, strict=True))


def test_values_beyond_the_ranges_are_suppressed_and_counted(con):
    con.execute("CREATE TABLE t AS SELECT i % 40 AS n, i % 2 AS m FROM range(400) AS r(i)")
    call = "k := 20, quasi := ['n', 'm'], minimize := 'height'"
    con.execute(f"CREATE TABLE may AS FROM full_domain('t', {call})")
    held = con.execute("SELECT DISTINCT n FROM may WHERE n LIKE '[%'").fetchall()
    assert held
    con.execute("CREATE TABLE june AS FROM t UNION ALL SELECT 90 + i, 1 FROM range(25) AS r(i)")
    said = fails(con, f"FROM full_domain('june', {call}, like := 'may')")
    assert said == (
        "full_domain: at most 0 rows may be suppressed under the bins of like, got 25; "
        "raise suppression_limit, or release without like"
    )
    found = con.execute(
        f"FROM full_domain('june', {call}, like := 'may', suppression_limit := 0.1)"
    ).fetchall()
    assert Counter(found)["*", "*"] == 25
    assert {row[0] for row in found} == {*(label for (label,) in held), "*"}
    protected = fails(
        con,
        "FROM full_domain('june', k := 20, quasi := 'n', sensitive := 'm', l := 2, like := 'may', "
        "minimize := 'height', suppression_limit := 0.03)",
    )
    assert "under the bins of like" in protected


FLAT = {
    "number": ("i % 4", "9", None),
    "text": ("['a', 'it''s, {b}', '*', ''][1 + i % 4]", "'zz'", None),
    "date": ("DATE '2020-01-01' + (i % 4)::INT", "DATE '2021-01-01'", None),
    "boolean": ("true", "false", None),
    "hierarchy": ("['a', 'b'][1 + i % 2]", "'c'", "(VALUES ('v','a',1,'ab'), ('v','b',1,'ab'), "
                  "('v','c',1,'cd'), ('v','d',1,'cd'))"),
}  # fmt: skip


@pytest.mark.parametrize(("new", "form"), [("value", "label"), ("NULL", "typed")])
@pytest.mark.parametrize("kind", FLAT)
def test_what_the_earlier_release_never_showed_is_suppressed_at_level_0_too(con, kind, new, form):
    old, other, tree = FLAT[kind]
    con.execute(f"CREATE TABLE t AS SELECT {old} AS v, i % 2 AS w FROM range(40) AS r(i)")
    more = f"SELECT {other if new == 'value' else 'NULL'} AS v, 1 AS w FROM range(8)"
    con.execute(f"CREATE TABLE june AS FROM t UNION ALL {more}")
    given = "k := 4, quasi := ['v', 'w'], strata := ['v']"
    if tree is not None:
        con.execute(f"CREATE TABLE h AS FROM {tree} AS r(attribute, value, level, label)")
        given += ", hierarchy := 'h'"
    con.execute(f"CREATE TABLE may AS FROM full_domain('t', {given})")
    before = con.execute(f"FROM full_domain('t', {given}, format := '{form}')").fetchall()
    asked = f"FROM full_domain('june', {given}, like := 'may', format := '{form}'"
    assert fails(con, f"{asked})").startswith(
        "full_domain: at most 0 rows may be suppressed under the bins of like, got 8"
    )
    starred = ("*", "*") if form == "label" else (None, None)
    found = Counter(map(str, con.execute(f"{asked}, suppression_limit := 0.2)").fetchall()))
    assert found == Counter(map(str, [*before, *[starred] * 8]))
    dropped = f"{asked}, suppression_limit := 0.2, suppressed := 'drop')"
    assert Counter(map(str, con.execute(dropped).fetchall())) == Counter(map(str, before))


@pytest.mark.parametrize("method", ["full_domain", "datafly"])
def test_a_level_of_the_hierarchy_shows_only_nodes_that_were_shown(con, method):
    con.execute(
        "CREATE TABLE h AS SELECT 'v' AS attribute, v::VARCHAR AS value, 1 AS level, "
        "'from ' || (v // 10) AS label FROM range(40) AS r(v)"
    )
    con.execute("CREATE TABLE t AS SELECT i % 20 AS v FROM range(60) AS r(i)")
    given = "k := 5, quasi := ['v'], hierarchy := 'h', suppression_limit := 0.3"
    con.execute(f"CREATE TABLE may AS FROM {method}('t', {given})")
    assert con.execute("SELECT DISTINCT v FROM may ORDER BY v").fetchall() == [
        ("from 0",),
        ("from 1",),
    ]
    con.execute("CREATE TABLE june AS FROM t UNION ALL SELECT 35 FROM range(9)")
    found = con.execute(f"FROM {method}('june', {given}, like := 'may')").fetchall()
    assert Counter(found) == {("from 0",): 30, ("from 1",): 30, ("*",): 9}


def test_a_column_that_showed_only_null_shows_nothing_else(con):
    for kind in ("INTEGER", "VARCHAR"):
        con.execute(
            f"CREATE OR REPLACE TABLE t AS SELECT NULL::{kind} AS v, i % 2 AS w FROM range(20) r(i)"
        )
        given = "k := 4, quasi := ['v', 'w'], suppression_limit := 0.5"
        con.execute(f"CREATE OR REPLACE TABLE may AS FROM full_domain('t', {given})")
        con.execute("CREATE OR REPLACE TABLE june AS FROM t UNION ALL SELECT 7, 1 FROM range(8)")
        found = con.execute(f"FROM full_domain('june', {given}, like := 'may')").fetchall()
        assert Counter(found) == {(None, "0"): 10, (None, "1"): 10, ("*", "*"): 8}


def test_values_are_compared_whatever_their_type_and_keep_the_earlier_spelling(con):
    con.execute("CREATE TABLE t AS SELECT i % 4 AS v FROM range(40) AS r(i)")
    con.execute("CREATE TABLE may AS FROM full_domain('t', k := 4, quasi := ['v'])")
    con.execute("CREATE TABLE june AS SELECT v::DECIMAL(9, 2) AS v FROM t UNION ALL SELECT 2.5")
    call = (
        "FROM full_domain('june', k := 1, quasi := ['v'], suppression_limit := 0.1, like := 'may')"
    )
    found = con.execute(call).fetchall()
    assert Counter(found) == {("0",): 10, ("1",): 10, ("2",): 10, ("3",): 10, ("*",): 1}


@pytest.mark.parametrize("form", ["mean", "median"])
def test_means_are_refused_since_no_earlier_release_shows_them(con, form):
    con.execute("CREATE TABLE t AS SELECT i % 40 AS n FROM range(400) AS r(i)")
    con.execute("CREATE TABLE may AS FROM full_domain('t', k := 20, quasi := ['n'])")
    call = f"FROM full_domain('t', k := 20, quasi := ['n'], like := 'may', format := '{form}')"
    assert fails(con, call).startswith("full_domain: like must go without format := 'mean' and")


def test_what_is_no_global_recoding(con):
    con.execute(
        "CREATE TABLE t AS SELECT i % 40 AS n, chr((97 + i % 7)::INT) AS c FROM range(400) AS r(i)"
    )
    given = "k := 5, quasi := ['n', 'c'], keep := ['*']"
    con.execute("CREATE TABLE local AS FROM (VALUES ('[0, 9]', 'a'), ('[8, 39]', 'b')) AS r(n, c)")
    for form in ("typed", "mean"):
        named = f"format := '{form}', suppression_limit := 1"
        con.execute(f"CREATE TABLE {form} AS FROM full_domain('t', {given}, {named})")
        call = f"FROM full_domain('t', k := 5, quasi := ['n'], keep := ['*'], like := '{form}')"
        assert "like must be a release in labels" in fails(con, call)
    con.execute("CREATE TABLE h AS FROM prefix_hierarchy('t', 'c', [1])")
    said = "like must be a release in which every value of a column has one label, got labels of n"
    assert said in fails(con, f"FROM full_domain('t', {given}, like := 'local')")
    empty = f"WITH e AS (FROM local LIMIT 0) FROM full_domain('t', {given}, like := 'e')"
    assert "like must name an earlier release, got one without rows" in fails(con, empty)
    lacking = f"WITH e AS (SELECT n FROM local) FROM full_domain('t', {given}, like := 'e')"
    assert "like must be a release with the same quasi-identifiers" in fails(con, lacking)
    other = f"FROM full_domain('t', {given}, hierarchy := 'h', like := 'local')"
    con.execute(
        "CREATE TABLE strange AS FROM (VALUES ('1', 'a'), ('2', 'aa'), ('3', '?')) AS r(n, c)"
    )
    assert fails(con, other.replace("local", "strange")) == (
        "full_domain: like must be a release by the same hierarchy, got 2 of c that it lacks"
    )
    assert fails(con, other).startswith("full_domain: like must be a release in which every value")
    con.execute(f"CREATE TABLE may AS FROM full_domain('t', {given}, strata := ['n'])")
    fixed = f"FROM full_domain('t', {given}, strata := ['c'], like := 'may')"
    assert "strata must be columns that like does not generalize" in fails(con, fixed)


def test_hostile_names(con):
    con.execute(
        """CREATE TABLE "t 'é'" AS SELECT i % 5 AS "a.b""c", i AS rid FROM range(50) AS r(i)"""
    )
    call = """FROM full_domain('"t ''é''"', k := 4, quasi := ['A.B"C'], keep := ['rid', '*']"""
    con.execute(f"""CREATE TABLE "o'1" AS {call})""")
    again = con.execute(f"""{call}, like := '"o''1"')""").fetchall()
    counted = defaultdict(int)
    for label, _ in again:
        counted[label] += 1
    assert counted == {str(value): 10 for value in range(5)}
