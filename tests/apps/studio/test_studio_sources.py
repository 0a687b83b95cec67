"""What the studio opens: a CSV file, a table of a database, a recipe, and a recipe beside a file."""

import re
import subprocess
import sys

import duckdb
import pytest

import anon_sql
from tests.apps.studio.conftest import PEOPLE, ROLES
from tests.apps.studio.test_studio_signing import anon, rows
from tests.apps.studio.visitor import running, shown_code


def signed(studio, stem):
    """What is shown after a release by the roles of ``people`` has been signed."""
    studio.enter().page("/data/roles")
    for role, columns in ROLES.items():
        studio.choose("role", role, columns)
    studio.choose("t", "0.5")
    studio.page("/data/check?run=yes")
    names = {
        "release": f"{stem}.released.parquet",
        "recipe": f"{stem}.recipe.toml",
        "summary": f"{stem}.summary.html",
    }
    text = studio.page("/write", names)
    assert "✓ Written" in text
    return shown_code(text)


def test_a_table_of_a_database_is_only_read(tmp_path):
    with duckdb.connect(str(tmp_path / "hospital.duckdb")) as con:
        con.execute(f"CREATE SCHEMA ward; CREATE TABLE ward.people AS {PEOPLE}")
    before = (tmp_path / "hospital.duckdb").read_bytes()
    with running(tmp_path, "hospital.duckdb", "--table", "ward.people") as studio:
        sql, command, *_ = signed(studio, "hospital")
        assert "hospital.duckdb, table ward.people" in studio.page("/data/table")
    assert (tmp_path / "hospital.duckdb").read_bytes() == before
    con = anon_sql.connect()
    con.execute(sql.replace("'hospital.duckdb'", f"'{tmp_path / 'hospital.duckdb'}'"))
    assert rows(con, "released") == rows(con, f"'{tmp_path / 'hospital.released.parquet'}'")
    done = anon(tmp_path, *command.split()[1:], "--overwrite")
    assert done.returncode == 0, done.stderr


def test_a_csv_file_and_then_its_recipe(tmp_path):
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{tmp_path / 'people.csv'}'")
    with running(tmp_path, "people.csv") as studio:
        signed(studio, "people")
    with running(tmp_path, "people.recipe.toml") as studio:
        studio.enter().page("/data/roles")
        assert 'value="5"' in studio.page("/data/controls")
        assert "All roles are confirmed." in studio.page("/data/roles")
        assert "✓ Green" in studio.page("/data/check?run=yes")
    with running(tmp_path, "people.csv") as studio:
        studio.enter().page("/data/roles")
        assert "roles are not confirmed yet" in studio.page("/data/roles")
        assert "<strong>people.recipe.toml</strong>" in studio.page("/data/table")
        studio.page("/load", {})
        assert "All roles are confirmed." in studio.page("/data/roles")


@pytest.mark.parametrize(
    ("name", "apart", "said"),
    [
        (
            "people.csv",
            ",",
            "commas between fields, quotes are &#34;, line 1 has the names; NULL is",
        ),
        ("people.tsv", "\\t", "tabs between fields"),
        ("people.parquet", None, None),
    ],
)
def test_how_a_csv_file_is_read_is_said(tmp_path, name, apart, said):
    options = f" (HEADER, DELIMITER '{apart}')" if apart else ""
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{tmp_path / name}'{options}")
    with running(tmp_path, name) as studio:
        page = studio.enter().page("/data/table")
        assert ("Read as" in page) == (said is not None)
        assert said is None or said in page


def test_the_dialect_of_a_recipe_is_said(tmp_path):
    target = tmp_path / "people.csv"
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{target}' (HEADER, DELIMITER ';')")
    said = ("--delimiter", ";", "--quote", "'", "--null", "NA", "--header")
    assert anon(tmp_path, "roles", "people.csv", *said, "--recipe", "r.toml").returncode == 0
    with running(tmp_path, "r.toml") as studio:
        page = studio.enter().page("/data/table")
    assert "semicolons between fields, quotes are &#39;, line 1 has the names; NULL is NA" in page


def test_each_screen_says_how_tables_that_belong_together_are_released(tmp_path):
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{tmp_path / 'people.parquet'}'")
    with running(tmp_path, "people.parquet") as studio:
        studio.enter()
        texts = [studio.page(f"/{name}") for name in ("table", "roles", "protect", "check", "sign")]
    places = [re.search('<footer id="linked".*', text)[0] for text in texts]
    assert len(set(places)) == len(places)
    assert all("<code>release_linked</code>" in each for each in places)


@pytest.mark.parametrize(
    ("sql", "said", "loads"),
    [
        (f"SELECT * REPLACE (age + 1 AS age) FROM ({PEOPLE})", "must have the sha256", True),
        (f"SELECT * EXCLUDE (cost) FROM ({PEOPLE})", "none called cost", False),
    ],
)
def test_a_recipe_beside_a_file_that_differs(tmp_path, sql, said, loads):
    con = duckdb.connect()
    con.execute(f"COPY ({PEOPLE}) TO '{tmp_path / 'people.parquet'}'")
    with running(tmp_path, "people.parquet") as studio:
        studio.enter().page("/data/roles")
        assert "✓ Written" in studio.page("/save", {"recipe": "people.recipe.toml"})
    con.execute(f"COPY ({sql}) TO '{tmp_path / 'people.parquet'}'")
    with running(tmp_path, "people.parquet") as studio:
        studio.enter()
        assert said in studio.page("/data/table")
        assert studio.ask("/load", {})[0] == (200 if loads else 404)


WITHOUT = """
import sys
sys.modules["matplotlib"] = None  # only the extra report has it
import anon_sql.apps.studio.bench, anon_sql.apps.studio.server
"""


def test_the_studio_needs_no_package_of_reports():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
