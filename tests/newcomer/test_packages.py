"""What the wheel and the source distribution hold, beside the package."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def test_the_wheel_has_the_tutorials(installed):
    (wheel,) = installed.wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    tutorials = sorted((ROOT / "docs" / "learn").glob("*.md"))
    assert {f"anon_sql/docs/learn/{page.name}" for page in tutorials} <= names
    assert not any(name.startswith(("examples", "tests", "benchmarks")) for name in names)


def test_the_source_distribution_has_what_its_tests_read(tmp_path):
    build = [sys.executable, "-m", "build", "--sdist", "--outdir", tmp_path, ROOT]
    subprocess.run(build, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {"examples/first_release.py", "examples/dbt_project/dbt_project.yml"} <= names
    assert {"docs/learn/analyst.md", "examples/papers/released.py"} <= names
    assert {"tests/conftest.py", "tests/test_paper_baselines.py"} <= names
