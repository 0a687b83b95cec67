"""Rows that are not people: a total and a second header are named, a total left out on request."""

import json

import duckdb
import openpyxl
import pytest

import anon_sql
from anon_sql.apps.cli import by_recipe
from anon_sql.hosts.recipes import read_recipe
from tests.apps.studio.test_studio_first_screen import bench
from tests.command import run

ROWS = "".join(f"{20 + i % 9},{50 + i % 40}.5,{'fm'[i % 2]}\n" for i in range(60))
TOTAL = (
    "its last row looks like a total, not like a person; pass --without-total-row to leave it out"
)
HEADER = "its first row looks like a second header, since 2 columns are numbers or dates but for it"


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("Total,3000,\n", True),
        (",3000,Summe:\n", True),
        ("GESAMT,,\n", True),
        ("Grand total,1,f\n", True),
        ("Total war,3000,f\n", False),
        ("29,89.5,f\n", False),
    ],
)
def test_a_total_row_is_named_by_every_command(tmp_path, last, said):
    path, out = tmp_path / "people.csv", tmp_path / "out.parquet"
    path.write_text("age,weight,sex\n" + ROWS + last)
    found = run("release", path, out, "--quasi", "age,sex", "--keep", "weight", "--k", 1)
    assert found.exit_code == 0, found.output
    assert duckdb.sql(f"SELECT count(*) FROM '{out}'").fetchall() == [(61,)]  # not removed
    for result in (found, run("roles", path), run("audit", path, "--quasi", "age")):
        assert (f"people.csv: {TOTAL}" in result.stderr) == said
    noticed = bench(tmp_path, path.read_bytes()).table()["noticed"]
    assert (noticed.get("") is not None) == said


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("years,kg,\n", True),
        ("Alter,Gewicht,Geschlecht\n", True),
        ("x,60.5,f\n", False),
        ("", False),
    ],
)
def test_a_second_header_is_named(tmp_path, first, said):
    path = tmp_path / "people.csv"
    path.write_text("age,weight,sex\n" + first + ROWS)
    result = run("roles", path, "--header")
    assert (f"people.csv: {HEADER}" in result.stderr) == said


SAYS_NO = "IN must have a total in its last row for --without-total-row, got "


def written(folder, name, rows):
    """Return a file of a kind with the columns n and sex, and the rows."""
    path = folder / name
    if name.endswith(".xlsx"):
        book = openpyxl.Workbook()
        for row in [("n", "sex"), *rows]:
            book.active.append(row)
        book.save(path)
    elif name.endswith(".jsonl"):
        lines = (json.dumps(dict(zip(("n", "sex"), row, strict=True))) for row in rows)
        path.write_text("".join(f"{line}\n" for line in lines))
    else:
        lines = (",".join(map(str, row)) for row in [("n", "sex"), *rows])
        path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.mark.parametrize("name", ["people.csv", "people.jsonl", "people.xlsx"])
def test_a_total_row_is_left_out_on_request(tmp_path, name):
    """The column of the total keeps its type, and no other row is lost."""
    people = [(i % 9, "fm"[i % 2]) for i in range(40)]
    path = written(tmp_path, name, [*people, ("Summe", "")])
    roles = ["--quasi", "n,sex", "--k", 2]
    out = tmp_path / "out.parquet"
    named = run("release", path, tmp_path / "all.parquet", *roles)
    assert f"{name}: {TOTAL}" in named.stderr
    made = run("release", path, out, *roles, "--without-total-row")
    assert made.exit_code == 0, made.output
    assert "looks like a total" not in made.stderr
    assert duckdb.sql(f"SELECT count(*) FROM '{out}'").fetchall() == [(40,)]
    labels = duckdb.sql(f"SELECT DISTINCT n FROM '{out}'").fetchall()
    assert not any("{" in label for (label,) in labels)  # a number has ranges, a text has sets
    again = written(tmp_path, name, people)
    refused = run("release", again, tmp_path / "no.parquet", *roles, "--without-total-row")
    assert (refused.exit_code, refused.output.startswith(f"release: {SAYS_NO}another row")) == (
        1,
        True,
    )
    assert not (tmp_path / "no.parquet").exists()


def test_a_recipe_and_the_studio_leave_a_total_row_out(tmp_path):
    path = written(
        tmp_path, "people.csv", [*((i % 9, "fm"[i % 2]) for i in range(40)), ("Total", "")]
    )
    recipe = tmp_path / "r.toml"
    found = run("roles", path, "--recipe", recipe, "--without-total-row")
    assert found.exit_code == 0, found.output
    assert "without_total_row = true" in recipe.read_text()
    with anon_sql.connect() as con:
        by_recipe.load(con, "release", read_recipe("release", recipe))
        assert con.execute("SELECT count(*) FROM raw").fetchall() == [(40,)]
    table = bench(tmp_path, path.read_bytes(), total="yes").table()
    assert (table["rows"]["value"], "" in table["noticed"]) == (40, False)


@pytest.mark.parametrize("name", ["people.parquet", "people.duckdb:main.t"])
def test_a_total_row_of_another_source_has_a_sentence(tmp_path, name):
    path = tmp_path / name.partition(":")[0]
    if name.endswith("parquet"):
        duckdb.sql(f"COPY (SELECT 1 AS n FROM range(9)) TO '{path}'")
    else:
        with duckdb.connect(str(path)) as con:
            con.execute("CREATE TABLE t AS SELECT 1 AS n FROM range(9)")
    out = tmp_path / "out.csv"
    found = run("release", tmp_path / name, out, "--quasi", "n", "--k", 2, "--without-total-row")
    assert found.exit_code == 1
    assert "--without-total-row must come with CSV, JSON lines or a workbook" in found.output
