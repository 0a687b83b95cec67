"""What the tests of linked tables share."""

import pytest

from anon_sql import datasets


@pytest.fixture
def hospital_of(con):
    """Return what makes the hospital of so many persons; its tables are dropped afterwards."""

    def make(persons):
        datasets.hospital(con, persons)
        return con

    yield make
    con.execute("DROP SCHEMA IF EXISTS safe CASCADE")
    for table in reversed(datasets.HOSPITAL):
        con.execute(f"DROP TABLE IF EXISTS {table}")
