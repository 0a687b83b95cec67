"""anonymize_stats: how many rows are suppressed, and why or why not; see test_suppression_limit."""

import pytest

from tests.sentence import fails

FAR = """
    CREATE TABLE t AS SELECT i % 9 AS a, i % 7 AS b FROM range(400) AS r(i)
    UNION ALL SELECT 1000, 3 UNION ALL SELECT 3, 1000
"""


@pytest.mark.parametrize(
    ("more", "allowed", "reason"),
    [
        ("", 0, "no suppression_limit"),
        (", suppression_limit := 0.5", 201, "the other rows would not lose less by as much"),
        (", suppression_limit := 0.01", 4, "the rows to suppress are no legal class"),
    ],
)
def test_why_none_is_suppressed(con, more, allowed, reason):
    """Two rows cost much, but the 38 that would make them a class of 40 cost little."""
    con.execute(FAR)
    call = f"anonymize_stats('t', k := 40, quasi := ['a', 'b']{more})"
    query = "SELECT allowed, suppressed, saved, gcp = gcp_without AND gcp = gcp_of_rest, reason"
    ((*found, said),) = con.execute(f"{query} FROM {call}").fetchall()
    assert found == [allowed, 0, 0, True]
    assert said.startswith(reason)


def test_no_row_costs_more_than_it_loses(con):
    con.execute("CREATE TABLE t AS SELECT i % 9 AS a FROM range(400) AS r(i)")
    call = "anonymize_stats('t', k := 5, quasi := ['a'], suppression_limit := 0.1)"
    assert con.execute(f"SELECT costly, suppressed, reason FROM {call}").fetchall() == [
        (0, 0, "no row costs its class more than a suppressed row loses")
    ]


def test_rows_that_are_suppressed(con):
    """Two rows far apart, each in a class of its own ordinary rows."""
    con.execute(FAR)
    call = "('t', k := 2, quasi := ['a', 'b'], suppression_limit := 0.01, effort := 'fast'"
    suppressed, saved, gcp = con.execute(
        f"SELECT suppressed, saved, gcp FROM anonymize_stats{call})"
    ).fetchall()[0]
    con.execute(f"CREATE TABLE r AS FROM anonymize{call})")
    shown = con.execute("SELECT count(*) FROM r WHERE a = '*' AND b = '*'").fetchall()
    assert shown == [(suppressed,)]
    assert saved >= 0
    found = con.execute("SELECT gcp('t', 'r', quasi := ['a', 'b'])").fetchall()[0][0]
    assert found == pytest.approx(gcp, abs=1e-9)


def test_an_empty_table_and_what_is_refused(con):
    con.execute("CREATE TABLE t AS SELECT 1 AS a LIMIT 0")
    call = "FROM anonymize_stats('t', quasi := ['a'], suppression_limit := {})"
    assert con.execute(call.format(0.1)).fetchall() == [(0, 0, 0, 0, *[None] * 5, 0, 0, None)]
    assert "suppression_limit must be a number of at least 0" in fails(con, call.format(-1))
