"""Leaves keep their order; leaves of larger joint loss are placed further apart."""

import numpy as np
import pytest

from anon_sql.kernels.loss import NUMBER, TREE
from anon_sql.kernels.order_cuts import GAP_POWER, leaf_places
from tests.kernels.losses import table

pytestmark = pytest.mark.quick


def share(model, column, left, right):
    """Leaves under the lowest common ancestor of two leaves, looked for from the left one."""
    node, base = left, model.base[column]
    while model.last[base + node] < right:
        node = model.parent[base + node]
    return model.share[base + node]


def test_gaps_follow_what_neighbours_lose_together():
    for seed in range(8):
        _, model = table(50, [NUMBER, TREE, TREE], seed)
        for column in (1, 2):
            places = leaf_places(model, column)
            leaves = int(model.null[column])
            assert len(places) == leaves
            assert places[0] == 0
            assert places[-1] < leaves
            lost = np.array([share(model, column, at, at + 1) for at in range(leaves - 1)])
            gaps = np.diff(places)
            assert (gaps > 0).all()
            assert np.allclose(gaps / gaps.sum(), lost**GAP_POWER / (lost**GAP_POWER).sum())


def test_one_leaf():
    _, model = table(5, [TREE], 0)
    alone = model._replace(null=np.array([1.0]))
    assert leaf_places(alone, 0).tolist() == [0.0]
