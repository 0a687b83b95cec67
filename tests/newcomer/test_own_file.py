"""A newcomer's own file: German columns, semicolons, decimal commas, and a mistake at every turn."""

import csv
import json

import pytest

pytest.importorskip("pexpect", reason="needs a pseudo-terminal")

from tests.newcomer.terminal import Windows
from tests.page import lines

pytestmark = pytest.mark.slow

HEADER = "Straße;Größe;Alter;Betrag;Gruppe"
STREETS, GROUPS = ["Königsallee", "Mühlweg", "Hauptstraße"], ["rot", "grün", "süß"]
RELEASE = "anon-sql release kunden.csv frei.csv --delimiter ';' "
ROLES = "--quasi Straße,Größe,Alter --sensitive Gruppe --identifier Betrag"
MISTAKES = {
    "delimiter": (
        "anon-sql release kunden.csv frei.csv --delimiter , --k 5 " + ROLES,
        "release: IN must have as many fields in every line as in the first, 1, got 3 in line 2; a field "
        "that holds the delimiter must stand in quotes",
    ),
    "quote": (
        RELEASE + "--quote ';' --k 5 " + ROLES,
        "release: --delimiter and --quote must differ, got the same character",
    ),
    "column": (
        RELEASE + "--k 5 --quasi Groesse --keep '*'",
        "anonymize: --quasi must name columns of the table, got 'Groesse'; choose from Straße, Größe, "
        "Alter, Betrag, Gruppe",
    ),
    "k": (
        RELEASE + "--k 300 " + ROLES,
        "anonymize: --k must be at most the number of rows, 240, got --k 300",
    ),
    "role": (
        RELEASE + "--k 5 --quasi Straße,Größe,Alter --sensitive Gruppe",
        "anonymize: every column needs a role, got no role for Betrag; name it in --identifier, --quasi, "
        "--sensitive or --keep, or pass --keep '*' to release all of them as they are; "
        "anon-sql roles suggests roles",
    ),
    "file": (
        RELEASE.replace("kunden", "kudnen") + "--k 5 " + ROLES,
        "release: IN must be a file, got 'kudnen.csv'",
    ),
    "method": (
        RELEASE + "--method raydn " + ROLES,
        "release: --method must be a release function, got 'raydn'; did you mean rayden? (anonymize, "
        "basic_mondrian, canon, datafly, dop, full_domain, k_member, mondrian, mondrian_cof, oka, rayden, "
        "sdka, top_down)",
    ),
}
PREPARED = """
import anon_sql
con = anon_sql.connect()
con.execute("CREATE TABLE kunden AS FROM read_csv('kunden.csv', delim = ';', decimal_separator = ',')")
"""
IN_SQL = {
    "function": (
        "FROM raydn('kunden', k := 5)",
        'Table Function with name raydn does not exist!\nDid you mean "rayden"?',
    ),
    "undeclared": (
        "FROM anonymize('kunden', k := 5, quasi := ['Alter', 'Größe'], keep := ['Straße', 'Gruppe'])",
        "anonymize: every column needs a role, got no role for Betrag; ",
    ),
    "column": (
        "FROM anonymize('kunden', k := 5, quasi := ['Altr'], keep := ['*'])",
        "anonymize: quasi must name columns of the table, got 'Altr'; did you mean Alter? (",
    ),
    "k": (
        "FROM anonymize('kunden', k := 300, quasi := ['Alter'], keep := ['*'])",
        "anonymize: k must be at most the number of rows, 240, got k := 300",
    ),
    "value": (
        "FROM anonymize('kunden', k := 'zehn', quasi := ['Alter'], keep := ['*'])",
        "anonymize: k must be a whole number",
    ),
}


@pytest.fixture
def windows(installed, folder):
    rows = [
        f"{STREETS[i % 3]};{150 + i * 7 % 45},{i % 10};{20 + i * 13 % 60};{1000 + i},{i % 90 + 10};{GROUPS[i * i % 7 % 3]}"
        for i in range(240)
    ]
    (folder / "kunden.csv").write_text("\n".join([HEADER, *rows, ""]), encoding="utf-8")
    opened = Windows(folder, installed)
    yield opened
    opened.close()


def test_each_mistake_on_the_command_line_is_one_sentence(windows):
    for command, sentence in MISTAKES.values():
        answer = windows.command(command)
        assert lines(answer.text) == [sentence]
        assert answer.code == 1
    assert [path.name for path in windows.folder.iterdir()] == ["kunden.csv"]


def test_roles_then_a_release_then_a_check(windows):
    suggested = windows.command("anon-sql roles kunden.csv --delimiter ';' --sql")
    assert [line.split('"')[3] for line in lines(suggested.text)] == HEADER.split(";")
    released = windows.command(RELEASE + "--k 10 --manifest " + ROLES)
    assert released.code == 0, released.text
    with (windows.folder / "frei.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 240
    assert set(rows[0]) == {"Straße", "Größe", "Alter", "Gruppe"}
    assert {row["Gruppe"] for row in rows} <= set(GROUPS)
    assert any("Königsallee" in row["Straße"] for row in rows)
    stated = json.loads((windows.folder / "frei.csv.anon.json").read_text(encoding="utf-8"))
    assert stated["parameters"]["k"] == 10
    checked = windows.command("anon-sql verify frei.csv --raw kunden.csv --delimiter ';'")
    assert checked.code == 0, checked.text
    assert "holds    k is at least 10" in lines(checked.text)


def test_each_mistake_in_sql_is_one_sentence_and_numbers_are_numbers(windows):
    windows.statements(PREPARED.strip())
    for sql, sentence in IN_SQL.values():
        said = windows.query(sql)
        last = said[said.rindex("Error: ") :]
        assert sentence in last.replace("\n\n", "\n"), said
    types = windows.query("SELECT DISTINCT typeof(Größe), typeof(Betrag) FROM kunden")
    assert "│ DOUBLE" in types
    shown = windows.query(
        "SELECT DISTINCT Größe FROM anonymize('kunden', k := 10, quasi := ['Größe'], keep := ['*'])\n"
        "ORDER BY 1 LIMIT 1"
    )
    assert "[150.0, " in shown
