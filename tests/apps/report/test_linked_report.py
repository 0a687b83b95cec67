"""A report on tables that belong together: whom they single out, what is lost, and its checks."""

import json
import re
import shutil

import pytest

import anon_sql
from anon_sql import datasets
from anon_sql.hosts.files import digest
from tests.command import refused, run

pytest.importorskip("jinja2")
pytestmark = pytest.mark.makes_functions


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    place = tmp_path_factory.mktemp("stored")
    path, out = place / "hospital.duckdb", f"{place}/out/"
    with anon_sql.connect(str(path)) as con:
        datasets.hospital(con, 300)
    made = run("release", path, out, "--root", "person", "--k", 5, "--l", 2, "--manifest")
    assert made.exit_code == 0, made.output
    return place


@pytest.fixture
def released(stored, tmp_path):
    shutil.copytree(stored, tmp_path, dirs_exist_ok=True)
    return tmp_path / "hospital.duckdb", tmp_path / "out"


def facts(raw, out, tmp_path):
    page = tmp_path / "report.json"
    made = run("report", raw, out, "-o", page, "--format", "json", "--overwrite")
    assert made.exit_code == 0, made.output
    return json.loads(page.read_text("utf-8"))


def test_the_facts_are_those_of_sql(released, tmp_path):
    raw, out = released
    said = facts(raw, out, tmp_path)
    assert said["verdict"]["state"] == "amber"  # few persons: the labels of visits are wide
    assert [each["rule"] for each in said["verdict"]["reasons"]] == ["gcp", "kept"]
    assert said["failed"] == []
    with anon_sql.connect(str(raw), read_only=True) as con:
        before = con.execute("FROM linked_risk('person', k := 5)").fetchall()
        after = con.execute(
            f"FROM linked_risk('{out}/person.parquet', k := 5, raw := 'person')"
        ).fetchall()
        ((kept,),) = con.execute(f"SELECT count(*) FROM '{out}/visit.parquet'").fetchall()
        ((rows,),) = con.execute("SELECT count(*) FROM visit").fetchall()
    assert [(r["unique_before"], r["below_k_before"]) for r in said["risk"]] == [
        (row[2], row[3]) for row in before
    ]
    assert [(r["unique_after"], r["below_k_after"]) for r in said["risk"]] == [
        (row[2], row[3]) for row in after
    ]
    assert said["risk"][-1]["below_k_after"] == 0 < said["risk"][-1]["unique_before"]
    (lost,) = said["lost"]
    assert lost["table"] == "visit"
    assert sum(step["persons"] for step in lost["steps"]) == 300
    assert sum(step["kept"] for step in lost["steps"]) == kept
    assert sum(step["rows"] for step in lost["steps"]) == pytest.approx(rows, rel=0.02)
    tables = {each["table"]: each for each in said["tables"]}
    assert tables["visit"]["raw_rows"] == rows
    assert tables["visit"]["rows"] == kept


@pytest.mark.slow
@pytest.mark.parametrize("form", ["typed", "median"])
def test_every_format_is_reported(released, tmp_path, form):
    raw, _ = released
    out = tmp_path / form
    run(
        "release",
        raw,
        f"{out}/",
        "--root",
        "person",
        "--format",
        form,
        "--surplus",
        "unlink",
        "--manifest",
    )
    said = facts(raw, out, tmp_path)
    assert said["failed"] == []
    assert sum(step["persons"] for step in said["lost"][0]["steps"]) == 300


def test_the_page_shows_them_and_loads_nothing(released, tmp_path):
    raw, out = released
    page = tmp_path / "report.html"
    assert run("report", raw, out, "-o", page).exit_code == 0
    text = page.read_text("utf-8")
    for part in (
        "No check fails, but a decision is open",
        "amber, gcp: The labels of visit have lost",
        "not how likely each of them is",
        "and all rows",
        "by number of rows",
        "Rows and loss by table",
        "audit: k",
    ):
        assert part in text
    for file in (raw, *out.iterdir()):
        assert digest(file) in text
    assert "promised</dt><dd>k = 5, l = 2<" in text
    assert "The assumed attacker knows the quasi-identifiers of a person in all tables" in text
    assert "A release without a purpose and a recipient cannot be signed" in text
    assert "http:" not in text
    assert "https:" not in text


def test_a_check_that_passes_says_nothing_else(released, tmp_path):
    raw, out = released
    checks = {each["property"]: each for each in facts(raw, out, tmp_path)["checks"]}
    assert {each["state"] for each in checks.values()} == {"holds"}
    assert checks["the files are those that were written"]["found"] == ""
    assert re.fullmatch(
        r"[\d,]+, at most [\d,]+ in the raw table", checks["audit: rows of visit"]["found"]
    )
    assert checks["audit: k"]["found"] == "5, at least 5 required"
    assert checks["audit: true_labels of visit"]["found"] == "0, none allowed"


def test_a_release_with_a_purpose_and_a_recipient_has_lines_to_sign(released, tmp_path):
    raw, out = released
    path = tmp_path / "out.anon.json"
    written = json.loads(path.read_text("utf-8"))
    written["statement"] |= {"purpose": "A study", "recipient": "An office"}
    path.write_text(json.dumps(written), "utf-8")
    page = tmp_path / "report.html"
    assert run("report", raw, out, "-o", page).exit_code == 0
    text = page.read_text("utf-8")
    for part in ("<dd>A study</dd>", "<dd>An office</dd>", "<p>Data protection officer</p>"):
        assert part in text


def test_a_changed_table_is_red(released, tmp_path):
    raw, out = released
    visits = out / "visit.parquet"
    with anon_sql.connect() as con:
        con.register("rows", con.sql(f"FROM '{visits}' OFFSET 1").to_arrow_table())
        con.execute(f"COPY rows TO '{visits}' (FORMAT parquet)")
    said = facts(raw, out, tmp_path)
    assert said["verdict"]["state"] == "red"
    assert said["failed"] == ["the files are those that were written"]
    assert said["risk"] == []


def test_options_of_one_table_are_refused(released, tmp_path):
    raw, out = released
    said = refused("report", raw, out, "-o", tmp_path / "r.html", "--k", 7)
    assert "a report on tables that belong together takes them from the manifest" in said
