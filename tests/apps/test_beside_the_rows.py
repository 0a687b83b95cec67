"""What a file carries beside its rows never leaves: a marker in each place is looked for in bytes."""

import datetime as dt
import re
import zipfile
import zlib

import openpyxl
import pandas as pd
import pyreadstat
import pytest
from openpyxl.comments import Comment
from openpyxl.workbook.defined_name import DefinedName

from tests.command import run

pytestmark = pytest.mark.usefixtures("forked_readers")
MARKER = "Qwertzuiopa"
ROWS = [(20 + i % 40, "fm"[i % 2], "flu" if i % 7 else "cold") for i in range(120)]
RELEASE = ["--k", 5, "--quasi", "AGE,SEX", "--sensitive", "ILLNESS"]
OUTPUTS = [".csv", ".csv.gz", ".parquet", ".xlsx", ".sav", ".zsav", ".por", ".xpt", ".dta"]


def marked_workbook(folder):
    """A workbook with a marker in each place beside the cells of its table."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = f"{MARKER} sheet"
    for row in [("AGE", "SEX", "ILLNESS"), *ROWS]:
        sheet.append(row)
    sheet["A2"].comment = Comment(f"{MARKER} comment", f"{MARKER} commentator")
    sheet["A3"].hyperlink = f"https://example.org/{MARKER}"
    sheet.oddHeader.center.text = f"{MARKER} printed"
    for name in ("creator", "title", "subject", "description", "keywords", "category"):
        setattr(book.properties, name, f"{MARKER} {name}")
    book.properties.lastModifiedBy = f"{MARKER} editor"
    book.defined_names["named"] = DefinedName("named", attr_text=f'"{MARKER} name"')
    hidden = book.create_sheet(f"{MARKER} hid")
    hidden.sheet_state = "hidden"
    hidden.append([f"{MARKER} hidden"])
    path = folder / "raw.xlsx"
    book.save(path)
    return path, ["--sheet", sheet.title]


def table():
    return pd.DataFrame(
        {
            "AGE": [float(age) for age, _, _ in ROWS],
            "SEX": [float(1 + (sex == "m")) for _, sex, _ in ROWS],
            "ILLNESS": [float(1 + (illness == "flu")) for _, _, illness in ROWS],
            "NAME": [f"{MARKER} {i}" for i in range(len(ROWS))],
        }
    )


CODES = {
    "SEX": {1: "f", 2: "m", 3: f"{MARKER} of an unused code"},
    "ILLNESS": {1: "cold", 2: "flu", 9: f"{MARKER} of a missing code"},
    "AGE": {120: f"{MARKER} of an age that nobody has"},
}
NAMED = {
    "file_label": f"{MARKER} file",
    "column_labels": {"AGE": f"{MARKER} age", "ILLNESS": f"{MARKER} illness"},
}


def marked_sav(folder):
    path = folder / "raw.sav"
    pyreadstat.write_sav(
        table(),
        path,
        note=f"{MARKER} note",
        variable_value_labels=CODES,
        missing_ranges={"ILLNESS": [9]},
        **NAMED,
    )
    return path, ["--identifier", "NAME"]


def marked_dta(folder):
    path = folder / "raw.dta"
    frame = table().astype({"AGE": "int32", "SEX": "int32", "ILLNESS": "int32"})
    pyreadstat.write_dta(frame, path, variable_value_labels=CODES, **NAMED)
    return path, ["--identifier", "NAME"]


def marked_xpt(folder):
    path = folder / "raw.xpt"
    pyreadstat.write_xport(table(), path, table_name=MARKER[:8].upper(), **NAMED)
    return path, ["--identifier", "NAME"]


def contents(path):
    """All bytes of a file: as they are, and unpacked."""
    whole = path.read_bytes()
    yield whole
    if path.suffix == ".gz":
        yield zlib.decompress(whole, 47)
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield name.encode() + archive.read(name)
    for start in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", whole):  # zlib, as in .zsav
        try:
            yield zlib.decompressobj().decompress(whole[start.start() :])
        except zlib.error:
            continue


def holds(path, text):
    """Whether a file has a text in any case, also in EBCDIC-like order, or two bytes a letter."""
    forms = [text.lower().encode(), text.lower().encode("utf-16-le")]
    return any(form in content.lower() for content in contents(path) for form in forms)


@pytest.mark.parametrize("ending", OUTPUTS)
@pytest.mark.parametrize("marked", [marked_workbook, marked_sav, marked_dta, marked_xpt])
def test_nothing_but_released_values_leaves(tmp_path, marked, ending):
    raw, options = marked(tmp_path)
    assert holds(raw, MARKER)
    out = tmp_path / f"out{ending}"
    states = ["--manifest"] if ending == ".csv" else []
    result = run("release", raw, out, *RELEASE, *options, *states)
    assert result.exit_code == 0, result.output
    assert not any(holds(path, MARKER) for path in tmp_path.iterdir() if path != raw)
    assert not holds(out, str(dt.date.today().year)), "the time of writing"


@pytest.mark.parametrize("ending", [".sav", ".zsav", ".por", ".xpt", ".dta"])
def test_labels_of_columns_leave_only_if_asked(tmp_path, ending):
    raw, options = marked_sav(tmp_path)
    out = tmp_path / f"out{ending}"
    result = run("release", raw, out, *RELEASE, *options, "--variable-labels")
    assert result.exit_code == 0, result.output
    reader = {".xpt": pyreadstat.read_xport, ".dta": pyreadstat.read_dta}.get(ending)
    reader = reader or (pyreadstat.read_por if ending == ".por" else pyreadstat.read_sav)
    _, said = reader(out)
    labels = {name: text for name, text in said.column_names_to_labels.items() if text}
    assert labels == NAMED["column_labels"]
    assert not said.file_label


def test_labels_of_columns_are_shown(tmp_path):
    raw, options = marked_sav(tmp_path)
    shown = run("roles", raw)
    assert f"{MARKER} illness" in shown.stdout
    out, page = tmp_path / "out.sav", tmp_path / "report.html"
    assert run("release", raw, out, *RELEASE, *options).exit_code == 0
    result = run("report", raw, out, *RELEASE[2:], *options, "-o", page)
    assert result.exit_code == 0, result.output
    assert f"{MARKER} illness" in page.read_text()
    assert f"{MARKER} note" not in page.read_text()


def test_a_label_declares_no_role(tmp_path):
    raw = tmp_path / "raw.sav"
    labels = {"AGE": "anon:keep", "SEX": "Sex anon:identifier"}
    pyreadstat.write_sav(table(), raw, column_labels=labels)
    shown = run("roles", raw)
    assert shown.exit_code == 0, shown.output
    assert "declared" not in shown.stdout
    assert "anon:" not in shown.stdout
