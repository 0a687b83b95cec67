"""max_share, (α,k)-anonymity, and basic β-likeness: by hand, recounted by SQL in every release
function, and held against doctored releases.
"""

import random

import pytest

from tests.inserting import insert
from tests.oracles import adds_rows
from tests.sentence import fails
from tests.test_protection import METHODS

BASIC = {"beta": 1.1, "beta_kind": "basic"}
SHARE = {"max_share": 0.6}
SUPPRESSING = {
    "anonymize": {"suppression_limit": 0.2},
    "full_domain": {"suppression_limit": 0.3, "hierarchy": "h"},
    "datafly": {"hierarchy": "h"},
    "rayden": {"unrecovered": "suppress", "alpha": 1.0},
    "mondrian_cof": {"unrecovered": "suppress", "alpha": 1.0},
}
EVERY = sorted({*METHODS, "datafly"})
COUNTED = {"rows": "count(*)", "persons": "count(DISTINCT p)"}
# The largest share of a value in a class of printed labels, and its largest gain over the table.
RECOUNT = """
WITH
told AS (SELECT r.n AS one, r.x AS two, r.{column} AS v, t.p FROM r JOIN t USING (rid)),
cells AS (SELECT one, two, v, {counted} AS often FROM told GROUP BY ALL),
shares AS (
    SELECT v, often / sum(often) OVER (PARTITION BY one, two) AS q FROM cells),
before AS (SELECT {column} AS v, {counted} AS often FROM t GROUP BY ALL)
SELECT max(q), max(q / (often / (SELECT sum(often) FROM before)) - 1)
FROM shares JOIN before ON shares.v IS NOT DISTINCT FROM before.v
"""


def measured(con, released="label", sensitive="'s'", measure="max_share", more=""):
    text = f"SELECT {measure}('raw', '{released}', {sensitive}, quasi := ['a']{more})"
    return con.execute(text).fetchall()[0][0]


def test_by_hand(wards, shape):
    """Flu is 3 of 4, each value 1 of 3, and NULL 2 of 3 in the class of stars."""
    assert measured(wards, shape) == 0.75
    assert measured(wards, shape, "'n'") == 1
    wards.execute(f"UPDATE {shape} SET s = NULL WHERE a IS NULL OR a::VARCHAR = '*'")
    assert measured(wards, shape) == 1
    wards.execute(f"DELETE FROM {shape} WHERE a IS NULL OR a::VARCHAR = '*'")
    assert measured(wards, shape, "'n'") == pytest.approx(2 / 3)
    assert measured(wards, shape, "['s', 'n']") == 0.75


def test_the_table_itself_and_no_rows(con):
    con.execute("CREATE TABLE raw AS SELECT i AS a, i // 4 AS s FROM range(9) AS r(i)")
    con.execute("CREATE TABLE label AS SELECT '[0, 8]' AS a, s FROM raw")
    assert measured(con) == pytest.approx(4 / 9)
    con.execute("CREATE TABLE none AS FROM label LIMIT 0")
    assert measured(con, "none") is None


def test_basic_beta_has_no_limit(wards):
    """NULL is 2 of 3 in a class and 3 of 12 in the table."""
    basic = ", kind := 'basic'"
    assert measured(wards, measure="beta_likeness", more=basic) == pytest.approx(8 / 3 - 1)
    assert measured(wards, measure="beta_likeness") == float("inf")
    said = fails(wards, "SELECT beta_likeness('raw', 'label', 's', quasi := ['a'], kind := 'bsic')")
    assert said.startswith("beta_likeness: kind must be one of 'enhanced', 'basic', got 'bsic'")


def fill(con, seed):
    """Two numbers that go together with what is protected, so that shares do not hold by chance."""
    pick = random.Random(seed)
    rows = []
    for rid in range(150):
        n = pick.choice([*range(9)])
        usual = "aab"[n // 3] if pick.random() < 0.4 else pick.choice(["a", "b", "c", None])
        rows.append((n, pick.choice([0.5, 1.25, -3.0, 7.75]), usual, n % 5, rid // 3, rid))
    con.execute(
        "CREATE TABLE t (n INTEGER, x DOUBLE, w VARCHAR, s INTEGER, p INTEGER, rid INTEGER)"
    )
    insert(con, "t", rows)
    con.execute(
        "CREATE TABLE h AS FROM numeric_hierarchy('t', 'n', [3, 9]) "
        "UNION ALL FROM numeric_hierarchy('t', 'x', [5, 20])"
    )


def roles(whose):
    kept = {"identifiers": ["p"]} if whose == "rows" else {"entity": "p"}
    return {"quasi": ["n", "x"], "sensitive": ["w", "s"], "keep": ["rid"], **kept}


def written(given):
    return ", ".join(f"{name} := {value!r}" for name, value in given.items())


def recounted(con, whose):
    """Return the largest share, and the largest gain, of both columns."""
    found = [
        con.execute(RECOUNT.format(column=name, counted=COUNTED[whose])).fetchall()[0]
        for name in ("w", "s")
    ]
    return tuple(map(max, zip(*found, strict=True)))


def audited(con, whose, asked):
    """Return what an audit finds, and whether it passes."""
    call = {**roles(whose), **asked, "unique_share": 1}
    return con.execute(
        f"SELECT found, passed FROM audit('t', 'r', 3, {written(call)}) "
        "WHERE property IN ('beta', 'max_share')"
    ).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("whose", COUNTED)
@pytest.mark.parametrize("method", EVERY)
def test_recounted_in_every_release(con, method, whose):
    """With suppressed rows and without them, and with a doctored class, which no audit passes."""
    fill(con, seed=EVERY.index(method))
    for asked, at, suppressed in ((SHARE, 0, "keep"), (BASIC, 1, "drop")):
        call = {**roles(whose), **asked, "suppressed": suppressed}
        call |= SUPPRESSING.get(method, {})
        con.execute(f"CREATE OR REPLACE TABLE r AS FROM {method}('t', k := 3, {written(call)})")
        rows = con.execute("SELECT count(*) FROM r").fetchall()[0][0]
        assert 0 < rows <= 150 if suppressed == "drop" else rows == 150
        reached, limit = recounted(con, whose)[at], next(iter(asked.values()))
        assert reached <= limit + 1e-9
        if whose == "persons":  # or nobody could tell whose a doctored row is
            con.execute("CREATE OR REPLACE TABLE r AS SELECT r.*, p FROM r JOIN t USING (rid)")
        checked = {**asked, "suppressed": suppressed}
        assert audited(con, whose, checked) == [(pytest.approx(reached), True)]
        con.execute(
            "UPDATE r SET w = 'c' WHERE (n, x) = "
            "(SELECT (n, x) FROM r GROUP BY n, x ORDER BY count(*), n, x LIMIT 1)"
        )
        assert recounted(con, whose)[at] > limit
        ((_, passed),) = audited(con, whose, checked)
        assert passed is False


def test_every_method_is_tried():
    assert len(EVERY) > 10
    assert not any(map(adds_rows, EVERY))


def test_strata_that_cannot_be_a_class_are_refused(con):
    con.execute("CREATE TABLE t AS SELECT i AS n, i // 50 AS x, i % 50 = 0 OR i < 50 AS w "
                "FROM range(150) AS r(i)")  # fmt: skip
    call = "FROM anonymize('t', k := 3, quasi := ['n', 'x'], sensitive := 'w', max_share := 0.99{})"
    assert con.execute(call.format("")).fetchall()
    assert fails(con, call.format(", strata := 'x'")).startswith(
        "anonymize: every stratum must satisfy k, l, t and max_share, got 1 that does not"
    )


@pytest.mark.parametrize(
    ("asked", "rule"),
    [
        ("max_share := 0.4", "max_share must be at least what the whole table has in w, 0.667, "
         "got max_share := 0.4"),
        ("max_share := 0, entity := 'p'", "max_share must be at least what the whole table has in "
         "w, 0.5, got max_share := 0"),
        ("max_share := 1.5", "max_share must be a number of at least 0 and at most 1, got 1.5"),
        ("max_share := true", "max_share must be a number of at least 0 and at most 1, got a BOOL"),
        ("max_share := 0.9, sensitive := []", "max_share needs a sensitive column"),
        ("beta := 1, beta_kind := 'basik'", "beta_kind must be one of 'enhanced', 'basic', got "
         "'basik'; did you mean basic?"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence(con, asked, rule):
    """Two of three rows, but one of two persons, have a value."""
    con.execute("CREATE TABLE t AS SELECT i AS n, if(i % 3 < 2, 'a', NULL) AS w, i % 3 // 2 AS p "
                "FROM range(30) AS r(i)")  # fmt: skip
    given = asked if "sensitive" in asked else f"{asked}, sensitive := 'w'"
    given += "" if "entity" in asked else ", identifiers := 'p'"
    said = fails(con, f"FROM mondrian('t', k := 1, quasi := 'n', keep := ['*'], {given})")
    assert said.startswith(f"mondrian: {rule}")


def test_an_audit_reads_them_likewise(con):
    con.execute("CREATE TABLE t AS SELECT i AS n, i % 3 AS w FROM range(30) AS r(i)")
    call = "FROM audit('t', 't', quasi := 'n', sensitive := 'w', {})"
    for asked, rule in (
        ("max_share := 1.5", "max_share must be a number of at least 0 and at most 1, got 1.5"),
        ("beta_kind := 'basik'", "beta_kind must be one of 'enhanced', 'basic', got 'basik'"),
    ):
        assert fails(con, call.format(asked)).startswith(f"audit: {rule}")
    said = fails(con, "FROM audit('t', 't', quasi := 'n', max_share := 0.5)")
    assert said.startswith("audit: max_share needs a sensitive column")
