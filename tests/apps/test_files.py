"""``anon-sql release``: what is read, what is written, what is refused."""

import csv
import gzip

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_sql.apps.files import FORMATS
from anon_sql.hosts.files import BY_RECIPE, KINDS
from tests.command import refused, run

pytestmark = pytest.mark.oldest

PEOPLE = "CREATE TABLE people AS SELECT 'n' || i AS name, 20 + i % 40 AS age, "
PEOPLE += "if(i % 3 = 0, 'f', 'm') AS sex, if(i % 7 = 0, 'flu', 'cold') AS illness, 1.5 AS dose "
PEOPLE += "FROM range(100) AS numbers(i)"


def test_python_names_the_endings_that_commands_read():
    assert {*FORMATS} == {*KINDS, *BY_RECIPE}


@pytest.fixture
def people(tmp_path):
    """A CSV file of 100 people."""
    con = duckdb.connect()
    con.execute(PEOPLE)
    con.execute("COPY people TO ? (HEADER true)", [str(tmp_path / "people.csv")])
    return tmp_path / "people.csv"


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_csv_to_csv(people):
    out = people.with_name("safe.csv")
    roles = ["--quasi", "age,sex", "--sensitive", "illness", "--identifier", "name", "--keep", "*"]
    result = run("release", people, out, "--k", 10, *roles)
    assert result.exit_code == 0, result.output
    rows = read(out)
    assert list(rows[0]) == ["age", "sex", "illness", "dose"]
    assert len(rows) == 100
    classes = {}
    for row in rows:
        classes[row["age"], row["sex"]] = classes.get((row["age"], row["sex"]), 0) + 1
    assert min(classes.values()) >= 10
    first, *rest = result.stdout.splitlines()
    assert first == f"{out}: anonymize, k = 10, from {people}"
    assert any("gcp" in line and "detail lost" in line for line in rest)
    assert sorted(p.name for p in people.parent.iterdir()) == ["people.csv", "safe.csv"]


def test_a_parquet_file_with_two_columns_of_one_name_is_refused(tmp_path):
    """DuckDB would read the second one as AGE_1, and --keep '*' would release it."""
    folder, out = tmp_path / "persons", tmp_path / "out.parquet"
    folder.mkdir()
    pq.write_table(pa.table({"age": [1, 2], "AGE": ["a", "b"]}), folder / "names.parquet")
    said = ": each column needs a name of its own, got age, AGE; rename"
    roles = ["--k", 2, "--quasi", "age", "--keep", "*"]
    for source in (folder / "names.parquet", folder):
        assert refused("release", source, out, *roles) == f"release{said}"
        assert refused("roles", source) == f"roles{said}"
    linked = ["--root", "names", "--quasi", "names.age", "--keep", "names.AGE_1"]
    assert refused("release", folder, f"{tmp_path}/out/", *linked) == f"release{said}"
    (folder / "names.parquet").write_text("age,AGE\n1,a\n")
    said = "release: IN must be a Parquet file, got other content in 'names.parquet'"
    assert refused("release", folder / "names.parquet", out, *roles) == said
    assert not out.exists()


@pytest.mark.parametrize("ending", [".CSV", ".tsv.gz", ".parquet"])
def test_every_ending_can_be_read_and_written(people, ending):
    first = people.with_name("one" + ending)
    second = people.with_name("two.csv")
    roles = ["--quasi", "age", "--quasi", "sex", "--identifier", "name", "--keep", "illness,dose"]
    assert run("release", people, first, "--k", 1, *roles).exit_code == 0
    if ending.endswith(".gz"):
        with gzip.open(first, "rt") as file:
            assert file.readline().split("," if "csv" in ending else "\t")[0] == "age"
    again = run("release", first, second, "--k", 1, "--quasi", "age,sex", "--keep", "*")
    assert again.exit_code == 0, again.output
    kept = [{key: row[key] for key in ("age", "sex", "illness", "dose")} for row in read(people)]
    by_text = [sorted(map(repr, rows)) for rows in (read(second), kept)]
    assert by_text[0] == by_text[1]


def test_typed_ranges_go_to_parquet(people):
    out = people.with_name("safe.parquet")
    arguments = [
        "--k",
        5,
        "--quasi",
        "age,sex",
        "--identifier",
        "name",
        "--keep",
        "*",
        "--format",
        "typed",
    ]
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
                "release",
                people,
                out,
                "--quasi",
                "age,sex",
                "--identifier",
                "name",
                "--keep",
                "*",
                *options,
            ).exit_code
            == 0
        )
        releases.append(out.read_text())
    assert releases[0] == releases[1]
    assert releases[0] != releases[2]


def test_an_unknown_method_lists_the_known_ones(people):
    out = people.with_name("safe.csv")
    for method in (
        "raydn",
        'x"(); DROP TABLE raw; --',
        "generalize",
        "rayden_stats",
        "utility",
        "",
    ):
        sentence = refused("release", people, out, "--quasi", "age", "--method", method)
        assert sentence.startswith(
            f"release: --method must be a release function, got '{method}'; "
        )
        assert "rayden" in sentence
    assert not out.exists()


def test_nothing_is_overwritten_unasked(people):
    out = people.with_name("safe.csv")
    out.write_text("precious")
    arguments = [
        "release",
        people,
        out,
        "--quasi",
        "age,sex",
        "--identifier",
        "name",
        "--keep",
        "*",
    ]
    assert refused(*arguments) == (
        f"release: OUT must be a new file, got '{out}', which exists; --overwrite replaces it"
    )
    assert out.read_text() == "precious"
    assert run(*arguments, "--overwrite").exit_code == 0
    assert len(read(out)) == 100


def test_in_is_never_out(people):
    before = people.read_bytes()
    link = people.with_name("link.csv")
    link.symlink_to(people)
    for out in (people, people.parent / "." / "people.csv", link):
        sentence = refused("release", people, out, "--quasi", "age", "--overwrite")
        assert sentence.startswith("release: OUT must be a different file from IN")
    assert people.read_bytes() == before


def test_a_failure_leaves_nothing(people):
    out = people.with_name("safe.csv")
    out.write_text("precious")
    sentence = refused("release", people, out, "--k", 900, "--quasi", "age", "--overwrite")
    assert sentence.startswith("anonymize: ")
    assert out.read_text() == "precious"
    assert sorted(p.name for p in people.parent.iterdir()) == ["people.csv", "safe.csv"]


def test_a_failed_write_leaves_nothing(people, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("anon_sql.hosts.files.os.replace", full)
    out = people.with_name("safe.csv")
    sentence = refused(
        "release", people, out, "--quasi", "age,sex", "--identifier", "name", "--keep", "*"
    )
    assert sentence == "[Errno 28] No space left on device"
    assert [p.name for p in people.parent.iterdir()] == ["people.csv"]


@pytest.mark.parametrize(
    "name",
    [
        "it's; --",
        '\';-- say "hi"',
        "' || (SELECT 1) || '",
        "a*b?[c]",
        "[ab]",
        "two\nlines",
        "--k",
        "year=2020",
        "~",
        "$1 {x} %s ünï",
    ],
)
def test_hostile_file_names(people, name):
    folder = people.parent / name
    folder.mkdir()
    source, out = folder / f"{name}.csv", folder / f"{name} out.parquet"
    people.rename(source)
    (folder / "a.csv").write_text("a decoy for patterns\n1\n")
    result = run(
        "release", source, out, "--quasi", "age,sex", "--identifier", "name", "--keep", "*"
    )
    assert result.exit_code == 0, result.output
    con = duckdb.connect()
    quoted = str(out).replace("[", "[[]").replace("*", "[*]").replace("?", "[?]")
    released = con.read_parquet(quoted, hive_partitioning=False)
    assert released.columns == ["age", "sex", "illness", "dose"]
    assert len(released.fetchall()) == 100


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
    assert refused("release", people, folder / "x.docx", *roles) == (
        "release: files must end in .csv, .tsv, .csv.gz, .tsv.gz, .csv.zst, .tsv.zst, .parquet, "
        ".jsonl, .ndjson, .jsonl.gz, .ndjson.gz, .jsonl.zst, .ndjson.zst, "
        ".xlsx, .xls, .ods, .sav, .zsav, .por, .xpt, .dta, .sas7bdat, got 'x.docx'"
    )
    (folder / "x.docx").write_text("")
    assert "files must end in" in refused("release", folder / "x.docx", folder / "y.csv", *roles)
    assert refused("release", folder / "no.csv", folder / "y.csv", *roles) == (
        f"release: IN must be a file, got '{folder / 'no.csv'}'"
    )
    assert "in a directory that exists" in refused(
        "release", people, folder / "no" / "y.csv", *roles
    )
    assert "OUT must be a new folder" in refused("release", people, folder / "dir.csv", *roles)


def test_types_come_from_every_row(tmp_path):
    """A word in the last of many rows must not fail, nor be cut."""
    path = tmp_path / "long.csv"
    rows = "".join(f"{i % 50},{i % 9}\n" for i in range(60_000))
    path.write_text("age,code\n" + rows + "33,word\n")
    assert (
        run("release", path, tmp_path / "out.csv", "--quasi", "age", "--keep", "*").exit_code == 0
    )
    assert sum(row["code"] == "word" for row in read(tmp_path / "out.csv")) == 1


@pytest.mark.parametrize(
    ("value", "flat"),
    [
        ("{'town': 'Ulm'}", ["town"]),
        ("['Ulm', 'Bonn']", ['unnest("where")']),
        ("MAP {'town': 'Ulm'}", None),
        ("[{'town': 'Ulm'}]", None),
    ],
)
@pytest.mark.parametrize("command", ["release", "roles", "audit"])
def test_nested_columns_of_parquet_are_refused_with_sql_that_flattens(
    tmp_path, monkeypatch, command, value, flat
):
    monkeypatch.chdir(tmp_path)
    con = duckdb.connect()
    con.execute(
        f"COPY (SELECT i % 3 AS a, {value} AS \"where\" FROM range(9) r(i)) TO 'people.parquet'"
    )
    out = {"release": ["out.csv", "--keep", "*"], "audit": []}.get(command)
    sentence = refused(command, "people.parquet", *([] if out is None else [*out, "--quasi", "a"]))
    assert "must have one value per column, got objects or lists in where; " in sentence
    names = con.sql(sentence.partition("in DuckDB: ")[2]).columns
    assert names[0] == "a"
    assert "where" not in names
    assert flat is None or names[1:] == flat
    assert not (tmp_path / "out.csv").exists()
