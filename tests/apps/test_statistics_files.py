"""Files of SPSS, SAS and Stata at the command line: labels are values, and codes come back."""

import datetime as dt
import json
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from random import Random

import duckdb
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

import anon_sql
from anon_sql.apps import files
from anon_sql.apps.formats import reader
from anon_sql.apps.studio.source import StudioSource
from tests.apps.forked_reader import PROGRAM
from tests.command import refused, run

pytestmark = pytest.mark.usefixtures("forked_readers")
CANARY = "Zanzibarella"
READERS = {
    ".sav": pyreadstat.read_sav,
    ".zsav": pyreadstat.read_sav,
    ".por": pyreadstat.read_por,
    ".dta": pyreadstat.read_dta,
    ".xpt": pyreadstat.read_xport,
}
ENDINGS = [*READERS]
LABELLED = [".sav", ".zsav", ".dta"]  # whose files can hold labels of values
RELEASE = ["--k", 5, "--quasi", "AGE,SEX", "--sensitive", "ILLNESS"]
LABELS = {
    "SEX": {1: "male", 2: "female", 9: "refused"},
    "ILLNESS": {1: "flu", 2: "cold", 3: CANARY},
}


def table(rows=120):
    """People whose columns have names that every format takes."""
    return pd.DataFrame(
        {
            "AGE": [float(20 + i % 40) for i in range(rows)],
            "SEX": [float(1 + i % 2) for i in range(rows)],
            "ILLNESS": [2.0 if i % 7 else 1.0 for i in range(rows)],
        }
    )


def written(path, frame, **said):
    """A file of the kind that the ending of its name says."""
    ending = path.suffix
    if ending in (".sav", ".zsav"):
        pyreadstat.write_sav(frame, path, compress=ending == ".zsav", **said)
    elif ending == ".dta":
        pyreadstat.write_dta(frame, path, **said)
    else:
        write = pyreadstat.write_xport if ending == ".xpt" else pyreadstat.write_por
        write(frame, path, **said)
    return path


def people(folder, ending=".sav", frame=None, **said):
    frame = table() if frame is None else frame
    if ending in LABELLED:
        said.setdefault("variable_value_labels", LABELS)
    return written(folder / f"people{ending}", frame, **said)


def read(path, **options):
    return READERS[path.suffix](path, output_format="dict", **options)


def refusal(path, *options):
    """What a release says about a file; it never shows a value."""
    sentence = refused("release", path, path.parent / "out.csv", *RELEASE, *options)
    assert CANARY not in sentence
    assert not (path.parent / "out.csv").exists()
    assert sentence.startswith("release: IN must ")
    return sentence.removeprefix("release: IN must ")


def raw(folder, path, *options):
    """The rows as they were read: those of a release with k = 1."""
    out = folder / "read.parquet"
    names = ",".join(f'"{name}"' for name in read(path)[1].column_names)
    call = ("release", path, out, "--k", 1, "--quasi", names, "--overwrite", *options)
    result = run(*call)
    assert result.exit_code == 0, result.output
    return duckdb.read_parquet(str(out))


def types(path, *options):
    result = run("roles", path, *options)
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    return {line[0]: line[1] for line in lines if len(line) > 2 and line[1].isupper()}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_release_is_a_file_of_the_same_kind_that_is_verified(tmp_path, ending):
    """The same rows give the same bytes, whatever the time is."""
    path, out, again = people(tmp_path, ending), tmp_path / f"out{ending}", tmp_path / f"b{ending}"
    result = run("release", path, out, *RELEASE, "--manifest")
    assert result.exit_code == 0, result.output
    result = run("verify", out, "--raw", path)
    assert result.exit_code == 0, result.output
    rows, said = read(out)
    assert len(rows["AGE"]) == 120
    assert said.creation_time.year == 1970
    time.sleep(1.1)
    assert run("release", path, again, *RELEASE).exit_code == 0
    assert again.read_bytes() == out.read_bytes()
    if ending not in LABELLED:
        assert all(label.startswith("[") for label in rows["AGE"])
        return
    assert set(said.variable_value_labels["ILLNESS"].items()) == {(1, "flu"), (2, "cold")}
    assert said.variable_value_labels["SEX"].items() >= {(1, "male"), (2, "female")}
    assert {*rows["AGE"]} == {*said.variable_value_labels["AGE"]}
    assert all(label.startswith("[") for label in said.variable_value_labels["AGE"].values())


@pytest.mark.parametrize("ending", LABELLED)
def test_labels_are_the_values(tmp_path, ending):
    out = tmp_path / "out.csv"
    call = ("--k", 1, "--quasi", "SEX", "--sensitive", "ILLNESS", "--exclude", "AGE")
    assert run("release", people(tmp_path, ending), out, *call).exit_code == 0
    assert set(duckdb.read_csv(str(out)).project("SEX").fetchall()) == {("male",), ("female",)}
    assert "cold" in out.read_text()
    assert CANARY not in out.read_text()


def test_labels_that_two_codes_share_are_told_apart(tmp_path):
    labels = {"SEX": {1: "other", 2: "other"}, "ILLNESS": LABELS["ILLNESS"]}
    found = raw(tmp_path, people(tmp_path, variable_value_labels=labels))
    assert set(found.project("SEX").fetchall()) == {("other (1)",), ("other (2)",)}


def test_labels_of_some_values_leave_a_number(tmp_path):
    labels = {"AGE": {20: "youngest", 59: "oldest"}, **LABELS}
    path = people(tmp_path, variable_value_labels=labels)
    assert types(path)["AGE"] == "BIGINT"
    out = tmp_path / "out.sav"
    assert run("release", path, out, "--k", 1, "--quasi", "SEX", "--keep", "*").exit_code == 0
    assert read(out)[1].variable_value_labels["AGE"] == {20: "youngest", 59: "oldest"}


def test_a_nominal_code_without_a_label_is_a_value_of_its_own(tmp_path):
    labels = {"SEX": {1: "male"}, "ILLNESS": LABELS["ILLNESS"]}
    path = people(tmp_path, variable_value_labels=labels, variable_measure={"SEX": "nominal"})
    assert set(raw(tmp_path, path).project("SEX").fetchall()) == {("male",), ("2",)}


def test_missing_codes_are_null_and_stand_in_the_recipe(tmp_path):
    frame = table()
    frame["INCOME"] = [[98.0, 99.0, -5.0, 1000.0, 2500.0][i % 5] for i in range(len(frame))]
    missing = {"INCOME": [99, {"lo": -9, "hi": -1}], "SEX": [2]}
    path = people(tmp_path, frame=frame, missing_ranges=missing)
    found = raw(tmp_path, path)
    values = {value for (value,) in found.project("INCOME").fetchall()}
    assert values == {None, "98", "1000", "2500"}
    assert {value for (value,) in found.project("SEX").fetchall()} == {None, "male"}
    recipe = tmp_path / "r.toml"
    assert run("roles", path, "--recipe", recipe).exit_code == 0
    text = recipe.read_text()
    assert 'missing = { SEX = ["2"], INCOME = ["-9 to -1", "99"] }' in text or (
        'missing = { SEX = ["2"], INCOME = ["99", "-9 to -1"] }' in text
    )


def test_missing_codes_can_be_changed(tmp_path):
    frame = table()
    frame["INCOME"] = [[98.0, 99.0, 1000.0, 2500.0][i % 4] for i in range(len(frame))]
    path = people(tmp_path, frame=frame, missing_ranges={"INCOME": [99], "SEX": [2]})

    def values(name, *options):
        return {value for (value,) in raw(tmp_path, path, *options).project(name).fetchall()}

    assert values("INCOME", "--missing", "INCOME=98") == {None, "99", "1000", "2500"}
    assert values("INCOME", "--missing", "income=90 to HI") == {None}
    assert values("SEX", "--missing", "SEX=") == {"male", "female"}
    assert "have the column INCOMES" in refusal(path, "--missing", "INCOMES=98")
    assert "must be numbers, or ranges" in refused(
        "release", path, tmp_path / "o.csv", *RELEASE, "--missing", f"INCOME={CANARY}"
    )
    assert "must be COLUMN=CODE" in refused(
        "release", path, tmp_path / "o.csv", *RELEASE, "--missing", "INCOME"
    )


def test_a_recipe_can_keep_a_missing_code_as_a_value(tmp_path):
    frame = table()
    path = people(tmp_path, frame=frame, missing_ranges={"SEX": [2]})
    recipe = tmp_path / "r.toml"
    assert run("roles", path, "--recipe", recipe).exit_code == 0
    text = recipe.read_text()
    assert 'missing = { SEX = ["2"] }' in text
    recipe.write_text(text.replace('missing = { SEX = ["2"] }', "missing = { SEX = [] }"))
    result = run("report", recipe, tmp_path / "none.sav", "-o", tmp_path / "r.html")
    assert "Traceback" not in result.output
    recipe.write_text(text.replace('["2"]', '"2"'))
    assert "must have a list of codes" in refused("release", recipe, tmp_path / "o.sav")


@pytest.mark.parametrize("ending", ENDINGS)
def test_dates_and_times_are_such(tmp_path, ending):
    frame = table()
    frame["DAY"] = [dt.date(1899, 12, 30) + dt.timedelta(days=400 * i) for i in range(len(frame))]
    frame["SEEN"] = [
        dt.datetime(2020, 2, 29, 23, 59, 58) + dt.timedelta(days=i) for i in range(120)
    ]
    frame["CLOCK"] = [dt.time(i % 24, 30, 15) for i in range(len(frame))]
    path = people(tmp_path, ending, frame)
    out = tmp_path / f"out{ending}"
    call = ("release", path, out, "--k", 1, "--quasi", "SEX", "--keep", "*")
    assert run(*call).exit_code == 0
    again = tmp_path / "again.parquet"
    call = ("release", out, again, "--k", 1, "--quasi", "SEX", "--keep", "*")
    assert run(*call).exit_code == 0
    rows = duckdb.read_parquet(str(again)).project("DAY, SEEN, CLOCK").fetchall()
    columns = (frame[name] for name in ("DAY", "SEEN", "CLOCK"))
    assert set(rows) == {tuple(row) for row in zip(*columns, strict=True)}


@pytest.mark.parametrize(
    ("unit", "number", "day"),
    [
        ("%td", 21915, "2020-01-01"),
        ("%tw", 60 * 52 + 1, "2020-01-08"),
        ("%tm", 60 * 12 + 1, "2020-02-01"),
        ("%tq", 60 * 4 + 1, "2020-04-01"),
        ("%th", 60 * 2 + 1, "2020-07-01"),
        ("%tm", -1, "1959-12-01"),
    ],
)
def test_stata_counts_weeks_and_months_and_quarters(tmp_path, unit, number, day):
    frame = pd.DataFrame({"WHEN": [float(number)] * 9})
    path = written(tmp_path / "a.dta", frame, variable_format={"WHEN": unit})
    assert {str(value) for (value,) in raw(tmp_path, path).fetchall()} == {day}


def test_times_of_more_than_a_day_are_seconds(tmp_path):
    frame = table()
    frame["LASTED"] = [3600.0 * i for i in range(len(frame))]
    path = people(tmp_path, frame=frame, variable_format={"LASTED": "TIME8"})
    assert types(path)["LASTED"] == "BIGINT"


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("share", [0.0, 0.4, 0.9])
def test_a_part_of_a_file_is_refused(tmp_path, ending, share):
    path = people(tmp_path, ending)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share) | 1 if share else 0])
    assert refusal(path).startswith(f"be a whole {ending} file, got ")


@pytest.mark.parametrize("ending", [*ENDINGS, ".sas7bdat"])
@pytest.mark.parametrize(
    "content", [CANARY.encode() * 50, b"PK\x03\x04" + bytes(900), b"ENCRYPTEDSAV" + bytes(900)]
)
def test_other_content_is_refused(tmp_path, ending, content):
    path = tmp_path / f"people{ending}"
    path.write_bytes(content)
    assert refusal(path).startswith(f"be a whole {ending} file, got ")


def test_a_file_with_a_password_says_so(tmp_path):
    path = tmp_path / "people.sav"
    path.write_bytes(b"\x1c\x00\x00\x00\x00\x00\x00\x00ENCRYPTEDSAV" + bytes(900))
    assert "got one with a password; save it without a password in SPSS" in refusal(path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_without_rows_is_as_a_csv_without_rows(tmp_path, ending):
    path = people(tmp_path, ending, table(0))
    csv = tmp_path / "people.csv"
    csv.write_text("AGE,SEX,ILLNESS\n")
    both = [run("release", p, tmp_path / "o.csv", *RELEASE, "--overwrite") for p in (path, csv)]
    assert both[0].exit_code == both[1].exit_code
    assert both[0].stderr.replace(ending, ".csv") == both[1].stderr


def test_sas_tables_are_read_and_not_written(tmp_path):
    assert refused("release", people(tmp_path), tmp_path / "out.sas7bdat", *RELEASE) == (
        "release: OUT must be of a format that can be written, got a .sas7bdat file; name it .xpt"
    )


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_a_file_cannot_hold_is_refused(tmp_path, ending):
    source, out = tmp_path / "raw.parquet", tmp_path / f"out{ending}"

    def says(column):
        duckdb.sql(f"SELECT 20 + i % 3 AS AGE, {column} FROM range(60) t(i)").write_parquet(
            str(source)
        )
        call = ("--k", 1, "--quasi", "AGE", "--keep", column.rpartition(" AS ")[2])
        sentence = refused("release", source, out, *call)
        assert not out.exists()
        return sentence

    assert "whole ones below 2^53, got others in BIG" in says(
        "1152921504606846976::BIGINT + i % 2 AS BIG"
    )
    assert "got objects or lists in LIST; flatten them" in says("[i] AS LIST")
    assert "no empty texts" in says("if(i % 2 = 0, '', 'a') AS NAME")
    assert "longer than" in says("repeat('a', 70000) || i AS LONG")
    assert "must be named with" in says('i % 2 AS "a b"')
    assert "finite numbers" in says("if(i = 1, 'inf'::DOUBLE, 1.0) AS INF")
    if ending != ".dta":
        assert "blanks at the end" in says("if(i % 2 = 0, 'a ', 'b') AS NAME")


def test_an_old_encoding_is_named(tmp_path):
    path = people(tmp_path)
    content = path.read_bytes().replace(
        b"\x07\x00\x00\x00\x14\x00\x00\x00\x01\x00\x00\x00\x05", b""
    )
    assert content  # the file says its encoding itself
    result = run("roles", path, "--encoding", "windows-1252")
    assert result.exit_code == 0, result.output


def test_a_file_that_ends_its_reader_is_refused(tmp_path, monkeypatch):
    """A damaged file can end the process of the library that reads it."""
    path = people(tmp_path)
    program = tmp_path / "dies.py"
    monkeypatch.setattr(reader, "_PROGRAM", program)
    program.write_text("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert refusal(path) == "be a whole .sav file, got something else or a part of one"
    said = '{"columns": [{"name": "AGE", "text": false, "label": "", "codes": [], '
    said += '"measure": "scale", "format": "F8.0", "missing": []}], "rows": null}'
    program.write_text(f"import os; print('{said}', flush=True); os._exit(3)")
    assert refusal(path) == "be a whole .sav file, got something else or a part of one"


def test_the_process_that_reads_does_not_import_pandas(tmp_path):
    request = {"reader": "read_sav", "path": str(people(tmp_path)), "options": {}}
    program = [sys.executable, "-P", "-X", "importtime", PROGRAM]
    result = subprocess.run(
        program, input=json.dumps(request).encode() + b"\n", capture_output=True, check=True
    )
    description, _, stream = result.stdout.partition(b"\n")
    assert [column["name"] for column in json.loads(description)["columns"]] == [*table().columns]
    assert pa.ipc.open_stream(stream).read_all().num_rows == len(table())
    assert b"pyarrow.ipc" in result.stderr
    assert b"pandas.core" not in result.stderr


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_damaged_file_is_a_table_or_one_sentence(tmp_path, ending):
    path, random = people(tmp_path, ending), Random(ending)
    content = path.read_bytes()
    for _ in range(3):
        damaged = bytearray(content)
        for _ in range(random.randint(1, 8)):
            damaged[random.randrange(min(len(content), 1500))] = random.randrange(256)
        path.write_bytes(damaged)
        result = run("roles", path, "--dbt")
        if result.exit_code:
            assert result.stderr.startswith("roles: FILE must "), result.output
            assert result.stderr.count("\n") == 1


def test_a_recipe_in_python_and_in_sql(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = people(tmp_path)
    assert run("roles", path, "--recipe", "r.toml").exit_code == 0
    text = Path("r.toml").read_text().replace("confirmed = false", "confirmed = true")
    Path("r.toml").write_text(text)
    with anon_sql.connect() as con:
        with suppress(anon_sql.AnonError):  # of the verdict, which needs more rows
            rows = anon_sql.recipe(con, "r.toml")
            assert "male" in {value for (value,) in rows.project("SEX").fetchall()}
        with pytest.raises(duckdb.Error, match=r"must be a CSV or Parquet file, or a table"):
            con.sql("FROM anonymize_recipe('r.toml')").fetchall()


def test_a_studio_offers_a_release_of_the_same_kind(tmp_path):
    frame = table()
    frame["NOTE"] = ["a" if i % 2 else " a" for i in range(len(frame))]
    path = people(tmp_path, frame=frame, missing_ranges={"SEX": [2]})
    source = StudioSource(path, tmp_path, None)
    assert source.ending == ".sav"
    assert source.written() is None
    with anon_sql.connect() as con:
        source.load(con)
        assert con.table("raw").columns == [*frame.columns]
        assert source.merged == ["NOTE"]
    assert source.written_as.missing == (("SEX", ("2",)),)
    assert StudioSource(path.with_suffix(".sas7bdat"), tmp_path, None).ending == ".xpt"
    assert StudioSource(path.with_suffix(".xls"), tmp_path, None).ending == ".xlsx"


@pytest.mark.parametrize(
    ("ending", "role"), [(".sav", "--quasi"), (".zsav", "--sensitive"), (".dta", "--quasi")]
)
def test_ordered_codes_can_be_numbers_with_ranges(tmp_path, ending, role):
    frame = table(240)
    frame["EDU"] = [float(1 + i % 4) for i in range(len(frame))]
    levels = {1: "none", 2: "school", 3: "college", 4: "university", 5: "doctor"}
    said = {"variable_value_labels": {**LABELS, "EDU": levels}}
    if ending != ".dta":
        said["variable_measure"] = {"EDU": "ordinal"}
    path, out = people(tmp_path, ending, frame, **said), tmp_path / f"out{ending}"
    read_as = ("--as-codes", "edu")
    assert types(path)["EDU"] == "VARCHAR"
    assert types(path, *read_as)["EDU"] == "BIGINT"
    options = ("--k", 5, "--quasi", "AGE,SEX", role, "EDU", "--t", 0.4)[
        : 8 if role[2] == "s" else 6
    ]
    result = run("release", path, out, *options, "--manifest", "--exclude", "ILLNESS", *read_as)
    assert result.exit_code == 0, result.output
    result = run("verify", out, "--raw", path, *read_as)
    assert result.exit_code == 0, result.output
    labels = read(out)[1].variable_value_labels.get("EDU", {})
    if role == "--quasi":
        assert all(re.fullmatch(r"\d|\[\d, \d\]", text) for text in labels.values())
    elif ending != ".dta":  # whose files do not tell numbers from codes
        assert labels == {code: label for code, label in levels.items() if code < 5}
    noticed = run("release", path, tmp_path / "o.csv", *options[:5], "EDU", "--keep", "*")
    assert ("--as-codes EDU" in noticed.stderr) is (ending != ".dta" and role == "--quasi")


def test_columns_of_codes_stand_in_the_recipe(tmp_path):
    path, recipe = people(tmp_path), tmp_path / "r.toml"
    assert run("roles", path, "--recipe", recipe, "--as-codes", "ILLNESS").exit_code == 0
    assert 'as_codes = ["ILLNESS"]' in recipe.read_text()
    assert "have the column NONE" in refusal(path, "--as-codes", "NONE")


def test_files_of_other_makers_are_tables(shared_data):
    """Every column and row of them, and a date, a time or a number where the file says so."""
    found = sorted(path for path in (shared_data / "statistics").glob("*") if path.is_file())
    if not found:
        pytest.skip("needs files of SPSS, SAS and Stata in ../shared/data/statistics")
    for path in found:
        with anon_sql.connect() as con:
            files.read_source(con, path, "raw")
            read_as = getattr(pyreadstat, reader.READERS[path.suffix])
            rows, said = read_as(path, output_format="dict", disable_datetime_conversion=True)
            assert con.table("raw").columns == said.column_names
            assert con.table("raw").shape[0] == len(rows[said.column_names[0]])
