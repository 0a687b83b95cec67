"""Merging ends with legal classes, which are unions of the given ones, at the exact cost."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anon_sql.kernels import hashing
from anon_sql.kernels.merging import absorb, classes_of, merge, partner, shortfall_of
from tests.drawing import examples
from tests.kernels.legal import asked, legal, made
from tests.kernels.test_mondrian import VALUES
from tests.loss import model_of, ncp

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
