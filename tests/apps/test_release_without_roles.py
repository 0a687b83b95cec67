"""``anon-sql release`` without any role: it suggests roles, and the call with them."""

import csv
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import anon_sql
from anon_sql.apps.cli.parameters import names
from anon_sql.apps.cli.spelling import argument
from tests.command import refused, run

HOSTILE = [
    "a,b", 'c"d', " e ", "f'g", "-h", "--k", "$(touch stolen)", "`i`;", "ä ö", "new\nline", "a\tb7",
    "no\xa0break", "back\\slash", "\x1b[31mred", "#x", "~", "!y", "j=1", '"', "''", "%s{k}", "日本",
]  # fmt: skip


def write(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, quoting=csv.QUOTE_ALL)
        out.writerow(header)
        out.writerows(rows)
    return path


@pytest.fixture
def people(tmp_path):
    rows = [(f"ann{i}@example.org", 20 + i % 40, f"d{i % 5}", "yes") for i in range(200)]
    return write(tmp_path / "people.csv", ["email", "age", "diagnosis", "flag"], rows)


def suggested(*arguments):
    """Return the result of a call without roles, and the words of the command that it prints."""
    result = run("release", *arguments)
    assert result.exit_code == 2, result.output
    printed = result.stdout.splitlines()[-1]
    assert printed.isprintable()
    shell = ["bash", "-c", f"printf '%s\\0' {printed}"]
    words = subprocess.run(shell, check=True, capture_output=True).stdout.decode().split("\0")[:-1]
    assert words[:2] == ["anon-sql", "release"]
    return result, words[1:]


def test_the_roles_are_those_of_the_command_roles_and_the_call_with_them_works(people, tmp_path):
    out = tmp_path / "out.csv"
    result, words = suggested(people, out, "--k", 10)
    assert words == [
        *("release", f"{people}", f"{out}", "--k", "10", "--identifier", "email"),
        *("--quasi", "age", "--sensitive", "diagnosis", "--keep", "flag"),
    ]
    assert result.stdout.splitlines()[:-1] == run("roles", people).stdout.splitlines()
    assert "nothing was written" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]
    made = run(*words)
    assert made.exit_code == 0, made.output
    assert out.exists()


def test_the_call_keeps_the_options_that_were_typed(people, tmp_path):
    out = tmp_path / "safe.parquet"
    options = [
        *("--method", "mondrian", "--seed", "7", "--no-header", "--null", "-", "--null", "?"),
        *("--assumption", "they know $HOME", "--manifest", "--unit", "row", "--c", "2.5"),
        *("--overwrite", "--progress", "none"),
    ]
    _, words = suggested(people, out, *options)
    typed = words[3 : words.index("--identifier")]
    assert sorted(typed) == sorted(options)
    pairs = {(typed[at], typed[at + 1]) for at in range(len(typed) - 1)}
    assert {("--null", "-"), ("--null", "?"), ("--assumption", "they know $HOME")} <= pairs
    assert {("--method", "mondrian"), ("--unit", "row"), ("--c", "2.5")} <= pairs
    made = run(*words)
    assert made.exit_code == 0, made.output


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_names_that_a_shell_or_a_list_would_change_survive(tmp_path, ending):
    header = [*HOSTILE, "age"]
    rows = [[*(f"v{(i + at) % 2}" for at in range(len(HOSTILE))), 20 + i % 4] for i in range(200)]
    source = tmp_path / f"odd ' \" $x{ending}"
    if ending == ".csv":
        write(source, header, rows)
    else:
        parquet.write_table(
            pa.table(dict(zip(header, zip(*rows, strict=True), strict=True))), source
        )
    _, words = suggested(source, tmp_path / "o u t.parquet", "--k", 2)
    given = [name for at in range(5, len(words), 2) for name in names([words[at + 1]])]
    read = [name.strip() if ending == ".csv" else name for name in header]
    assert sorted(given) == sorted(read)
    made = run(*words)
    assert made.exit_code == 0, made.output
    assert not Path("stolen").exists()


def test_a_list_of_names_is_read_as_it_is_written():
    for name in [*HOSTILE, " ", "*"]:
        quoted = argument([name, "x"])
        assert "\n" in name or quoted.count("\n") == 0
        text = subprocess.run(
            ["bash", "-c", f"printf %s {quoted}"], check=True, capture_output=True
        )
        assert names([text.stdout.decode()]) == [name, "x"]


def test_paths_that_begin_with_a_dash(people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people.rename(tmp_path / "-in.csv")
    _, words = suggested("--k", "5", "--", "-in.csv", "-out.csv")
    assert words[-3:] == ["--", "-in.csv", "-out.csv"]
    assert run(*words).exit_code == 0
    assert Path("-out.csv").exists()


def test_people_with_several_rows_are_protected(tmp_path):
    rows = [(f"P{i % 100:04}", 20 + i % 40, f"d{i % 3}") for i in range(300)]
    source = write(tmp_path / "visits.csv", ["patient_id", "age", "diagnosis"], rows)
    _, words = suggested(source, tmp_path / "out.csv", "--k", 5)
    assert words[-2:] == ["--entity", "patient_id"]
    assert run(*words).exit_code == 0
    _, words = suggested(source, tmp_path / "out2.csv", "--entity", "patient_id")
    assert words.count("--entity") == 1


def test_a_table_in_a_database_with_and_without_comments(tmp_path):
    path = tmp_path / "clinic.duckdb"
    with anon_sql.connect(str(path)) as con:
        con.execute(
            "CREATE TABLE people AS SELECT i % 40 AS age, i % 5 AS ill FROM range(200) r(i)"
        )
    table = f"{path}:main.people"
    _, words = suggested(table, tmp_path / "out.parquet")
    assert words[1] == table
    assert run(*words).exit_code == 0
    with anon_sql.connect(str(path)) as con:
        con.execute("COMMENT ON COLUMN people.age IS 'anon:quasi'")
    said = refused("release", table, tmp_path / "out2.parquet")
    assert said.startswith("anonymize: every column needs a role, got no role for ill; ")
    with anon_sql.connect(str(path)) as con:
        con.execute("COMMENT ON COLUMN people.ill IS 'anon:sensitive'")
    assert run("release", table, tmp_path / "out2.parquet").exit_code == 0


def test_a_table_without_quasi_identifiers_has_no_call(tmp_path):
    rows = [(f"ann{i}@example.org",) for i in range(50)]
    source = write(tmp_path / "mails.csv", ["email"], rows)
    result = run("release", source, tmp_path / "out.csv")
    assert result.exit_code == 2
    assert "anon-sql release" not in result.stdout
    assert "none is suggested as a quasi-identifier" in result.stderr
    assert not (tmp_path / "out.csv").exists()


def test_some_roles_but_not_all_are_an_error_that_names_the_command_roles(people, tmp_path):
    out = tmp_path / "out.csv"
    assert refused("release", people, out, "--sensitive", "diagnosis") == (
        "release: --quasi must name quasi-identifiers; write --quasi age,city (anon-sql "
        "roles suggests roles), or release by a recipe"
    )
    said = refused("release", people, out, "--quasi", "age", "--sensitive", "diagnosis")
    assert said.startswith("anonymize: every column needs a role, got no role for email, flag; ")
    assert said.endswith("; anon-sql roles suggests roles")
    assert not out.exists()


def test_what_must_not_be_written_is_refused_before_roles_are_suggested(people, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("there")
    assert "OUT must be a new file" in refused("release", people, out)
    assert out.read_text() == "there"


def test_a_series_and_a_ledger_are_not_begun(people, tmp_path):
    for more in (("--series", "s.duckdb"), ("--ledger", "l.duckdb", "--entity", "email")):
        option, file, *rest = more
        suggested(people, tmp_path / "out.csv", option, tmp_path / file, *rest)
        assert not (tmp_path / file).exists()


def test_the_call_reads_numbers_dates_and_missing_values_as_the_file_writes_them(tmp_path):
    header = ["born", "height", "city, part", "diagnosis"]
    rows = [
        (
            f"{1 + i % 28:02d}.{1 + i % 12:02d}.{1950 + i % 40}",
            f"1,{50 + i % 40}",
            f"{i % 3}",
            "flu",
        )
        for i in range(200)
    ]
    rows[7] = ("n/a", "n/a", "1", "cold")
    source, out = write(tmp_path / "people.csv", header, rows), tmp_path / "out.csv"
    result, words = suggested(source, out, "--k", 5)
    assert words[words.index("--null") + 1] == "n/a"
    assert words[words.index("--date-format") + 1] == "born=%d.%m.%Y"
    assert words[words.index("--decimal") + 1] == "height=,"
    assert "The command also says how the file writes numbers" in result.stdout
    made = run(*words)
    assert made.exit_code == 0, made.output
    with out.open(encoding="utf-8") as file:
        first = next(csv.DictReader(file))
    assert first["born"].startswith("[19")
    assert first["height"].startswith("[1.")
