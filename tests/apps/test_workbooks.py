"""Workbooks at the command line: a sheet is a table with types, or one sentence says why not."""

import datetime as dt
import zipfile

import duckdb
import openpyxl
import pytest
import python_calamine

from tests.command import refused, run

CANARY = "Zanzibarella"
HEADINGS = ("age", "sex", "illness")
PEOPLE = [(20 + i % 40, "fm"[i % 2], "flu" if i % 7 else "cold") for i in range(120)]
RELEASE = ["--k", 5, "--quasi", "age,sex", "--sensitive", "illness"]


def workbook(path, **sheets):
    """A workbook with these sheets, each a list of rows."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def people(folder, rows=PEOPLE, headings=HEADINGS, name="people.xlsx"):
    return workbook(folder / name, People=[headings, *rows])


def changed(path, change):
    """The workbook at a path, after a change to its first sheet."""
    book = openpyxl.load_workbook(path)
    change(book[book.sheetnames[0]])
    book.save(path)
    return path


def types(path, *options):
    """The type of each column as ``roles`` shows it."""
    result = run("roles", path, "--dbt", *options)
    assert result.exit_code == 0, result.output
    result = run("roles", path, *options)
    lines = [line.split() for line in result.stdout.splitlines()]
    return {line[0]: line[1] for line in lines if len(line) > 2 and line[1].isupper()}


def cells(path, name=None):
    book = python_calamine.load_workbook(path)
    return list(book.get_sheet_by_name(name or book.sheet_names[0]).iter_rows())


def refusal(path, *options):
    """What a release says about a file; it never shows a value."""
    sentence = refused("release", path, path.parent / "out.csv", *RELEASE, *options)
    assert CANARY not in sentence
    assert not (path.parent / "out.csv").exists()
    assert sentence.startswith("release: IN must ")
    return sentence.removeprefix("release: IN must ")


def test_a_release_is_a_workbook_that_is_verified(tmp_path):
    raw, out = people(tmp_path), tmp_path / "out.xlsx"
    result = run("release", raw, out, *RELEASE, "--manifest")
    assert result.exit_code == 0, result.output
    headings, *rows = cells(out)
    assert headings == [*HEADINGS]
    assert len(rows) == len(PEOPLE)
    assert {row[2] for row in rows} == {"flu", "cold"}
    assert all(row[0].startswith("[") for row in rows)
    assert run("verify", out, "--raw", raw).exit_code == 0
    assert run("report", raw, out, *RELEASE[:6], "-o", tmp_path / "r.html").exit_code == 0
    audited = run("audit", out, "--quasi", "age,sex", "--k", 5)
    assert audited.exit_code == 0, audited.output


def test_cells_have_types(tmp_path):
    rows = [
        (
            i,
            i / 4,
            dt.date(2020, 1, 1 + i),
            dt.datetime(2020, 1, 1, i, 30),
            dt.time(i, 5),
            i > 3,
            "x",
        )
        for i in range(10)
    ]
    path = people(tmp_path, rows, tuple("abcdefg"))
    found = types(path)
    assert list(found.values()) == [
        *("BIGINT", "DOUBLE", "DATE", "TIMESTAMP", "TIME", "BOOLEAN", "VARCHAR")
    ]


def test_a_column_of_several_kinds_is_text_and_is_noticed(tmp_path):
    rows = [*PEOPLE, ("k.A.", "f", "flu")]
    path = people(tmp_path, rows)
    assert types(path)["age"] == "VARCHAR"
    result = run("release", path, tmp_path / "o.csv", *RELEASE)
    assert "age is text, since 1 of its 121 values are not numbers, the first in row 122" in (
        result.stderr
    )
    assert types(path, "--null", "k.A.")["age"] == "BIGINT"


def test_blank_rows_are_no_rows_and_blank_cells_are_null(tmp_path):
    path = people(tmp_path, [*PEOPLE, (None, None, None), (30, None, ""), (None,) * 3])
    out = tmp_path / "out.parquet"
    assert run("release", path, out, "--k", 1, "--quasi", "age", "--keep", "*").exit_code == 0
    rows = duckdb.read_parquet(str(out)).fetchall()
    assert len(rows) == len(PEOPLE) + 1
    assert ("30", None, None) in rows


def test_a_sheet_is_chosen_by_name(tmp_path):
    path = workbook(
        tmp_path / "two.xlsx", People=[HEADINGS, *PEOPLE], Old=[HEADINGS, *PEOPLE], Empty=[]
    )
    changed(path, lambda sheet: setattr(sheet.parent["Old"], "sheet_state", "hidden"))
    assert refusal(path) == (
        "have one sheet with rows, or name it, got the sheets 'People', 'Old' (hidden); "
        "pass --sheet People"
    )
    assert "have the sheet 'None'" in refusal(path, "--sheet", "None")
    assert "empty sheet" in refusal(path, "--sheet", "Empty")
    result = run("release", path, tmp_path / "o.csv", *RELEASE, "--sheet", "Old")
    assert result.exit_code == 0, result.output


def test_headings_may_stand_below_a_title(tmp_path):
    rows = [("Patients", None, None), (None, None, None), HEADINGS, *PEOPLE]
    path = workbook(tmp_path / "title.xlsx", People=rows)
    changed(path, lambda sheet: sheet.merge_cells("A1:C1"))
    assert "merged cells in row 1; write one heading per column, or pass --first-row 2" in (
        refusal(path)
    )
    result = run("release", path, tmp_path / "o.csv", *RELEASE, "--first-row", 3)
    assert result.exit_code == 0, result.output
    assert "begin with headings, got an empty row 2" in refusal(path, "--first-row", 2)
    assert "empty" in refusal(path, "--first-row", 1000)


def test_merged_cells_among_the_rows_are_refused(tmp_path):
    path = changed(people(tmp_path), lambda sheet: sheet.merge_cells("A7:A9"))
    assert refusal(path) == (
        "have no merged cells, got merged cells in row 7; separate them in the workbook"
    )


def test_a_formula_without_its_result_is_refused(tmp_path):
    path = changed(people(tmp_path), lambda sheet: setattr(sheet["A5"], "value", "=1+1"))
    assert "have a stored result for every formula, got 1 formulas" in refusal(path)


def test_an_error_cell_is_null_only_if_it_is_named(tmp_path):
    def spoil(sheet):
        sheet["A5"].value, sheet["A6"].value = "#N/A", "#DIV/0!"

    path = changed(people(tmp_path), spoil)
    assert refusal(path) == (
        "have no cells with errors, got 1 of #N/A, 1 of #DIV/0!; pass --null '#N/A' to read them "
        "as NULL"
    )
    named = ("--null", "#N/A", "--null", "#DIV/0!")
    assert types(path, *named)["age"] == "BIGINT"


def test_a_recipe_says_which_sheet_is_read(tmp_path):
    path = workbook(
        tmp_path / "two.xlsx",
        People=[("title", None, None), HEADINGS, *PEOPLE],
        Other=[HEADINGS, *PEOPLE],
    )
    recipe = tmp_path / "r.toml"
    options = ("--sheet", "People", "--first-row", 2)
    result = run("roles", path, "--recipe", recipe, *options)
    assert result.exit_code == 0, result.output
    text = recipe.read_text()
    assert 'sheet = "People"' in text
    assert "first_row = 2" in text
    result = run("release", recipe, tmp_path / "o.xlsx")
    assert "verdict" in result.output
    assert "sheet" not in result.output
    recipe.write_text(text.replace("first_row = 2", "first_row = 0"))
    assert "first_row in [source] must be at least 1" in refused(
        "release", recipe, tmp_path / "p.xlsx"
    )


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "#N/A", "'x", "=cmd|' /C calc'!A0"]
)
def test_text_never_becomes_a_formula(tmp_path, text):
    path = tmp_path / "raw.csv"
    rows = "".join(f'{age},{sex},"{text}"\n' for age, sex, _ in PEOPLE)
    path.write_text("age,sex,illness\n" + rows)
    out = tmp_path / "out.xlsx"
    result = run("release", path, out, "--k", 5, "--quasi", "age,sex", "--keep", "illness")
    assert result.exit_code == 0, result.output
    sheet = openpyxl.load_workbook(out).worksheets[0]
    assert {sheet.cell(row, 3).data_type for row in range(2, 122)} == {
        "n" if text in ("+1", "-1") and isinstance(sheet["C2"].value, int) else "s"
    }
    assert str(sheet["C2"].value) == text


def test_the_same_rows_give_the_same_bytes_without_author_or_time(tmp_path, monkeypatch):
    raw = people(tmp_path)
    for name in ("a.xlsx", "b.xlsx"):
        assert run("release", raw, tmp_path / name, *RELEASE).exit_code == 0
    first, second = ((tmp_path / name).read_bytes() for name in ("a.xlsx", "b.xlsx"))
    assert first == second
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}
        text = archive.read("docProps/core.xml")
        assert not any(word in text for word in (b"creator", b"created", b"modified"))


def test_what_a_cell_cannot_hold_is_text(tmp_path):
    """A number of more than 15 digits, a date before 1900-03-01, a part of a millisecond."""
    source = tmp_path / "odd.parquet"
    duckdb.sql(
        "SELECT 20 + i % 3 AS age, 1234567890123456789::BIGINT + i AS big, DATE '1850-01-01' + i::INTEGER "
        "AS old, TIMESTAMP '2020-01-01' + to_microseconds(i) AS fine FROM range(60) t(i)"
    ).write_parquet(str(source))
    out = tmp_path / "out.xlsx"
    call = ("--k", 1, "--quasi", "age", "--keep", "big,old,fine")
    assert run("release", source, out, *call).exit_code == 0
    rows = {tuple(row[1:]) for row in cells(out)}
    assert ("1234567890123456791", "1850-01-03", "2020-01-01 00:00:00.000002") in rows


@pytest.mark.parametrize("ending", [".xls", ".ods"])
def test_old_workbooks_are_read_and_not_written(tmp_path, ending):
    raw, out = people(tmp_path), tmp_path / f"out{ending}"
    assert refused("release", raw, out, *RELEASE) == (
        f"release: OUT must be of a format that can be written, got a {ending} file; name it .xlsx"
    )


def test_a_workbook_of_excel_97_is_read(tmp_path):
    """Nothing that the package needs writes .xls, so xlwt must be there."""
    xlwt = pytest.importorskip("xlwt")
    raw, out = tmp_path / "people.xls", tmp_path / "out.xlsx"
    book = xlwt.Workbook()
    sheet = book.add_sheet("people")
    is_date = xlwt.easyxf(num_format_str="YYYY-MM-DD")
    days = [dt.date(1980 + i % 5, 1 + i % 12, 1 + i % 28) for i in range(40)]
    for column, name in enumerate(("age", "born", "town", "paid")):
        sheet.write(0, column, name)
    for row, day in enumerate(days, 1):
        sheet.write(row, 0, 20 + row % 9)
        sheet.write(row, 1, day, is_date)
        sheet.write(row, 2, ["Köln", "Bonn"][row % 2])
        sheet.write(row, 3, row + 0.5)
    sheet.write(41, 0, "Summe")
    book.save(str(raw))
    call = ("--k", 1, "--quasi", "town", "--keep", "age,born,paid", "--without-total-row")
    assert run("release", raw, out, *call).exit_code == 0
    released = sorted(cells(out)[1:], key=lambda row: row[3])
    assert [row[1] for row in released] == days
    assert [row[0] for row in released] == [20 + row % 9 for row in range(1, 41)]
    assert {row[2] for row in released} == {"Köln", "Bonn"}


@pytest.mark.parametrize("ending", [".xlsx", ".xls", ".ods"])
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "an empty file"),
        (CANARY.encode() * 9, "other content"),
        (b"PK\x03\x04" + CANARY.encode() * 99, ""),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), ""),
    ],
)
def test_other_content_is_refused(tmp_path, ending, content, says):
    path = tmp_path / f"people{ending}"
    path.write_bytes(content)
    sentence = refusal(path)
    assert sentence.startswith(f"be a whole {ending} workbook, got ")
    assert says in sentence


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_part_of_a_workbook_is_refused(tmp_path, share):
    path = people(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    assert refusal(path).startswith("be a whole .xlsx workbook, got a part of one")


def test_nothing_but_headings_or_nothing_at_all(tmp_path):
    assert "have rows in a sheet, got empty sheets alone" in refusal(
        workbook(tmp_path / "none.xlsx", People=[])
    )
    path = people(tmp_path, [])
    csv = tmp_path / "people.csv"
    csv.write_text(",".join(HEADINGS) + "\n")
    both = [
        run("release", each, tmp_path / "o.csv", *RELEASE, "--overwrite") for each in (path, csv)
    ]
    assert both[0].exit_code == both[1].exit_code
    assert both[0].stderr.replace("xlsx", "csv") == both[1].stderr


def test_hostile_headings(tmp_path):
    headings = ('a"; DROP TABLE raw; --', "b'\n", "c,")
    path = people(tmp_path, headings=headings)
    out = tmp_path / "out.xlsx"
    result = run("release", path, out, "--k", 5, "--quasi", '"c,"', "--keep", "*")
    assert "Traceback" not in result.output
    twice = people(tmp_path, headings=("age", "AGE", "illness"), name="twice.xlsx")
    assert {"age_1", "AGE_2"} <= {*types(twice)}


ODS = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2">
<office:body><office:spreadsheet><table:table table:name="People">{rows}</table:table>
</office:spreadsheet></office:body></office:document-content>"""


def test_an_open_document_sheet_is_read(tmp_path):
    def cell(value):
        kind, shown = ("float", f' office:value="{value}"'), str(value)
        if isinstance(value, str):
            kind = ("string", "")
        said = f'office:value-type="{kind[0]}"{kind[1]}'
        return f"<table:table-cell {said}><text:p>{shown}</text:p></table:table-cell>"

    rows = "".join(
        f"<table:table-row>{''.join(map(cell, row))}</table:table-row>"
        for row in [HEADINGS, *PEOPLE]
    )
    path = tmp_path / "people.ods"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", ODS.format(rows=rows))
        archive.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        )
    assert types(path) == {"age": "BIGINT", "sex": "VARCHAR", "illness": "VARCHAR"}
    result = run("release", path, tmp_path / "out.xlsx", *RELEASE)
    assert result.exit_code == 0, result.output
