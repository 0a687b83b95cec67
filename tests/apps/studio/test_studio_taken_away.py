"""What the studio shows to take away makes the same rows in a fresh process, for every method."""

import subprocess
import sys

import duckdb
import pytest

import anon_sql
from anon_sql.apps.cli.roles import first_recipe
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.apps.studio import pages
from anon_sql.hosts import recipes
from tests.apps.studio.conftest import PEOPLE, ROLES
from tests.apps.studio.test_studio_signing import rows
from tests.apps.studio.visitor import ENVIRONMENT

pytestmark = pytest.mark.slow

AGAIN = """
import json, sys
for name, text in json.load(sys.stdin).items():
    known = {}
    exec(text, known)
    known["con"].execute(f"COPY released TO '{name}.parquet'")
"""


def methods():
    con = anon_sql.connect()
    found = con.execute("SELECT name FROM anon_methods() WHERE NOT perturbative").fetchall()
    con.close()
    return [name for (name,) in found]


@pytest.fixture(scope="module")
def taken(tmp_path_factory):
    """A folder, and what is shown for a recipe of each method; each release of the Python."""
    import json

    folder = tmp_path_factory.mktemp("taken")
    duckdb.connect().execute(f"COPY ({PEOPLE} LIMIT 400) TO '{folder / 'people.parquet'}'")
    con = anon_sql.connect()
    con.execute(f"CREATE VIEW raw AS FROM '{folder / 'people.parquet'}'")
    con.execute(f"SET file_search_path = '{folder}'")
    for name, ends in {"age": 20, "height": 10}.items():
        con.execute(
            f"COPY (SELECT DISTINCT {name}::VARCHAR AS leaf, ({name} // {ends})::VARCHAR || ' x' "
            f"AS part, '*' AS whole FROM raw) TO '{folder / name}.csv' (HEADER false)"
        )
    suggested = con.sql("FROM suggest_roles('raw')").to_arrow_table().to_pylist()
    source = folder / "people.parquet"
    tables = first_recipe(con, source, folder, suggested, Dialect())
    tables["roles"] = {"keep": [], "exclude": [], **ROLES}
    shown, relation = {}, {"name": "people.parquet", "call": None}
    for method in methods():
        trees = {"age": "age.csv", "height": "height.csv"} if method == "datafly" else {}
        known = recipes.release_keys(method)
        release = {"method": method, "k": 5, "seed": 7, "l": 2}
        tables["release"] = {n: each for n, each in release.items() if n in known}
        path = folder / f"{method}.toml"
        recipes.write(path, **tables, hierarchies=trees)
        names = {"release": f"{method}.parquet", "recipe": path.name}
        shown[method] = pages.away(recipes.read_recipe("test", path), trees, names, relation)
    done = subprocess.run(
        [sys.executable, "-c", AGAIN],
        input=json.dumps({method: each["Python"] for method, each in shown.items()}),
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    yield con, folder, shown
    con.close()


@pytest.mark.parametrize("method", methods())
def test_sql_python_and_dbt_make_the_same_rows(taken, method):
    con, folder, shown = taken
    con.execute("DROP TABLE IF EXISTS released; DROP TABLE IF EXISTS hierarchy")
    con.execute(shown[method]["SQL"])
    found = rows(con, "released")
    assert 0 < len(found) <= 400
    assert rows(con, f"'{folder / method}.parquet'") == found
    model = shown[method]["dbt"].removeprefix("select * from ")
    assert rows(con, model.replace("('", f"('{folder}/")) == found
