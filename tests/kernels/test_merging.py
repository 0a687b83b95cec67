"""Merging ends with legal classes, which are unions of the given ones, at the exact cost."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anon_sql.kernels import hashing
from anon_sql.kernels.legality import shortfalls
from anon_sql.kernels.merging import (
    absorb,
    classes_of,
    loss_below,
    merge,
    partner,
    shortfall_of,
)
from tests.drawing import examples
from tests.kernels.legal import asked, legal, made
from tests.kernels.test_mondrian import VALUES
from tests.loss import NULL, model_of, ncp

pytestmark = pytest.mark.quick

KINDS = ["number", "set", "tree"]


@st.composite
def tables(draw):
    rows, how = draw(asked())
    points = [[draw(st.sampled_from(VALUES[kind])) for kind in KINDS] for _ in rows]
    labels = [draw(st.integers(0, 6)) for _ in rows]
    classes = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    constraint = made(rows, how)
    assume(constraint.rules is not None)
    return rows, how, np.array(points), classes, constraint.rules


def state_of(points, classes, rules):
    model = model_of(KINDS, points)
    grouped = hashing.group(classes, int(classes.max()) + 1)
    return model, classes_of(points, model, rules, *grouped)


def final(state):
    last = state.becomes
    while (last[last] != last).any():
        last = last[last]
    return last


@examples(200)
@given(tables(), st.sampled_from([1, 2, 1000]))
def test_all_that_can_be_legal_is(table, steps):
    rows, how, points, classes, rules = table
    model, state = state_of(points, classes, rules)
    while merge(state, model, rules, steps):
        pass
    merged = final(state)[classes]
    groups = [
        [row for row, own in zip(rows, merged, strict=True) if own == at]
        for at in set(merged.tolist())
    ]
    assert all(legal(group, rows, how) for group in groups) or len(groups) == 1
    if legal(rows, rows, how):
        assert all(legal(group, rows, how) for group in groups)


@examples(200)
@given(tables())
def test_the_whole_table_has_no_partner(table):
    _, _, points, classes, rules = table
    model, state = state_of(points, np.zeros_like(classes), rules)
    assert merge(state, model, rules, 10) == 0
    assert state.becomes.tolist() == [0]


@examples(200)
@given(tables())
def test_a_class_that_took_others_in_is_known_exactly(table):
    _, _, points, classes, rules = table
    assume(classes.max() > 0)
    model, state = state_of(points, classes, rules)
    while (state.size > 0).sum() > 1:
        a = int(np.flatnonzero(state.size > 0)[0])
        absorb(state, model, rules, a, partner(state, model, rules, a))
        merged = final(state)[classes]
        _, fresh = state_of(
            points, np.unique(merged, return_inverse=True)[1].astype(np.int32), rules
        )
        alive = np.flatnonzero(state.size > 0)
        for at, own in enumerate(alive):
            assert state.size[own] == fresh.size[at]
            assert state.ncp[own] == pytest.approx(ncp(KINDS, model, points[merged == own]))
            assert state.shortfall[own] == pytest.approx(fresh.shortfall[at])
        chain = [alive[0]]
        while state.after[chain[-1]] != chain[-1]:
            chain.append(state.after[chain[-1]])
        assert chain == alive.tolist()


@examples(200)
@given(tables())
def test_the_partner_is_the_cheapest_for_what_it_mends(table):
    _, _, points, classes, rules = table
    assume(classes.max() > 0)
    model, state = state_of(points, classes, rules)
    a = 0
    best, least = [], []
    for b in range(1, classes.max() + 1):
        whole = loss_below(state, model, a, b, np.inf)
        for most in (0.0, whole / 2, whole, np.nextafter(whole, 9)):
            assert loss_below(state, model, a, b, most) == (np.inf if whole >= most else whole)
        both = points[(classes == a) | (classes == b)]
        cost = len(both) * ncp(KINDS, model, both) - sum(
            state.size[own] * state.ncp[own] for own in (a, b)
        )
        mended = state.shortfall[a] + state.shortfall[b] - shortfall_of(state, rules, a, b)
        least.append(cost)
        if mended > 0:
            best.append(cost / mended)
    got = partner(state, model, rules, a)
    both = points[(classes == a) | (classes == got)]
    cost = len(both) * ncp(KINDS, model, both) - sum(
        state.size[own] * state.ncp[own] for own in (a, got)
    )
    if best:
        mended = state.shortfall[a] + state.shortfall[got] - shortfall_of(state, rules, a, got)
        assert cost / mended == pytest.approx(min(best))
    else:
        assert cost == pytest.approx(min(least))


class Twin:
    """Classes that merge, as lists of rows: what they fall short of and lose is counted afresh."""

    def __init__(self, points, classes, rules, model):
        self.points, self.rules, self.model = points, rules, model
        self.rows = {own: np.flatnonzero(classes == own) for own in set(classes.tolist())}

    def shortfall(self, rows):
        return shortfalls(self.rules, rows.astype(np.int32), np.array([0, len(rows)]))[0]

    def lost(self, rows):
        return len(rows) * ncp(KINDS, self.model, self.points[rows])

    def urgency(self, own):
        return self.shortfall(self.rows[own]) / len(self.rows[own])

    def costs(self, a):
        """Return cost for what is mended, and cost, of the other classes."""
        found = {}
        for b, rows in self.rows.items():
            if b != a:
                both, own = np.concatenate([self.rows[a], rows]), self.rows[a]
                cost = self.lost(both) - self.lost(own) - self.lost(rows)
                mended = self.shortfall(own) + self.shortfall(rows) - self.shortfall(both)
                found[b] = cost / mended if mended > 1e-12 else np.inf, cost
        return found


@examples(150)
@given(tables())
def test_each_merge_is_the_twins(table):
    _, _, points, classes, rules = table
    model, state = state_of(points, classes, rules)
    twin = Twin(points, classes, rules, model)
    while len(twin.rows) > 1:
        size, before = state.size.copy(), max(map(twin.urgency, twin.rows))
        left = merge(state, model, rules, 1)
        (taken,) = np.flatnonzero((size > 0) & (state.size == 0)).tolist() or [None]
        if taken is None:
            assert before == left == 0
            break
        own = int(state.becomes[taken])
        assert twin.urgency(own) == pytest.approx(before)
        costs = twin.costs(own)
        best, cheapest = (min(each) for each in zip(*costs.values(), strict=True))
        got = costs[taken]
        assert got[0] == pytest.approx(best) if best < np.inf else got[1] == pytest.approx(cheapest)
        twin.rows[own] = np.concatenate([twin.rows[own], twin.rows.pop(taken)])
        assert left == 0 or left == len(twin.rows)


@examples(150)
@given(tables())
def test_sets_of_many_codes_are_lists(table):
    _, _, points, classes, rules = table
    model, state = state_of(points, classes, rules)
    spread = points.copy()
    spread[:, 1] = np.where(points[:, 1] == NULL["set"], 100.0, points[:, 1] * 20)
    longer = model._replace(null=np.array([NULL["number"], 100.0, NULL["tree"]]))
    many = classes_of(spread, longer, rules, *hashing.group(classes, int(classes.max()) + 1))
    assert many.ncp.tolist() == state.ncp.tolist()
    assert not many.masks.any()
    while merge(state, model, rules, 1):
        merge(many, longer, rules, 1)
        assert many.becomes.tolist() == state.becomes.tolist()
        assert many.ncp.tolist() == state.ncp.tolist()
