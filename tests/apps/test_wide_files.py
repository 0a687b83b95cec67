"""Files of many columns: reading them takes memory that grows with the columns, not their square."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import anon_sql
from anon_sql import AnonError
from anon_sql.core.names import quote
from anon_sql.hosts.duckdb import looks
from tests.command import run

COLUMNS, ROWS = 240, 1_000
LIMIT = 1_000_000  # KiB; with one query over all columns and types it was 4,000,000
KINDS = ["BIGINT", "DOUBLE", "VARCHAR", "DATE", "BOOLEAN", "VARCHAR"]
READ = """
import json, re, sys
from pathlib import Path
import anon_sql
from anon_sql.apps import files
from anon_sql.apps.csv.dialect import Dialect

with anon_sql.connect() as con:
    files.read_source(con, Path(sys.argv[1]), "wide", dialect=Dialect(), called=("roles", "FILE"))
    kinds = [str(kind) for kind in con.table("wide").types]
    ((rows,),) = con.execute("SELECT count(*) FROM wide").fetchall()
    # ru_maxrss would count the process of the tests, of which this one was forked
    peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]
    print(json.dumps([kinds, rows, int(peak)]))
"""


def value(row, column):
    number = (row * (column + 3)) % 97
    texts = [f"{number}", f"{number}.5", f"answer {number % 5}", f"2020-03-{number % 19 + 10}"]
    texts += [("true", "false")[number % 2], "" if number % 3 else f"0{number}"]
    return texts[column % len(KINDS)]


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the peak is read as Linux says it"
)
def test_a_file_of_many_columns_is_read_in_little_memory(tmp_path):
    lines = [",".join(f"c{column}" for column in range(COLUMNS))]
    lines += [",".join(value(row, column) for column in range(COLUMNS)) for row in range(ROWS)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
    )
    kinds, rows, peak = json.loads(done.stdout.splitlines()[-1])  # after a progress bar
    assert kinds == KINDS * (COLUMNS // len(KINDS))
    assert rows == ROWS
    assert peak < LIMIT


@pytest.mark.parametrize("place", [0, 99, 100, 149])
def test_an_identifier_is_found_among_many_columns(place):
    """Columns are looked at in groups; each group names its own columns."""
    answers = [f"i % 3 AS c{column}" for column in range(150)]
    answers[place] = "'person' || i || '@example.com' AS contact"
    answers[120] = 'i % 3 AS "a ""quoted"" name, or 2"'
    with anon_sql.connect() as con:
        rows = con.sql(f"SELECT i // 10 AS age, {', '.join(answers)} FROM range(200) AS r(i)")
        with pytest.raises(AnonError, match="got contact "):
            anon_sql.anonymize(rows.to_arrow_table(), 5, quasi=["age"], keep="*")


def test_a_row_number_is_found_among_many_columns():
    answers = ", ".join(f"i % 3 AS c{column}" for column in range(150))
    with anon_sql.connect() as con:
        con.execute(
            f"CREATE TABLE wide AS SELECT 1 AS age, {answers}, i + 7 AS number FROM range(40) r(i)"
        )
        found = con.execute(
            "SELECT passed, found, example FROM audit('wide', 'wide', 5, quasi := ['age'], "
            "keep := ['*']) WHERE property = 'row_numbers'"
        ).fetchall()
    assert found == [(False, 1, "number")]


@pytest.mark.parametrize("name", ["_", "__", "__a", "__ano\nn", "__anon", 'é".*'])
def test_a_row_number_is_found_whatever_its_name(name):
    """The audit picks the columns without a label by a regular expression of their names."""
    quoted = name.replace('"', '""')
    with anon_sql.connect() as con:
        con.execute(
            f'CREATE TABLE few AS SELECT 1 AS age, i % 2 AS c, i + 7 AS "{quoted}" FROM range(40) r(i)'
        )
        found = con.execute(
            "SELECT passed, found, example FROM audit('few', 'few', 5, quasi := ['age'], "
            "keep := ['*']) WHERE property = 'row_numbers'"
        ).fetchall()
    assert found == [(False, 1, name)]


def test_the_command_suggests_what_the_function_suggests():
    """The command asks about groups of columns, and the function about all at once."""
    kinds = ["i % 7", "(i % 30) / 10", "'text ' || i % 9", "DATE '2020-01-01' + i::INTEGER % 50"]
    columns = [f'{kinds[n % 4]} AS "a ""{n}"", b"' for n in range(220)]
    with anon_sql.connect() as con:
        con.execute(
            f"CREATE TABLE wide AS SELECT i + 20 AS number, {', '.join(columns)}, "
            "' a' || i AS padded, ['x'] AS items, NULL AS nothing FROM range(5000) r(i)"
        )
        function = con.sql("FROM suggest_roles('wide')").to_arrow_table().to_pylist()
        assert looks.suggestions(con, "wide") == function
    assert {each["role"] for each in function} >= {"identifier", "quasi", "keep"}


ODD = [
    *("i", "-i * 1000000000000000", "(i % 200)::UTINYINT", "i::DOUBLE", "i * 1e14", "i / 8"),
    *("if(i % 7 = 0, NULL, i % 9)::DOUBLE", "-0.0::DOUBLE", "'nan'::DOUBLE", "'inf'::FLOAT"),
    *(
        "(i % 50)::FLOAT",
        "(i % 5)::DECIMAL(10, 2)",
        "i::DECIMAL(18, 0)",
        "(i % 40)::DECIMAL(38, 1)",
    ),
    *("i::VARCHAR", "(i % 40)::VARCHAR || '.0'", "' x' || i % 9", "i % 9 || chr(10)", "'é' || i"),
    *("i % 9 || chr(160)", "repeat('ab', 150) || i % 3", "''", "NULL::VARCHAR", "NULL::INTEGER"),
    *("'A'::VARCHAR COLLATE NOCASE", "if(i % 2 = 0, 'a', 'A')::VARCHAR COLLATE NOCASE"),
    *("i % 3 = 0", "DATE '2020-01-01' + (i % 5)::INTEGER", "TIMESTAMP '2020-01-01'", "['x']"),
    *("TIME '01:00'", "'[1]'::JSON", "i::HUGEINT", "'a'::ENUM('a', ' b')", "uuid()"),
]


@pytest.mark.parametrize("most", [None, 2000])
def test_values_of_few_rows_are_looked_at_as_many_are_aggregated(monkeypatch, most):
    names = [f'{n} a "b", {kind}' for n, kind in enumerate(ODD * 3)]
    columns = ", ".join(
        f"{kind} AS {quote(name)}" for kind, name in zip(ODD * 3, names, strict=True)
    )
    with anon_sql.connect() as con:
        con.execute(f"CREATE TABLE odd AS SELECT {columns} FROM range(2500) r(i)")
        types = dict(zip(names, map(str, con.table("odd").types), strict=True))
        shapes = looks.shapes_of(con, types, "odd", most)
        monkeypatch.setattr(looks, "_FEW_ROWS", 0)
        aggregated = looks.shapes_of(con, types, "odd", most)

    def seen(shape, of_all):
        """The sample of the first rows has no order."""
        sample = shape.sample if of_all else sorted(shape.sample)
        return replace(shape, sample=sample, span=None), shape.is_row_number

    assert [shape.name for shape in shapes] == names
    for shape, other in zip(shapes, aggregated, strict=True):
        assert seen(shape, most is None) == seen(other, most is None), shape.name
    assert sum(shape.is_row_number for shape in shapes) >= 3
    assert sum(shape.blanks > 0 for shape in shapes) >= 9


def test_roles_of_a_table_without_rows_are_those_of_the_function(con, tmp_path):
    con.execute('CREATE TABLE none (name VARCHAR, age INTEGER, "it\'s" DATE)')
    rows = con.sql("FROM suggest_roles('none')").to_arrow_table().to_pylist()
    assert looks.suggestions(con, "none") == rows
    (tmp_path / "none.csv").write_text("x,y\n")
    assert "no rows to look at" in run("roles", tmp_path / "none.csv").stdout
