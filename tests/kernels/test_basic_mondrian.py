"""Basic Mondrian's sets equal those of a plain recursion, whatever the threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.core.hierarchy.tree import Row, grow
from anon_sql.core.running import Workers
from anon_sql.kernels import basic_mondrian as kernel
from anon_sql.kernels.loss import NUMBER, SET, TREE, LossModel
from tests.drawing import examples

pytestmark = pytest.mark.quick

ABOVE = {"ab": ["A", "*"], "cde": ["B", "*"], "fg": ["D", "C", "*"], "h": ["C", "*"], "i": ["*"]}
PATHS = {leaf: path for leaves, path in ABOVE.items() for leaf in leaves}
ROWS = [Row(v, v, n, label) for v, path in PATHS.items() for n, label in enumerate(path, 1)]
GROWN = grow("f", "c", ROWS)
NULL = {NUMBER: 3.0, SET: 4.0, TREE: float(GROWN.leaves)}


def model_of(kinds, points):
    distinct = [
        len(set(column)) if kind == SET else 0 for kind, column in zip(kinds, points.T, strict=True)
    ]
    return LossModel(
        np.array(kinds), np.array(distinct), np.array([NULL[kind] for kind in kinds]),
        np.zeros(len(kinds), dtype=np.int64), GROWN.last, GROWN.parent, GROWN.share,
        np.ones(len(kinds)),
    )  # fmt: skip


def way(leaf):
    """Names from the root down to a leaf."""
    name = GROWN.names[int(leaf)]
    return ["*", *[n for n in reversed(PATHS[name]) if n != "*"], name]


def twin_width(kind, values, everything):
    some = [v for v in values if v != NULL[kind]]
    if len(set(values)) < 2:
        return 0.0
    if len(some) < len(values):
        return 1.0
    if kind == NUMBER:
        return max(some) - min(some)
    if kind == SET:
        return len(set(some)) / len(set(everything))
    node = [n for n in way(some[0]) if all(n in way(v) for v in some)][-1]
    return sum(node in way(leaf) for leaf in range(GROWN.leaves)) / GROWN.leaves


def twin_parts(kind, values, k):
    """The part of each row, as something that sorts like its values."""
    if NULL[kind] in values:
        return [v == NULL[kind] for v in values]
    if kind == NUMBER:
        middle = sorted(values)[(len(values) - 1) // 2]
        if sum(v > middle for v in values) >= k:
            return [v > middle for v in values]
        return [v >= middle for v in values]
    if kind == SET:
        return values
    depth = len([n for n in way(values[0]) if all(n in way(v) for v in values)])
    child = [way(v)[depth] for v in values]
    return [GROWN.names.index(name) for name in child]


def twin(points, kinds, k, rows=None):
    rows = list(range(len(points))) if rows is None else rows
    values = [[float(points[row, c]) for row in rows] for c in range(len(kinds))]
    widths = [twin_width(kind, values[c], points[:, c].tolist()) for c, kind in enumerate(kinds)]
    for c in sorted(range(len(kinds)), key=lambda c: -round(widths[c], 9)):
        if widths[c] <= 0:
            break
        parts = twin_parts(kinds[c], values[c], k)
        sides = [
            [r for r, p in zip(rows, parts, strict=True) if p == part]
            for part in sorted(set(parts))
        ]
        if len(sides) > 1 and min(map(len, sides)) >= k:
            return [leaf for side in sides for leaf in twin(points, kinds, k, side)]
    return [rows]


VALUES = {
    NUMBER: st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0, NULL[NUMBER]]),
    SET: st.integers(0, 4).map(float),
    TREE: st.integers(0, GROWN.leaves).map(float),
}


@examples(100)
@given(st.data())
def test_the_sets_are_those_of_a_plain_recursion(data):
    kinds = data.draw(st.lists(st.sampled_from([NUMBER, SET, TREE]), min_size=1, max_size=3))
    k = data.draw(st.integers(1, 4))
    row = st.tuples(*(VALUES[kind] for kind in kinds))
    points = np.array(data.draw(st.lists(row, min_size=k, max_size=40)))
    found = kernel.basic_mondrian(points, model_of(kinds, points), k, Workers("f"))
    sets = [s.tolist() for s in np.split(found.order, found.starts[1:-1])]
    assert sets == twin(points, kinds, k)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_large_sets_are_cut_one_by_one_and_the_result_is_the_same(monkeypatch, threads):
    pick = np.random.default_rng(1)
    points = np.column_stack(
        [pick.integers(0, 50, 3000) / 49, pick.integers(0, GROWN.leaves + 1, 3000)]
    )
    kinds = [NUMBER, TREE]
    whole = kernel.basic_mondrian(points, model_of(kinds, points), 5, Workers("f"))
    monkeypatch.setattr(kernel, "JOB_ROWS", 200)
    pieces = kernel.basic_mondrian(points, model_of(kinds, points), 5, Workers("f", threads))
    sets = [{tuple(sorted(s)) for s in np.split(f.order, f.starts[1:-1])} for f in (whole, pieces)]
    assert sets[0] == sets[1]
    assert np.diff(whole.starts).min() >= 5
