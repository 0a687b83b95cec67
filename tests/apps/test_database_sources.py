"""FILE.duckdb:schema.table wherever a command reads a table."""

import json

import duckdb
import pytest

from anon_sql.hosts.files import digest
from tests.command import refused, run

TABLE = (
    'SELECT 20 + i % 30 AS age, \'v\' || i % 4 AS "ill""ness", i AS id FROM range(300) AS made(i)'
)
ROLES = ("--quasi", "age", "--sensitive", 'ill"ness')


@pytest.fixture
def folder(tmp_path):
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as con:
        con.execute(f'CREATE SCHEMA s; CREATE TABLE s."st:ays" AS {TABLE}')
    return tmp_path


def source(folder):
    return f'{folder / "clinic.duckdb"}:s."st:ays"'


def test_a_release_of_a_table_is_that_of_its_file(folder):
    before = digest(folder / "clinic.duckdb")
    with duckdb.connect(str(folder / "clinic.duckdb"), read_only=True) as con:
        con.execute(f"COPY (FROM s.\"st:ays\") TO '{folder / 'stays.parquet'}'")
    more = ("--identifier", "id", "--k", 5)
    for name, raw in (("a", source(folder)), ("b", folder / "stays.parquet")):
        result = run("release", raw, folder / f"{name}.csv", *ROLES, *more, "--manifest")
        assert result.exit_code == 0, result.output
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
    assert run("verify", folder / "a.csv", "--raw", source(folder)).exit_code == 0
    assert digest(folder / "clinic.duckdb") == before


def test_roles_recipe_and_release(folder):
    result = run("roles", source(folder), "--recipe", folder / "r.toml")
    assert result.exit_code == 0, result.output
    text = (folder / "r.toml").read_text()
    assert 'database = "clinic.duckdb"\ntable = "s.\\"st:ays\\""' in text
    assert run("release", folder / "r.toml", folder / "safe.csv").exit_code in (0, 3, 4)


def test_a_report_of_two_tables_of_one_database(folder):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    with duckdb.connect(str(folder / "clinic.duckdb")) as con:
        con.execute(
            'CREATE TABLE s.safe AS SELECT \'[20, 49]\' AS age, "ill""ness" FROM s."st:ays"'
        )
    out = folder / "r.json"
    released = f"{folder / 'clinic.duckdb'}:s.safe"
    call = ("report", source(folder), released, "-o", out, "--format", "json", "--k", 5)
    result = run(*call, *ROLES, "--identifier", "id")
    assert result.exit_code == 0, result.output
    said = json.loads(out.read_text())
    assert said["verdict"]["state"] == "red"
    with duckdb.connect(str(folder / "clinic.duckdb"), read_only=True) as con:
        con.execute("USE s")
        for each in said["recipient"]:
            assert con.execute(each["sql"]).fetchall() == [(each["expected"],)]


def test_what_is_refused(folder):
    none = f"{folder / 'clinic.duckdb'}:s.none"
    assert refused("roles", none) == (
        "roles: FILE must be a table of 'clinic.duckdb', got 's.none'; write schema.table"
    )
    assert refused("roles", f"{folder / 'no.duckdb'}:s.t").startswith(
        "roles: FILE must be in a file"
    )
    (folder / "text.db").write_text("no database, but a text that is long enough" * 9)
    assert refused("roles", f"{folder / 'text.db'}:t").startswith(
        "roles: FILE must be in a database that can be read, got 'text.db'"
    )
