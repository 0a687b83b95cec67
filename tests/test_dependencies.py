"""What DuckDB needs of other packages is installed with this one; the lowest versions allowed."""

import datetime
import os
import subprocess
import sys
import tomllib

import pytest
from packaging.version import Version

from tests.lowest_versions import PROJECT, lowest


def test_values_with_a_time_zone_are_read_on_a_fresh_install(con):
    """DuckDB imports pytz for them and does not depend on it, nor does pandas 3."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    assert [name for name in project["dependencies"] if name.startswith("pytz>=")]
    con.execute(
        "CREATE TABLE t AS SELECT TIMESTAMPTZ '2020-01-01 10:00:00+00' AS born, 1 AS n FROM range(4)"
    )
    kept = "mondrian('t', k := 2, quasi := 'n', keep := 'born')"
    ((found,),) = con.execute(f"SELECT DISTINCT born FROM {kept}").fetchall()
    assert found == datetime.datetime(2020, 1, 1, 10, tzinfo=datetime.UTC)


WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pandas", "polars", "rich", "sqlglot", "typer", "pygments"):
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Missing())
import pyarrow as pa
import anon_sql

rows = pa.table({"age": [1, 2, 3, 4, 5, 6] * 10, "ill": ["a", "b", "c"] * 20})
assert anon_sql.anonymize(rows, k=3, quasi="age", keep="ill").num_rows == 60
con = anon_sql.connect()
con.register("people", rows)
call = "FROM anonymize('people', k := 3, quasi := 'age', keep := 'ill')"
assert len(con.sql(call).fetchall()) == 60
"""


def test_sql_and_frames_need_neither_pandas_nor_what_the_command_needs():
    environment = {**os.environ, "PYTHONPATH": str(PROJECT.parent)}
    subprocess.run([sys.executable, "-c", WITHOUT], env=environment, check=True)


@pytest.mark.quick
def test_the_lowest_versions():
    """Upper bounds do not matter, versions are compared as such, and spellings of names are one."""
    project = {
        "dependencies": ["a_b>=1.9,<3", "c>=16"],
        "optional-dependencies": {"x": ["A-B>=1.10"], "y": ["d[e]>=2", "c>=15"], "z": ["f>=1"]},
    }
    assert lowest(project, ["x", "y"]) == {
        "a-b": Version("1.10"),
        "c": Version("16"),
        "d": Version("2"),
    }


@pytest.mark.quick
@pytest.mark.parametrize("text", ["a", "a<2", "a==1"])
def test_a_dependency_without_a_lower_bound(text):
    project = {"dependencies": [text], "optional-dependencies": {}}
    with pytest.raises(ValueError, match="must have one lower bound"):
        lowest(project, [])


@pytest.mark.quick
def test_every_dependency_has_a_lower_bound():
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    found = lowest(project, project["optional-dependencies"])
    assert {"duckdb", "dbt-core", "pyspark", "pytest"} <= set(found)
