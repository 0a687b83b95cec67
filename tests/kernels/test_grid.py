"""Cells keep the order of the points, and NULL has one of its own."""

import numpy as np
import pytest

from anon_sql.kernels.loss import NUMBER, SET, TREE
from anon_sql.kernels.orders import cell, counts_of, few_values, grid_of
from tests.kernels.losses import table

pytestmark = pytest.mark.quick


def cells(points, grid, g):
    return np.array([cell(points, row, grid, g) for row in range(len(points))])


def test_cells_of_numbers_and_leaves_ascend_and_null_is_last():
    for nulls in (0, 0.2):
        points, model = table(300, [NUMBER, TREE], 1, nulls=nulls)
        grid = grid_of(points, model, [1, 0], [8, 16], {}, {})
        for g, c in enumerate([1, 0]):
            found, holes = cells(points, grid, g), points[:, c] == model.null[c]
            rows = np.argsort(points[:, c])
            assert (np.diff(found[rows]) >= 0).all()
            assert found.min() == 0
            assert found.max() <= [8, 16][g] - 1
            if nulls:
                assert set(found[holes]).isdisjoint(found[~holes])


def test_sets_stand_by_frequency():
    points = np.array([[2.0], [2], [0], [3], [0], [2]])
    model = table(1, [SET], 0, categories=3)[1]._replace(values=np.array([3]))
    counts = counts_of(points, 0, 4)
    assert counts.tolist() == [2, 0, 3, 1]
    assert cells(points, grid_of(points, model, [0], [4], {0: counts}, {}), 0).tolist() == [
        *(0, 0, 1, 3, 1, 0)
    ]


def test_few_values_have_a_cell_each():
    points, model = table(60, [TREE, NUMBER], 2)
    points[:, 1] = np.where(points[:, 1] < 0.4, 0.0, np.where(points[:, 1] == 3, 3, 0.45))
    assert few_values(points, 1, 3.0, 7).tolist() == [0, 0.45]
    assert few_values(points, 1, 3.0, 1).tolist() == []
    grid = grid_of(points, model, [1], [3], {}, {1: few_values(points, 1, 3.0, 7)})
    found = cells(points, grid, 0)
    assert (found == np.select([points[:, 1] == 0, points[:, 1] < 1], [0, 1], 2)).all()
