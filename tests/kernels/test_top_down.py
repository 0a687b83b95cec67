"""Top-down splits equal those of a plain recursion, whatever the threads."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anon_sql.core.running import Workers
from anon_sql.kernels import top_down as kernel
from anon_sql.kernels.top_down import ROUNDS, top_down
from tests.drawing import examples
from tests.kernels.test_mondrian import VALUES, as_lists, tables
from tests.kernels.test_vp_tree import twin_draw
from tests.loss import loss as own_loss
from tests.loss import model_of

pytestmark = pytest.mark.quick


def twin(kinds, points, k, seed):
    model = model_of(kinds, points)

    def loss(rows):  # in billionths, as the kernel counts them, column by column
        columns = enumerate(kinds)
        return sum(round(own_loss(kind, model, c, points[rows, c]) * 1e9) for c, kind in columns)

    def split(rows, stream):
        m = len(rows)
        u = v = twin_draw(stream, 2) % m
        for _ in range(ROUNDS):
            far = [loss([row, rows[u]]) for row in rows]
            u, v = far.index(max(far)), u
        if u == v:
            u, v = 0, 1
        sides, places = [[rows[u]], [rows[v]]], list(range(m))
        for left in range(m, 0, -1):
            at = twin_draw(stream, 2 + left) % left
            place, places[at] = places[at], places[left - 1]
            if place in (u, v):
                continue
            row = rows[place]
            grown = [
                (len(side) + 1) * loss([*side, row]) - len(side) * loss(side) for side in sides
            ]
            sides[min((0, 1), key=lambda s: (grown[s], len(sides[s]), s))].append(row)
        return [sorted(side) for side in sides]

    def leaves(rows, stream):
        if len(rows) <= k:
            return [rows]
        near, far = split(rows, stream)
        return leaves(near, twin_draw(stream, 0)) + leaves(far, twin_draw(stream, 1))

    return leaves(list(range(len(points))), twin_draw(seed % 2**64, 0))


def partition(kinds, points, k, seed=42, threads=1):
    model = model_of(kinds, points)
    return as_lists(top_down(points, model, k, seed=seed, workers=Workers("test", threads)))


@examples(200)
@example(
    (
        ["set", "number", "set"],
        [(0.0, 0.0, 0.0), (0.0, 0.0, 2.0), (1.0, 0.0, 1.0), (2.0, 0.0, 0.0)],
    ),
    1,
    0,
)
@given(tables, st.integers(1, 7), st.integers(0, 2**63))
def test_sets_are_the_twins(table, k, seed):
    kinds, rows = table
    points = np.array(rows)
    assert partition(kinds, points, k, seed) == twin(kinds, points, k, seed)


def test_threads_and_jobs_do_not_show(monkeypatch):
    rng = np.random.default_rng(4)
    kinds = ["number", "set", "tree"]
    points = np.column_stack([rng.choice(VALUES[kind], 2000) for kind in kinds])
    wanted = partition(kinds, points, 5)
    monkeypatch.setattr(kernel, "JOB_ROWS", 100)
    for threads in (1, 2, 3):
        assert partition(kinds, points, 5, threads=threads) == wanted


def test_two_heaps_part():
    """Worked out by hand: the farthest rows are one of either heap, and each takes its own."""
    points = np.array([[0.0], [0.9], [0.1], [1.0], [0.05], [0.95]])
    for seed in range(5):
        found = partition(["number"], points, 3, seed)
        assert sorted(found) == [[0, 2, 4], [1, 3, 5]]
