"""A report and a release by a recipe with a control: people who are not in the table."""

import json
import re
import shutil

import duckdb
import pytest

import anon_sql
from tests.apps.report.pages import page
from tests.command import refused, run

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from anon_sql.apps.report.criteria import sections, sentence, signed
from anon_sql.apps.verdict.rules import VERDICT, stricter

# the older a person, the more often ill, in the table as in the population
POPULATION = (
    "SELECT 'p' || i AS name, 20 + i * 7 % 60 AS age, 'c' || hash(i) % 5 AS city, "
    "CASE WHEN hash(i, 'ill') % 100 < 4 + (i * 7 % 60) THEN 'ill' ELSE 'well' END AS health "
    "FROM range({}) AS made(i)"
)
ROLES = ["--quasi", "age,city", "--sensitive", "health", "--identifier", "name"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A table, people who are not in it, and a release; tests do not change them."""
    folder = tmp_path_factory.mktemp("control")
    for name, rows in (("people", "1200"), ("control", "1200, 1700"), ("same", "1100, 1300")):
        duckdb.connect().execute(f"COPY ({POPULATION.format(rows)}) TO '{folder / name}.parquet'")
    raw, safe = folder / "people.parquet", folder / "safe.parquet"
    result = run("release", raw, safe, "--k", 10, "--l", 2, "--t", 0.5, *ROLES, "--manifest")
    assert result.exit_code == 0, result.output
    return folder


def test_each_sentence_has_figure_control_interval_limit_and_source(files):
    call = ("report", files / "people.parquet", files / "safe.parquet", "-o")
    control = ("--control", files / "control.parquet")
    assert run(*call, files / "r.html", *control).exit_code == 0
    assert run(*call, files / "r.json", *control, "--format", "json").exit_code == 0
    criteria = json.loads(page(files, "r.json"))["criteria"]
    assert criteria["control"]["name"] == "control.parquet"
    assert criteria["control"]["rows"] == 500
    for name in ("isolation", "linkage", "inference"):
        text = criteria[name]["sentence"]
        assert re.search(r"%.* for the control: gain .* \(95% interval .* to .*\)\. Limits", text)
        assert re.search(r"amber \d+%, red \d+% \(.*calibration.*\): (not reached|amber)\.", text)
        for row in criteria[name]["rows"]:
            assert row["low"] <= row["gain"] <= row["high"]
    shown = page(files, "r.html")
    assert "control.parquet: 500 people who are not in the table" in shown
    titles = [shown.index(f"<h2>{title}</h2>") for title in
              ("Isolation", "Linkage", "Inference", "Not covered")]  # fmt: skip
    assert titles == sorted(titles)


def test_without_a_control_no_limit_applies(files):
    call = ("report", files / "people.parquet", files / "safe.parquet", "-o", files / "n.json")
    assert run(*call, "--format", "json").exit_code == 0
    criteria = json.loads(page(files, "n.json"))["criteria"]
    assert criteria["control"] is None
    for name in ("isolation", "linkage", "inference"):
        assert "No control was given, so no limit applies" in criteria[name]["sentence"]
        assert "without the release" in criteria[name]["sentence"]


def test_people_of_the_table_are_no_control(files):
    call = ("report", files / "people.parquet", files / "safe.parquet", "-o", files / "s.html")
    assert refused(*call, "--control", files / "same.parquet") == (
        "report: --control must be people who are not in the raw table, got values of name that "
        "the raw table has too; leave these people out"
    )
    assert "--control must be a file" in refused(*call, "--control", files / "no.parquet")


def test_a_recipe_names_a_control(files, tmp_path):
    for name in ("people.parquet", "control.parquet", "same.parquet"):
        shutil.copy(files / name, tmp_path)
    recipe, safe = tmp_path / "r.toml", tmp_path / "safe.parquet"
    assert run("roles", tmp_path / "people.parquet", "--recipe", recipe).exit_code == 0
    text = recipe.read_text("utf-8")
    roles = (
        "[roles]\nconfirmed = true\nidentifier = ['name']\nquasi = ['age', 'city']\n"
        "sensitive = ['health']\n\n[statement]\npurpose = 'A test'\nrecipient = 'Nobody'\n\n"
        "[accepted]\ninferred = 'The age tells it of anybody.'\n\n"
    )
    text = text[: text.index("[roles]")] + roles + text[text.index("[made]") :]
    recipe.write_text(text, "utf-8")
    assert run("release", recipe, safe).exit_code == 3  # red without a control
    recipe.write_text(text.replace("[source]", "[source]\ncontrol = 'control.parquet'"), "utf-8")
    result = run("release", recipe, safe)
    assert result.exit_code == 0, result.output
    call = ("report", recipe, safe, "-o", tmp_path / "r.json", "--format", "json")
    assert run(*call).exit_code == 0
    report = json.loads(page(tmp_path, "r.json"))
    assert report["criteria"]["control"]["rows"] == 500
    assert [each["level"] for each in report["verdict"]["reasons"]] == ["amber"]
    with anon_sql.connect() as con:
        assert len(anon_sql.recipe(con, recipe).fetchall()) == 1200
    both = refused(*call, "--overwrite", "--control", tmp_path / "same.parquet")
    assert both.startswith("report: --control must come with a recipe that names no control")
    recipe.write_text(text.replace("[source]", "[source]\ncontrol = 'same.parquet'"), "utf-8")
    assert "must be people who are not in the raw table" in refused(
        "release", recipe, safe, "--overwrite"
    )
    recipe.write_text(text.replace("[source]", "[source]\ncontrol = '/same.parquet'"), "utf-8")
    assert "control must be relative to the recipe" in refused(
        "release", recipe, safe, "--overwrite"
    )


def test_a_stricter_limit_is_that_of_the_recipe():
    row = {"attack": "ill", "attempts": 9, "successes": 3.0, "rate": 0.3, "control_rate": 0.2}
    row |= {"naive_rate": 0.1, "gain": -0.1, "low": -0.2, "high": 0.0004}
    limits = stricter("report", {"inference": {"red": 0.2}})
    assert "amber 15%, red 20% (the recipe): not reached." in sentence("inference", row, limits)
    assert "amber 15%, red 25% (calibration" in sentence("inference", row, VERDICT)
    assert signed(-0.1) == "-10%"
    assert signed(0.0004) == "less than 0.1%"
    assert signed(None) == "-"


def test_what_was_not_measured_says_why():
    none = sections([], None)
    assert none["linkage"]["sentence"].startswith("Not measured: two sources need two quasi")
    assert none["inference"]["sentence"].startswith("Not measured: no column was named")
    series = sections([], None, of_series=True)
    assert "people who are no longer in the table" in series["isolation"]["sentence"]
