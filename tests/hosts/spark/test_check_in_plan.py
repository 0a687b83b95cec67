"""A release that breaks its promise reaches nobody: Spark fails before it gives a row."""

import numpy as np
import pyarrow as pa
import pytest

from anon_sql.core.table_domain import Distribution, Domain
from anon_sql.hosts.spark.check_in_plan import PERSON, checked
from anon_sql.pipeline.request import Request
from anon_sql.routing.whole_table import sort_keys

VALUES = "('[1, 3]', 'a', 1), ('[1, 3]', 'b', 2), ('[4, 6]', 'a', 3), ('[4, 6]', 'a', 3)"
ILLNESS = Distribution(sort_keys(pa.array(["a", "b"])), np.array([3, 1]))


@pytest.fixture(scope="module")
def rows(spark):
    return spark.sql(f"SELECT * FROM VALUES {VALUES} AS r(q, s, {PERSON})")


def of(rows, counted=4, **asked):
    request = Request("mondrian", asked.pop("k", 2), {"q": "INTEGER"}, ("s",), **asked)
    return checked(rows, request, Domain(counted, {"q": 5.0}, {}, {"s": ILLNESS}), {})


@pytest.mark.parametrize("asked", [{}, {"l": 1.0, "t": 0.25, "protected": {"s": False}}])
def test_what_is_legal_passes(rows, asked):
    assert sorted(map(tuple, of(rows, **asked).collect())) == [
        ("[1, 3]", "a"), ("[1, 3]", "b"), ("[4, 6]", "a"), ("[4, 6]", "a"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "rule"),
    [
        ({"k": 3}, "have k rows in every class"),
        ({"counted": 5}, "have the rows of the table"),
        ({"entity": PERSON}, "have k rows in every class"),
        ({"l": 2, "protected": {"s": False}}, "satisfy l, t, beta and delta in every class"),
        ({"t": 0.2, "protected": {"s": False}}, "satisfy l, t, beta and delta in every class"),
    ],
)
def test_what_is_not_legal_fails(rows, asked, rule):
    with pytest.raises(Exception, match=rule):
        of(rows, **asked).select("s").collect()
