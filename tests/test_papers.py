"""The scripts of examples/papers, on a few made rows, and the pages that they made of real ones."""

import re
import runpy
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from anon_sql import datasets

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "examples" / "papers"
PAGES = ROOT / "docs" / "papers"
IMAGE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")
TREES = ["workclass", "education", "marital_status", "occupation", "race", "sex", "native_country"]
NEEDS_SKLEARN = {"dop", "mondrian_cof_classification", "sdka"}
RUNS = {  # script: its arguments, and a cell that its page must hold
    "canon": (["--ks", "5", "--seeds", "2"], "| -45.47 % |"),
    "rayden": (["--ks", "5", "--seeds", "2"], "| 312 |"),
    "mondrian_cof": (["--ks", "10", "--seeds", "1"], "| 41.12 → "),
    "mondrian_cof_classification": (["--ks", "10", "--seeds", "1"], "| 11.79 → "),
    "dop": (["--ks", "2"], "| 0.2348 → "),
    "sdka": (["--ks", "5", "--seeds", "1"], "| -38.68 % |"),
}


@pytest.fixture
def made_data(con, tmp_path):
    """A folder like that of the real tables, of rows that the project makes."""
    datasets.adult(con, 600, table="made", roles=False)
    con.execute(
        "CREATE TABLE adult AS SELECT *, concat('grade ', education_num) AS education, 'train' AS split, "
        "(12_000 + rowid * 7_919 % 90_000)::INTEGER AS fnlwgt, 'Husband' AS relationship, "
        "(rowid % 9 = 0)::INTEGER * 2_000 AS capital_gain, "
        "(rowid % 11 = 0)::INTEGER * 1_500 AS capital_loss, "
        "(20 + rowid * 31 % 40)::INTEGER AS hours_per_week FROM made"
    )
    con.execute(f"COPY adult TO '{tmp_path}/adult.parquet'")
    counts = [
        *("num_medications", "number_outpatient", "num_lab_procedures", "num_procedures"),
        *("number_emergency", "number_inpatient", "number_diagnoses"),
    ]
    drawn = ", ".join(f"(i * {7 + 4 * n} % {5 + n})::INTEGER AS {c}" for n, c in enumerate(counts))
    con.execute(
        f"COPY (SELECT concat('[', i % 9 * 10, '-', i % 9 * 10 + 10, ')') AS age, {drawn}, ['NO', '<30', '>30'][1 + i % 3] AS readmitted, "
        f"['a', 'b'][1 + i % 2] AS race, ['f', 'm'][1 + i // 2 % 2] AS gender, i % 8 AS admission_type_id, "
        f"i % 14 AS time_in_hospital FROM range(600) AS made(i)) TO '{tmp_path}/diabetes.parquet'"
    )
    con.execute(
        "CREATE TABLE bank AS SELECT age, occupation AS job, marital_status AS marital, education, "
        "fnlwgt AS balance, if(income = '>50K', 'yes', 'no') AS y FROM adult"
    )
    con.execute(
        "CREATE TABLE heart_cleveland AS SELECT 1 + rowid % 4 AS cp, hours_per_week AS trestbps, "
        "age AS chol, rowid % 5 AS target FROM adult"
    )
    con.execute(
        'CREATE TABLE student_por AS SELECT age, education_num AS "Medu", rowid % 5 AS "Fedu", '
        'rowid % 3 AS traveltime, rowid % 4 AS studytime, rowid % 20 AS "G3" FROM adult'
    )
    for name in ("bank", "heart_cleveland", "student_por"):
        con.execute(f"COPY {name} TO '{tmp_path}/{name}.parquet'")
    con.execute(f"COPY bank TO '{tmp_path}/bank_full.parquet'")
    trees = tmp_path / "hierarchies" / "adult"
    trees.mkdir(parents=True)
    for name in [*TREES, "age"]:
        values = con.execute(f"SELECT DISTINCT {name} FROM adult ORDER BY 1").fetchall()
        (trees / f"{name}.csv").write_text("".join(f"{value};*\n" for (value,) in values))
    return tmp_path


@pytest.fixture
def run(monkeypatch):
    """A script as `python examples/papers/…` runs it, in this process."""
    monkeypatch.syspath_prepend(SCRIPTS)

    def ran(script, *arguments):
        monkeypatch.setattr(sys, "argv", [script, *map(str, arguments)])
        runpy.run_path(SCRIPTS / f"{script}.py", run_name="__main__")

    return ran


@pytest.mark.parametrize("script", RUNS)
def test_a_script_writes_its_page(run, made_data, script, tmp_path):
    if script in NEEDS_SKLEARN:
        pytest.importorskip("sklearn")
    arguments, cell = RUNS[script]
    run(script, made_data, "--into", tmp_path / "pages", "--rows", 200, *arguments)
    page = (tmp_path / "pages" / f"{script}.md").read_text(encoding="utf-8")
    assert cell in page
    assert "\n## Claims\n" in page
    images = IMAGE.findall(page)
    assert images
    for image in images:
        drawn = ET.parse(tmp_path / "pages" / image).getroot()
        assert drawn.findall("{*}circle")


def test_a_second_run_reads_the_results_of_the_first(run, made_data, tmp_path):
    pages = []
    for folder, more in (("first", ["--ks", 5, "--seeds", 2]), ("second", [])):
        results = ["--results", tmp_path / "results", "--into", tmp_path / folder]
        run("canon", made_data, "--rows", 200, *more, *results)
        pages.append((tmp_path / folder / "canon.md").read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.name)
def test_what_a_page_links_is_there_and_small(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).stat().st_size < 40_000 or target.endswith(".md"), target


def test_the_summary_is_made_of_the_pages(run, tmp_path):
    run("summary", "--into", tmp_path, PAGES)
    assert (PAGES / "README.md").read_text(encoding="utf-8").count("\n| [") >= 20
    assert (tmp_path / "README.md").read_bytes() == (PAGES / "README.md").read_bytes()
