"""β-likeness and δ-disclosure privacy in every release function, counted by plain SQL."""

import random

import pytest

from tests.inserting import insert
from tests.share_oracle import beta_and_delta
from tests.test_protection import METHODS

NAMES = ['n"; --', "a.b", "from", "größe"]
VALUES = ["a", "a", "b", "c'c", None]


def fill(con, seed, rows=120):
    """A table of two numbers, a text and a number to protect, under hostile names."""
    pick = random.Random(seed)
    weights = [pick.randint(1, 9) for _ in VALUES]
    con.execute('CREATE TABLE t ("n""; --" INTEGER, "a.b" DOUBLE, "from" VARCHAR, "größe" INTEGER)')
    insert(
        con,
        "t",
        [
            [
                pick.choice([None, *range(8)]),
                pick.choice([0.5, -3.25, 1e9]),
                *pick.choices(VALUES, weights),
                pick.choice([1, 1, 2, None]),
            ]
            for _ in range(rows)
        ],
    )


@pytest.mark.parametrize("at", range(len(METHODS)))
def test_both_hold_in_every_class_and_are_measured_exactly(con, at):
    fill(con, seed=at)
    pick = random.Random(at)
    given = {"beta": pick.choice([0.2, 0.6, 1.5]), "delta": pick.choice([None, 1.0, 2.0])}
    if at % 3 == 0:
        given["beta"] = None
        given["delta"] = given["delta"] or 1.5
    con.execute(
        f"CREATE TABLE r AS FROM {METHODS[at]}('t', k := 2, quasi := $quasi, sensitive := $hidden, "
        "beta := $beta, delta := $delta)",
        {"quasi": NAMES[:2], "hidden": NAMES[2:], **given},
    )
    found = [beta_and_delta(con, "t", "r", NAMES[:2], name) for name in NAMES[2:]]
    worst = [max(each) for each in zip(*found, strict=True)]
    for limit, reached in zip(given.values(), worst, strict=True):
        assert limit is None or reached <= limit + 1e-9
    measured = con.execute(
        "SELECT beta_likeness('t', 'r', $hidden, quasi := $quasi), "
        "delta_disclosure('t', 'r', $hidden, quasi := $quasi)",
        {"quasi": NAMES[:2], "hidden": NAMES[2:]},
    ).fetchall()[0]
    assert measured == pytest.approx(worst)
    asked = {name: value for name, value in given.items() if value is not None}
    checks = con.execute(
        "SELECT property, required, passed FROM audit('t', 'r', 2, quasi := $quasi, "
        "sensitive := $hidden, beta := $beta, delta := $delta, unique_share := 1) "
        "WHERE property IN ('beta', 'delta')",
        {"quasi": NAMES[:2], "hidden": NAMES[2:], **given},
    ).fetchall()
    assert checks == [(name, value, True) for name, value in asked.items()]


def test_without_them_a_release_is_as_before(con):
    fill(con, seed=1)
    given = "k := 3, l := 2, t := 0.5, quasi := ['n\"; --', 'a.b'], sensitive := ['from', 'größe']"
    plain = con.execute(f"FROM anonymize('t', {given})").fetchall()
    assert (
        con.execute(f"FROM anonymize('t', {given}, beta := NULL, delta := NULL)").fetchall()
        == plain
    )


def test_an_audit_says_where_they_fail(con):
    con.execute("CREATE TABLE raw AS SELECT i AS a, i % 4 > 0 AS s FROM range(16) AS r(i)")
    con.execute("CREATE TABLE r AS SELECT if(i < 8, '[0, 7]', '[8, 15]') AS a, i % 4 > 0 AS s "
                "FROM range(16) AS r(i)")  # fmt: skip
    con.execute("UPDATE r SET s = true WHERE a = '[0, 7]'")
    rows = con.execute(
        "SELECT property, required, found, passed, example FROM audit('raw', 'r', quasi := ['a'], "
        "sensitive := ['s'], beta := 0.2, delta := 1) WHERE property IN ('beta', 'delta')"
    ).fetchall()
    assert rows == [
        ("beta", 0.2, float("inf"), False, "s in a: [0, 7]"),
        ("delta", 1.0, float("inf"), False, "s in a: [0, 7]"),
    ]
