"""The order by growing groups is that of a plain search over the rows that wait."""

import numpy as np
import pytest

from anon_sql.kernels.greedy_orders import grown_order
from anon_sql.kernels.loss import NUMBER, SET, TREE
from tests.kernels.losses import loss, table
from tests.kernels.test_split_order import only

pytestmark = pytest.mark.quick


def twin(points, rows, model, width, k):
    parts = [(points[:, [c]], model._replace(**only(model, c))) for c in range(len(model.kind))]

    def cost(group):
        return sum(round(loss(*part, group) / len(group) * 1e9) for part in parts)

    waiting, later, gone = list(rows[:width]), list(rows[width:]), []
    while waiting:
        group = gone[len(gone) - len(gone) % k :]
        row = min(waiting, key=lambda row: cost([*group, row])) if group else waiting[0]
        waiting.remove(row)
        gone.append(row)
        waiting += later[:1]
        later = later[1:]
    return gone


@pytest.mark.parametrize("kinds", [[NUMBER], [SET, SET], [TREE, TREE], [NUMBER, SET, TREE, SET]])
@pytest.mark.parametrize(("width", "k"), [(1, 3), (5, 4), (20, 2), (99, 7)])
def test_order_is_the_twins(kinds, width, k):
    points, model = table(80, kinds, width)
    rows = np.random.default_rng(0).permutation(80).astype(np.int32)
    found = grown_order(points, rows, model, width, k)
    assert found.tolist() == twin(points, rows, model, width, k)
