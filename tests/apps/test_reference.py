"""docs/look-up/reference.md is what the headers say, and the headers say all that a user needs."""

import re
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from anon_sql.hosts.duckdb import sql_files as headers
from anon_sql.hosts.duckdb.sql_files import sql_files

HEADER = """-- What it does.
--
-- tbl: a name. k, l: numbers,
--   of rows.
-- Returns: rows.
-- Errors: none.
-- Example: SELECT * FROM rayden('people');
"""


MACRO = "CREATE OR REPLACE MACRO raiden(tbl, k := [1, 2], l := NULL) AS TABLE x"


def file(text=HEADER, macro=MACRO):
    """sql/release/raiden.sql, a file with another text."""
    (known,) = [known for known in sql_files() if known.name == "rayden"]
    return replace(headers.replace_text(known, text + macro), name="raiden")


def test_a_header_in_its_parts():
    entry = headers.read_entry(file())
    assert entry.description == "What it does."
    assert entry.parameters == ("tbl", "k := [1, 2]", "l := NULL")
    assert entry.note == ""
    assert entry.arguments == ((("tbl",), "a name."), (("k", "l"), "numbers, of rows."))
    assert (entry.returns, entry.errors) == ("rows.", "none.")
    assert entry.example == "SELECT * FROM rayden('people');"
    assert entry.call == "FROM raiden(tbl, k := [1, 2], l := NULL)"


@pytest.mark.parametrize("line", ["Returns", "Errors", "Example"])
def test_a_header_that_lacks_a_line(line):
    text = re.sub(rf"-- {line}: .*\n", "", HEADER)
    with pytest.raises(ValueError, match=f"release/raiden.sql: the header lacks {line}"):
        headers.read_entry(file(text))


def test_a_macro_that_is_not_the_file():
    with pytest.raises(ValueError, match="a macro of the file's name"):
        headers.read_entry(file(macro="CREATE OR REPLACE MACRO other(tbl) AS 1"))


@pytest.mark.parametrize("entry", headers.entries(), ids=lambda entry: entry.name)
def test_every_parameter_is_explained(entry):
    explained = [name for names, _ in entry.arguments for name in names]
    assert len(set(explained)) == len(explained)
    same = re.search(r"as in (\w+)", entry.note)
    if same:
        (other,) = [known for known in headers.entries() if known.name == same[1]]
        explained = {*explained, *other.names}
        assert set(entry.names) <= explained
    else:
        assert not entry.note
        assert sorted(explained) == sorted(entry.names)
    assert all(text for _, text in entry.arguments)


def test_a_parameter_of_many_functions_stands_once_and_every_other_in_its_entry():
    page = Path("docs/look-up/reference.md").read_text("utf-8")
    common = page.partition("\n## Common parameters\n")[2].partition("\n## ")[0].splitlines()
    for entry in headers.entries():
        text = page.partition(f"\n### {entry.name}\n")[2].partition("\n#")[0]
        for names, meaning in entry.arguments:
            line = f"- {', '.join(f'`{name}`' for name in names)}: {meaning}"
            assert (line in common) + (line in text.splitlines()) == 1, entry.name
    described = [line.partition(":")[0] for line in common if line.startswith("- ")]
    assert len(described) > 20
    assert len(set(described)) == len(described)


def test_the_signatures_are_duckdbs(con):
    found = {
        name: (kind, parameters)
        for name, kind, parameters in con.execute(
            "SELECT function_name, any_value(function_type), list(parameters) "
            "FROM duckdb_functions() WHERE NOT internal GROUP BY function_name"
        ).fetchall()
    }
    for entry in headers.entries():
        kind, parameters = found[entry.name]
        assert list(entry.names) in parameters, entry.name
        assert (kind == "table_macro") == entry.is_table, entry.name


@pytest.mark.parametrize("entry", headers.entries(), ids=lambda entry: entry.name)
def test_the_example_is_one_statement(entry):
    assert len(duckdb.extract_statements(entry.example)) == 1
    assert f"{entry.name}(" in entry.example


def test_the_names_beside_those_of_arx_and_sdcmicro_exist():
    page = Path("docs/look-up/names-in-arx-and-sdcmicro.md").read_text("utf-8")
    rows = [line.split("|")[3] for line in page.splitlines() if line.startswith("|")]
    written = [call for row in rows for call in re.findall(r"`([^`]+)`", row)]
    entries = [headers.read_entry(file) for file in sql_files() if file.public]
    named = {entry.name for entry in entries} | {name for e in entries for name in e.names}
    columns = " ".join(entry.returns for entry in entries)
    assert len(written) > 30
    for call in written:
        name = re.split(r"\W", call)[0]
        assert (
            name in named or re.search(rf"\b{name}\b", columns) or call.startswith("anon-sql ")
        ), call
