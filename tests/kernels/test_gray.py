"""The Gray key numbers all combinations so that neighbours differ by one cell."""

from itertools import product

import numpy as np
import pytest

from anon_sql.kernels.orders import Grid, gray_key

pytestmark = pytest.mark.quick


def test_neighbours_differ_in_one_column_by_one():
    radix = np.array([2, 3, 1, 5, 4])
    columns = np.array([4, 0, 2, 1, 3])
    cells = np.array(list(product(*map(range, radix))), dtype=float)
    points = np.zeros((len(cells), 5))
    points[:, columns] = cells
    none = np.full(5, -1, np.int64)
    grid = Grid(columns, np.full(5, np.nan), np.ones(5), radix - 1, none, none * 0, np.zeros(0))
    keys = gray_key(points, 0, len(points), grid, radix)
    assert sorted(keys.tolist()) == list(range(len(points)))
    ranked = cells[np.argsort(keys)]
    assert (np.abs(np.diff(ranked, axis=0)).sum(axis=1) == 1).all()
    assert (np.diff(ranked[:, 0]) != 0).sum() == 1  # the first column is the slowest
    assert gray_key(points, 10, 20, grid, radix).tolist() == keys[10:20].tolist()
