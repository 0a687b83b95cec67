"""A folder of linked tables: every file is a table in its format, or one sentence names it."""

import gzip
import json

import openpyxl
import pandas as pd
import pyreadstat
import pytest

import anon_sql
from anon_sql import datasets
from tests.command import refused, run

pytestmark = pytest.mark.makes_functions

CALL = (
    *("--root", "person"),
    *("--link", "visit.person_id -> person.person_id"),
    *("--link", "diagnosis.visit_id -> visit.visit_id"),
    *("--identifier", "person.person_id,visit.visit_id"),
    *("--quasi", "person.born,person.sex,person.postcode,visit.person_id,visit.visited"),
    *("--quasi", "visit.ward", "--keep", "visit.days", "--sensitive", "diagnosis.code"),
    *("--keep", "diagnosis.visit_id"),
)


@pytest.fixture(scope="module")
def tables():
    with anon_sql.connect() as con:
        datasets.hospital(con, 100)
        return {name: con.sql(f"FROM {name} ORDER BY ALL").df() for name in datasets.HOSPITAL}


def csv(path, frame):
    path.write_text(frame.to_csv(index=False), "utf-8")


def packed(path, frame):
    path.write_bytes(gzip.compress(frame.to_csv(index=False, sep="\t").encode()))


def json_lines(path, frame):
    rows = json.loads(frame.to_json(orient="records", date_format="iso"))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def parquet(path, frame):
    frame.to_parquet(path, index=False)


def workbook(path, frame, sheets=("rows",)):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name in sheets:
        sheet = book.create_sheet(name)
        for row in (tuple(frame.columns), *frame.itertuples(index=False)):
            sheet.append([None if value is pd.NaT else value for value in row])
    book.save(path)


def sav(path, frame):
    pyreadstat.write_sav(frame, path)


WRITERS = {
    ".csv": csv, ".tsv.gz": packed, ".jsonl": json_lines, ".parquet": parquet, ".xlsx": workbook,
    ".sav": sav, ".PARQUET": parquet,
}  # fmt: skip


def folder(path, tables, **endings):
    """A folder with the tables, Parquet but for those with another ending."""
    path.mkdir()
    for name, frame in tables.items():
        ending = endings.get(name, ".parquet")
        WRITERS[ending](path / (name + ending), frame)
    return path


@pytest.mark.parametrize(
    ("person", "diagnosis"), [(".csv", ".tsv.gz"), (".jsonl", ".xlsx"), (".PARQUET", ".sav")]
)
def test_every_format_is_read(tables, tmp_path, person, diagnosis):
    source = folder(tmp_path / "raw", tables, person=person, diagnosis=diagnosis)
    made = run("release", source, f"{tmp_path}/safe/", *CALL, "--manifest")
    assert made.exit_code == 0, made.output
    written = json.loads((tmp_path / "safe.anon.json").read_text("utf-8"))
    assert written["tables"]["diagnosis"]["rows"] > 0
    checked = run("verify", f"{tmp_path}/safe/", "--raw", source)
    assert checked.exit_code == 0, checked.output


def test_what_is_no_table_is_named_or_passed_over(tables, tmp_path):
    source = folder(tmp_path / "raw", tables)
    for name in (".hidden", "hospital.toml", "old.anon.json"):
        (source / name).write_text("{}")
    (source / "older").mkdir()
    made = run("release", source, f"{tmp_path}/safe/", *CALL, "--manifest")
    assert made.exit_code == 0, made.output
    assert "older: this folder in IN is not read\n" in made.output
    (source / "notes.txt").write_text("who asked for this")
    said = refused("release", source, f"{tmp_path}/again/", *CALL)
    assert said.startswith("release: IN must hold no other files than tables (.csv, ")
    assert said.endswith(
        "got 'notes.txt'; move it out of the folder, or write it in one of these formats"
    )
    assert not (tmp_path / "again").exists()
    said = refused("verify", f"{tmp_path}/safe/", "--raw", source)
    assert said.startswith("verify: --raw must hold no other files than tables (.csv, ")


def test_two_files_of_one_table_are_refused(tables, tmp_path):
    source = folder(tmp_path / "raw", tables)
    csv(source / "Visit.csv", tables["visit"])
    assert refused("roles", source, "--root", "person", "--recipe", tmp_path / "r.toml") == (
        "roles: FILE must have one file per table, got 'Visit.csv' and 'visit.parquet'; "
        "move one of them out of the folder"
    )


def test_a_file_that_needs_an_option_says_what_to_do_instead(tables, tmp_path):
    source = folder(tmp_path / "raw", {name: tables[name] for name in ("person", "visit")})
    workbook(source / "diagnosis.xlsx", tables["diagnosis"], ("rows", "more"))
    assert refused("release", source, f"{tmp_path}/safe/", *CALL) == (
        "release: 'diagnosis.xlsx' in IN must have one sheet with rows, or name it, got the "
        "sheets 'rows', 'more'; write it as Parquet first; a file in a folder takes no options"
    )


def test_the_name_of_a_file_is_no_sql(tables, tmp_path):
    source = folder(tmp_path / "raw", tables)
    for number, ending in enumerate((".csv", ".jsonl", ".xlsx", ".sav", ".parquet")):
        name = f"{number}a'b\"; DROP VIEW person; --{ending}"
        WRITERS[ending](source / name, tables["diagnosis"].head(20))
    made = run("release", source, f"{tmp_path}/safe/", *CALL)
    assert made.exit_code == 0, made.output
