"""A pattern such as 'visits-*.csv' reads all files that it fits as one table."""

import duckdb
import pytest

import anon_sql
from anon_sql.apps.cli import by_recipe
from anon_sql.hosts.files import digest
from anon_sql.hosts.recipes import read_recipe
from tests.command import run

ROLES = ["--quasi", "age,city", "--sensitive", "ill", "--identifier", "id", "--k", 5]
COLUMNS = "'p' || i AS id, 20 + i % 20 AS age, ['a', 'b', 'c'][1 + i % 3] AS city, i * 7 % 4 AS ill"


def parts(folder, ending):
    """Write 90 rows into three files of a kind, the last of which sorts first by time."""
    for number in (2, 0, 1):
        rows = f"SELECT {COLUMNS} FROM range({number * 30}, {number * 30 + 30}) r(i)"
        duckdb.sql(f"COPY ({rows}) TO '{folder}/visits-{number}{ending}'")
    return folder / f"visits-*{ending}"


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet", ".jsonl"])
def test_the_release_is_that_of_one_file_with_all_rows(tmp_path, ending):
    pattern = parts(tmp_path, ending)
    whole = tmp_path / f"whole{ending}"
    duckdb.sql(f"COPY (SELECT {COLUMNS} FROM range(90) r(i)) TO '{whole}'")
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    for source, out in ((pattern, one), (whole, other)):
        made = run("release", source, out, *ROLES, "--manifest")
        assert made.exit_code == 0, made.output
    assert one.read_bytes() == other.read_bytes()
    checked = run("verify", one, "--raw", pattern)
    assert checked.exit_code == 0, checked.output
    roles = run("roles", pattern)
    assert roles.exit_code == 0, roles.output
    assert " 90 " in roles.output  # different ids
    assert "visits-*" + ending + ": 90 rows" in run("audit", pattern, "--quasi", "age").output


def test_a_column_has_one_type_in_all_files(tmp_path):
    """A text in the last file makes the column text in all of them."""
    pattern = parts(tmp_path, ".csv")
    path = tmp_path / "visits-2.csv"
    path.write_text(path.read_text().replace(",20,", ",unknown,", 1))
    found = run("release", pattern, tmp_path / "out.csv", *ROLES)
    assert "age is text, since 1 of its 90 values are not plain numbers" in found.stderr


WRONG = {
    "renamed": ("id,age,town,ill\np,20,a,1\n", "no column city in 'visits-1.csv'"),
    "more": ("id,age,city,ill,kg\np,20,a,1,9\n", "the column kg besides in 'visits-1.csv'"),
    "moved": ("id,city,age,ill\np,a,20,1\n", "city in another place in 'visits-1.csv'"),
    "short": ("id,age,city,ill\np,20\n", "2 in line 2 in 'visits-1.csv'"),
    "quote": ('id,age,city,ill\np,20,"a,1\n', "to the end in 'visits-1.csv'"),
    "empty": ("", "'visits-1.csv', which is empty"),
    "json": ('{"id": 1}\n', "visits-1.csv"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_file_that_does_not_fit_is_named(tmp_path, case):
    pattern, (text, said) = parts(tmp_path, ".csv"), WRONG[case]
    (tmp_path / "visits-1.csv").write_text(text)
    out = tmp_path / "out.csv"
    found = run("release", pattern, out, *ROLES)
    assert (found.exit_code, out.exists()) == (1, False)
    assert said in found.output
    assert "Traceback" not in found.output


def test_parquet_files_need_the_same_types(tmp_path):
    pattern = parts(tmp_path, ".parquet")
    duckdb.sql(f"""COPY (SELECT * REPLACE (age::VARCHAR AS age) FROM '{tmp_path}/visits-0.parquet')
        TO '{tmp_path}/visits-1.parquet'""")
    found = run("release", pattern, tmp_path / "out.csv", *ROLES)
    assert found.exit_code == 1
    assert "another column than age in 'visits-1.parquet'" in found.output


def test_a_declared_notation_names_the_file_and_its_line(tmp_path):
    pattern = parts(tmp_path, ".csv")
    for number in range(3):
        path = tmp_path / f"visits-{number}.csv"
        lines = path.read_text().splitlines()
        dated = [
            lines[0] + ",day",
            *(f"{line},{1 + i:02}.02.2020" for i, line in enumerate(lines[1:29])),
        ]
        path.write_text("\n".join(dated) + "\n")
    path = tmp_path / "visits-1.csv"
    path.write_text(path.read_text().replace("04.02.2020", "04/02/2020"))
    found = run("release", pattern, tmp_path / "out.csv", *ROLES, "--date-format", "day=%d.%m.%Y")
    assert found.exit_code == 1
    assert "another text in line 5 of 'visits-1.csv'" in found.output


def test_what_a_pattern_cannot_be_is_said(tmp_path):
    pattern = parts(tmp_path, ".csv")
    out = tmp_path / "visits-1.csv"
    before = out.read_bytes()
    same = run("release", pattern, out, *ROLES, "--overwrite")
    assert "OUT must be a different file from IN" in same.output
    assert out.read_bytes() == before
    assert "which fits none" in run("roles", tmp_path / "x-*.csv").output
    (tmp_path / "a.sav").write_bytes(b"x")
    assert "patterns read CSV, Parquet and JSON lines" in run("roles", tmp_path / "*.sav").output
    assert "the source must be one file" in run("studio", pattern).output


def test_a_file_whose_name_has_the_signs_of_a_pattern_is_one_file(tmp_path):
    parts(tmp_path, ".csv")
    path = tmp_path / "visits-[0-2].csv"
    path.write_bytes((tmp_path / "visits-0.csv").read_bytes())
    assert f"{path.name}: 30 rows" in run("audit", path, "--quasi", "age").output


def test_a_recipe_pins_the_content_of_every_file(tmp_path):
    pattern, recipe = parts(tmp_path, ".csv"), tmp_path / "r.toml"
    found = run("roles", pattern, "--recipe", recipe)
    assert found.exit_code == 0, found.output
    assert f'sha256 = "{digest(pattern)}"' in recipe.read_text()
    with anon_sql.connect() as con:
        by_recipe.load(con, "release", read_recipe("release", recipe))
        assert con.execute("SELECT count(*) FROM raw").fetchall() == [(90,)]
    (tmp_path / "visits-3.csv").write_bytes((tmp_path / "visits-2.csv").read_bytes())
    again = run("release", recipe, tmp_path / "again.parquet")
    assert again.exit_code == 1
    assert "the sha256 that the recipe states" in again.output


def test_a_manifest_has_no_hash_of_a_raw_file(tmp_path):
    """A recipient could test guesses of the raw rows by it."""
    pattern, out = parts(tmp_path, ".csv"), tmp_path / "out.csv"
    assert run("release", pattern, out, *ROLES, "--manifest").exit_code == 0
    stated = (tmp_path / "out.csv.anon.json").read_text()
    files = [pattern, *tmp_path.glob("visits-*.csv")]
    assert not any(digest(file) in stated for file in files)
