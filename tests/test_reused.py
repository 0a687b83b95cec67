"""The database that tests share: what one leaves, the next one does not find."""

import pytest

from tests.reused import FUNCTIONS, LEFT, SETTINGS, STATE, Database

pytestmark = [pytest.mark.quick, pytest.mark.oldest]

REMOVED = [
    "CREATE TABLE t AS SELECT 1 AS a; CREATE VIEW v AS FROM t; CREATE INDEX i ON t (a)",
    "CREATE TEMP TABLE t AS SELECT 1 AS a; CREATE TEMP VIEW v AS FROM t",
    'CREATE SCHEMA "a \'b"; CREATE TABLE "a \'b"."c.d" (e INTEGER)',
    "CREATE TYPE mood AS ENUM ('glad', 'sad')",
    "SET VARIABLE v = 1",
]
REPLACED = [  # or reset
    "SET threads = 1; SET TimeZone = 'Asia/Tokyo'; PRAGMA disable_progress_bar",
    "CREATE SEQUENCE s",
    "ATTACH ':memory:' AS other",
    "ATTACH ':memory:' AS other; USE other",
    "PREPARE p AS SELECT 1",
    "BEGIN; CREATE TABLE t (a INTEGER)",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
    "CREATE SECRET s (TYPE http, BEARER_TOKEN 'x')",
]
MADE = ["f(x) AS x", "f(x) AS TABLE SELECT x", "anon_mid(x) AS 1"]


def found(con):
    """What the catalog says; the functions without their numbers."""
    rows = [con.execute(query).fetchall() for query in (LEFT, FUNCTIONS, SETTINGS, STATE)]
    return [rows[0], {row[:-1] for row in rows[1]}, set(rows[2]), rows[3]]


@pytest.fixture(scope="module")
def shared():
    lent = Database()
    return lent, found(lent.take())


@pytest.mark.slow
@pytest.mark.parametrize("left", [*REMOVED, *REPLACED])
def test_what_a_test_leaves_is_gone(shared, left):
    lent, clean = shared
    con = lent.take()
    con.execute(left)
    lent.give_back(functions=False)
    assert lent.take() is con or left in REPLACED
    assert found(lent.take()) == clean


@pytest.mark.parametrize("said", [True, False])
@pytest.mark.parametrize("made", MADE)
def test_functions_are_gone_and_named_where_the_test_did_not_say_so(shared, made, said):
    lent, clean = shared
    lent.take().execute(f"CREATE OR REPLACE MACRO {made}")
    lent.give_back(functions=said)
    assert lent.left() == ([] if said else [made.partition("(")[0]])
    assert found(lent.take()) == clean
    assert lent.left() == []


def test_a_setting_that_no_reset_looks_at_is_named(shared):
    lent, clean = shared
    lent.take().execute("SET pivot_limit = 7")
    lent.give_back(functions=False)
    assert lent.left() == ["pivot_limit"]
    assert found(lent.take()) == clean
