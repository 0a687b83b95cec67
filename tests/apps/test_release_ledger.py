"""anon-sql release --ledger: each release leaves an entry, and persons released again are told."""

import hashlib
import json

import duckdb
import pytest

from tests.command import refused, run

ROLES = ["--quasi", "age", "--sensitive", "stage", "--entity", "person", "--k", 3]
KEY = "0123456789 a secret key"


@pytest.fixture
def months(con, tmp_path, monkeypatch):
    """Two files of 60 persons, of whom 20 are in both."""
    monkeypatch.setenv("ANON_KEY", KEY)
    for name, low in (("may", 0), ("june", 40)):
        con.execute(
            "COPY (SELECT 'p' || i AS person, 18 + i * 37 % 61 AS age, i % 5 AS stage "
            f"FROM range({low}, {low + 60}) AS made(i)) TO '{tmp_path / name}.csv'"
        )
    return tmp_path


def test_entries_and_persons_who_are_released_again(months):
    ledger = months / "it's a ledger.duckdb"
    asked = [*ROLES, "--ledger", ledger]
    first = run("release", months / "may.csv", months / "a.csv", *asked)
    assert first.exit_code == 0, first.output
    assert "earlier release" not in first.stderr
    second = run("release", months / "june.csv", months / "b.parquet", *asked, "--manifest")
    assert second.exit_code == 0, second.output
    assert "20 persons are in an earlier release, too: a.csv of 20" in second.stderr
    with duckdb.connect(str(ledger)) as con:
        entries = con.execute("SELECT release, persons, manifest FROM anon_ledger").fetchall()
    assert [entry[:2] for entry in entries] == [("a.csv", 60), ("b.parquet", 60)]
    stated = json.loads((months / "b.parquet.anon.json").read_text("utf-8"))
    assert json.loads(entries[1][2]) == stated
    digest = hashlib.sha256((months / "a.csv").read_bytes()).hexdigest()
    assert json.loads(entries[0][2])["output"]["sha256"] == digest
    assert not (months / "a.csv.anon.json").exists()


def test_what_it_refuses(months, monkeypatch):
    ledger, safe = months / "ledger.duckdb", months / "safe.csv"
    asked = ["release", months / "may.csv", safe, "--ledger", ledger]
    assert refused(*asked, "--quasi", "age", "--keep", "*") == (
        "release: --ledger needs the column that says whose a row is, got none; name it in --entity"
    )
    assert run(*asked, *ROLES).exit_code == 0
    monkeypatch.setenv("ANON_KEY", KEY + "!")
    said = refused(*asked, *ROLES, "--overwrite")
    assert said.startswith("release: --ledger-key must be the key of all entries of the ledger")
    monkeypatch.delenv("ANON_KEY")
    said = refused(*asked, *ROLES, "--overwrite")
    assert "the environment variable that key names must be set, got none" in said
    with duckdb.connect(str(ledger)) as con:
        assert con.execute("SELECT count(*) FROM anon_ledger").fetchall() == [(1,)]
