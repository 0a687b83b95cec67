"""The command line as its users meet it: what is printed, what is written, what is refused."""

import csv
import gzip
import json
import subprocess
import sys

import duckdb
import pytest
from typer.testing import CliRunner

from anon_sql import cli

PEOPLE = "CREATE TABLE people AS SELECT 'n' || i AS name, 20 + i % 40 AS age, "
PEOPLE += "if(i % 3 = 0, 'f', 'm') AS sex, if(i % 7 = 0, 'flu', 'cold') AS illness, 1.5 AS dose "
PEOPLE += "FROM range(200) AS numbers(i)"


def run(*arguments, width="200"):
    return CliRunner(env={"COLUMNS": width}).invoke(cli.app, [str(a) for a in arguments])


def refused(*arguments):
    """The one line that a failing call prints, and nothing else."""
    result = run(*arguments)
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.output
    return result.stderr.rstrip("\n")


@pytest.fixture
def people(tmp_path):
    """A CSV file of 200 people."""
    con = duckdb.connect()
    con.execute(PEOPLE)
    con.execute("COPY people TO ? (HEADER true)", [str(tmp_path / "people.csv")])
    return tmp_path / "people.csv"


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


# query


def test_a_table_is_printed_with_its_count():
    result = run("query", "SELECT 1 AS n, 'a' AS word, NULL AS nothing, [1, 2] AS list")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines() if line.strip()]
    assert lines[0] == ["n", "word", "nothing", "list"]
    assert lines[2] == ["1", "a", "NULL", "[1,", "2]"]
    assert lines[3] == ["1", "row"]


def test_numbers_stand_on_the_right():
    lines = run(
        "query", "FROM (VALUES (1, 'a'), (1000, 'bcd')) AS v(number, word)"
    ).stdout.splitlines()
    assert "     1   a" in lines[3]
    assert "  1000   bcd" in lines[4]


def test_rows_limit_a_table_but_no_file():
    result = run("query", "FROM range(100000)")
    assert result.stdout.splitlines()[-1] == "100,000 rows, 40 shown; --rows 100000 shows all"
    assert len([line for line in result.stdout.splitlines() if line.strip().isdigit()]) == 40
    assert (
        run("query", "FROM range(50)", "--rows", 45)
        .stdout.splitlines()[-1]
        .startswith("50 rows, 45")
    )
    assert len(run("query", "FROM range(50)", "--format", "csv").stdout.splitlines()) == 51
    assert (
        len(run("query", "FROM range(50)", "--format", "csv", "--rows", 3).stdout.splitlines()) == 4
    )


def test_csv_is_what_duckdb_prints():
    sql = "SELECT 1.5 AS \"a,b\", true AS t, DATE '2024-02-29' AS d, NULL AS n, 'x\"y' AS q, {'m': 1} AS s"
    result = run("query", sql, "--format", "csv")
    assert list(csv.reader(result.stdout.splitlines())) == [
        ["a,b", "t", "d", "n", "q", "s"],
        ["1.5", "true", "2024-02-29", "", 'x"y', "{'m': 1}"],
    ]


def test_json_is_an_object_a_line():
    result = run("query", "SELECT i, [i] AS l, NULL AS n FROM range(2) AS r(i)", "--format", "json")
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"i": 0, "l": [0], "n": None},
        {"i": 1, "l": [1], "n": None},
    ]


def test_data_cannot_style_or_drive_the_terminal():
    stdout = run("query", "SELECT '[bold]x[/bold]' AS \"[red]\", chr(27) || '[2J' AS escape").stdout
    assert "[bold]x[/bold]" in stdout
    assert "[red]" in stdout
    assert "\x1b" not in stdout
    assert "\\x1b[2J" in stdout


def test_statements_without_a_result(tmp_path):
    database = tmp_path / "d.duckdb"
    for sql in ("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)"):
        assert run("query", sql, "--database", database).exit_code == 0
    assert run("query", "SET threads = 1").stdout == "done\n"
    result = run("query", "SELECT count(*) AS n FROM t", "--database", database, "--format", "csv")
    assert result.stdout == "n\n2\n"


def test_the_functions_are_there(people):
    sql = (
        f"SELECT * FROM rayden('{people}', k := 5, qids := ['age', 'sex'], identifiers := ['name'])"
    )
    result = run("query", sql, "--format", "csv")
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert list(rows[0]) == ["age", "sex", "illness", "dose"]
    assert len(rows) == 200


def test_a_packages_error_is_its_sentence_alone(people):
    sql = f"FROM rayden('{people}', k := 5, qids := ['ages'])"
    assert refused("query", sql).startswith(
        "rayden: qids must name columns of the table, got 'ages'; did"
    )
    sentence = refused("query", f"FROM rayden('{people}', k := 900, qids := ['age'])")
    assert sentence.startswith("rayden: ")
    assert "900" in sentence


def test_duckdbs_error_is_one_line():
    assert refused("query", "SELECT nothing FROM (SELECT 1 AS n)").startswith("Binder Error: ")
    assert refused("query", "SELEC 1").startswith("Parser Error: syntax error at or near")
    assert "LINE" not in refused("query", "SELECT 'x'::INT")


def test_names_mean_tables_and_never_variables():
    assert refused("query", "FROM sql").startswith(
        "Catalog Error: Table with name sql does not exist"
    )


def test_a_database_that_is_none(tmp_path):
    path = tmp_path / "text.duckdb"
    path.write_text("not a database" * 1000)
    assert "Error" in refused("query", "SELECT 1", "--database", path)


# release


def test_csv_to_csv(people):
    out = people.with_name("safe.csv")
    roles = ["--quasi", "age,sex", "--sensitive", "illness", "--identifier", "name"]
    result = run("release", people, out, "--k", 10, *roles)
    assert result.exit_code == 0, result.output
    rows = read(out)
    assert list(rows[0]) == ["age", "sex", "illness", "dose"]
    assert len(rows) == 200
    classes = {}
    for row in rows:
        classes[row["age"], row["sex"]] = classes.get((row["age"], row["sex"]), 0) + 1
    assert min(classes.values()) >= 10
    first, second, *rest = result.stdout.splitlines()
    assert first == f"{out}: rayden, k = 10, from {people}"
    assert second == "kept as they are, for want of a role: dose"
    assert any("gcp" in line and "detail lost" in line for line in rest)
    assert sorted(p.name for p in people.parent.iterdir()) == ["people.csv", "safe.csv"]


@pytest.mark.parametrize("ending", [".csv", ".CSV", ".tsv", ".csv.gz", ".tsv.gz", ".parquet"])
def test_every_ending_can_be_read_and_written(people, ending):
    first = people.with_name("one" + ending)
    second = people.with_name("two.csv")
    roles = ["--quasi", "age", "--quasi", "sex", "--identifier", "name", "--keep", "illness,dose"]
    assert run("release", people, first, "--k", 1, *roles).exit_code == 0
    if ending.endswith(".gz"):
        assert (
            gzip.open(first, "rt").readline().rstrip("\n").replace("\t", ",")
            == "age,sex,illness,dose"
        )
    again = run("release", first, second, "--k", 1, "--quasi", "age,sex")
    assert again.exit_code == 0, again.output
    kept = [{key: row[key] for key in ("age", "sex", "illness", "dose")} for row in read(people)]
    by_text = [sorted(map(repr, rows)) for rows in (read(second), kept)]
    assert by_text[0] == by_text[1]


def test_typed_ranges_go_to_parquet(people):
    out = people.with_name("safe.parquet")
    arguments = ["--k", 5, "--quasi", "age,sex", "--identifier", "name", "--format", "typed"]
    assert run("release", people, out, *arguments).exit_code == 0
    con = duckdb.connect()
    low = con.execute(
        "SELECT min(age.min), max(age.max) FROM read_parquet(?)", [str(out)]
    ).fetchall()
    assert low == [(20, 59)]
    sentence = refused("release", people, people.with_name("safe.csv"), *arguments)
    assert sentence == "release: OUT must be Parquet for --format typed, got CSV; name it .parquet"


def test_the_seed_and_the_method_decide(people):
    releases = []
    for at, options in enumerate(
        (["--seed", 1], ["--seed", 1], ["--method", "RAYDEN", "--seed", 2])
    ):
        out = people.with_name(f"{at}.csv")
        assert (
            run(
                "release", people, out, "--quasi", "age,sex", "--identifier", "name", *options
            ).exit_code
            == 0
        )
        releases.append(out.read_text())
    assert releases[0] == releases[1]
    assert releases[0] != releases[2]


def test_an_unknown_method_lists_the_known_ones(people):
    out = people.with_name("safe.csv")
    for method in ("raydn", 'x"(); DROP TABLE raw; --', "query_table", "vp_partition", ""):
        sentence = refused("release", people, out, "--quasi", "age", "--method", method)
        assert sentence.startswith(
            f"release: --method must be a release function, got '{method}'; "
        )
        assert "rayden" in sentence
    assert not out.exists()


def test_nothing_is_overwritten_unasked(people):
    out = people.with_name("safe.csv")
    out.write_text("precious")
    arguments = ["release", people, out, "--quasi", "age,sex", "--identifier", "name"]
    assert refused(*arguments) == (
        f"release: OUT must be a new file, got '{out}', which exists; --overwrite replaces it"
    )
    assert out.read_text() == "precious"
    assert run(*arguments, "--overwrite").exit_code == 0
    assert len(read(out)) == 200


def test_in_is_never_out(people):
    before = people.read_bytes()
    link = people.with_name("link.csv")
    link.symlink_to(people)
    for out in (people, people.parent / "." / "people.csv", link):
        sentence = refused("release", people, out, "--quasi", "age", "--overwrite")
        assert sentence.startswith("release: OUT must be another file than IN")
    assert people.read_bytes() == before


def test_a_failure_leaves_nothing(people):
    out = people.with_name("safe.csv")
    out.write_text("precious")
    sentence = refused("release", people, out, "--k", 900, "--quasi", "age", "--overwrite")
    assert sentence.startswith("rayden: ")
    assert out.read_text() == "precious"
    assert sorted(p.name for p in people.parent.iterdir()) == ["people.csv", "safe.csv"]


def test_a_failed_write_leaves_nothing(people, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("anon_sql.files.os.replace", full)
    out = people.with_name("safe.csv")
    sentence = refused("release", people, out, "--quasi", "age,sex", "--identifier", "name")
    assert sentence == "[Errno 28] No space left on device"
    assert [p.name for p in people.parent.iterdir()] == ["people.csv"]


@pytest.mark.parametrize(
    "name",
    [
        "it's; --",
        "';--",
        'say "hi"',
        "' || (SELECT 1) || '",
        "a*b?[c]",
        "[ab]",
        "two\nlines",
        "--k",
        "year=2020",
        "~",
        "$1 {x} %s",
        "ünï",
    ],
)
def test_hostile_file_names(people, name):
    folder = people.parent / name
    folder.mkdir()
    source, out = folder / f"{name}.csv", folder / f"{name} out.parquet"
    people.rename(source)
    (folder / "a.csv").write_text("a decoy for patterns\n1\n")
    result = run("release", source, out, "--quasi", "age,sex", "--identifier", "name")
    assert result.exit_code == 0, result.output
    con = duckdb.connect()
    quoted = str(out).replace("[", "[[]").replace("*", "[*]").replace("?", "[?]")
    released = con.read_parquet(quoted, hive_partitioning=False)
    assert released.columns == ["age", "sex", "illness", "dose"]
    assert len(released.fetchall()) == 200


def test_hostile_column_names(tmp_path):
    path = tmp_path / "in.csv"
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["a,b", 'it\'s "x"; --', "k"])
        out.writerows([i % 5, "xy"[i % 2], i % 3] for i in range(60))
    quasi = '"a,b","it\'s ""x""; --"'
    result = run("release", path, tmp_path / "out.csv", "--quasi", quasi, "--keep", "k")
    assert result.exit_code == 0, result.output
    assert list(read(tmp_path / "out.csv")[0]) == ["a,b", 'it\'s "x"; --', "k"]


def test_files_that_cannot_be(people):
    folder = people.parent
    roles = ["--quasi", "age"]
    (folder / "dir.csv").mkdir()
    assert refused("release", people, folder / "x.xlsx", *roles) == (
        "release: files must end in .csv, .tsv, .csv.gz, .tsv.gz, .parquet, got 'x.xlsx'"
    )
    (folder / "x.xlsx").write_text("")
    assert "files must end in" in refused("release", folder / "x.xlsx", folder / "y.csv", *roles)
    assert refused("release", folder / "no.csv", folder / "y.csv", *roles) == (
        f"release: IN must be a file, got '{folder / 'no.csv'}'"
    )
    assert "in a directory that exists" in refused(
        "release", people, folder / "no" / "y.csv", *roles
    )
    assert "OUT must be a file" in refused("release", people, folder / "dir.csv", *roles)


def test_types_come_from_every_row(tmp_path):
    """A word in the last of many rows must not fail, nor be cut."""
    path = tmp_path / "long.csv"
    rows = "".join(f"{i % 50},{i % 9}\n" for i in range(60_000))
    path.write_text("age,code\n" + rows + "33,word\n")
    assert run("release", path, tmp_path / "out.csv", "--quasi", "age").exit_code == 0
    assert sum(row["code"] == "word" for row in read(tmp_path / "out.csv")) == 1


# data


def test_adult_is_loaded_with_roles_and_releases(shared_data, tmp_path):
    database = tmp_path / "adult file.duckdb"
    result = run("data", "adult", shared_data / "raw", "--database", database)
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["train", "32561", "1836", "1843", "583"] in lines
    assert ["test", "16281", "963", "966", "274"] in lines
    assert f"--database '{database}'" in result.stdout
    assert "data adult" in refused("data", "adult", shared_data / "raw", "--database", database)
    roles = "SELECT role, count(*) AS n FROM anon_roles('adult') GROUP BY role ORDER BY role"
    csv_of = run("query", roles, "--database", database, "--format", "csv").stdout
    assert csv_of == "role,n\nkeep,7\nquasi,8\nsensitive,1\n"


def test_a_wrong_sum_makes_no_database(tmp_path):
    (tmp_path / "adult.data").write_text("39, Private\n")
    database = tmp_path / "adult.duckdb"
    sentence = refused("data", "adult", tmp_path, "--database", database)
    assert sentence.startswith("data adult: ")
    assert "5b00264637dbfec3" in sentence
    assert not database.exists()


# demo and the rest


def test_demo_shows_a_synthetic_release_and_its_cost(tmp_path):
    database = tmp_path / "demo.duckdb"
    for _ in range(2):  # again over its own tables
        result = run("demo", "--k", 25, "--database", database)
        assert result.exit_code == 0, result.output
    assert "30,000 synthetic rows" in result.stdout
    assert "rayden('adult_like', k := 25)" in result.stdout
    for measure in ("gcp", "dm", "cavg", "suppression_rate", "smallest_class"):
        assert any(line.startswith(f" {measure} ") for line in result.stdout.splitlines()), measure
    assert "anon-sql query \"SELECT * FROM rayden('your.parquet', k := 25" in result.stdout
    con = duckdb.connect(str(database))
    ((rows, smallest),) = con.execute(
        "SELECT sum(n), min(n) FROM (SELECT * EXCLUDE (income), count(*) AS n "
        "FROM adult_like_release GROUP BY ALL)"
    ).fetchall()
    assert rows == 30_000
    assert smallest >= 25


def test_demo_leaves_a_table_of_yours_alone(tmp_path):
    database = tmp_path / "mine.duckdb"
    with duckdb.connect(str(database)) as con:
        con.execute("CREATE TABLE adult_like AS SELECT 1 AS mine")
    assert refused("demo", "--database", database).startswith(
        "demo: the database must have no table"
    )
    with duckdb.connect(str(database)) as con:
        assert con.execute("FROM adult_like").fetchall() == [(1,)]


def test_version_and_help():
    assert run("--version").stdout.startswith("anon-sql ")
    assert duckdb.__version__ in run("--version").stdout
    for command in ([], ["demo"], ["query"], ["release"], ["data"], ["data", "adult"]):
        result = run(*command, "--help")
        assert result.exit_code == 0
        assert "Usage" in result.stdout
    for command in (["demo"], ["query"], ["release"], ["data", "adult"]):
        assert "Example: anon-sql" in run(*command, "--help").stdout


def test_the_module_runs_as_a_program():
    command = [sys.executable, "-m", "anon_sql.cli", "query"]
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
