"""anon-sql release --ledger: each release leaves an entry, and persons released again are told."""

import hashlib
import json
import subprocess
import sys

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
        "release: --ledger needs the column that says whose a row is; name it in --entity"
    )
    assert run(*asked, *ROLES).exit_code == 0
    monkeypatch.setenv("ANON_KEY", KEY + "!")
    said = refused(*asked, *ROLES, "--overwrite")
    assert said.startswith("release: --ledger-key must be the key of all entries of the ledger")
    monkeypatch.delenv("ANON_KEY")
    said = refused(*asked, *ROLES, "--overwrite")
    assert "the environment variable that --ledger-key names must be set" in said
    with duckdb.connect(str(ledger)) as con:
        assert con.execute("SELECT count(*) FROM anon_ledger").fetchall() == [(1,)]


@pytest.mark.slow
def test_a_changed_ledger_and_one_of_a_former_version_are_refused(months):
    ledger, safe = months / "ledger.duckdb", months / "safe.csv"
    asked = ["release", months / "june.csv", safe, *ROLES, "--ledger", ledger]
    assert run("release", months / "may.csv", months / "a.csv", *asked[3:]).exit_code == 0
    for change, said in (
        ("UPDATE anon_ledger SET person_hashes = []", "release: each entry of the ledger must be"),
        ("ALTER TABLE anon_ledger DROP digest", "release: --ledger must be a ledger, got one of a"),
        (
            "ALTER TABLE anon_ledger DROP persons",
            "--ledger must be a ledger, got a table with other",
        ),
    ):
        with duckdb.connect(str(ledger)) as con:
            con.execute(change)
        assert said in refused(*asked)
        assert not safe.exists()


@pytest.mark.slow
def test_persons_of_another_column_are_refused_and_of_another_type_told(months, con):
    ledger, safe = months / "ledger.duckdb", months / "safe.csv"
    for name, kind in (("may", "INTEGER"), ("june", "DECIMAL(9, 2)")):
        con.execute(
            f"COPY (SELECT replace(person, 'p', '')::{kind} AS person, person AS mail, age, stage "
            f"FROM '{months / name}.csv') TO '{months / name}.parquet'"
        )
    roles = [*ROLES, "--identifier", "mail,person", "--ledger", ledger]
    assert run("release", months / "may.parquet", months / "a.csv", *roles).exit_code == 0
    asked = ["release", months / "june.parquet", safe, *roles]
    said = refused(*asked, "--entity", "mail")
    assert said.startswith("release: --entity must be the column whose persons the ledger holds")
    assert not safe.exists()
    second = run(*asked)
    assert "20 persons are in an earlier release, too: a.csv of 20" in second.stderr


def test_a_second_process_cannot_release_before_the_first_has_entered(months):
    ledger, safe = months / "ledger.duckdb", months / "safe.csv"
    script = (
        f"import duckdb; held = duckdb.connect({str(ledger)!r}); print('open', flush=True); input()"
    )
    first = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert first.stdout.readline() == b"open\n"
        said = refused("release", months / "may.csv", safe, *ROLES, "--ledger", ledger)
        assert "lock on file" in said
        assert not safe.exists()
    finally:
        first.communicate(b"\n", timeout=60)
