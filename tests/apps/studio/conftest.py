"""A table, and a studio that shows it."""

import duckdb
import pytest

from tests.apps.studio.visitor import running

PEOPLE = (
    "SELECT 'p' || i AS name, (i // 20) * 20 + 2 * (i % 10) AS age, "
    "(i // 20 * 7) % 50 * 2 + i % 2 AS height, 'v' || i % 4 AS illness, "
    "i * 37 % 101 AS cost FROM range(1000) AS made(i)"
)
ROLES = {
    "identifier": ["name"],
    "quasi": ["age", "height"],
    "sensitive": ["illness", "cost"],
}


@pytest.fixture(autouse=True, scope="module")
def packages():
    for name in ("starlette", "uvicorn", "jinja2"):
        pytest.importorskip(name)


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A folder with the file ``people.parquet``."""
    folder = tmp_path_factory.mktemp("studio")
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{folder / 'people.parquet'}'")
    return folder


@pytest.fixture(scope="module")
def studio(people):
    """A studio that has been entered, with the roles of ``people``."""
    with running(people, "people.parquet") as found:
        found.enter()
        found.page("/data/roles")
        for role, columns in ROLES.items():
            found.choose("role", role, columns)
        yield found
