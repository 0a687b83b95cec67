"""suppression_limit of anonymize: the loss of all rows is lower, or nothing is suppressed."""

from collections import Counter

import pytest

import anon_sql
from anon_sql import datasets
from tests.conftest import QUASI
from tests.sentence import fails

ROWS = 3000
AUDITED = ("l", "t", "beta", "entity")
CALL = f"quasi := {QUASI}, identifiers := ['id', 'person'], sensitive := ['income'], keep := ['*']"


@pytest.fixture
def made(con):
    """Rows like those of Adult, two of each person."""
    datasets.adult(con, ROWS, table="made", roles=False)
    con.execute("CREATE TABLE t AS SELECT *, rowid AS id, rowid // 2 AS person FROM made")
    return con


def loss(con, released, more=""):
    query = f"SELECT gcp, suppressed FROM utility('t', '{released}', quasi := {QUASI}{more})"
    return con.execute(query).fetchall()[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "limit", "more", "some"),
    [
        (80, 0.1, "", True),
        (80, 0.1, ", suppressed := 'drop'", True),
        (80, 0.1, ", l := 2", True),
        (80, 0.1, ", t := 0.3, suppressed := 'drop', format := 'typed'", True),
        (80, 0.1, ", beta := 3", None),
        (80, 0.1, ", weights := MAP {'age': 3}", True),
        (40, 0.1, ", entity := 'person'", None),
        (25, 0.1, ", strata := ['sex']", None),
        (60, 0.1, ", effort := 'best', rounds := 1", None),
        (80, 0.02, "", False),  # fewer than k
        (80, 0, "", False),
        (ROWS, 1, "", False),
    ],
)
def test_less_is_lost_or_nothing_suppressed(made, k, limit, more, some):
    more += "" if "effort" in more else ", effort := 'fast'"
    call = f"FROM anonymize('t', k := {k}, {CALL}{more}"
    made.execute(f"CREATE OR REPLACE TABLE plain AS {call})")
    made.execute(f"CREATE OR REPLACE TABLE r AS {call}, suppression_limit := {limit})")
    weights = ", weights := MAP {'age': 3}" if "weights" in more else ""
    (before, none), (after, starred) = loss(made, "plain", weights), loss(made, "r", weights)
    dropped = starred if "drop" in more else 0
    assert starred <= limit * ROWS or k == ROWS
    assert made.execute("SELECT count(*) FROM r").fetchall() == [(ROWS - dropped,)]
    assert some is None or (starred > none) == some
    if starred == none:
        assert made.execute("FROM r").fetchall() == made.execute("FROM plain").fetchall()
    else:
        assert after < before
        assert starred >= k
    required = [part for part in more[2:].split(", ") if part.split(" ")[0] in AUDITED]
    failed = made.execute(
        f"FROM audit('t', 'r', k := {k}, quasi := {QUASI}, sensitive := ['income'], "
        f"{', '.join(required) or 'l := 1'}) "
        "WHERE property IN ('k', 'l', 't', 'beta', 'true_labels') AND NOT passed"
    )
    assert failed.fetchall() == []
    asked = more.replace(", format := 'typed'", "")
    stats = made.execute(
        "SELECT rows, allowed, suppressed, gcp_without, gcp, saved, reason LIKE 'they cost%' FROM "
        f"anonymize_stats('t', k := {k}, {CALL}{asked}, suppression_limit := {limit})"
    ).fetchall()[0]
    assert stats[0] == ROWS
    assert limit * ROWS - 2 < stats[1] <= limit * ROWS  # strata are rounded down one by one
    assert stats[2:6] == pytest.approx((starred - none, before, after, before - after), abs=1e-9)
    assert stats[6] == (starred > none)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "more"), [(50, ", l := 2"), (10, "")])
def test_on_adult(adult, k, more):
    call = f"anonymize('adult', k := {k}, effort := 'fast'{more}"
    adult.execute(f"CREATE OR REPLACE TABLE plain AS FROM {call})")
    adult.execute(f"CREATE OR REPLACE TABLE r AS FROM {call}, suppression_limit := 0.01)")
    rows = "SELECT gcp, suppressed FROM utility('adult', '{}')"
    ((before, _),) = adult.execute(rows.format("plain")).fetchall()
    ((after, starred),) = adult.execute(rows.format("r")).fetchall()
    assert starred <= 301
    if starred:
        assert after < before
    if k == 50:
        assert after < 0.995 * before
    assert starred == 0 or starred >= k


def test_any_threads_and_any_order(made):
    call = f"FROM anonymize('t', k := 80, {CALL}, effort := 'fast', suppression_limit := 0.1)"
    wanted = Counter(made.execute(call).fetchall())
    assert max(wanted.values()) < ROWS
    for threads in (1, 2):
        made.execute(f"SET threads = {threads}")
        assert Counter(made.execute(call).fetchall()) == wanted
    made.execute("CREATE OR REPLACE TABLE t AS FROM t ORDER BY hash(id)")
    assert Counter(made.execute(call).fetchall()) == wanted


def test_in_parts(made):
    """Each region may suppress its share of its rows."""
    call = {
        "quasi": QUASI,
        "identifiers": ["id", "person"],
        "keep": ["*"],
        "k": 50,
        "part_rows": 1500,
    }
    anon_sql.release(made, "t", into="plain", effort="fast", **call)
    anon_sql.release(made, "t", into="r", effort="fast", suppression_limit=0.1, **call)
    (before, _), (after, starred) = loss(made, "plain"), loss(made, "r")
    assert after <= before
    assert starred <= 300
    sizes = made.execute(f"SELECT count(*) FROM r GROUP BY {', '.join(QUASI)}").fetchall()
    assert min(sizes) >= (50,)


@pytest.mark.parametrize("given", ["-0.1", "1.5", "'x'", "true", "'nan'::DOUBLE"])
def test_what_is_refused(people, given):
    said = "anonymize: suppression_limit must be a number of at least 0 and at most 1, got"
    assert said in fails(people, f"FROM anonymize('people', suppression_limit := {given})")
