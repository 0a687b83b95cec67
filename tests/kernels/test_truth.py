"""Rows outside their label, counted by the kernels and by plain loops."""

import numpy as np

from anon_sql.kernels.truth import outside_range, outside_set


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
        star = draw.random(labels) < 0.2

        def keys(many, nulls, span=4):
            present = draw.random(many) >= nulls
            return present, draw.integers(-1, 2, many), draw.integers(-span, span, many)

        value, low, high = keys(rows, 0.2), keys(labels, 0.2), keys(labels, 0.0)
        wanted = 0
        for row, at in enumerate(own):
            if star[at]:
                continue
            if not value[0][row] or not low[0][at]:
                wanted += bool(value[0][row] != low[0][at])
                continue
            here = (value[1][row], value[2][row])
            ends = (low[1][at], low[2][at]), (high[1][at], high[2][at])
            wanted += not ends[0] <= here <= ends[1]
        assert outside_range(own, star, value, low, high) == wanted
