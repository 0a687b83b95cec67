"""Shortfalls while rows are exchanged, compared with those computed anew from the rows."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anon_sql.kernels.annealing import class_state, enter, fill, leave
from anon_sql.kernels.guard import exchange_price, guard_of, keep, shortfall_with, survey
from anon_sql.kernels.legality import shortfalls
from tests.drawing import examples
from tests.kernels.legal import asked, made
from tests.loss import model_of

pytestmark = pytest.mark.quick


def afresh(rules, rows):
    """Return the shortfall of rows, without that of their number."""
    rows = np.array(sorted(rows), np.int32)
    return shortfalls(
        rules._replace(k=rules.k if rules.persons else 1), rows, np.array([0, len(rows)])
    )[0]


def two_classes(rules, rows, counted):
    """Return two classes of every other row, and their guard; counted: whether keys are counted."""
    points = np.zeros((rows, 1))
    home = np.arange(rows, dtype=np.int32) % np.int32(2)
    state = class_state(points, model_of(["number"], points), home, rows + 1)
    fill(state)
    guard = guard_of(rules, np.arange(rows), 2, rows + 1, 3.0)
    return state, guard if counted else guard._replace(tally=guard.tally[:, :, :0])


@examples(300)
@given(asked(), st.booleans(), st.data())
def test_classes_without_one_row_and_with_another(table, counted, data):
    rows, how = table
    rules = made(rows, how).rules
    assume(rules is not None and len(rows) >= 4)
    state, guard = two_classes(rules, len(rows), counted)
    own, other = (set(np.flatnonzero(state.home == at).tolist()) for at in (0, 1))
    assert survey(state, guard) == pytest.approx(afresh(rules, own) + afresh(rules, other))
    out = data.draw(st.sampled_from(sorted(own)))
    back = data.draw(st.sampled_from([-1, *sorted(other)]))
    came = {back} - {-1}
    assert shortfall_with(state, guard, 0, out, back) == pytest.approx(
        afresh(rules, own - {out} | came)
    )
    assert shortfall_with(state, guard, 1, back, out) == pytest.approx(
        afresh(rules, other - came | {out})
    )
    price = exchange_price(state, guard, 0, 1, out, back, np.inf)
    after = afresh(rules, own - {out} | came) + afresh(rules, other - came | {out})
    assert price == pytest.approx(3.0 * (after - guard.shortfall.sum()))
    keep(state, guard, 0, 1, out, back)
    leave(state, 0, out)
    if back >= 0:
        leave(state, 1, back)
        enter(state, 0, back)
    enter(state, 1, out)
    assert guard.shortfall.sum() == pytest.approx(after)
    assert shortfall_with(state, guard, 0, -1, -1) == pytest.approx(guard.shortfall[0])
    assert shortfall_with(state, guard, 1, -1, -1) == pytest.approx(guard.shortfall[1])


@examples(100)
@given(asked(), st.booleans())
def test_no_more_is_counted_than_could_matter(table, counted):
    rows, how = table
    rules = made(rows, how).rules
    assume(rules is not None and len(rows) >= 4)
    state, guard = two_classes(rules, len(rows), counted)
    total = survey(state, guard)
    least = -3.0 * total - 1.0
    assert exchange_price(state, guard, 0, 1, 0, 1, least) >= least
