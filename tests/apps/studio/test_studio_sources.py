"""What the studio opens: a CSV file, a table of a database, a recipe, and a recipe beside a file."""

import re
import shlex
import subprocess
import sys

import duckdb
import pytest

import anon_sql
from anon_sql.apps.studio import csv_file, pages
from anon_sql.apps.studio.bench import Bench
from anon_sql.apps.studio.figures import raw_risk
from anon_sql.apps.studio.session import Session
from anon_sql.hosts.parts.release import released_in_parts
from tests.apps.studio.conftest import PEOPLE, ROLES
from tests.apps.studio.test_studio_signing import anon, rows
from tests.apps.studio.visitor import check_figures, running, shown_code
from tests.command import run

pytestmark = pytest.mark.slow


def state(studio):
    """Choose t, and say what the release is for."""
    for name, value in {"t": "0.5", "purpose": "A study", "recipient": "A university"}.items():
        studio.choose(name, value)


def signed(studio, stem):
    """What is shown after a release by the roles of ``people`` has been signed."""
    studio.enter().page("/data/roles")
    for role, columns in ROLES.items():
        studio.choose("role", role, columns)
    state(studio)
    studio.page("/data/check?run=yes")
    names = {
        "release": f"{stem}.released.parquet",
        "recipe": f"{stem}.recipe.toml",
        "summary": f"{stem}.summary.html",
    }
    text = studio.page("/write", names)
    assert "✓ Written" in text
    return shown_code(text)


def test_a_table_of_a_database_is_only_read(tmp_path):
    with duckdb.connect(str(tmp_path / "hospital.duckdb")) as con:
        con.execute(f"CREATE SCHEMA ward; CREATE TABLE ward.people AS {PEOPLE}")
    before = (tmp_path / "hospital.duckdb").read_bytes()
    with running(tmp_path, "hospital.duckdb", "--table", "ward.people") as studio:
        command, sql, *_ = signed(studio, "hospital")
        assert "hospital.duckdb, table ward.people" in studio.page("/data/table")
    assert (tmp_path / "hospital.duckdb").read_bytes() == before
    con = anon_sql.connect()
    con.execute(sql.replace("'hospital.duckdb'", f"'{tmp_path / 'hospital.duckdb'}'"))
    assert rows(con, "released") == rows(con, f"'{tmp_path / 'hospital.released.parquet'}'")
    done = anon(tmp_path, *command.split()[1:])
    assert done.returncode == 0, done.stderr


def test_a_csv_file_and_then_its_recipe(tmp_path):
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{tmp_path / 'people.csv'}'")
    with running(tmp_path, "people.csv") as studio:
        signed(studio, "people")
    with running(tmp_path, "people.recipe.toml") as studio:
        studio.enter().page("/data/roles")
        assert 'value="5"' in studio.page("/data/controls")
        assert "All roles are confirmed." in studio.page("/data/roles")
        assert "✓ Green" in studio.page("/data/check?run=yes")
    with running(tmp_path, "people.csv") as studio:
        studio.enter().page("/data/roles")
        assert "roles are not confirmed yet" in studio.page("/data/roles")
        assert "<strong>people.recipe.toml</strong>" in studio.page("/data/table")
        studio.page("/load", {})
        assert "All roles are confirmed." in studio.page("/data/roles")


@pytest.mark.parametrize(
    ("name", "apart", "said"),
    [
        (
            "people.csv",
            ",",
            "detected: comma<",
        ),
        ("people.tsv", "\\t", "detected: tab<"),
        ("people.parquet", None, None),
    ],
)
def test_how_a_csv_file_is_read_is_said(tmp_path, name, apart, said):
    options = f" (HEADER, DELIMITER '{apart}')" if apart else ""
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{tmp_path / name}'{options}")
    with running(tmp_path, name) as studio:
        page = studio.enter().page("/data/table")
        assert ("How the file is read" in page) == (said is not None)
        assert said is None or said in page


def test_the_dialect_of_a_recipe_is_said(tmp_path):
    target = tmp_path / "people.csv"
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{target}' (HEADER, DELIMITER ';')")
    said = ("--delimiter", ";", "--quote", "'", "--null", "NA", "--header")
    assert anon(tmp_path, "roles", "people.csv", *said, "--recipe", "r.toml").returncode == 0
    with running(tmp_path, "r.toml") as studio:
        page = studio.enter().page("/data/table")
    assert (
        "delimiter: semicolon; quotes: single, &#39;; header row: yes, line 1 has the names" in page
    )


def test_a_csv_file_is_read_as_somebody_says_and_signed_so(tmp_path):
    odd = f"SELECT * REPLACE (nullif(name, 'p7') AS name) FROM ({PEOPLE})"
    said = "(HEADER false, DELIMITER ';', NULLSTR 'NA')"
    duckdb.connect().execute(f"COPY ({odd}) TO '{tmp_path / 'people.csv'}' {said}")
    with running(tmp_path, "people.csv") as studio:
        page = studio.enter().page("/data/table")
        assert 'role="alert"' in page
        assert 'data-post="/dialect"' in page
        wrong = {"delimiter": "|", "quote": '"', "header": "no", "null": ""}
        studio.page("/dialect", wrong)
        right = {"delimiter": ";", "quote": '"', "header": "no", "null": "NA"}
        page = studio.page("/dialect", right)
        assert '<option value=";" selected>' in page
        assert '<option value="no" selected>' in page
        assert 'value="NA"' in page
        studio.page("/data/roles")
        names = sorted(re.findall('data-column="([^"]+)"', studio.page("/data/roles")))
        assert len(names) == 5
        for role, column in zip(
            ("identifier", "quasi", "quasi", "sensitive", "sensitive"), names, strict=True
        ):
            studio.choose("role", role, [column])
        state(studio)
        studio.page("/data/check?run=yes")
        names = {"release": "r.csv", "recipe": "people.recipe.toml", "summary": "s.html"}
        text = studio.page("/write", names)
    assert "✓ Written" in text, text
    command, sql, *_, options = shown_code(text)
    assert "nullstr := ['', 'NA']" in sql
    assert 'null = ["NA"]' in (tmp_path / "people.recipe.toml").read_text()
    signed = (tmp_path / "r.csv").read_text()
    for shown, target in ((command, "r.again.csv"), (options, "r.csv")):
        done = anon(tmp_path, *shlex.split(shown)[1:], "--overwrite")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / target).read_text() == signed
    with running(tmp_path, "people.csv") as studio:
        studio.enter().page("/dialect", {**right, "null": "NA -"})
        page = studio.page("/data/table")
        assert "It reads the file in another way." in page
        assert "Load its choices" in page


COMMAS = (
    "SELECT 'p' || i AS name, i // 20 AS age, replace((40 + i // 25 / 2)::VARCHAR, '.', ',') AS "
    "weight, strftime(DATE '1960-01-01' + (i // 10)::INTEGER, '%d.%m.%Y') AS born, "
    "'v' || i % 4 AS illness FROM range(1000) AS made(i)"
)


def test_a_release_as_csv_is_written_by_the_rule_of_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    duckdb.connect().execute(f"COPY ({COMMAS}) TO 'people.csv' (DELIMITER ';')")
    said = csv_file.stated({})
    bench = Bench({"path": "people.csv", "start": str(tmp_path), "dialect": said}, tmp_path)
    session = Session(tmp_path)
    session.open(bench.table(), bench.roles())
    quasi = ["age", "weight", "born"]
    for role, names in {"quasi": quasi, "sensitive": ["illness"], "identifier": ["name"]}.items():
        session.apply("role", role, names)
    session.apply("purpose", "A study")
    session.apply("recipient", "A university")
    for rule in ("gcp", "query_error", "l_alone", "columns"):
        session.apply(f"accepted:{rule}", "We know it.")
    bench.check(session.recipe)
    bench.sign(session.recipe, {"release": "r.csv", "recipe": "r.toml", "summary": "s.html"}, False)
    assert 'delimiter = ";"' in (tmp_path / "r.toml").read_text()
    assert 'decimal = { weight = "," }' in (tmp_path / "r.toml").read_text()
    done = run("release", "r.toml", "again.csv")
    assert done.exit_code == 0, done.stderr
    written = (tmp_path / "r.csv").read_text("utf-8")
    assert written == (tmp_path / "again.csv").read_text("utf-8")
    assert written.startswith("age,weight,born,illness\n")
    assert re.search(r"\n\d,4\d\.\d,1960-01-\d\d,v\d\n", written)
    of = {"session": session, "judged": None, "names": {}}
    page = pages.render("part_sign.html", **of, facts=session.facts)
    assert "A release as CSV has commas" in page
    page = pages.render("part_sign.html", **of, facts={**session.facts, "written": None})
    assert "A release as CSV has commas" not in page


def test_other_sources_cannot_be_read_in_another_way(tmp_path):
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{tmp_path / 'people.parquet'}'")
    with running(tmp_path, "people.parquet") as studio:
        assert "How the file is read" not in studio.enter().page("/data/table")
        assert studio.ask("/dialect", {"delimiter": ";"})[0] == 404


def bench_of(folder, sql, options=""):
    """A bench on a file, and the file."""
    file, spilled = folder / "people.parquet", folder / "spilled"
    duckdb.connect().execute(f"COPY ({sql}) TO '{file}' {options}")
    spilled.mkdir()
    return Bench({"path": str(file), "start": str(folder)}, spilled), file


def chosen(session):
    for role, columns in ROLES.items():
        session.apply("role", role, columns)
    for name, value in {"t": "0.5", "purpose": "A study", "recipient": "A university"}.items():
        session.apply(name, value)
    return session.recipe


def test_a_file_larger_than_the_memory_is_opened_without_a_preview(tmp_path):
    wide = ", ".join(f"hash(i + {n}) AS number_{n}" for n in range(20))
    sql = PEOPLE.replace("FROM range(1000)", f", {wide} FROM range(800000)")
    bench, file = bench_of(tmp_path, sql, "(ROW_GROUP_SIZE 4096)")
    assert bench.table()["every"] == 1
    bench.con.execute("SET memory_limit = '120MB'")
    assert file.stat().st_size > 120_000_000
    facts, session = bench.table(), Session(tmp_path)
    session.open(facts, bench.roles())
    screen = {"session": session, "facts": facts}
    roles = pages.render("part_roles.html", **screen)
    risk = pages.render("part_risk.html", **screen, found=bench.risk(chosen(session), []))
    assert f"These figures come from one row in {facts['every']}." in roles
    fresh = anon_sql.connect()
    fresh.execute(f"CREATE VIEW raw AS FROM '{file}'")
    fresh.execute(next(text for text in shown_code(roles) if text.startswith("CREATE TABLE few")))
    check_figures(fresh, risk, 2)
    found = fresh.execute(
        "SELECT column_name, distinct_values FROM suggest_roles('few')"
    ).fetchall()
    for name, values in found:
        assert (
            f'value="{values}" data-sql="SELECT distinct_values FROM suggest_roles(&#39;few&#39;) WHERE column_name = &#39;{name}&#39;"'
            in roles
        )
    page = pages.render("part_preview.html", **screen, found=None)
    assert "and a sample would mislead. Check makes the release in parts." in page
    assert "button" not in page


def test_a_recipe_with_regions_is_released_in_parts(tmp_path, monkeypatch):
    bench, _ = bench_of(tmp_path, PEOPLE)
    session = Session(tmp_path)
    session.open(bench.table(), bench.roles())
    chosen(session)
    session.tables["release"]["parts"] = 3
    parts = []

    def in_parts(con, call, place, options):
        parts.append(options.parts)
        return released_in_parts(con, call, place, options)

    monkeypatch.setattr("anon_sql.apps.cli.output.released_in_parts", in_parts)
    found = bench.check(session.recipe)
    assert {each["name"]: each["value"] for each in found["figures"]}["released_rows"] == 1000
    assert parts == [3]
    names = {"release": "r.parquet", "recipe": "r.toml", "summary": "s.html"}
    bench.sign(session.recipe, names, False)
    done = anon(tmp_path, "verify", "r.parquet", "--recipe", "r.toml")
    assert done.returncode == 0, done.stderr


def test_a_hierarchy_is_shown_as_a_tree_without_its_values(tmp_path):
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{tmp_path / 'people.parquet'}'")
    lines = [f"{age};below {age // 50 * 50 + 50};<any>" for age in range(0, 1000, 2)]
    (tmp_path / "age.csv").write_text("\n".join(lines))
    with running(tmp_path, "people.parquet") as studio:
        studio.enter().page("/data/roles")
        assert "/data/tree?column=age" in studio.page("/data/controls")
        page = studio.page("/data/tree?column=age")
        assert studio.ask("/data/tree?column=name")[0] == 404
        assert studio.ask("/data/tree?column=../age")[0] == 404
    assert page.count("<li>") == 1 + 20
    assert "&lt;any&gt;" in page
    assert "below 1000" in page
    assert "998" not in page
    con = anon_sql.connect()
    con.execute(f"SET file_search_path = '{tmp_path}'")
    check_figures(con, page, 21)


def test_each_screen_says_how_tables_that_belong_together_are_released(tmp_path):
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{tmp_path / 'people.parquet'}'")
    with running(tmp_path, "people.parquet") as studio:
        studio.enter()
        texts = [studio.page(f"/{name}") for name in ("table", "roles", "protect", "check", "sign")]
    places = [re.search('<footer id="linked".*', text)[0] for text in texts]
    assert len(set(places)) == len(places)
    assert all("<code>release_linked</code>" in each for each in places)


@pytest.mark.parametrize(
    ("sql", "said", "loads"),
    [
        (f"SELECT * REPLACE (age + 1 AS age) FROM ({PEOPLE})", "must have the sha256", True),
        (f"SELECT * EXCLUDE (cost) FROM ({PEOPLE})", "no column called cost", False),
    ],
)
def test_a_recipe_beside_a_file_that_differs(tmp_path, sql, said, loads):
    con = duckdb.connect()
    con.execute(f"COPY ({PEOPLE}) TO '{tmp_path / 'people.parquet'}'")
    with running(tmp_path, "people.parquet") as studio:
        studio.enter().page("/data/roles")
        assert "✓ Written" in studio.page("/save", {"recipe": "people.recipe.toml"})
    con.execute(f"COPY ({sql}) TO '{tmp_path / 'people.parquet'}'")
    with running(tmp_path, "people.parquet") as studio:
        studio.enter()
        assert said in studio.page("/data/table")
        assert studio.ask("/load", {})[0] == (200 if loads else 404)


WITHOUT = """
import sys
sys.modules["matplotlib"] = None  # only the extra report has it
import anon_sql.apps.studio.bench, anon_sql.apps.studio.server
"""


def test_the_studio_needs_no_package_of_reports():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_roles_screen_counts_texts_that_look_like_labels(con):
    places = ["Washington, D.C.", "L'Aquila", "{x}", "[60,80[", "*", '"a"']
    con.execute("CREATE TABLE raw (place VARCHAR)")
    con.executemany("INSERT INTO raw VALUES (?)", [[place] for place in places])
    con.execute("INSERT INTO raw SELECT 'Ulm' FROM range(14)")
    told = raw_risk(con, ["place"], with_sets=True)
    assert [figure["value"] for figure in told["figures"]] == [0.3, 0.3]
