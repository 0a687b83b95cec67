"""Columns of a CSV file in a declared notation are numbers and dates, and nothing becomes NULL."""

import csv
import re
import tomllib

import pytest

from anon_sql.apps import files
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.apps.csv.notations import declared
from tests.command import refused, run

HEADER = "born;weight;cost;ill\n"
ROWS = [
    (f"{1 + i % 28:02}.{1 + i % 12:02}.{1940 + i % 60}", f"{50 + i % 40},{i % 10}",
     f"{1 + i % 9}.{i % 1000:03},50", "abc"[i % 3])
    for i in range(200)
]  # fmt: skip


def write(folder, rows=ROWS, name="stays.csv"):
    path = folder / name
    path.write_text(HEADER + "".join(";".join(row) + "\n" for row in rows), "utf-8")
    return path


OPTIONS = ["--delimiter", ";", "--date-format", "%d.%m.%Y", "--decimal", ",", "--thousands", "."]


@pytest.mark.parametrize(
    "options",
    [
        OPTIONS,
        [
            *("--delimiter", ";", "--date-format", "BORN=%d.%m.%Y", "--decimal", "weight=,"),
            *("--decimal", "cost=,", "--thousands", "cost=."),
        ],
    ],
)
def test_declared_notations_give_types_for_the_file_or_by_column(tmp_path, options):
    result = run("roles", write(tmp_path), *options)
    assert result.exit_code == 0, result.output
    kinds = dict(re.findall(r"^ *(\w+) +(DATE|VARCHAR|DOUBLE)\b", result.stdout, re.M))
    assert kinds == {"born": "DATE", "weight": "DOUBLE", "cost": "DOUBLE", "ill": "VARCHAR"}


def test_the_values_are_those_that_the_texts_mean(tmp_path, con):
    settings = declared(
        "release", {"date_format": ["%d.%m.%Y"], "decimal": [","], "thousands": ["."]}
    )
    files.read_source(con, write(tmp_path), "made", dialect=Dialect(";", notations=settings))
    found = con.sql("SELECT born::VARCHAR, weight, cost FROM made LIMIT 3").fetchall()
    assert found == [
        ("1940-01-01", 50.0, 1000.5), ("1941-02-02", 51.1, 2001.5), ("1942-03-03", 52.2, 3002.5),
    ]  # fmt: skip


def test_a_unit_that_all_values_have_is_no_part_of_a_number(tmp_path, con):
    path = tmp_path / "in.csv"
    path.write_text("weight,tall\n72 kg,1.5 m\n80kg,1.6 m\n91 kg,1.7 m\n", "utf-8")
    settings = declared("release", {"decimal": ["weight=."]})
    files.read_source(con, path, "made", dialect=Dialect(",", header=True, notations=settings))
    assert con.sql("SELECT weight, tall FROM made").fetchall()[0] == (72, "1.5 m")


@pytest.mark.parametrize(
    ("row", "options", "message"),
    [
        (
            ("31.02.1950", "1,5", "1", "a"),
            OPTIONS,
            "have dates written dd.mm.yyyy in every row of born, got another text in line 205",
        ),
        (
            ("unknown", "1,5", "1", "a"),
            OPTIONS,
            "have dates written dd.mm.yyyy in every row of born, got another text in line 205",
        ),
        (
            ("01.01.1950", "heavy", "1", "a"),
            ["--delimiter", ";", "--decimal", "weight=,"],
            "have numbers with a decimal comma in every row of weight, got another text in line "
            "205",
        ),
    ],
)
def test_a_text_in_no_declared_notation_is_an_error_with_its_line(tmp_path, row, options, message):
    quoted = ("02.02.1950", "1,5", "1", '"a\n\nb"')  # three lines, and two rows
    path = write(tmp_path, [*ROWS, quoted, row])
    said = refused("roles", path, *options)
    assert said == f"roles: FILE must {message}; --null names texts that are NULL"


def test_null_names_texts_that_are_no_date(tmp_path):
    path = write(tmp_path, [*ROWS, ("unknown", "1,5", "1", "a")])
    result = run("roles", path, *OPTIONS, "--null", "unknown")
    assert result.exit_code == 0, result.output
    assert re.search(r"born +DATE ", result.stdout)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--decimal", ";"], "--decimal must be one of ',', '.', got ';'"),
        (["--thousands", "born=x"], "--thousands must be one of '.', ',', ' ', ''', got 'x'"),
        (
            ["--date-format", "dd.mm.yyyy"],
            "--date-format must be a format of strptime",
        ),
        (["--date-format", "%Q"], "--date-format must be a format of strptime, got another text"),
        (["--date-format", "%d.%m.%Y %H:%M"], "--date-format must be a date without time, got"),
        (["--decimal", ",", "--thousands", ","], "the signs of decimals and of thousands must dif"),
        (["--decimal", ",", "--decimal", "."], "--decimal must be given once for the file, got tw"),
        (["--decimal", ",", "--decimal", "a=."], "--decimal must be for the file or for columns"),
        (["--decimal", "wight=,"], "FILE must have the column wight, whose notation is declared, "),
        (["--date-format", "%m.%d.%Y"], "FILE must have dates written mm.dd.yyyy, got no column"),
        (
            ["--date-format", "born=%d.%m.%Y", "--decimal", "born=,"],
            "FILE must have numbers, dates or times in born, got more than one of them declared",
        ),
    ],
)
def test_what_cannot_be_declared_is_refused_in_one_sentence(tmp_path, options, message):
    assert message in refused("roles", write(tmp_path), "--delimiter", ";", *options)


def test_roles_says_the_notation_and_the_options_that_read_it(tmp_path):
    result = run("roles", write(tmp_path), "--delimiter", ";")
    assert "values are dates written dd.mm.yyyy: read them as DATE" in result.stdout
    assert "--date-format born=%d.%m.%Y --decimal weight=, --decimal cost=, " in result.stdout


def test_suggest_roles_does_not_take_dates_for_codes(con):
    con.execute(
        "CREATE TABLE visits AS SELECT strftime(DATE '2000-01-01' + i::INTEGER, '%d.%m.%Y') AS seen, "
        "strftime(DATE '2000-01-01' + i::INTEGER, '%Y%m%d')::INTEGER AS left_on, "
        "sha256(i::VARCHAR)[:8] AS code FROM range(300) AS t(i)"
    )
    found = con.sql("SELECT column_name, role, reason FROM suggest_roles('visits')").fetchall()
    assert [(name, role) for name, role, _ in found] == [
        ("seen", "quasi"), ("left_on", "quasi"), ("code", "identifier"),
    ]  # fmt: skip
    assert found[0][2].endswith("; values are dates written dd.mm.yyyy: read them as DATE")
    assert found[1][2].endswith("; values are dates written yyyymmdd: read them as DATE")


def test_a_recipe_carries_the_notations_and_release_applies_them(tmp_path):
    path, recipe = write(tmp_path), tmp_path / "stays.toml"
    made = run("roles", path, "--delimiter", ";", "--recipe", recipe)
    assert made.exit_code == 0, made.output
    source = tomllib.loads(recipe.read_text("utf-8"))["source"]
    assert source["date_format"] == {"born": "%d.%m.%Y"}
    assert source["decimal"] == {"weight": ",", "cost": ","}
    assert source["thousands"] == {"cost": "."}
    text = recipe.read_text("utf-8").replace("confirmed = false", "confirmed = true")
    text = re.sub("(?m)^identifier.*\nquasi.*\nsensitive.*\nkeep.*\nexclude.*",
        'identifier = []\nquasi = ["born", "weight"]\nsensitive = ["ill"]\nkeep = []\n'
        'exclude = ["cost"]', text)  # fmt: skip
    recipe.write_text(text, "utf-8")
    result = run("release", recipe, tmp_path / "safe.csv")
    assert result.exit_code == 0, result.output
    with (tmp_path / "safe.csv").open(encoding="utf-8", newline="") as file:
        labels = {row["born"] for row in csv.DictReader(file)}
    day = r"\d{4}-\d\d-\d\d"
    assert all(re.fullmatch(rf"\*|{day}|\[{day}, {day}\]", label) for label in labels)


def test_a_text_that_keeps_a_column_from_being_a_date_is_warned_of(tmp_path):
    path = tmp_path / "dates.csv"
    lines = [f"2014-01-{day:02},{'abc'[day % 3]}" for day in range(1, 25)]
    lines[15] = "unknown,a"
    path.write_text("visited,outcome\n" + "\n".join(lines) + "\n", "utf-8")
    call = ["--k", "4", "--quasi", "visited", "--sensitive", "outcome"]
    result = run("release", path, tmp_path / "out.csv", *call)
    assert result.exit_code == 0, result.output
    assert (
        "warning: visited is text, since 1 of its 24 values are not dates written yyyy-mm-dd, the "
        "first in row 16; --null names texts that are NULL"
    ) in result.stderr


def test_texts_in_another_notation_are_warned_of_with_the_option(tmp_path):
    call = ["--k", "4", "--quasi", "born,weight", "--sensitive", "ill", "--exclude", "cost"]
    result = run("release", write(tmp_path), tmp_path / "out.csv", "--delimiter", ";", *call)
    assert result.exit_code == 0, result.output
    assert (
        "warning: born is text, but its values are dates written dd.mm.yyyy; pass --date-format "
        "born=%d.%m.%Y"
    ) in result.stderr


def test_an_ambiguous_date_names_both_formats(tmp_path):
    rows = [(f"{1 + i % 12}/{1 + i % 11}/1999", "1", "1", "abc"[i % 3]) for i in range(60)]
    path, recipe = write(tmp_path, rows), tmp_path / "stays.toml"
    call = ["--k", "4", "--quasi", "born", "--sensitive", "ill", "--exclude", "cost,weight"]
    result = run("release", path, tmp_path / "out.csv", "--delimiter", ";", *call)
    assert "pass --date-format born=%d/%m/%Y or --date-format born=%m/%d/%Y" in result.stderr
    run("roles", path, "--delimiter", ";", "--recipe", recipe)
    assert "date_format" not in recipe.read_text("utf-8")


@pytest.mark.parametrize("why", [".", "\u200b", "Because", "123 456", "a b", " "])
def test_a_sentence_that_accepts_a_rule_has_words(tmp_path, why):
    recipe = tmp_path / "stays.toml"
    run("roles", write(tmp_path), "--delimiter", ";", "--recipe", recipe)
    text = recipe.read_text("utf-8").replace("[made]", f'roles = "{why}"\n[made]')
    recipe.write_text(text, "utf-8")
    said = refused("release", recipe, tmp_path / "safe.csv")
    assert "roles in [accepted] must be a sentence of two words or more" in said
