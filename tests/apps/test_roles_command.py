"""``anon-sql roles``: suggestions for a file, as a table, as COMMENT statements and for dbt."""

import csv
import re

import duckdb
import pytest

import anon_sql
from tests.command import refused, run

NAMES = ["email", 'na"me; DROP TABLE x', "select", "age", "income", "größe: 'cm'", "flag"]
ROLES = ["identifier", "identifier", "quasi", "quasi", "sensitive", "quasi", "keep"]


@pytest.fixture
def people(tmp_path):
    """A CSV file with hostile column names, called like no table should be."""
    path = tmp_path / 'peo"ple of 2024.csv'
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(NAMES)
        for i in range(200):
            values = [
                f"ann{i}@example.org",
                f"Ann {i}",
                i % 2,
                20 + i % 40,
                900 + i % 7,
                150 + i % 50,
            ]
            out.writerow([*values, "yes"])
    return path


def test_a_table(people):
    result = run("roles", people)
    assert result.exit_code == 0, result.output
    lines = [re.split(r"  +", line.strip()) for line in result.stdout.splitlines()]
    by_name = {line[0]: line[1:] for line in lines}
    assert [by_name[name][1] for name in NAMES] == ROLES
    assert by_name["email"] == [
        *("VARCHAR", "identifier", "200", "0.0%", "100.0%", "0.0%"),
        "100% of sampled values look like an e-mail address",
    ]
    assert "ann1" not in result.stdout.lower()
    assert "These are suggestions: check each one" in result.stdout


def test_sql_that_runs(people, tmp_path):
    result = run("roles", people, "--sql")
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == len(NAMES)
    with anon_sql.connect(str(tmp_path / "db.duckdb")) as con:
        con.execute(f"""CREATE TABLE "peo""ple of 2024" AS FROM '{people}'""")
        con.execute(result.stdout)
        con.execute("""ALTER TABLE "peo""ple of 2024" RENAME TO p""")
        found = con.execute("SELECT column_name, role FROM anon_roles('p')")
        assert found.fetchall() == list(zip(NAMES, ROLES, strict=True))


def test_the_name_of_the_table(people):
    first = run("roles", people, "--sql", "--table", 'db."my.schema".t').stdout.splitlines()[0]
    assert first == """COMMENT ON COLUMN "db"."my.schema"."t"."email" IS 'anon:identifier';"""
    assert 'name: "t"' in run("roles", people, "--dbt", "--table", "db.t").stdout


def test_a_schema_that_dbt_reads(people):
    yaml = pytest.importorskip("yaml")
    result = run("roles", people, "--dbt")
    assert result.exit_code == 0, result.output
    read = yaml.safe_load(result.stdout)
    assert read["version"] == 2
    (model,) = read["models"]
    assert model["name"] == 'peo"ple of 2024'
    assert [column["name"] for column in model["columns"]] == NAMES
    assert [column["meta"] for column in model["columns"]] == [{"anon": role} for role in ROLES]
    assert model["columns"][3]["description"] == "Suggested: the name says age or birth."


@pytest.mark.parametrize("ending", ["parquet", "tsv", "csv.gz", "tsv.gz"])
def test_other_files(tmp_path, ending):
    path = tmp_path / f"my.people.{ending}"
    delimiter = "" if ending == "parquet" or "csv" in ending else ", DELIMITER '\t'"
    kind = "FORMAT parquet" if ending == "parquet" else "FORMAT csv, HEADER" + delimiter
    packed = ", COMPRESSION gzip" if ending.endswith("gz") else ""
    duckdb.sql(f"COPY (SELECT 'a@b.org' AS x, 3 AS age) TO '{path}' ({kind}{packed})")
    result = run("roles", path, "--sql")
    assert result.stdout.splitlines() == [
        """COMMENT ON COLUMN "my.people"."x" IS 'anon:identifier';""",
        """COMMENT ON COLUMN "my.people"."age" IS 'anon:quasi';""",
    ]


def test_refusals(people, tmp_path):
    assert refused("roles", tmp_path / "no.csv").startswith("roles: FILE must be a file, got")
    assert refused("roles", tmp_path / "no.docx").startswith("roles: files must end in")
    assert refused("roles", people, "--sql", "--dbt") == (
        "roles: one format must be chosen, got --sql and --dbt"
    )
    assert refused("roles", people, "--table", "t").startswith("roles: --table must come with")
    assert refused("roles", people, "--sql", "--table", "a..b").startswith(
        "roles: --table must name"
    )


def test_a_file_with_semicolons(tmp_path):
    path = tmp_path / "kunden.csv"
    lines = [f"{20 + i % 40};{150 + i % 50},5" for i in range(50)]
    path.write_text("\n".join(["Alter;Größe", *lines]), encoding="utf-8")
    result = run("roles", path, "--sql")
    assert result.exit_code == 0, result.output
    assert "kunden.csv: ';' stands between its fields" in result.stderr
    assert run("roles", path, "--delimiter", ";", "--sql").stdout == result.stdout
    assert [line.split('"')[3] for line in result.stdout.splitlines()] == ["Alter", "Größe"]


def test_markers_of_missing_values_among_numbers_are_proposed_as_null(tmp_path):
    path, recipe = tmp_path / "a.csv", tmp_path / "r.toml"
    lines = [
        ";".join(
            [
                "NA" if i % 9 == 4 else str(i % 40),
                "?" if i % 8 == 0 else str(i * 7 % 100 / 4),
                "none" if i % 3 else "NA",
                "unknown" if i % 11 == 3 else f"{i % 30},5",
            ]
        )
        for i in range(200)
    ]
    path.write_text("age;size;debtors;weight\n" + "\n".join(lines) + "\n")
    told = run("roles", path, "--delimiter", ";").stdout
    assert "pass --null '?' --null NA --null unknown --decimal weight=," in told
    result = run("roles", path, "--delimiter", ";", "--recipe", recipe)
    assert result.exit_code == 0, result.output
    assert 'null = ["?", "NA", "unknown"]' in recipe.read_text()
    assert 'null = ["NA"] in [source] reads it as missing in every column' in result.output


@pytest.mark.parametrize("marker", ["none", "unknown", "-"])
def test_a_word_that_another_column_has_too_is_no_marker(tmp_path, marker):
    path, recipe = tmp_path / "a.csv", tmp_path / "r.toml"
    lines = [f"{marker if i % 9 == 4 else i % 40},{marker if i % 2 else 'yes'}" for i in range(200)]
    path.write_text("age,debtors\n" + "\n".join(lines) + "\n")
    assert run("roles", path, "--recipe", recipe).exit_code == 0
    assert "null =" not in recipe.read_text()


def test_kept_columns_that_are_rare_together_are_generalized(tmp_path):
    path = tmp_path / "a.csv"
    lines = [f"{20 + i % 40},{'abc'[i % 3]},{'defg'[i // 3 % 4]},{i // 12 % 2}" for i in range(90)]
    path.write_text("age,x,y,z\n" + "\n".join(lines) + "\n")
    told = run("roles", path).stdout
    con = duckdb.connect()
    con.execute(f"CREATE TABLE t AS FROM read_csv('{path}')")
    kept = [
        line.split()[0] for line in told.splitlines() if re.search(r"(BIGINT|VARCHAR) +keep ", line)
    ]
    assert len(kept) < 3
    assert "few rows have its value with those of " in told
    if kept:
        of = ", ".join(kept)
        few = f"SELECT 1 FROM t GROUP BY {of} HAVING count(*) < 5"
        assert con.execute(few).fetchall() == []
