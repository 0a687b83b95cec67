"""An audit of numbers of 128 bits, at the ends of their types and where DuckDB's hashes are equal."""

import pytest

MOST = {"HUGEINT": 2**127 - 1, "UHUGEINT": 2**128 - 1}
ENDS = {
    (kind, which): {
        "least": [most - size + n for n in range(6)],
        "most": [most - n for n in range(6)],
        "both": [most - size, most - size + 1, 5, 6, most - 1, most],
    }[which]
    for kind, most in MOST.items()
    for which in ("least", "most", "both")
    for size in [2**128 - 1]
}
HALVES = ("HUGEINT", "UHUGEINT", "DECIMAL(19,0)", "DECIMAL(38,2)")


def filled(con, kind, values):
    con.execute(f"CREATE TABLE t (n {kind}, s VARCHAR)")
    rows = [(None if n is None else str(n), "xyz"[at % 3]) for at, n in enumerate(values)]
    con.executemany(f"INSERT INTO t SELECT $1::{kind}, $2", rows)


def failed(con, more=""):
    call = f"audit('t', 'r', k := 2, qids := 'n', keep := 's'{more})"
    return con.execute(f"SELECT property FROM {call} WHERE NOT passed").fetchall()


@pytest.mark.parametrize("form", ["label", "typed", "mean", "median"])
@pytest.mark.parametrize(("kind", "which"), ENDS)
def test_a_true_release_of_the_ends_of_a_type_passes(con, kind, which, form):
    filled(con, kind, ENDS[kind, which])
    con.execute(
        f"CREATE TABLE r AS FROM mondrian('t', k := 2, qids := 'n', keep := 's', format := '{form}')"
    )
    assert failed(con) == []


@pytest.mark.parametrize("form", ["label", "typed"])
@pytest.mark.parametrize(("kind", "which"), ENDS)
def test_a_true_release_of_the_ends_of_a_type_by_a_hierarchy_passes(con, kind, which, form):
    filled(con, kind, ENDS[kind, which])
    con.execute(
        "CREATE TABLE h AS SELECT 'n' AS attribute, n::VARCHAR AS value, 1 AS level, "
        "'part ' || (row_number() OVER (ORDER BY n) - 1) // 3 AS label FROM t"
    )
    given = "hierarchy := 'h'"
    con.execute(
        f"CREATE TABLE r AS FROM mondrian('t', k := 2, qids := 'n', keep := 's', {given}, format := '{form}')"
    )
    assert con.execute("SELECT count(DISTINCT n) FROM r").fetchone() == (2,)
    assert failed(con, f", {given}") == []
    assert con.execute(f"SELECT gcp('t', 'r', qids := 'n', {given})").fetchone() == (0.5,)


@pytest.mark.parametrize("kind", MOST)
def test_a_false_label_at_the_end_of_a_type_fails(con, kind):
    most = MOST[kind]
    filled(con, kind, [most, most, 0, 0])
    con.execute(f"CREATE TABLE r AS SELECT if(n = 0, '{most - 1}', n::VARCHAR) AS n, s FROM t")
    assert ("labels",) in failed(con)


@pytest.mark.parametrize("kind", HALVES)
def test_values_whose_halves_are_alike_are_told_apart(con, kind):
    """DuckDB's hash of 128 bits is the XOR of the hashes of both halves: 0 for 0 and for -1."""
    least = "0.00" if kind.endswith("2)") else "0"
    other = str(2**64 + 1) if kind == "UHUGEINT" else "-0.01" if kind.endswith("2)") else "-1"
    filled(con, kind, [least] * 3 + [other] * 3)
    con.execute("CREATE TABLE r AS FROM mondrian('t', k := 2, qids := 'n', keep := 's')")
    assert con.execute("SELECT count(DISTINCT n) FROM r").fetchone() == (2,)
    assert failed(con) == []
    con.execute("CREATE OR REPLACE TABLE r AS SELECT '*' AS s, * EXCLUDE s FROM t")
    call = "audit('t', 'r', k := 2, qids := 's', keep := 'n')"
    find = f"SELECT found FROM {call} WHERE property = 'kept values'"
    assert con.execute(find).fetchone() == (0,)
    con.execute(f"UPDATE r SET n = '{other}'")
    assert con.execute(find).fetchone() == (3,)


@pytest.mark.parametrize("kind", HALVES)
def test_kept_values_whose_halves_are_alike_are_released_in_no_order_of_the_rows(con, kind):
    other = 2**64 + 1 if kind == "UHUGEINT" else -1
    made = f"SELECT i % 2 AS a, if(i % 3 = 0, 0, {other})::{kind} AS kept FROM range(40) r(i)"
    released = []
    for order in ("", " DESC"):
        con.execute(f"CREATE OR REPLACE TABLE t AS {made} ORDER BY i{order}")
        found = con.execute("FROM mondrian('t', k := 20, qids := 'a', keep := 'kept')").fetchall()
        released.append(found)
    assert released[0] == released[1]
