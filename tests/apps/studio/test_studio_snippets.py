"""What is shown to make the same release again runs as it is copied, in a process of its own."""

import subprocess
import sys

import duckdb
import pytest

from anon_sql.apps.studio import csv_file, pages
from anon_sql.apps.studio.bench import Bench
from anon_sql.apps.studio.session import Session
from tests.apps.studio.conftest import PEOPLE, ROLES
from tests.apps.studio.visitor import COMMAND, ENVIRONMENT

pytestmark = pytest.mark.slow

STATED = {"t": "0.5", "purpose": "A study", "recipient": "A university"}
RUN = {  # what runs a text as a person does who has pasted it
    "SQL": "import anon_sql\ncon = anon_sql.connect()\ncon.execute({text!r})\n",
    "dbt": "import anon_sql\ncon = anon_sql.connect()\n"
    "con.execute('CREATE TABLE released AS ' + {text!r})\n",
    "Python": "{text}\n",
}
COMPARE = (
    'n = con.sql("SELECT count(*) FROM released").fetchall()[0][0]\n'
    "for one, other in [('released', {file!r}), ({file!r}, 'released')]:\n"
    "    n += con.sql(f'SELECT count(*) FROM (SELECT COLUMNS(*)::VARCHAR FROM {{one}} EXCEPT ALL '\n"
    "        f'SELECT COLUMNS(*)::VARCHAR FROM {{other}})').fetchall()[0][0]\n"
    "print('rows', n)\n"
)


def signed(folder, path, ending, **form):
    """Sign a release of ``people`` in a folder, and return the texts that are shown, by title."""
    spilled = folder.parent / f"{folder.name}-spilled"
    spilled.mkdir()
    said = csv_file.stated({**csv_file.FORM, **form})
    bench = Bench({"path": str(path), "start": str(folder), "dialect": said}, spilled)
    session = Session(folder)
    session.open(bench.table(), bench.roles())
    for role, columns in ROLES.items():
        session.apply("role", role, columns)
    for name, value in STATED.items():
        session.apply(name, value)
    if session.facts["hierarchies"]:
        session.apply("hierarchy", True, list(session.facts["hierarchies"]))
    names = {"release": f"r{ending}", "recipe": "r.toml", "summary": "s.html"}
    bench.check(session.recipe)
    bench.sign(session.recipe, names, False)
    trees = session.tables["hierarchies"]
    return pages.away(session.parsed, trees, names, session.facts["relation"])


def run(folder, code):
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def check(folder, shown, ending, titles):
    """Run each text in the folder of the studio, and compare the rows with the signed ones."""
    assert set(shown) == {*titles, "Command", "Check it"}
    read = f"read_csv('r{ending}', all_varchar=true)" if ending == ".csv" else f"'r{ending}'"
    for title in titles:
        code = RUN[title].format(text=shown[title]) + COMPARE.format(file=read)
        done = run(folder, code)
        assert done.stdout.endswith("rows 1000\n"), (title, done.stdout, done.stderr)
    for title in ("Command", "Check it"):
        words = shown[title].split()[1:]
        done = subprocess.run(
            [*COMMAND, *words], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, (title, done.stderr)
    assert (folder / f"r.again{ending}").read_bytes() == (folder / f"r{ending}").read_bytes()


def test_snippets_of_a_parquet_file_with_a_hierarchy(tmp_path):
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{tmp_path / 'people.parquet'}'")
    lines = [f"{age};{age // 50 * 50}+;all" for age in range(0, 1000, 2)]
    (tmp_path / "age.csv").write_text("\n".join(lines))
    shown = signed(tmp_path, tmp_path / "people.parquet", ".parquet")
    check(tmp_path, shown, ".parquet", ["SQL", "Python", "dbt"])


@pytest.mark.parametrize(
    ("form", "encoding"),
    [
        ({}, "utf-8"),
        ({"null": "NA -"}, "utf-8"),
        ({"encoding": "iso-8859-1"}, "latin-1"),
        ({"encoding": "windows-1252"}, "windows-1252"),
    ],
)
def test_snippets_of_a_csv_file_that_duckdb_would_read_in_another_way(tmp_path, form, encoding):
    odd = f"SELECT * REPLACE (if(cost = 0, NULL, 'ü' || illness) AS illness) FROM ({PEOPLE})"
    target = tmp_path / "people.csv"
    null = "NA" if form.get("null") else ""
    duckdb.connect().execute(
        f"COPY ({odd}) TO '{target}' (HEADER, DELIMITER ';', NULLSTR '{null}')"
    )
    target.write_bytes(target.read_text("utf-8").encode(encoding))
    shown = signed(tmp_path, target, ".csv", **form)
    only_command = encoding == "windows-1252"  # DuckDB alone does not read it
    as_it_is = [] if form else ["dbt"]  # DuckDB reads the same rows without being told how
    check(tmp_path, shown, ".csv", [] if only_command else ["SQL", "Python", *as_it_is])


def test_snippets_of_a_table_in_a_database(tmp_path):
    with duckdb.connect(str(tmp_path / "hospital.duckdb")) as con:
        con.execute(f"CREATE SCHEMA ward; CREATE TABLE ward.people AS {PEOPLE}")
    path = f"{tmp_path / 'hospital.duckdb'}:ward.people"
    shown = signed(tmp_path, path, ".parquet")
    assert shown.pop("dbt") == "select * from anonymize_recipe('r.toml')"  # dbt attaches it
    check(tmp_path, shown, ".parquet", ["SQL", "Python"])
