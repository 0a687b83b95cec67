"""Faults that are planted in the tasks of Spark: Spark fails before it gives a row."""

import sys
from dataclasses import dataclass

import pyarrow as pa
import pytest

from anon_sql.hosts.spark import release
from anon_sql.spark import mondrian
from tests.hosts.spark.conftest import ROLES

pytestmark = pytest.mark.slow
CLASS = "have k rows in every class"
TABLE = "have the rows of the table"


def column(table, name, values):
    return table.set_column(table.column_names.index(name), name, pa.array(values))


def wider(table):
    return column(table, "city", ["*", *table["city"].to_pylist()[1:]])


def lost(table):
    return table.slice(1)


def twice(table):
    return pa.concat_tables([table, table.slice(0, 1)])


def region_lost(table):
    return table.slice(0, 0)


@pytest.fixture
def by_value(monkeypatch):
    """Give functions of this file to the processes of Spark, which do not import it."""
    from pyspark import cloudpickle

    here = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(here)
    yield
    cloudpickle.unregister_pickle_by_value(here)


def planted(monkeypatch, fault):
    """Change what every task has released before it is sent."""

    @dataclass(frozen=True)
    class Faulty(release.RegionTask):
        def sent(self, released):
            yield from release.RegionTask.sent(self, fault(released))

    monkeypatch.setattr(release, "RegionTask", Faulty)


@pytest.mark.parametrize(
    ("fault", "rule"),
    [(wider, CLASS), (lost, TABLE), (twice, TABLE), (region_lost, TABLE)],
)
def test_a_fault_in_a_task_is_refused(people, by_value, monkeypatch, fault, rule):
    planted(monkeypatch, fault)
    with pytest.raises(Exception, match=rule):
        mondrian(people, k=5, part_rows=150, **ROLES).collect()
