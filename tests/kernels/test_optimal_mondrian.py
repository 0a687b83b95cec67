"""The leaves of DOP's cuts equal those of a plain recursion that tries every cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.core.running import Workers
from anon_sql.kernels import optimal_mondrian as kernel
from anon_sql.kernels.sides import Leaves
from tests.drawing import examples
from tests.kernels.legal import asked, legal, made
from tests.kernels.test_mondrian import VALUES, ranked
from tests.loss import loss, model_of

pytestmark = pytest.mark.quick


def twin(kinds, points, clusters, k, weighted, allowed):
    """allowed: whether rows are legal as a side of a cut, apart from their number."""
    model, codes = model_of(kinds, points), ranked(kinds, points)

    def lost(rows):
        each = [round(loss(kind, model, c, points[rows, c]) * 1e9) for c, kind in enumerate(kinds)]
        if weighted:
            return len(rows) * sum(each)
        return sum(own for own, kind in zip(each, kinds, strict=True) if kind == "number")

    def cuts(rows):
        for c in range(len(kinds)):
            for value in sorted({codes[row][c] for row in rows})[1:]:
                low = [row for row in rows if codes[row][c] < value]
                yield low, [row for row in rows if codes[row][c] >= value]

    def leaves(rows):
        sides = [
            both
            for both in cuts(rows)
            if min(map(len, both)) >= k and all(allowed(side) for side in both)
        ]
        if not sides:
            return [rows]
        best = min(sides, key=lambda both: sum(map(lost, both)))
        return [leaf for side in best for leaf in leaves(side)]

    found = []
    for cluster in range(clusters.max(initial=-1) + 1):
        found += leaves(np.flatnonzero(clusters == cluster).tolist())
    return sorted(found)


def partition(kinds, points, clusters, k, rules, loss):
    leaves = kernel.optimal_mondrian(
        points,
        model_of(kinds, points),
        Leaves.of(clusters),
        k,
        rules,
        loss=loss,
        workers=Workers("test", 1),
    )
    return sorted(sorted(part.tolist()) for part in np.split(leaves.order, leaves.starts[1:-1]))


@st.composite
def tables(draw):
    kinds = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=4))
    rows = draw(
        st.lists(st.tuples(*(st.sampled_from(VALUES[k]) for k in kinds)), min_size=1, max_size=24)
    )
    labels = [draw(st.integers(0, 1)) for _ in rows]
    clusters = np.unique(labels, return_inverse=True)[1].reshape(-1)
    return kinds, np.array(rows), clusters


@examples(300)
@given(tables(), st.integers(1, 4), st.sampled_from(kernel.LOSSES))
def test_leaves_are_those_of_the_plain_recursion(table, k, loss):
    kinds, points, clusters = table
    wanted = twin(kinds, points, clusters, k, loss == "ncp", lambda rows: True)
    assert partition(kinds, points, clusters, k, None, loss) == wanted


@examples(300)
@given(asked(), st.data(), st.sampled_from(kernel.LOSSES))
def test_both_sides_of_every_cut_are_legal(table, data, loss):
    rows, how = table
    kinds = ["number", "set"]
    points = np.array([[data.draw(st.sampled_from(VALUES[kind])) for kind in kinds] for _ in rows])
    constraint, one = made(rows, how), np.zeros(len(rows), np.int64)
    found = partition(kinds, points, one, constraint.smallest, constraint.rules, loss)

    def allowed(side):
        return legal([rows[row] for row in side], rows, how)

    assert found == twin(kinds, points, one, constraint.smallest, loss == "ncp", allowed)


@pytest.mark.parametrize("loss", kernel.LOSSES)
def test_many_calls_are_one(loss, monkeypatch):
    points = np.random.default_rng(0).integers(0, 50, (400, 3)) / 49
    kinds, one = ["number"] * 3, np.zeros(400, np.int64)
    whole = partition(kinds, points, one, 5, None, loss)
    monkeypatch.setattr(kernel, "CALL_ROWS", 10)
    assert partition(kinds, points, one, 5, None, loss) == whole
    assert min(map(len, whole)) >= 5


def test_no_rows():
    assert partition(["number"], np.zeros((0, 1)), np.zeros(0, np.int64), 2, None, "lil") == [[]]
