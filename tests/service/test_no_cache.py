"""A whole release where no compiled kernel can be stored: no home, and no folder that is written."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import anon_sql
from anon_sql.hosts.duckdb.sql_files import folder
from anon_sql.kernels.numba_internals import UNKEPT

pytestmark = pytest.mark.long

RELEASED = """
import json
import anon_sql
con = anon_sql.connect()
con.execute("SET enable_progress_bar = false")
con.execute("CREATE TABLE people AS SELECT i * 7 % 60 AS age, i % 3 AS city, i % 5 AS ill FROM range(600) t(i)")
con.execute("CREATE TABLE r AS FROM mondrian('people', k := 10, quasi := ['age', 'city'], keep := 'ill')")
audited = con.execute("SELECT passed FROM audit('people', 'r', 10, quasi := ['age', 'city'])").fetchall()
print(json.dumps([con.execute("FROM r").fetchall(), audited]))
"""


def released(**environment):
    """What a process of its own prints and says."""
    return subprocess.run(
        [sys.executable, "-B", "-c", RELEASED],
        env={"PATH": os.environ["PATH"], **environment},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )


def test_a_release_where_no_kernel_can_be_stored(tmp_path):
    package = Path(anon_sql.__file__).parent
    others = os.environ.get("PYTHONPATH", "")
    expected = released(PYTHONPATH=os.pathsep.join([str(package.parent), others]))
    shutil.copytree(
        package, tmp_path / "anon_sql", ignore=shutil.ignore_patterns("__pycache__", "sql")
    )
    shutil.copytree(folder(), tmp_path / "sql")
    (tmp_path / "anon_sql" / "kernels" / "__pycache__").touch()
    others = [path for path in others.split(os.pathsep) if Path(path) != package.parent]
    found = released(
        PYTHONPATH=os.pathsep.join([str(tmp_path), *others]),
        HOME="/dev/null/home",
        NUMBA_CACHE_DIR="/dev/null/cache",
    )
    assert found.stderr == UNKEPT
    assert expected.stderr == ""
    assert json.loads(found.stdout) == json.loads(expected.stdout)
    assert [False] not in json.loads(found.stdout)[1]
