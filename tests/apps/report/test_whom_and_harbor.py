"""A report says for whom and until when the verdict is, and compares with Safe Harbor if asked."""

import json
import re
from html import unescape

import duckdb
import pytest

from tests.apps.report.pages import page
from tests.command import refused, run

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

RAW = (
    "SELECT 'Patient ' || i AS patient_name, 20 + i * 7 % 80 AS age, "
    "['036', '021'][1 + i % 2] AS zip3, ['flu', 'gout'][1 + i // 2 % 2] AS illness "
    "FROM range(200) AS made(i)"
)
ROLES = ("--quasi", "age,zip3", "--sensitive", "illness", "--identifier", "patient_name")
WHOM = (
    *("--purpose", "A study", "--recipient", "The <b>team</b>", "--environment", "secure"),
    *("--review-by", "2099-01-31", "--review", "the register"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A release with its manifest; tests do not change it."""
    place = tmp_path_factory.mktemp("whom")
    con = duckdb.connect()
    con.execute(f"COPY ({RAW}) TO '{place / 'raw.parquet'}'")
    con.execute(f"COPY (SELECT '036' AS zip3, 'VT' AS state) TO '{place / 'few.csv'}'")
    call = ("release", place / "raw.parquet", place / "safe.parquet", "--manifest", *ROLES, *WHOM)
    result = run(*call)
    assert result.exit_code == 0, result.output
    return place


def report(folder, name, *more):
    result = run(
        "report", folder / "raw.parquet", folder / "safe.parquet", "-o", folder / name, *more
    )
    assert result.exit_code == 0, result.output
    return page(folder, name)


def test_the_summary_says_for_whom_and_until_when(folder):
    shown = report(folder, "r.html", "--safe-harbor", "--restricted", folder / "few.csv")
    first = " ".join(
        unescape(re.sub(r"<[^>]*>", " ", shown[: shown.index('class="annex"')])).split()
    )
    assert "recipient The <b>team</b> (in a secure room)" in first
    assert "The verdict is for this recipient alone." in first
    assert "review by 2099-01-31: the register" in first
    harbor = shown[shown.index("<h2>HIPAA Safe Harbor</h2>") :]
    assert "No line" in harbor
    assert "says that the release meets Safe Harbor" in harbor
    assert "036" not in harbor
    assert "Patient" not in harbor


def test_the_section_is_what_sql_says(folder):
    text = report(
        folder, "r.json", "--format", "json", "--safe-harbor", "--restricted", folder / "few.csv"
    )
    said = json.loads(text)
    rows = {row["column_name"]: row for row in said["safe_harbor"]}
    assert {name: row["paragraph"] for name, row in rows.items()} == {
        "age": "C",
        "zip3": "B",
        "illness": None,
    }
    with duckdb.connect() as plain:
        ((ages, zips),) = plain.execute(
            "SELECT count(*) FILTER (regexp_extract(age, '(\\d+)\\D*$', 1)::INTEGER > 89), "
            f"count(*) FILTER (zip3 LIKE '%036%') FROM '{folder / 'safe.parquet'}'"
        ).fetchall()
    assert ages > 0
    assert zips > 0
    assert (rows["age"]["remaining_rows"], rows["zip3"]["remaining_rows"]) == (ages, zips)
    assert said["statement"]["review_by"] == "2099-01-31"


def test_without_the_option_there_is_no_section(folder):
    assert "Safe Harbor" not in report(folder, "plain.html")


def test_a_review_that_is_due_is_shown(folder):
    shown = report(folder, "due.html", "--review-by", "2020-01-31")
    assert "due since 2020-01-31: the register" in shown


def test_prefixes_that_are_none(folder):
    call = ("report", folder / "raw.parquet", folder / "safe.parquet", "-o", folder / "no.html")
    duckdb.connect().execute(f"COPY (SELECT '036' AS prefix) TO '{folder}/other.parquet'")
    said = run(*call, "--restricted", folder / "other.parquet").stderr  # below lines of progress
    assert said.rstrip("\n").endswith(
        "must have prefixes of three digits in its column zip3, got 1 value that is not"
    )
    said = refused(*call, "--restricted", folder / "missing.csv")
    assert said.startswith("report: --restricted must be a file")
    assert not (folder / "no.html").exists()
