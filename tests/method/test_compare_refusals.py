"""compare: what it refuses, notes and leaves empty, and that Ctrl-C stops it."""

from dataclasses import replace

import numpy as np
import pytest

from anon_sql.core import running
from anon_sql.methods.method import Partition, _methods, find_method
from tests.method.test_compare import METHODS, NAMES
from tests.sentence import fails


def test_methods_and_k_that_cannot_be(people):
    """A note is the sentence of the release's own error; the other rows are there."""
    query = "FROM compare('people', methods := ['canon', 'Mondrian', 'datafly'], ks := [5, 2.5, 0, NULL, 121])"
    rows = people.execute(query).fetchall()
    assert [(row[0], row[1]) for row in rows] == [
        (method, k)
        for method in ("canon", "mondrian", "datafly")
        for k in (5, None, None, None, 121)
    ]
    for row in rows:
        if row[0] == "mondrian" and row[1] == 5:
            assert row[-1] is None
            continue
        assert row[2:-1] == (None,) * 11
        assert row[-1].startswith(f"{row[0]}: ")
        if row[1]:
            assert row[-1] == fails(people, f"FROM {row[0]}('people', k := {row[1]})")
    assert rows[1][-1] == "canon: k must be a whole number of at least 1, got 2.5"
    assert rows[3][-1] == "canon: k must be a whole number of at least 1, got NULL"


def test_a_method_that_adds_rows_has_a_note(people):
    rows = people.execute(
        "FROM compare('people', methods := ['sdka', 'mondrian'], ks := [5])"
    ).fetchall()
    assert rows[0][2:-1] == (None,) * 11
    assert rows[0][-1] == (
        "sdka: compare measures releases that add no rows, got a perturbative method; "
        "sdka_stats says what its release loses"
    )
    assert rows[1][-1] is None
    people.execute("CREATE TABLE none AS FROM people LIMIT 0")
    none = people.execute(
        "SELECT note FROM compare('none', methods := 'sdka', ks := [5], qids := ['age'])"
    ).fetchall()
    assert none == [(rows[0][-1],)]


def test_no_column_needs_a_role(con):
    """A comparison releases nothing."""
    con.execute("CREATE TABLE t AS SELECT i % 9 AS a, 'name' || i AS who FROM range(50) AS r(i)")
    compared = "SELECT note FROM compare('t', methods := 'mondrian', ks := [5], qids := ['a'])"
    assert con.execute(compared).fetchall() == [(None,)]
    assert "none for who" in fails(con, "FROM mondrian('t', k := 5, qids := ['a'])")


def test_an_empty_table(con):
    con.execute(
        "CREATE TABLE t (a INTEGER, b VARCHAR); CREATE TABLE r AS FROM mondrian('t', qids := ['a', 'b'], keep := ['*'])"
    )
    rows = con.execute(
        f"SELECT method, {', '.join(NAMES)}, note FROM compare('t', ks := [5], qids := ['a', 'b'])"
    ).fetchall()
    expected = con.execute(
        f"SELECT {', '.join(NAMES)} FROM utility('t', 'r', qids := ['a', 'b'])"
    ).fetchall()[0]
    assert rows == [(method, *expected, None) for method in METHODS]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            "methods := ['raiden']",
            "methods must name release methods, got 'raiden'; did you mean rayden?",
        ),
        ("methods := [5]", "methods must name release methods, got 5; anon_methods() lists them"),
        ("methods := ['vp_partition']", "methods must name release methods, got 'vp_partition'"),
        ("methods := []", "methods must name a method, got none"),
        ("ks := NULL", "ks must be whole numbers, got NULL"),
        ("ks := []", "ks must be whole numbers, got none"),
        ("qids := ['agee']", "qids must name columns of the table, got 'agee'; did you mean age?"),
        ("seed := -1", "seed must be a whole number of at least 0, got -1"),
        ("options := 'cut'", "options must be a struct of structs, got a VARCHAR"),
        ("options := {'rayden': 5}", "options of rayden must be a struct, got 5"),
        ("options := {'x': {'cut': 'a'}}", "options must name release methods, got 'x'"),
        (
            "options := {'rayden': {'cutt': 'a'}}",
            "options must name parameters of rayden, got 'cutt'; did you mean cut?",
        ),
        (
            "options := {'oka': {'cut': 'a'}}",
            "options must name parameters of oka, got 'cut'; oka has none",
        ),
        (
            "options := {'rayden': {'cut': 'a'}}",
            "cut must be one of 'balanced', 'median', 'aligned', got 'a'",
        ),
    ],
)
def test_what_is_refused(people, given, sentence):
    assert fails(people, f"FROM compare('people', {given})").startswith(f"compare: {sentence}")


def test_ctrl_c_stops_all(people, monkeypatch):
    """Pressed while a method runs, it is no note of that method: none of the rest is begun."""
    begun = []

    def pressed(table, call):
        begun.append((call.function, call.constraint.k))
        if call.constraint.k == 5:
            running._asked.set()
            running.check(call.function)
        return Partition(np.zeros(table.rows, dtype=np.int32))

    for name in ("mondrian", "oka"):
        monkeypatch.setitem(_methods, name, replace(find_method(name), run=pressed))
    call = "FROM compare('people', methods := ['oka', 'mondrian'], ks := [7, 5, 9])"
    assert fails(people, call) == "compare: stopped on request; nothing was released"
    assert ("oka", 5) in begun
    assert not {("oka", 9), ("mondrian", 7)} & set(begun)
