"""Annealing keeps the sizes of classes and returns the exact change of loss."""

import math

import numpy as np
import pytest

from anon_sql.kernels.annealing import COOLING_PROPOSALS, anneal, class_state, fill, warmth
from anon_sql.kernels.guard import guard_of, survey
from anon_sql.kernels.k_member import near_in_group
from anon_sql.kernels.legality import no_rules
from tests.kernels.legal import made
from tests.kernels.test_class_state import every_kind, rows_of, twin_ncp
from tests.kernels.test_vp_tree import twin_draw

pytestmark = pytest.mark.quick


def twin(points, model, classes, near, k, most, proposals, hot, cold, seed):
    count, heat = max(classes) + 1, hot
    # rows of a class in the order the kernel keeps them, since the draw is of a place
    members = [[row for row, own in enumerate(classes) if own == at] for at in range(count)]
    home = list(classes)

    def cost(rows):
        return len(rows) * twin_ncp(points, model, rows)

    def take(row):
        rows = members[home[row]]
        rows[rows.index(row)] = rows[-1]
        rows.pop()

    def put(row, at):
        members[at].append(row)
        home[row] = at

    for step in range(proposals):
        if step % COOLING_PROPOSALS == COOLING_PROPOSALS - 1:
            heat *= (cold / hot) ** (COOLING_PROPOSALS / proposals)
        bits, more = twin_draw(seed, 2 * step), twin_draw(seed, 2 * step + 1)
        row = ((bits & 0xFFFFFFFF) * len(home)) >> 32
        like = int(near[row][(bits >> 32) % len(near[row])])
        here, there = home[row], home[like]
        if here == there:
            continue
        a, b = members[here], members[there]
        before = cost(a) + cost(b)
        accepted = -heat * math.log(((more >> 32) + 0.5) / 2**32)
        less = [x for x in a if x != row]
        if len(a) > k and len(b) < most and cost(less) + cost([*b, row]) - before < accepted:
            take(row)
            put(row, there)
            continue
        other = b[((more & 0xFFFFFFFF) * len(b)) >> 32]
        rest = [x for x in b if x != other]
        if other != like and cost([*less, other]) + cost([*rest, row]) - before < accepted:
            take(row)
            take(other)
            put(other, here)
            put(row, there)
    return home


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_annealed_classes_are_the_twins(seed):
    points, model = every_kind(70, seed)
    classes = (np.arange(70) // 7).astype(np.int32)
    state = class_state(points, model, classes, 10)
    fill(state)
    near = near_in_group(points, model, np.random.default_rng(seed))
    before = float(state.size @ state.ncp)
    how = (5, 9, 3000, 1.0, 0.01, seed)
    guard = guard_of(no_rules(70), np.arange(70), 10, 10, 0.0)
    change = anneal(state, guard, near, how[0], how[1], how[2], how[3], how[4], np.uint64(seed))
    assert state.home.tolist() == twin(points, model, classes.tolist(), near, *how)
    assert 5 <= state.size.min() <= state.size.max() <= 9
    after = sum(state.size[at] * twin_ncp(points, model, rows_of(state, at)) for at in range(10))
    assert change == pytest.approx(after - before)
    assert change < 0


@pytest.mark.parametrize("how", [{"l": 2}, {"t": 0.1}, {"l": 2, "persons": True}])
def test_what_classes_lack_has_its_price(how):
    """Under a guard the search reduces shortfalls, and records that of each class."""
    points, model = every_kind(70, 4)
    rng = np.random.default_rng(4)
    rows = [
        (int(rng.integers(4)), "aaab"[rng.integers(4)], int(person))
        for person in rng.integers(0, 40, 70)
    ]
    asked = {"k": 5, "l": 1, "kind": "distinct", "c": 3.0, "t": 1.0, "persons": False, **how}
    rules = made(rows, asked).rules
    classes = (np.arange(70) // 7).astype(np.int32)
    state = class_state(points, model, classes, 10)
    fill(state)
    near = near_in_group(points, model, np.random.default_rng(4))
    guard = guard_of(rules, np.arange(70), 10, 10, 2.0)
    total = survey(state, guard)
    assert total > 0
    before = float(state.size @ state.ncp) + 2.0 * total
    change = anneal(state, guard, near, 5, 9, 3000, 1.0, 0.01, np.uint64(4))
    kept = guard.shortfall.copy()
    after = float(state.size @ state.ncp) + 2.0 * survey(state, guard)
    assert kept == pytest.approx(guard.shortfall)
    assert change == pytest.approx(after - before)
    assert guard.shortfall.sum() < total


def test_warmth_is_what_helpful_leavers_save():
    points, model = every_kind(40, 7)
    classes = (np.arange(40) // 8).astype(np.int32)
    state = class_state(points, model, classes, 8)
    fill(state)
    saved = []
    for at in range(5):
        rows = rows_of(state, at)
        whole = twin_ncp(points, model, rows)
        saved += [8 * (whole - twin_ncp(points, model, [x for x in rows if x != y])) for y in rows]
    helpful = [value for value in saved if value > 1e-12]
    assert warmth(state) == pytest.approx(np.mean(helpful))
    points[:] = points[0]
    state = class_state(points, model, classes, 8)
    fill(state)
    assert warmth(state) == 0.0
