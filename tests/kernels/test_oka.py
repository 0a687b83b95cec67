"""OKA's classes equal those of a plain loop, however the work is cut into calls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.core.running import Workers
from anon_sql.kernels import oka as kernel
from anon_sql.kernels.oka import oka
from tests.drawing import examples
from tests.kernels.test_mondrian import VALUES, tables
from tests.kernels.test_vp_tree import twin_draw
from tests.loss import NULL, loss, model_of

pytestmark = pytest.mark.quick


def vote(values):
    """Return the winner of the running vote of Boyer and Moore."""
    chosen, count = None, 0
    for value in values:
        chosen = value if count == 0 else chosen
        count += 1 if value == chosen else -1
    return chosen


def centre(kind, values):
    if kind != "number":
        return vote(values)
    present = [round(value * 1e9) for value in values if value != NULL[kind]]
    if len(present) < max(1, len(values) - len(present)):
        return NULL[kind]
    return (2 * sum(present) + len(present)) // (2 * len(present)) / 1e9


def twin(kinds, points, k, seed):
    model, n = model_of(kinds, points), len(points)
    m = n // k

    def apart(row, middle):
        total = 0
        for c, kind in enumerate(kinds):
            two = [points[row, c], middle[c]]
            if kind == "set":
                total += model.weight[c] * (two[0] != two[1])
            else:
                total += loss(kind, model, c, two)
        return round(total * 1e9)

    def centres():
        return [
            [centre(kind, [points[r, c] for r in rows]) for c, kind in enumerate(kinds)]
            for rows in classes
        ]

    drawn = [twin_draw(seed % 2**64, row) for row in range(n)]
    classes = [[row] for row in sorted(sorted(range(n), key=lambda row: drawn[row])[:m])]
    seeds = [row for (row,) in classes]
    key = {"number": 2.1, "tree": 2.1, "set": NULL["set"]}  # where NULL stands in the order

    def ordered(row):
        values = zip(kinds, points[row], strict=True)
        return [key[kind] * 10 if value == NULL[kind] else value for kind, value in values]

    for row in sorted(range(n), key=ordered):
        if row not in seeds:
            far = [apart(row, middle) for middle in centres()]
            classes[far.index(min(far))].append(row)
    fixed, given_ = centres(), []
    for at, rows in enumerate(classes):
        rows.sort(key=lambda row: (apart(row, fixed[at]), row))
        given_ += rows[k:]
        del rows[k:]
    for row in sorted(given_, key=lambda row: drawn[row]):
        short = [at for at in range(m) if len(classes[at]) < k] or list(range(m))
        classes[min(short, key=lambda at: apart(row, fixed[at]))].append(row)
    found = np.empty(n, int)
    for at, rows in enumerate(classes):
        found[rows] = at
    return found.tolist()


def cluster(kinds, points, k, seed=42):
    model = model_of(kinds, points)
    return oka(points, model, k, seed=seed, workers=Workers("test")).tolist()


@examples(200)
@given(tables, st.integers(1, 7), st.integers(0, 2**63))
def test_classes_are_the_twins(table, k, seed):
    kinds, rows = table
    if len(rows) < k:
        return
    points = np.array(rows)
    found = cluster(kinds, points, k, seed)
    assert found == twin(kinds, points, k, seed)
    sizes = np.bincount(found)
    assert (len(sizes), min(sizes) >= k) == (len(points) // k, True)


def test_work_may_be_cut_anywhere(monkeypatch):
    rng = np.random.default_rng(4)
    kinds = ["number", "set", "tree"]
    points = np.column_stack([rng.choice(VALUES[kind], 300) for kind in kinds])
    wanted = cluster(kinds, points, 7)
    monkeypatch.setattr(kernel, "CALL_DISTANCES", 1)
    assert cluster(kinds, points, 7) == wanted == twin(kinds, points, 7, 42)


def test_a_table_worked_out_by_hand():
    """Seeds .1 and 1, k = 3: 0, .2, .3, .4 and .5 join .1, the farthest of them are given to 1."""
    points = np.array([[0.1], [1.0], [0.0], [0.2], [0.3], [0.4], [0.5]])

    def begins(seed):
        return sorted(sorted(range(7), key=lambda row: twin_draw(seed, row))[:2]) == [0, 1]

    seed = next(seed for seed in range(1000) if begins(seed))
    # Means of .1, 0, .2, .3, .4, .5: .25; nearest .2 and .3 (.05), then .1 and .4 (.15): the lower.
    found = cluster(["number"], points, 3, seed)
    assert [found[row] for row in (0, 3, 4)] == [0, 0, 0]
    assert found[1] == 1
    assert sorted(np.bincount(found).tolist()) == [3, 4]
