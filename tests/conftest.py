"""Fixtures that every test shares: a connection, tables the project makes, and real data."""

import gc
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anon_sql
from tests import drawing  # noqa: F401 - registers the profiles of hypothesis
from tests.reused import Database, commands

GROUPS = {"quick", "slow", "long", "oldest"}  # of ./test and .ci/run
ONE_PROCESS = {"hosts/spark"}  # folders whose files share what takes long to start
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


def pytest_collection_finish() -> None:
    """Look for garbage less often, and not in what was imported: a twentieth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without a marker that ``-m`` requires: to import them takes time."""
    marks = config.option.markexpr
    if collection_path.suffix != ".py" or " or " in marks:
        return None
    required = GROUPS.intersection(marks.split(" and "))
    text = collection_path.read_text(encoding="utf-8")
    return any(f"pytest.mark.{group}" not in text for group in required) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark long tests as slow, too, so that whatever leaves slow ones out leaves them out."""
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker("slow")


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
    database.give_back(functions=request.node.get_closest_marker("makes_functions") is not None)


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left(database: Database, request: pytest.FixtureRequest) -> Iterator[None]:
    """Look, at the end of a file, for what its tests have left and no reset has found."""
    yield
    left = [name for each in (database, commands) for name in each.left()]
    assert not left, (
        f"{request.path} leaves {left}: mark its tests makes_functions, or add the setting to "
        "CHANGED in tests/reused.py"
    )


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


def make_people(con: duckdb.DuckDBPyConnection, rows: int) -> duckdb.DuckDBPyConnection:
    """Make a table ``people`` with roles: every kind of column, NULLs, ties."""
    con.execute(
        f"""
        CREATE TABLE people AS
        SELECT
            row_number() OVER () AS person_id,
            if(i % 17 = 0, NULL, 18 + (i * 7919) % 60) AS age,
            if(i % 23 = 0, NULL, ['Accra', 'Bonn', 'Cape Town', 'Delhi'][1 + (i * i) % 4]) AS city,
            ['f', 'm'][1 + i % 2] AS sex,
            DATE '1950-01-01' + ((i * 104729) % 20000)::INTEGER AS born,
            (20 + (i * 31) % 100) / 10 AS score,
            ['flu', 'asthma', 'none'][1 + (i * 13) % 3] AS illness
        FROM range({rows}) AS made(i)
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


@pytest.fixture
def people(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """A table ``people`` of 120 rows: what ``anonymize`` searches in a tenth of a second."""
    return make_people(con, 120)


@pytest.fixture
def many_people(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """A table ``people`` of 400 rows."""
    return make_people(con, 400)
