"""k-member's classes equal those of a plain loop, however the work is cut into calls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.core.running import Workers
from anon_sql.errors import AnonError
from anon_sql.kernels import k_member as kernel
from anon_sql.kernels.k_member import k_member
from tests.drawing import examples
from tests.kernels.test_mondrian import VALUES, tables
from tests.kernels.test_vp_tree import twin_draw
from tests.loss import model_of, ncp

pytestmark = pytest.mark.quick


def twin(kinds, points, k, seed):
    model, n = model_of(kinds, points), len(points)
    classes, waiting, last = np.full(n, -1), list(range(n)), twin_draw(seed % 2**64, 0) % n

    def costs(rows):
        return [round(ncp(kinds, model, points[[*rows, row]]) * 1e6) for row in waiting]

    class_id = 0
    while len(waiting) >= k:
        far = costs([last])
        rows = [waiting.pop(far.index(max(far)))]
        while len(rows) < k:
            near = costs(rows)
            rows.append(waiting.pop(near.index(min(near))))
        classes[rows] = class_id
        class_id, last = class_id + 1, rows[-1]
    return classes.tolist()


def cluster(kinds, points, k, seed=42):
    model = model_of(kinds, points)
    return k_member(points, model, k, seed=seed, workers=Workers("test")).tolist()


@examples(300)
@given(tables, st.integers(1, 7), st.integers(0, 2**63))
def test_classes_are_the_twins(table, k, seed):
    kinds, rows = table
    points = np.array(rows)
    assert cluster(kinds, points, k, seed) == twin(kinds, points, k, seed)


def test_work_may_be_cut_anywhere(monkeypatch):
    rng = np.random.default_rng(4)
    kinds = ["number", "set", "tree", "number"]
    points = np.column_stack([rng.choice(VALUES[kind], 300) for kind in kinds])
    points[:, 3] = rng.random(300)
    wanted = cluster(kinds, points, 7)
    monkeypatch.setattr(kernel, "CALL_CELLS", 1)
    assert cluster(kinds, points, 7) == wanted == twin(kinds, points, 7, 42)


def test_it_stops_between_two_calls(monkeypatch):
    monkeypatch.setattr(kernel, "CALL_CELLS", 1)
    calls = []

    def asked(function):
        calls.append(function)
        if len(calls) == 3:
            raise AnonError(function, "stopped on request")

    monkeypatch.setattr("anon_sql.core.running.check", asked)
    with pytest.raises(AnonError, match="stopped on request"):
        cluster(["number"], np.linspace(0, 1, 50)[:, None], 5)
    assert len(calls) == 3


def test_a_table_worked_out_by_hand():
    """Ten numbers, k = 3: from .50 the farthest is 0, its nearest .1 and .2; then 1, and .3."""
    points = np.array([[0.5], [0.0], [1.0], [0.1], [0.9], [0.2], [0.85], [0.45], [0.55], [0.3]])
    seed = next(s for s in range(100) if twin_draw(s, 0) % 10 == 0)
    assert cluster(["number"], points, 3, seed) == [2, 0, 1, 0, 1, 0, 1, 2, -1, 2]
