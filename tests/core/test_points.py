"""The points of a table are those of its rows, in canonical order, for any number of threads."""

from dataclasses import replace

import numpy as np
import pytest

from anon_sql.core import table
from anon_sql.core.running import Workers
from tests.oracles import table_of

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("threads", [1, 3])
def test_an_order_of_some_rows_gives_the_points_of_these(monkeypatch, threads):
    monkeypatch.setattr(table, "SPAN_ROWS", 7)
    monkeypatch.setattr(table, "BLOCK_ROWS", 3)
    whole = np.random.default_rng(1).integers(0, 50, (40, 3)) / 50
    order = np.random.default_rng(2).permutation(40)[:25].astype(np.int32)
    part = replace(table_of(whole), order=order, workers=Workers("test", threads))
    assert np.array_equal(part.points, whole[order])
    none = replace(part, order=order[:0])
    assert none.points.shape == (0, 3)
