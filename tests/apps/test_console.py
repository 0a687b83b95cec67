"""What ``anon-sql query`` prints: values as they are, errors as one line."""

import csv
import json
import re

from tests.command import refused, run


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
    assert "     1  a" in lines[3]
    assert "  1000  bcd" in lines[4]


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
    sql = "SELECT [1.5] AS \"a,b\", true AS t, DATE '2024-02-29' AS d, NULL AS n, 'x\"y' AS q"
    result = run("query", sql, "--format", "csv")
    assert list(csv.reader(result.stdout.splitlines())) == [
        ["a,b", "t", "d", "n", "q"],
        ["[1.5]", "true", "2024-02-29", "", 'x"y'],
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


def test_a_narrow_terminal_leaves_out_columns_and_says_which():
    columns = [f"repeat('{letter}', 30) AS column_{letter}" for letter in "abcdefghi"]
    sql = f"SELECT 7 AS id, {', '.join(columns)}, 8 AS last"
    terminal = {"FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm", "COLUMNS": "80"}
    lines = re.sub(r"\x1b\[[0-9;]*m", "", run("query", sql, **terminal).stdout).splitlines()
    assert max(map(len, lines[:4])) <= 80  # the note below may be longer
    header, _, row = lines[1:4]
    assert header.split() == ["id", "column_a", "column_b", "column_h", "column_i", "last"]
    assert row.split()[:2] == ["7", "a" * 14 + "…"]
    assert lines[-2].startswith("no room for: column_c, column_d, column_e, column_f, column_g (")
    assert "column_e" in run("query", sql).stdout


def test_a_value_is_cut_in_a_table_only():
    sql = "SELECT repeat('x', 100) AS long"
    assert "x" * 39 + "… " in run("query", sql).stdout + " "
    assert "x" * 100 in run("query", sql, "--format", "csv").stdout


def test_statements_without_a_result(tmp_path):
    database = tmp_path / "d.duckdb"
    for sql in ("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)"):
        assert run("query", sql, "--database", database).exit_code == 0
    assert run("query", "SET threads = 1").stdout == "done\n"
    result = run("query", "SELECT count(*) AS n FROM t", "--database", database, "--format", "csv")
    assert result.stdout == "n\n2\n"


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


def test_a_comment_may_follow_the_semicolon():
    for sql in ("SELECT 40 + 2 AS a; -- note", "SELECT 1; -- b\nSELECT 42 AS a; /* ; */\n"):
        result = run("query", sql, "--format", "csv")
        assert (result.exit_code, result.output) == (0, "a\n42\n")
