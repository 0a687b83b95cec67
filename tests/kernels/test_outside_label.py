"""Rows outside their label, counted by the kernels and by plain loops."""

import numpy as np
import pytest

from anon_sql.kernels.loss import outside_range, outside_set

pytestmark = pytest.mark.quick


def test_sets():
    draw = np.random.default_rng(0)
    for _ in range(50):
        rows, classes, words = draw.integers(1, 60), draw.integers(1, 7), draw.choice([3, 8, 90])
        own = np.sort(draw.integers(0, classes, rows)).astype(np.int32)
        codes = draw.integers(0, words, rows).astype(np.int32)
        label_of = draw.integers(0, 4, classes - 1).astype(np.int32)  # the last does not count
        sets = [np.flatnonzero(draw.random(words) < 0.7) for _ in range(4)]
        ends = np.concatenate(([0], np.cumsum([len(s) for s in sets])))
        wanted = sum(
            at < classes - 1 and code not in sets[label_of[at]]
            for at, code in zip(own, codes, strict=True)
        )
        flat = np.concatenate(sets).astype(np.int32)
        assert outside_set(own, label_of, codes, ends, flat) == wanted


def test_ranges():
    draw = np.random.default_rng(1)
    for _ in range(50):
        rows, labels = draw.integers(1, 60), draw.integers(1, 6)
        own = draw.integers(0, labels, rows).astype(np.int32)
        star, labelled = draw.random(labels) < 0.2, draw.random(labels) >= 0.2
        present, keys = draw.random(rows) >= 0.2, draw.integers(-4, 4, rows)
        low, high = draw.integers(-4, 4, (2, labels))
        wanted = 0
        for row, at in enumerate(own):
            if star[at]:
                continue
            if not present[row] or not labelled[at]:
                wanted += bool(present[row] != labelled[at])
                continue
            wanted += not low[at] <= keys[row] <= high[at]
        assert outside_range(own, star, present, keys, labelled, low, high) == wanted
