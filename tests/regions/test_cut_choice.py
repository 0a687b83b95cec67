"""Cuts divide few groups of near rows."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.core.table import Domain
from anon_sql.pipeline.request import Request
from anon_sql.regions.sql import WEIGHT
from anon_sql.regions.tree import RoutingCut, SampleAxis, _apart, grow
from tests.drawing import examples


@given(
    rows=st.lists(
        st.tuples(st.integers(-1, 6), st.integers(0, 4), st.integers(1, 9)), min_size=1, max_size=30
    )
)
@examples(100)
def test_near_rows_are_apart_by_the_rows_between_their_places(rows):
    codes, near, weights = (np.array(each) for each in zip(*rows, strict=True))
    order = np.argsort(codes, kind="stable").astype(np.int32)
    own = SampleAxis("a", codes.astype(np.int32), order, order)
    found = _apart(own, order, weights, near.astype(np.int32))

    def place(code):
        return weights[codes < code].sum() + weights[codes == code].sum() / 2

    apart = [
        max(place(c) for c in codes[near == n]) - min(place(c) for c in codes[near == n])
        for n in near
    ]
    assert np.isclose(found, np.average(apart, weights=weights) / weights.sum())


def columns_cut(node):
    """Return the columns of the cuts of a tree."""
    if not isinstance(node, RoutingCut):
        return set()
    return {node.column} | columns_cut(node.yes) | columns_cut(node.no)


def test_a_number_that_differs_in_every_row_is_not_cut_beside_one_of_few_values():
    drawn = np.random.default_rng(3)
    columns = [drawn.integers(0, 2**40, 4000), drawn.integers(0, 8, 4000)]
    sample = pa.table({f"quasi_{at}": pa.array(each) for at, each in enumerate(columns)})
    sample = sample.append_column(WEIGHT, pa.array(np.ones(4000, np.int64)))
    call = Request("mondrian", 10, {"unique": "BIGINT", "few": "BIGINT"})
    domain = Domain(4000, {"unique": 2.0**40, "few": 7.0}, {}, {})
    assert columns_cut(grow(call, domain, sample, 8000).root) == {"few"}
