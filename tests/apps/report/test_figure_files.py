"""The files of the figures: their numbers are those of the report, and nothing else is in them."""

import csv
import json
import re
import shutil
from xml.etree import ElementTree

import duckdb
import pytest

from tests.apps.report.pages import PEOPLE, drawn, page
from tests.command import refused, run


def call(folder, *more):
    return (
        *("report", folder / "people.parquet", folder / "safe.parquet"),
        *("-o", folder / "with.json", "--format", "json", "--figures", folder / "figures", *more),
    )


@pytest.fixture(scope="module")
def written(made, tmp_path_factory):
    """A folder with a report as JSON and its figures."""
    folder = shutil.copytree(made, tmp_path_factory.mktemp("files"), dirs_exist_ok=True)
    result = run(*call(folder, "--show-sensitive"))
    assert result.exit_code == 0, result.output
    return folder


def table(folder, name):
    """The rows of a file, numbers as numbers, empty fields as None."""
    with (folder / "figures" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return [{key: _value(text) for key, text in row.items()} for row in csv.DictReader(file)]


def _value(text):
    try:
        return json.loads(text)
    except ValueError:
        return text or None


def names(folder, ending):
    return sorted(path.name for path in (folder / "figures").glob(f"*.{ending}"))


def test_a_file_for_each_figure_and_a_chart_where_the_page_has_one(written, made):
    distributions = ["distribution_01_age", "distribution_02_se_b_x", "distribution_03_born"]
    charts = [*distributions, "class_sizes", "loss", "risk_levels", "sensitive_01_illness"]
    assert names(written, "svg") == sorted(f"{name}.svg" for name in charts)
    lists = (
        "attacks checks criteria disclosed measures misrepresented other_k query_errors verdict "
        "verdict_figures"
    ).split()
    assert names(written, "csv") == sorted(f"{name}.csv" for name in [*charts, *lists])
    shown = drawn(page(made))
    assert len(shown) == 6
    for name in charts[:-1]:
        svg = (written / "figures" / f"{name}.svg").read_text("utf-8")
        assert svg in shown
        assert ElementTree.fromstring(svg).tag.endswith("svg")


def test_numbers_are_those_of_the_report(written):
    said = json.loads((written / "with.json").read_text("utf-8"))
    for name in ("attacks", "class_sizes", "loss", "query_errors", "risk_levels"):
        assert table(written, name) == said[name], name
    assert table(written, "disclosed") == said["summary"]["disclosed"]
    assert table(written, "misrepresented") == list(filter(None, said["worst_groups"]))
    measures = {row["measure"]: row["value"] for row in table(written, "measures")}
    assert measures == {**said["utility"], **said["risk"]}
    for name, rows, fields in (
        ("checks", said["checks"], ("property", "found", "passed", "meaning")),
        ("verdict", said["verdict"]["reasons"], ("level", "rule", "found", "text")),
        ("verdict_figures", said["verdict"]["figures"], ("name", "column", "value")),
    ):
        for field in fields:
            assert [row[field] for row in table(written, name)] == [row[field] for row in rows]
    tried = said["recommended"]["tried"]
    found = table(written, "other_k")
    assert [(row["k"], row["l"], row["classes"]) for row in found] == [
        (each["k"], each["l"], each["classes"]) for each in tried
    ]
    for row, each in zip(found, tried, strict=True):
        for figure in each["figures"]:
            assert row[figure["name"]] == figure["value"]
    shares = [*said["distributions"], *said["sensitive_distributions"]]
    files = [name.removesuffix(".csv") for name in names(written, "csv")]
    files = [name for name in files if re.match("distribution_|sensitive_", name)]
    assert len(files) == len(shares) == 4
    for name, each in zip(files, shares, strict=True):
        rows = table(written, name)
        assert [str(row["value"]) for row in rows] == each["labels"]
        assert [row["raw"] for row in rows] == each["raw"]
        assert [row["released"] for row in rows] == each["released"]


def test_nothing_is_in_the_files_that_the_report_does_not_show(folder):
    assert run(*call(folder)).exit_code == 0
    for path in (folder / "figures").iterdir():
        assert not re.search(r"secret\d|illness\d", path.read_text("utf-8")), path.name
    assert not names(folder, "csv")[-1].startswith("sensitive")


@pytest.mark.slow
def test_nothing_is_replaced_unasked(folder):
    figures = folder / "figures"
    figures.write_text("mine")
    assert refused(*call(folder)) == f"report: --figures must be a folder, got the file '{figures}'"
    figures.unlink()
    figures.mkdir()
    assert run(*call(folder, "--show-sensitive")).exit_code == 0  # an empty folder
    (folder / "with.json").unlink()
    assert refused(*call(folder)) == (
        f"report: --figures must be a new or an empty folder, got '{figures}'; --overwrite replaces "
        "the figures in it"
    )
    assert not (folder / "with.json").exists()
    (figures / "loss.csv").write_text("old")
    (figures / "notes.csv").write_text("mine")
    assert run(*call(folder, "--overwrite")).exit_code == 0
    assert (figures / "loss.csv").read_text() != "old"
    assert (figures / "notes.csv").read_text() == "mine"
    assert not (figures / "sensitive_01_illness.csv").exists()  # of the report before
    missing = folder / "none" / "figures"
    said = refused(*call(folder, "--overwrite", "--figures", missing))
    assert said == f"report: --figures must be in a directory that exists, got '{missing}'"


@pytest.mark.slow
def test_names_of_columns_cannot_leave_the_folder(tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    name, other = "../../é, x", "..!!é: x"
    sql = PEOPLE.replace("age,", f'"{name}", i % 5 AS "{other}",').replace('"se<b>x"', "sex")
    duckdb.connect().execute(f"COPY ({sql}) TO '{tmp_path / 'people.parquet'}'")
    made = run(
        *("release", tmp_path / "people.parquet", tmp_path / "safe.parquet", "--k", 5),
        *("--quasi", f'"{name}","{other}"', "--sensitive", "illness", "--exclude", "name,sex,born"),
        "--manifest",
    )
    assert made.exit_code == 0, made.output
    assert run(*call(tmp_path)).exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        *("people.parquet", "safe.parquet", "safe.parquet.anon.json", "with.json", "figures"),
    }
    assert {"distribution_01__é_x.csv", "distribution_02__é_x.csv"} <= set(names(tmp_path, "csv"))
