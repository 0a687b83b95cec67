"""sdka: what it refuses, stops at and needs."""

import sys

import pytest

from anon_sql.core import running
from anon_sql.errors import AnonError
from tests.release.test_sdka import CALL, ROLES, fill, made, release
from tests.sentence import fails


def test_nothing_to_add_needs_no_generator(con, monkeypatch):
    monkeypatch.setitem(sys.modules, "ctgan", None)
    fill(con, made())
    assert len(release(con, more=", target_ratio := 1e9", call=ROLES)) == 300
    assert fails(con, f"FROM sdka('t', {ROLES})") == (
        "sdka: generator := 'ctgan' needs the extra ctgan, got no package ctgan; "
        "pip install 'anon-sql[ctgan]', or use generator := 'bootstrap'"
    )


def test_the_missing_extra_is_one_sentence(con, monkeypatch):
    fill(con, made())
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert fails(con, f"FROM sdka('t', {CALL})") == (
        "sdka: k-means needs the extra ml, got no package scikit-learn; pip install 'anon-sql[ml]'"
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("qids := ['age'], keep := ['*'], l := 1", "synthetic records need a sensitive column"),
        ("qids := ['age'], keep := ['rid']", "l and t need a sensitive column, got none"),
        (f"{CALL}, target_ratio := 0.5", "target_ratio must be a number of at least 1, got 0.5"),
        (f"{CALL}, dominant := 2", "dominant must be a number of at least 0 and at most 1, got 2"),
        (f"{CALL}, numbers := 'mean'", "numbers must be one of 'range', 'centre', got 'mean'"),
        (f"{CALL}, epochs := 0", "epochs must be a whole number of at least 1, got 0"),
        (f"{ROLES}, generator := 'gan'", "generator must be one of 'ctgan', 'bootstrap', got"),
        (f"{CALL}, l := 4", "l must be at most what the whole table has in ill, 3 (distinct)"),
        (f"{CALL}, k := 301", "k must be at most the number of rows, 300, got k := 301"),
    ],
)
def test_what_is_refused(con, given, sentence):
    fill(con, made())
    assert fails(con, f"FROM sdka('t', {given})").startswith(f"sdka: {sentence}")


def test_ctrl_c_during_k_means(con, monkeypatch):
    fill(con, made())

    def stopped(function):
        raise AnonError(function, "stopped on request")

    monkeypatch.setattr("anon_sql.methods.microaggregation.check", stopped)
    assert fails(con, f"FROM sdka('t', {CALL})") == "sdka: stopped on request"
    assert running.check("sdka") is None


@pytest.mark.slow
def test_the_real_ctgan(con):
    pytest.importorskip("ctgan", reason="needs the extra ctgan")
    fill(con, made())
    released = con.execute(f"FROM sdka('t', k := 5, {ROLES}, epochs := 1)").fetchall()
    assert len(released) > 300
