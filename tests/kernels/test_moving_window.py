"""The greedy order is that of a plain search over the candidates."""

import numpy as np
import pytest

from anon_sql.kernels.loss import NUMBER, SET, TREE
from anon_sql.kernels.moving_window import moving_window
from tests.kernels.losses import table

pytestmark = pytest.mark.quick


def twin(points, rows, model, width, few, many):
    slots, later, gone = list(rows[:width]), list(rows[width:]), []
    ranges = [c for c, kind in enumerate(model.kind) if kind != SET]
    sets = [c for c, kind in enumerate(model.kind) if kind == SET]

    def value(row, c):
        if points[row, c] == model.null[c]:
            return np.float32(2 * model.weight[c])
        unit = model.weight[c] / model.null[c] if model.kind[c] == TREE else 1.0
        return np.float32(points[row, c] * unit)

    def score(row):
        total, zero = np.float32(0), np.float32(0)
        for c in ranges:
            parts = []
            for memory in (few, many):
                box = [value(old, c) for old in gone[-memory:]]
                parts.append(max(min(box) - value(row, c), value(row, c) - max(box), zero))
            total += parts[0] + parts[1]
        for c in sets:
            part = np.float32(0)
            for memory in (few, many):
                box = {points[old, c] for old in gone[-memory:]}
                if points[row, c] not in box:
                    part += np.float32(
                        (2 if len(box) == 1 else 1) * model.weight[c] / model.values[c]
                    )
            total += part
        return total

    while slots:
        j = int(np.argmin([score(row) for row in slots])) if gone else 0
        gone.append(slots[j])
        if later:
            slots[j] = later.pop(0)
        else:
            slots[j] = slots[-1]
            slots.pop()
    return [int(row) for row in gone]


@pytest.mark.parametrize("kinds", [[NUMBER], [SET, SET], [NUMBER, SET, TREE, SET]])
@pytest.mark.parametrize(("width", "few", "many"), [(1, 1, 1), (8, 1, 3), (16, 2, 2), (99, 3, 9)])
@pytest.mark.parametrize("copies", [1, 10])
def test_order_is_the_twins(kinds, width, few, many, copies):
    points, model = table(80 // copies, kinds, width)
    points += 0.1 * (np.array(kinds) == NUMBER) * (points != model.null)
    points = np.repeat(points, copies, axis=0)  # runs of equal rows are longer than both boxes
    rows = np.random.default_rng(0).permutation(80).astype(np.int32)
    found = moving_window(points, rows, model, width, few, many)
    assert found.tolist() == twin(points, rows, model, width, few, many)
    assert sorted(found.tolist()) == list(range(80))


def test_one_candidate_leaves_the_order_as_it_is():
    points, model = table(20, [NUMBER, SET], 3)
    rows = np.arange(20, dtype=np.int32)[::-1].copy()
    assert moving_window(points, rows, model, 1, 2, 5).tolist() == rows.tolist()
