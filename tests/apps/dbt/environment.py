"""dbt in an environment of its own, with the package as a wheel, for the tests that run dbt.

``.ci/run`` makes a fresh one by ``pip install …[dbt]``, and fails where that fails. Elsewhere the tests
make one that borrows what the environment of the tests has, or are skipped.
pytest may be several processes, so what is made here is made once for all of them, under a lock.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from tests import kernel_caches

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "dbt_project"
NEW_PERSONS = ROOT / "examples" / "dbt_new_persons"
LINKED_TABLES = ROOT / "examples" / "dbt_linked_tables"
CONSTRAINTS = f"dbt-core<1.12\nduckdb=={duckdb.__version__}\n"  # 1.12 downloads a parser


@dataclass(frozen=True)
class Built:
    """A project that was built: where it is, and the status and message of each node by name."""

    folder: Path
    status: dict[str, str]
    message: dict[str, str]

    @property
    def database(self) -> str:
        """The file of the warehouse."""
        return str(self.folder / "adult.duckdb")


def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run of pytest that all its processes see."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def made_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """The folder, after one process has made it."""
    done = folder.with_suffix(".done")
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            done.touch()
    return folder


def _run(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=clean,
        **options,  # type: ignore[call-overload]
    )


def of_this_run(folder: Path) -> Path:
    """The environment that ``ANON_TESTS_DBT`` names, as ``.ci/run`` makes it, or one made here.

    folder: that of ``shared_folder``.
    """
    if given := os.environ.get("ANON_TESTS_DBT"):
        return Path(given)
    return made_once(folder / "dbt_environment", install)


def install(folder: Path) -> None:
    """An environment with dbt and the package; skips where there is no dbt to be had.

    What the environment of the tests has is not installed again, but for the package itself.
    """
    assert _run(sys.executable, "-m", "venv", folder).returncode == 0
    constraints = folder / "constraints.txt"
    constraints.write_text(CONSTRAINTS)
    (own,) = folder.glob("lib/python*/site-packages")
    (own / "of_the_tests.pth").write_text(sysconfig.get_path("purelib"))
    pip = [folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip += ["--no-compile", "-c", constraints]
    dbt = _run(*pip, "dbt-core", "dbt-duckdb")
    if dbt.returncode:
        pytest.skip(f"dbt cannot be installed: {dbt.stderr.strip().splitlines()[-1]}")
    wheel = _run(*pip, "--ignore-installed", "--no-deps", ROOT)
    assert wheel.returncode == 0, wheel.stderr
    complete = _run(*pip, "anon-sql[dbt]")  # all that the wheel asks for is there
    assert complete.returncode == 0, complete.stderr
    kernel_caches.give(own / "anon_sql")


def build(
    environment: Path, folder: Path, *added: Path, example: Path = EXAMPLE, profile: str = ""
) -> None:
    """Copy an example and the files added to it, and run ``dbt build`` there."""
    for project in (example, *added):
        shutil.copytree(project, folder, dirs_exist_ok=True)
    with (folder / "profiles.yml").open("a") as file:
        file.write(profile)
    packages = _run(environment / "bin" / "python", "-m", "anon_sql.dbt_plugin", cwd=folder)
    (folder / "packages.yml").write_text(packages.stdout)
    for command in ("deps", "build"):
        run_dbt(environment, folder, command)


def run_dbt(environment: Path, folder: Path, command: str, *arguments: str) -> None:
    """Run a command of dbt in a project, and write what it prints to a log there."""
    dbt = environment / "bin" / "dbt"
    done = _run(dbt, "--no-use-colors", command, *arguments, cwd=folder)
    (folder / f"{command}.log").write_text(done.stdout + done.stderr)


def built(folder: Path) -> Built:
    """What dbt says of a project that it built."""
    results = folder / "target" / "run_results.json"
    assert results.exists(), [log.read_text() for log in folder.glob("*.log")]
    nodes = {
        node["unique_id"].split(".")[2]: node
        for node in json.loads(results.read_text(encoding="utf-8"))["results"]
    }
    return Built(
        folder,
        {name: node["status"] for name, node in nodes.items()},
        {name: node["message"] or "" for name, node in nodes.items()},
    )
