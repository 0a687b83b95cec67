"""Blanks around values: reported by roles and release, removed by --trim, proposed by a recipe."""

import tomllib

import duckdb
import pytest

from anon_sql.apps.cli import by_recipe
from anon_sql.apps.csv.dialect import dialect
from anon_sql.apps.report.summary import _dialect
from anon_sql.hosts import recipes
from tests.command import run
from tests.sentence import fails

pytestmark = pytest.mark.oldest

WARDS = ["Neuro", "Neuro  ", "Onko", "\u00a0Onko", "\tOnko\u200b"]
NOTES = ["a", " a ", "  "]
ROLES = ["--k", 2, "--quasi", "age,ward", "--keep", "note"]
WARNING = "warning: 38 values of ward, note have blanks around them; pass --trim to remove them"


def made(folder, kind):
    """The source of 30 stays, as the command takes it."""
    con = duckdb.connect(folder / "stays.duckdb" if kind == "duckdb" else ":memory:")
    con.execute(
        "CREATE TABLE stays AS SELECT 20 + i % 2 AS age, $1[1 + i % 5] AS ward, $2[1 + i % 3] AS note "
        "FROM range(30) AS r(i)",
        [WARDS, NOTES],
    )
    path = folder / f"stays.{kind}"
    if kind == "duckdb":
        con.close()
        return f"{path}:main.stays"
    con.execute(f"COPY stays TO '{path}'")
    return path


def values(path, column):
    return {text for (text,) in duckdb.read_parquet(str(path)).project(column).fetchall()}


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb"])
def test_blanks_are_reported_and_removed_from_every_kind_of_source(tmp_path, kind):
    source, out = made(tmp_path, kind), tmp_path / "out.parquet"
    result = run("release", source, out, *ROLES)
    assert result.exit_code == 0, result.output
    assert WARNING in result.stderr
    assert " a " in values(out, "note")
    result = run("release", source, out, *ROLES, "--trim", "--overwrite", "--manifest")
    assert result.exit_code == 0, result.output
    assert "warning" not in result.stderr
    empty = {None} if kind == "csv" else {""}
    assert values(out, "note") == {"a"} | empty
    assert values(out, "ward") == {"Neuro", "Onko"}
    assert run("verify", out, "--raw", source, "--trim").exit_code == 0
    assert run("verify", out, "--raw", source).exit_code == 1


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb"])
def test_roles_report_blanks_and_a_recipe_proposes_to_remove_them(tmp_path, kind):
    source, path = made(tmp_path, kind), tmp_path / "stays.toml"
    result = run("roles", source)
    assert "blanks around the values of 18 rows" in result.stdout
    assert result.stdout.endswith("--trim removes the blanks around values.\n")
    assert "blanks" not in run("roles", source, "--trim").stdout
    result = run("roles", source, "--recipe", path)
    assert result.stdout.splitlines()[0].startswith("trim = true in [source] removes the blanks")
    assert not any(text.strip() in result.stdout for text in WARDS)
    found = tomllib.loads(path.read_text())
    assert found["source"]["trim"] is True


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb"])
def test_a_recipe_trims_what_it_reads_and_sql_refuses_to_read_it(con, tmp_path, kind):
    source, path = made(tmp_path, kind), tmp_path / "stays.toml"
    assert run("roles", source, "--recipe", path).exit_code == 0
    by_recipe.load(con, "release", recipes.read_recipe("release", path))
    assert {ward for (ward,) in con.table("raw").project("ward").fetchall()} == {"Neuro", "Onko"}
    said = fails(con, f"FROM anonymize_recipe('{path}')")
    assert said.startswith("recipe: [source] must not say how the file is read for DuckDB to read")


def test_a_recipe_without_blanks_that_hide_equal_values_proposes_nothing(tmp_path):
    (tmp_path / "t.csv").write_text(
        "age,city\n" + "".join(f"{20 + i % 5}, Ulm\n" for i in range(30))
    )
    result = run("roles", tmp_path / "t.csv", "--recipe", tmp_path / "t.toml")
    assert result.exit_code == 0, result.output
    assert "trim" not in result.output + (tmp_path / "t.toml").read_text()


def test_the_command_of_a_summary_trims_and_names_nulls():
    written_as = dialect("release", None, '"', None, ["NA", ""], trim=True)
    assert [*_dialect(written_as)] == ["--trim", "--null NA"]
