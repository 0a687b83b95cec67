"""JSON lines at the command line: every line is a row, written and read by the same commands."""

import gzip
import json

import duckdb
import pytest

from tests.command import refused, run

CANARY = "Zanzibarella"
PEOPLE = [
    {"id": f"P{i:03}", "age": 20 + i % 40, "born": f"19{40 + i % 50}-03-0{1 + i % 9}",
     "pay": None if i % 9 == 3 else i % 2 + 0.5, "zip": f"0{i % 5}12", "ok": i % 2 == 0,
     "ill": ("flu", "cold", "Müller's \n \"x\"")[i % 3]}
    for i in range(120)
]  # fmt: skip
ROLES = ["--quasi", "age,born,zip", "--sensitive", "ill", "--identifier", "id", "--keep", "pay,ok"]


def written(folder, rows, name="people.jsonl"):
    path = folder / name
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["people.jsonl", "people.ndjson", "people.jsonl.gz"])
def test_the_release_of_json_lines_is_that_of_the_same_table_in_csv(tmp_path, name):
    source = written(tmp_path, PEOPLE, name)
    table = tmp_path / "people.csv"
    duckdb.sql("SELECT * FROM read_json(?, columns := {id: 'VARCHAR', age: 'BIGINT', born: 'DATE', "
               "pay: 'DOUBLE', zip: 'VARCHAR', ok: 'BOOLEAN', ill: 'VARCHAR'})",
               params=[str(source)]).write_csv(str(table))  # fmt: skip
    made = {}
    for path in (source, table):
        out = tmp_path / f"out{path.suffix}.jsonl"
        found = run("release", path, out, *ROLES, "--k", 3, "--manifest")
        assert found.exit_code == 0, found.output
        checked = run("verify", out, "--raw", path)
        assert checked.exit_code == 0, checked.output
        made[path] = [json.loads(line) for line in out.read_text().splitlines()]
    assert made[source] == made[table]
    assert len(made[source]) == 120
    assert {*made[source][0]} == {"age", "born", "zip", "pay", "ok", "ill"}
    assert {row["ill"] for row in made[source]} == {row["ill"] for row in PEOPLE}
    assert sorted(map(str, {row["pay"] for row in made[source]})) == sorted(
        map(str, {row["pay"] for row in PEOPLE})
    )


def test_all_commands_read_json_lines(tmp_path):
    source, recipe = written(tmp_path, PEOPLE), tmp_path / "people.toml"
    out = tmp_path / "out.jsonl.gz"
    found = run("roles", source)
    assert found.exit_code == 0, found.output
    lines = [line.split() for line in found.stdout.splitlines()]
    kinds = {line[0]: line[1] for line in lines if len(line) > 1}
    assert (kinds["age"], kinds["born"], kinds["pay"], kinds["zip"], kinds["ok"]) == (
        *("BIGINT", "DATE", "DOUBLE", "VARCHAR"), "BOOLEAN"
    )  # fmt: skip
    assert run("roles", source, "--recipe", recipe).exit_code == 0
    assert 'file = "people.jsonl"' in recipe.read_text()
    assert run("audit", source, "--quasi", "age").exit_code in (0, 1)
    assert run("release", source, out, *ROLES).exit_code == 0
    page = tmp_path / "report.html"
    found = run("report", source, out, "-o", page, "--quasi", "age,born,zip", "--sensitive", "ill")
    assert found.exit_code == 0, found.output
    assert "newline_delimited" in page.read_text()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "have a JSON object per line, got none"),
        (["{}"], "have a JSON object per line, got none"),
        ([{"a": CANARY}, "[1, 2]"], "have a JSON object per line, got another value in line 2"),
        ([{"a": CANARY}, "", f'{{"a": "{CANARY}'], "got something else in line 3; write each"),
        (["[", json.dumps({"a": CANARY}), "]"], "got something else in line 1"),
        (['{"a": NaN}'], "got something else in line 1"),
        ([f'{{"a": "{CANARY}", "a": 2}}'], "have each key once in an object, got a key twice in"),
        (["[" * 100_000], "got something else in line 1"),
        (
            [{"a": 1, "where": {"town": CANARY}}, {"a": 2, "tags": [CANARY]}],
            "have one value per column, got objects or lists in where, tags; flatten them in "
            'DuckDB: SELECT * EXCLUDE ("where"), unnest("where") FROM \'people.jsonl\'',
        ),
        ([{CANARY + "12345678901": []}], "got objects or lists in 1 column whose name looks like"),
    ],
)
def test_faults_name_the_line_and_no_value(tmp_path, rows, said):
    path = written(tmp_path, rows)
    sentence = refused("release", path, tmp_path / "out.csv", "--quasi", "a", "--keep", "*")
    assert sentence.startswith("release: IN must ")
    assert said in sentence
    assert CANARY not in sentence


def test_the_sql_that_the_error_names_flattens_a_column(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, [{"a": i % 3, "where": {"town": "Ulm", "x": 1}} for i in range(9)])
    sentence = refused("release", path, tmp_path / "out.csv", "--quasi", "a", "--keep", "*")
    sql = sentence.partition("in DuckDB: ")[2]
    assert duckdb.sql(sql).columns == ["a", "town", "x"]


def test_rows_may_lack_keys_and_keys_may_differ_in_case_alone(tmp_path):
    rows = [
        {"a": i % 3, "b": "x"} if i % 2 == 0 else {"B": "y", "c": f"v{i % 4}"} for i in range(60)
    ]
    path, out = written(tmp_path, rows), tmp_path / "out.parquet"
    found = run("release", path, out, "--quasi", "a,b_1,B_2,c", "--k", 2)
    assert found.exit_code == 0, found.output
    assert "people.jsonl: 2 columns have one name and are called b_1, B_2" in found.stderr
    columns = duckdb.read_parquet(str(out)).columns
    assert sorted(columns) == ["B_2", "a", "b_1", "c"]


def test_numbers_keep_their_value(tmp_path):
    texts = ["1e5", "1E-7", "0.10", "12345678901234567890", "-3", "2.50"]
    path = written(tmp_path, [f'{{"a": "q", "n": {text}}}' for text in texts])
    out = tmp_path / "out.jsonl"
    assert run("release", path, out, "--quasi", "a", "--keep", "n", "--k", 1).exit_code == 0
    kept = sorted(float(json.loads(line)["n"]) for line in out.read_text().splitlines())
    assert kept == sorted(map(float, texts))
