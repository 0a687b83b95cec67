"""A release that breaks its promise reaches nobody: Spark fails before it gives a row."""

import numpy as np
import pyarrow as pa
import pytest

from anon_sql.core.table import Distribution, Domain
from anon_sql.hosts.spark.checking import SLICE, checked, count_schema
from anon_sql.hosts.spark.frame import Unpacking, spark_schema
from anon_sql.hosts.spark.release import RegionTask
from anon_sql.pipeline.request import Request
from anon_sql.privacy.l_diversity import LDiversity
from anon_sql.privacy.max_share import MaxShare
from anon_sql.privacy.t_closeness import TCloseness
from anon_sql.regions.sql import sort_keys

pytestmark = pytest.mark.slow

ROWS = pa.table(
    {
        "q": ["[1, 3]", "[1, 3]", "[4, 6]", "[4, 6]"],
        "s": ["a", "b", "a", "a"],
        "person": [1, 2, 3, 3],
    }
)
SHOWN = pa.schema([("q", pa.string()), ("s", pa.string())])
HELD = {"protected": {"s": False}}
ILLNESS = Distribution(sort_keys(pa.array(["a", "b"])), np.array([3, 1]))


def of(spark, counted=4, lost=0, **asked):
    """Return released rows that two tasks send, checked; lost: packed values that get lost."""
    request = Request("mondrian", asked.pop("k", 2), {"q": "INTEGER"}, ("s",), **asked)
    domain = Domain(counted, {"q": 5.0}, {}, {"s": ILLNESS})
    task = RegionTask(request, None, domain, (), 2)
    batches = [batch for part in (ROWS[:1], ROWS[1:]) for batch in task.sent(part)]
    table = pa.Table.from_batches(batches[: len(batches) - lost])
    schema = spark_schema("mondrian", count_schema(request))
    sent = spark.createDataFrame(table, schema).repartitionById(2, SLICE)
    whole = checked(sent, request, domain, {})
    return whole.mapInArrow(Unpacking(SHOWN), spark_schema("mondrian", SHOWN))


@pytest.mark.parametrize(
    "asked", [{}, {"models": [TCloseness(t=0.25), MaxShare(max_share=1.0)], **HELD}]
)
def test_what_is_legal_passes(spark, asked):
    assert sorted(map(tuple, of(spark, **asked).collect())) == [
        ("[1, 3]", "a"), ("[1, 3]", "b"), ("[4, 6]", "a"), ("[4, 6]", "a"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "rule"),
    [
        ({"k": 3}, "have k rows in every class"),
        ({"counted": 5}, "have the rows of the table"),
        ({"lost": 1}, "have the rows of the table"),
        ({"entity": "person"}, "have k rows in every class"),
        ({"models": [LDiversity(l=2)], **HELD}, "satisfy k, l and t in every class"),
        ({"models": [TCloseness(t=0.2)], **HELD}, "satisfy k, l and t in every class"),
        ({"models": [MaxShare(max_share=0.9)], **HELD}, "satisfy k, l, t and max_share in every"),
    ],
)
def test_what_is_not_legal_fails(spark, asked, rule):
    with pytest.raises(Exception, match=rule):
        of(spark, **asked).select("s").collect()
