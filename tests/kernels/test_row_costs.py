"""What a row costs its class is the difference of the class's loss with and without it."""

import numpy as np
import pytest

from anon_sql.kernels.k_member import row_costs
from anon_sql.kernels.loss import NUMBER, SET, TREE
from tests.kernels.losses import loss, table

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("seed", range(4))
def test_costs_are_the_twins(seed):
    points, model = table(60, [NUMBER, SET, TREE, NUMBER], seed)
    classes = np.random.default_rng(seed).integers(0, 9, 60).astype(np.int32)
    classes[:9] = range(9)
    classes[9] = 9  # a class of one row
    found = row_costs(points, model, classes)
    for row in range(60):
        own = np.flatnonzero(classes == classes[row])
        others = own[own != row]
        rest = loss(points, model, others) if len(others) else 0.0
        assert found[row] == pytest.approx(loss(points, model, own) - rest, abs=1e-9)
