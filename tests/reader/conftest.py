"""One connection for all readers."""

import pytest

import anon_sql


@pytest.fixture(scope="package")
def con():
    with anon_sql.connect() as connection:
        yield connection
