"""The generated hospital: linked tables with roles, the same rows for the same seed."""

import pytest

from anon_sql import AnonError, datasets


@pytest.fixture
def clean(con):
    yield con
    for table in reversed(datasets.HOSPITAL):
        con.execute(f"DROP TABLE IF EXISTS {table}")


def test_the_same_seed_makes_the_same_rows(clean):
    datasets.hospital(clean, 50)
    first = {name: clean.execute(f"FROM {name}").fetchall() for name in datasets.HOSPITAL}
    datasets.hospital(clean, 50)
    assert {name: clean.execute(f"FROM {name}").fetchall() for name in datasets.HOSPITAL} == first
    assert len(first["person"]) == 50
    assert first["visit"]
    assert len(first["diagnosis"]) >= len(first["visit"])


def test_no_persons(clean):
    datasets.hospital(clean, 0)
    for name in datasets.HOSPITAL:
        assert clean.execute(f"SELECT count(*) FROM {name}").fetchall() == [(0,)]
    with pytest.raises(AnonError, match="persons must be 0 or more, got -1"):
        datasets.hospital(clean, -1)


def test_a_table_made_elsewhere_is_left_alone(clean):
    clean.execute("CREATE TABLE visit AS SELECT 1 AS one")
    with pytest.raises(AnonError, match="must have no other table of this name"):
        datasets.hospital(clean)
    assert clean.execute("FROM visit").fetchall() == [(1,)]
