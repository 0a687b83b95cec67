"""The command line as its users meet it."""

import csv
import re
import shlex
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import anon_sql
from anon_sql.apps.cli.help import FOLDERS, pages, show_help, title
from tests.command import refused, run


@pytest.fixture
def people(tmp_path):
    """A Parquet file of 200 people."""
    sql = "SELECT 'n' || i AS name, 20 + i % 40 AS age, i % 3 AS ward FROM range(200) AS r(i)"
    path = tmp_path / "people.parquet"
    duckdb.sql(sql).write_parquet(str(path))
    return path


def test_the_functions_are_there(people):
    sql = f"FROM rayden('{people}', k := 5, quasi := ['age', 'ward'], identifiers := ['name'])"
    result = run("query", sql, "--format", "csv")
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert list(rows[0]) == ["age", "ward"]
    assert len(rows) == 200


def test_a_packages_error_is_its_sentence_alone(people):
    sql = f"FROM rayden('{people}', k := 5, quasi := ['ages'])"
    assert refused("query", sql).startswith(
        "rayden: quasi must name columns of the table, got 'ages'; did"
    )
    sentence = refused(
        "query", f"FROM rayden('{people}', k := 900, quasi := ['age'], keep := ['name', '*'])"
    )
    assert sentence.startswith("rayden: ")
    assert "900" in sentence


@pytest.mark.slow
def test_adult_is_loaded_with_roles_and_releases(shared_data, tmp_path):
    database = tmp_path / "adult file.duckdb"
    result = run("data", "uci-adult", shared_data / "raw", "--database", database)
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["train", "32561", "1836", "1843", "583"] in lines
    assert ["test", "16281", "963", "966", "274"] in lines
    assert f"--database '{database}'" in result.stdout
    assert "data uci-adult" in refused(
        "data", "uci-adult", shared_data / "raw", "--database", database
    )
    with duckdb.connect(str(database)) as con:
        roles = con.execute(
            "SELECT comment, count(*) FROM duckdb_columns() WHERE table_name = 'adult' "
            "GROUP BY comment ORDER BY comment"
        ).fetchall()
    assert roles == [("anon:keep", 7), ("anon:quasi", 8), ("anon:sensitive", 1)]
    (command,) = [line for line in result.stdout.splitlines() if line.startswith("  anon-sql")]
    released = run(*shlex.split(command)[1:], "--rows", 3)
    assert released.stdout.splitlines()[-1].startswith("48,842 rows, 3 shown")


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        *(("people", ending) for ending in (".csv", ".tsv.gz", ".parquet", ".duckdb")),
        ("stays", ".tsv.gz"),
        ("stays", ".duckdb"),
        ("adult", ".parquet"),
    ],
)
def test_generated_tables_are_written(tmp_path, name, ending):
    into = tmp_path / f"a file{ending}"
    result = run("data", name, "--into", into)
    assert result.exit_code == 0, result.output
    with duckdb.connect(str(into) if ending == ".duckdb" else ":memory:") as con:
        rows = len(con.sql(f"FROM {name}" if ending == ".duckdb" else f"FROM '{into}'"))
    assert f": {rows:,} generated rows" in result.stdout
    assert rows == {"adult": 30_000, "people": 60, "stays": 2_000}[name]
    if ending != ".duckdb":
        said = refused("data", name, "--into", into)
        assert said.endswith(f"got '{into}', which exists; --overwrite replaces it")
        before = into.read_bytes()
        assert run("data", name, "--into", into, "--overwrite").exit_code == 0
        assert into.read_bytes() == before or ending == ".tsv.gz"


def test_a_generated_table_needs_a_name_that_says_its_format(tmp_path):
    said = refused("data", "people", "--into", tmp_path / "people.docx")
    assert said.startswith("data people: --into must end in .csv, .tsv, ")
    only_read = tmp_path / "people.ods"
    assert refused("data", "people", "--into", only_read).startswith("data people: --into must end")
    said = refused("data", "people", "--into", tmp_path / "none" / "people.csv")
    assert said.startswith("data people: --into must be in a directory that exists, got ")


def test_a_wrong_sum_makes_no_database(tmp_path):
    (tmp_path / "adult.data").write_text("39, Private\n")
    database = tmp_path / "adult.duckdb"
    sentence = refused("data", "uci-adult", tmp_path, "--database", database)
    assert sentence.startswith("data uci-adult: ")
    assert "5b00264637dbfec3" in sentence
    assert not database.exists()


def test_version_and_help():
    assert run("--version").stdout.startswith("anon-sql ")
    assert duckdb.__version__ in run("--version").stdout
    commands = ["demo", "query", "release", "verify", "report", "sweep", "shell"]
    for command in ([], ["data"], ["data", "adult"], *([name] for name in commands)):
        result = run(*command, "--help")
        assert result.exit_code == 0
        assert "Usage" in result.stdout
    for command in (["data", "adult"], *([name] for name in commands)):
        assert "Example: anon-sql" in run(*command, "--help").stdout


@pytest.mark.slow
def test_the_module_runs_as_a_program():
    command = [sys.executable, "-m", "anon_sql.apps.cli.app", "query"]
    good = subprocess.run(
        [*command, "SELECT 40 + 2 AS n"], capture_output=True, text=True, check=False
    )
    assert (good.returncode, good.stderr) == (0, "")
    assert "42" in good.stdout
    bad = subprocess.run([*command, "FROM nowhere"], capture_output=True, text=True, check=False)
    assert bad.returncode == 1
    assert bad.stdout == ""
    assert bad.stderr.startswith("Catalog Error: Table with name nowhere does not exist!")
    assert bad.stderr.count("\n") == 1


def test_help_prints_every_page_and_function():
    listed = run("help").stdout
    for topic, page in pages().items():
        assert f"  {topic} " in listed
        assert title(page) in listed
        assert {page.parent.name, page.parent.parent.name} & set(FOLDERS)
    assert "  building-blocks " in listed  # in a folder of look-up
    assert run("help", "mondrian").stdout.startswith("# mondrian\n")
    assert run("help", "roles").stdout == pages()["roles"].read_text(encoding="utf-8")
    assert "example: SELECT * FROM rayden(" in run("help", "rayden").stdout
    both = run("help", "anonymize").stdout
    assert both.startswith(pages()["anonymize"].read_text(encoding="utf-8"))
    assert "example: SELECT * FROM anonymize(" in both
    said = refused("help", "role")
    assert said.startswith(
        "help: the topic must be a page or a function, got 'role'; did you mean "
    )


def test_a_terminal_shows_topics_for_links(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    show_help("sdka")
    said = " ".join(capsys.readouterr().out.split())
    assert "A category with a hierarchy (help use-hierarchies) keeps its value" in said
    assert ".md" not in said


def test_every_topic_that_the_package_names_is_a_page():
    """In messages and texts of help, which must work for whoever has installed a wheel."""
    package = Path(anon_sql.__file__).parent
    texts = [path.read_text(encoding="utf-8") for path in package.rglob("*.py")]
    named = {topic for text in texts for topic in re.findall(r"anon-sql help ([a-z][\w-]+)", text)}
    assert named
    assert named <= set(pages())
    assert not [text for text in texts if re.search(r"see docs/|\(docs/", text)]
