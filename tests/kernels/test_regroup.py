"""Classes below k grow as a plain loop has them grow, however the work is cut into calls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.core.running import Workers
from anon_sql.kernels import regrouping as kernel
from anon_sql.kernels.regrouping import regroup
from tests.drawing import examples
from tests.kernels.test_mondrian import VALUES, tables
from tests.loss import model_of, ncp

pytestmark = pytest.mark.quick


def twin(kinds, points, classes, k):
    """Classes as lists in which the last row to come stands first, as ties are decided by it."""
    model = model_of(kinds, points)
    groups = [[r for r in range(len(points)) if classes[r] == g] for g in range(max(classes) + 1)]

    def loss(rows):
        return round(ncp(kinds, model, points[rows]) * 1e9)

    def cost(rows):
        return len(rows) * loss(rows)

    for a in range(len(groups)):
        while 0 < len(groups[a]) < k:
            others = [b for b in range(len(groups)) if b != a and groups[b]]
            own = groups[a]
            b = min(others, key=lambda b: loss(own + groups[b]))
            donors = [d for d in others if len(groups[d]) >= 2 * k - len(own)]
            if donors:
                donor = groups[min(donors, key=lambda d: loss(own + groups[d]))]
                ranked = sorted(donor, key=lambda row: loss([*own, row]))
                lent = [row for row in donor if row in ranked[: k - len(own)]]
                rest = [row for row in donor if row not in lent]
                taken = cost(own + lent) + cost(rest) - cost(own) - cost(donor)
                if taken < cost(own + groups[b]) - cost(own) - cost(groups[b]):
                    groups[groups.index(donor)] = rest[::-1]
                    groups[a] = lent[::-1] + own
                    continue
            groups[a], groups[b] = groups[b][::-1] + own, []
    found = np.empty(len(points), int)
    for at, rows in enumerate(groups):
        found[rows] = at
    return found.tolist()


def grown(kinds, points, classes, k):
    model = model_of(kinds, points)
    given_ = np.array(classes, dtype=np.int32)
    return regroup(points, model, given_, k, Workers("test")).tolist()


@examples(300)
@given(tables, st.lists(st.integers(0, 9), min_size=50, max_size=50), st.integers(1, 7))
def test_classes_are_the_twins(table, given_, k):
    kinds, rows = table
    if len(rows) < k:
        return
    points = np.array(rows)
    classes = np.unique(given_[: len(rows)], return_inverse=True)[1].tolist()
    found = grown(kinds, points, classes, k)
    assert found == twin(kinds, points, classes, k)
    assert min(np.unique(found, return_counts=True)[1]) >= k


@pytest.mark.parametrize("seed", range(4))
def test_neighbours_are_found_in_a_tree_of_several_levels(seed):
    """Classes in the order of their numbers, which parts the tree, with NULL in every column."""
    rng = np.random.default_rng(seed)
    kinds, k = ["number", "tree", "number", "set"], 3 + seed
    columns = [rng.choice(VALUES[kind], 300) for kind in kinds]
    points = np.column_stack(columns)[np.lexsort((columns[1], columns[0]))]
    classes = np.unique(np.sort(rng.integers(0, 150, 300)), return_inverse=True)[1]
    assert grown(kinds, points, classes, k) == twin(kinds, points, classes.tolist(), k)


def test_work_may_be_cut_anywhere_and_sets_may_be_large(monkeypatch):
    rng = np.random.default_rng(4)
    kinds = ["number", "set", "tree"]
    points = np.column_stack([rng.choice(VALUES[kind], 400) for kind in kinds])
    classes = np.repeat(np.arange(200), 2)
    wanted = grown(kinds, points, classes, 7)
    monkeypatch.setattr(kernel, "CALL_NODES", 1)
    assert grown(kinds, points, classes, 7) == wanted == twin(kinds, points, classes, 7)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        # 0 and .1 take in .3, which is short as well.
        ([0.0, 0.1, 0.3, 0.9, 0.95, 1.0], [0, 0, 0, 2, 2, 2]),
        # To take in five rows would cost 7 * 1; to borrow .5 costs 3 * .5 - 2 * .1 - 5 * .5 + 4 * .1.
        ([0.0, 0.1, 0.5, 0.9, 0.95, 1.0, 0.92], [0, 0, 0, 1, 1, 1, 1]),
    ],
)
def test_tables_worked_out_by_hand(values, wanted):
    points = np.array(values)[:, None]
    classes = [0, 0, 1, 2, 2, 2] if len(values) == 6 else [0, 0, 1, 1, 1, 1, 1]
    assert grown(["number"], points, classes, 3) == wanted
