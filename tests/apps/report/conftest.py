"""A folder with a table, its release with a manifest, and the report."""

import shutil
from collections.abc import Iterator

import duckdb
import pytest

from tests.apps.report.pages import PEOPLE, ROLES, STATED
from tests.command import run


@pytest.fixture(scope="package")
def made(tmp_path_factory):
    """The folder; tests do not change it."""
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("report")
    raw, safe = folder / "people.parquet", folder / "safe.parquet"
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{raw}'")
    for arguments in (
        ("release", raw, safe, "--k", 10, "--l", 2, *ROLES, "--manifest", *STATED),
        ("report", raw, safe, "-o", folder / "report.html"),
        ("report", raw, safe, "-o", folder / "report.json", "--format", "json"),
    ):
        result = run(*arguments)
        assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def folder(made, tmp_path):
    """A copy of the folder."""
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


@pytest.fixture(scope="package", autouse=True)
def few_queries() -> Iterator[None]:
    """Let a report ask ten random queries of each selectivity, and make a release again ten times:
    both take most of its time."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("figures", "recommended"):
            patch.setattr(f"anon_sql.apps.verdict.{module}.QUERIES", 10)
        patch.setattr("anon_sql.attacks.minimality.MIN_RUNS", 10)
        patch.setattr("anon_sql.attacks.minimality.MAX_RUNS", 10)
        yield
