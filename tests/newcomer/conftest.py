"""What a newcomer starts from: the wheel in an environment of its own, and an empty folder."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import kernel_caches
from tests.apps.dbt.environment import made_once, shared_folder

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Installed:
    """An environment with the package, and the folder of the wheel that it was installed from."""

    environment: Path
    wheels: Path


def install(folder: Path) -> None:
    """Build the wheel and install it; skip where its dependencies cannot be had."""
    wheels, environment = folder / "wheels", folder / "environment"
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", wheels, ROOT]
    subprocess.run(build, check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    (wheel,) = wheels.glob("*.whl")
    pip = [environment / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*pip, wheel], capture_output=True, text=True, check=False)
    if done.returncode and "No matching distribution" in done.stderr:
        pytest.skip(f"cannot be installed: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    (packages,) = environment.glob("lib/python*/site-packages")
    kernel_caches.give(packages / "anon_sql")


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    made = made_once(shared_folder(tmp_path_factory) / "newcomer", install)
    return Installed(made / "environment", made / "wheels")


@pytest.fixture
def folder(tmp_path):
    """An empty folder."""
    empty = tmp_path / "empty"
    empty.mkdir()
    yield empty
    shutil.rmtree(empty)
