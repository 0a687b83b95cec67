"""Fixtures that every test shares: a connection, tables the project makes, and real data."""

import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anon_sql
from anon_sql.core import interrupt
from tests import drawing  # noqa: F401 - registers the profiles of hypothesis
from tests.reused import Database

SLOW = {  # folders and files whose every test is slow; others are marked one by one
    *("apps/consoles", "apps/dbt/test_dbt.py", "apps/report/test_browser.py"),
    *("apps/shell/test_terminal.py", "methods/generators/test_ctgan.py", "test_papers.py"),
    *("hosts/spark", "apps/dbt/test_dbt_incremental.py", "apps/dbt/test_dbt_new_persons.py"),
}
ONE_PROCESS = {"hosts/spark"}  # folders whose files share what takes long to start
QUICK = {  # likewise, but a test that is marked slow is not quick
    *("core", "hierarchy", "kernels", "methods", "pseudonym", "reader", "suggest"),
    *("measure/test_cavg.py", "measure/test_dm.py", "measure/test_utility.py"),
    *("privacy/test_k_anonymity.py", "privacy/test_l_diversity.py", "release/test_check.py"),
    "role/test_anon_roles.py",
    *(
        "test_bad_input.py",
        "test_complete_roles.py",
        "test_kernel_caches.py",
        "test_layout.py",
        "test_roles.py",
    ),
}
OLDEST = {  # what the version of DuckDB can change: registration, binding, types, files, printing
    *("hosts", "hierarchy", "pseudonym", "reader", "release/test_check.py"),
    *("apps/test_files.py", "apps/test_csv_files.py"),
    *("measure/test_measured.py", "measure/test_utility.py"),
    *("test_bad_input.py", "test_complete_roles.py", "test_names.py"),
    *("test_roles.py", "test_types.py"),
}
TESTS = Path(__file__).resolve().parent
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
QUASI = [
    *("age", "workclass", "education_num", "marital_status"),
    *("occupation", "race", "sex", "native_country"),
]
COMPLETE = (
    "split = 'train' AND workclass IS NOT NULL AND occupation IS NOT NULL "
    "AND native_country IS NOT NULL"
)


def pytest_configure() -> None:
    """Take Ctrl-C as usual where the tests run in the background, which shells let ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without a test of the group that ``-m`` names: to import them takes time."""
    if collection_path.suffix != ".py":
        return None
    groups = _groups(collection_path)
    match config.option.markexpr.split():
        case ["quick" | "slow" | "oldest" as group]:
            left_out = group not in groups and f"mark.{group}" not in _text(collection_path)
        case ["not", "slow"]:
            left_out = "slow" in groups
        case _:
            left_out = False
    return left_out or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the groups that ``./test`` and ``.ci/run`` know: slow, quick, oldest."""
    for item in items:
        if not item.get_closest_marker("slow"):
            for group in _groups(item.path):
                item.add_marker(group)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give all files of a folder in ``ONE_PROCESS`` to one process of ``--dist loadfile``."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file: str = super()._split_scope(nodeid)
            return next((folder for folder in ONE_PROCESS if f"/{folder}/" in file), file)

    return Scheduling(config, log)


@cache
def _groups(path: Path) -> list[str]:
    """Return the groups of every test of a file."""
    places = {
        str(place.relative_to(TESTS)) for place in (path, *path.parents) if TESTS in place.parents
    }
    groups = {"quick": QUICK, "oldest": OLDEST}
    if places & SLOW:
        return ["slow"]
    return [group for group, its in groups.items() if places & its]


@pytest.fixture(autouse=True)
def not_stopped() -> None:
    """Forget a request to stop that an earlier test has left: calls do so as they begin."""
    interrupt.begin()


@pytest.fixture(scope="session")
def database() -> Database:
    """What ``con`` takes its connections from."""
    return Database()


@pytest.fixture
def con(database: Database, request: pytest.FixtureRequest) -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a database in memory with the functions on it, and nothing else.

    Its ``execute`` binds a statement once and ``sql`` twice, which is a third of a small release.
    """
    yield database.take()
    text = _text(request.path)
    functions = any(word in text for word in ("MACRO", "FUNCTION", "create_function", "register"))
    settings = any(word in text for word in ("SET ", "PRAGMA", "setting"))
    database.give_back(functions=functions, settings=settings)


@cache
def _text(path: Path) -> str:
    """Return the text of a file of tests, which tells what its tests may leave."""
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real tables, which is not part of the project."""
    if not SHARED.is_dir():
        pytest.skip("needs the real tables in ../shared/data")
    return SHARED


@pytest.fixture
def adult(con: duckdb.DuckDBPyConnection, shared_data: Path) -> duckdb.DuckDBPyConnection:
    """The 30,162 complete rows of Adult's train split as table ``adult``, roles declared."""
    con.execute(f"CREATE TABLE adult AS FROM '{shared_data}/adult.parquet' WHERE {COMPLETE}")
    rest = ["education", "relationship", "fnlwgt", "capital_gain", "capital_loss"]
    anon_sql.declare(
        con, "adult", quasi=QUASI, sensitive=["income"], keep=[*rest, "hours_per_week", "split"]
    )
    return con


@pytest.fixture
def people(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """A table ``people`` of 400 rows that the project makes: every kind of column, NULLs, ties."""
    con.execute(
        """
        CREATE TABLE people AS
        SELECT
            row_number() OVER () AS person_id,
            if(i % 17 = 0, NULL, 18 + (i * 7919) % 60) AS age,
            if(i % 23 = 0, NULL, ['Accra', 'Bonn', 'Cape Town', 'Delhi'][1 + (i * i) % 4]) AS city,
            ['f', 'm'][1 + i % 2] AS sex,
            DATE '1950-01-01' + ((i * 104729) % 20000)::INTEGER AS born,
            (20 + (i * 31) % 100) / 10 AS score,
            ['flu', 'asthma', 'none'][1 + (i * 13) % 3] AS illness
        FROM range(400) AS made(i)
        """
    )
    anon_sql.declare(
        con,
        "people",
        identifier=["person_id"],
        quasi=["age", "city", "sex", "born"],
        sensitive=["illness"],
        keep=["score"],
    )
    return con
