"""The effect of a swap or a move on the loss, compared with computing it anew from the rows."""

import numpy as np
import pytest

from anon_sql.kernels.annealing import class_state, enter, fill, leave, ncp_with
from anon_sql.kernels.distance import class_losses
from anon_sql.kernels.hashing import group
from anon_sql.kernels.loss import NUMBER, SET, TREE, LossModel

pytestmark = pytest.mark.quick

LEAVES = 5  # of the hierarchy: ((0, 1), (2, 3, 4))


def every_kind(n, seed, nulls=0.1):
    """Two numbers with ties, two sets, a set of many values, a hierarchy; NULLs in some of each."""
    rng = np.random.default_rng(seed)
    model = LossModel(
        kind=np.array([NUMBER, SET, TREE, NUMBER, SET, SET]),
        values=np.array([0, 4, 0, 0, 7, n]),
        null=np.array([3.0, 4.0, float(LEAVES), 3.0, 7.0, float(n)]),
        base=np.zeros(6, np.int64),
        last=np.array([0, 1, 2, 3, 4, 1, 4, 4]),
        parent=np.array([5, 5, 6, 6, 6, 7, 7, 7]),
        share=np.array([0, 0, 0, 0, 0, 0.4, 0.6, 1.0]),
        weight=np.ones(6),
    )
    points = np.column_stack(
        [
            rng.integers(0, 6, n) / 5,
            rng.integers(0, 4, n),
            rng.integers(0, LEAVES, n),
            rng.random(n),
            rng.integers(0, 7, n),
            rng.integers(0, n, n),
        ]
    ).astype(float)
    for column in range(3):
        points[rng.random(n) < nulls, column] = model.null[column]
    return points, model


def twin_ncp(points, model, rows):
    total = 0.0
    for column in range(points.shape[1]):
        values = points[rows, column].tolist()
        known = [value for value in values if value != model.null[column]]
        if len(known) < len(values):
            total += 1.0 if known else 0.0
        elif model.kind[column] == NUMBER:
            total += max(known) - min(known)
        elif model.kind[column] == SET:
            distinct = len(set(known))
            total += distinct / model.values[column] if distinct > 1 else 0.0
        elif len(set(known)) > 1:
            total += 0.4 if max(known) <= 1 else 0.6 if min(known) >= 2 else 1.0
    return total


def rows_of(state, at):
    return state.members[at, : state.size[at]].tolist()


def twin_ends(state, at, column):
    """Return the two smallest and the two largest numbers of a class; infinite where none is."""
    values = state.points[rows_of(state, at), column]
    known = sorted(values[values != state.model.null[column]])
    low, high = [*known, np.inf, np.inf], [-np.inf, -np.inf, *known]
    return [low[0], low[1], high[-1], high[-2]]


@pytest.mark.parametrize(("seed", "nulls"), [(1, 0.0), (2, 0.1), (3, 0.5), (4, 1.0)])
def test_every_exchange_changes_the_loss_as_counted_anew(seed, nulls):
    points, model = every_kind(60, seed, nulls)
    rng = np.random.default_rng(seed)
    classes = np.concatenate([np.arange(12), rng.integers(0, 12, 48)]).astype(np.int32)
    state = class_state(points, model, classes, 60)
    fill(state)
    for at in range(12):
        assert state.ncp[at] == pytest.approx(twin_ncp(points, model, rows_of(state, at)))
    for _ in range(400):
        row, other = rng.integers(0, 60, 2)
        here, there = state.home[row], state.home[other]
        if here == there:
            continue
        swap = rng.random() < 0.5 or state.size[here] == 1
        back = int(other) if swap else -1
        left, right = ncp_with(state, here, row, back), ncp_with(state, there, back, row)
        leave(state, here, row)
        if swap:
            leave(state, there, other)
            enter(state, here, other)
        enter(state, there, row)
        for at, found in ((here, left), (there, right)):
            assert found == pytest.approx(twin_ncp(points, model, rows_of(state, at)), abs=1e-12)
            assert found == pytest.approx(ncp_with(state, at, -1, -1), abs=1e-12)
            assert all(state.home[mine] == at for mine in rows_of(state, at))
            for column in np.flatnonzero(state.model.kind != SET):
                assert state.ends[at, column].tolist() == twin_ends(state, at, column)
    assert sorted(row for at in range(12) for row in rows_of(state, at)) == list(range(60))


def test_loss_of_many_classes_is_the_sum_of_theirs():
    points, model = every_kind(300, 5)
    classes = np.random.default_rng(5).permutation(np.arange(300) // 7).astype(np.int32)
    parts = [np.flatnonzero(classes == at) for at in range(classes.max() + 1)]
    wanted = sum(len(rows) * twin_ncp(points, model, rows) for rows in parts)
    order, starts = group(classes, len(parts))
    assert sum(class_losses(points, model, order, starts)) == pytest.approx(wanted)
    state = class_state(points, model, classes, 14)
    fill(state)
    assert float(state.size @ state.ncp) == pytest.approx(wanted)
