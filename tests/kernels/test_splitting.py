"""Splitting within buckets: classes stay legal, are parts of what they were, and lose no more."""

from itertools import count, pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anon_sql.kernels import hashing
from anon_sql.kernels.legality import shortfalls
from anon_sql.kernels.splitting import (
    BUCKET_ROWS,
    different_pools,
    mark,
    mark_counted,
    ncp_below,
    outline,
    split,
    split_scratch,
)
from tests.drawing import examples
from tests.kernels.legal import asked, made
from tests.kernels.test_mondrian import VALUES
from tests.loss import model_of, ncp

pytestmark = pytest.mark.quick

KINDS = ["number", "set", "tree"]


@st.composite
def tables(draw):
    rows, how = draw(asked())
    points = [[draw(st.sampled_from(VALUES[kind])) for kind in KINDS] for _ in rows]
    return rows, how, np.array(points)


def prepared(rows, how, points):
    rules = made(rows, how).rules
    assume(rules is not None)
    rank = np.array([np.unique(c, return_inverse=True)[1] for c in points.T], np.int32)
    buckets = np.unique([str(row[:2]) for row in rows], return_inverse=True)[1].astype(np.int32)
    return rules, model_of(KINDS, points), rank, buckets


@examples(300)
@given(tables())
def test_parts_of_a_legal_class_are_legal_and_lose_no_more(table):
    rows, how, points = table
    rules, model, rank, buckets = prepared(rows, how, points)
    order, starts = hashing.group(np.zeros(len(rows), np.int32), 1)
    assume(shortfalls(rules, order, starts)[0] == 0)
    begins = split(points.T.copy(), model, rules, rank, buckets, order, starts, how["k"], 0, True)
    assert sorted(order.tolist()) == list(range(len(rows)))
    assert begins[0] == 0
    assert begins[-1] == len(rows)
    if len(begins) > 2:
        assert (shortfalls(rules, order, begins) == 0).all()
        assert np.diff(begins).min() >= how["k"]
    lost = sum((b - a) * ncp(KINDS, model, points[order[a:b]]) for a, b in pairwise(begins))
    assert lost <= len(rows) * ncp(KINDS, model, points) + 1e-9


@examples(200)
@given(tables(), st.integers(0, 12), st.booleans())
def test_what_is_split_in_two_rounds_is_what_is_split_in_one(table, until, plain):
    rows, how, points = table
    rules, model, rank, buckets = prepared(rows, how, points)
    order, starts = hashing.group(np.zeros(len(rows), np.int32), 1)
    assume(shortfalls(rules, order, starts)[0] == 0)
    given, k = (points.T.copy(), model, rules, rank, buckets), how["k"]
    later = order.copy()
    begins = split(*given, order, starts, k, 0, plain)
    first = split(*given, later, starts, k, until, plain)
    again = split(*given, later, first, k, 0, plain)
    assert set(first) <= set(again)
    assert (begins == again).all()
    assert (order == later).all()


@examples(100)
@given(tables())
def test_loss_of_rows_of_a_node(table):
    rows, how, points = table
    _, model, _, _ = prepared(rows, how, points)
    stamps, columns = count(), points.T.copy()
    scratch, node = split_scratch(len(rows), 3, 20), np.arange(len(rows))
    outline(columns, model, node, scratch, next(stamps))
    for part in [node, node[: len(rows) // 2 + 1], node[::-1][:3]]:
        lost = ncp(KINDS, model, points[part])
        for most in (np.inf, 0.0, lost / 2, lost + 1e-6):
            found = ncp_below(columns, model, part, most, scratch, next(stamps))
            assert found >= most if lost >= most else found == pytest.approx(lost)


def test_loss_of_many_rows_that_hold_all_that_their_node_holds():
    rng = np.random.default_rng(0)
    points = np.array([[rng.choice(VALUES[kind]) for kind in KINDS] for _ in range(500)])
    points[rng.random(500) < 0.5, 0] = 0.0
    model, columns, scratch = model_of(KINDS, points), points.T.copy(), split_scratch(500, 3, 20)
    node, stamps = np.arange(500), count()
    outline(columns, model, node, scratch, next(stamps))
    for part in (node[:400], node[100:], node[:70], np.flatnonzero(points[:, 0] == 0.0)):
        found = ncp_below(columns, model, part, np.inf, scratch, next(stamps))
        assert found == pytest.approx(ncp(KINDS, model, points[part]))


@examples(200)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), min_size=1, max_size=40),
    st.sampled_from([0, 1, 2, 5]),
)
def test_each_bucket_is_halved_at_its_median(pairs, pool):
    pairs.sort(key=lambda pair: pair[0])
    buckets, values = (np.array(side, np.int32) for side in zip(*pairs, strict=True))
    scratch = split_scratch(len(pairs), 1, 1)
    near, side = mark(values, buckets, pool, scratch), scratch.side
    assert near == side.sum()
    assert abs(2 * near - len(pairs)) <= 1
    if pool == 1:
        for bucket in set(buckets.tolist()):
            own = buckets == bucket
            assert abs(2 * side[own].sum() - own.sum()) <= 1
            if side[own].any() and (~side[own]).any():
                assert values[own & side].max() <= values[own & ~side].min()
    if pool == 0:
        assert values[side].max(initial=-1) <= values[~side].min()


@examples(200)
@given(st.data(), st.lists(st.integers(3, 9), min_size=2, max_size=40))
def test_the_lower_half_is_marked_by_counting_as_a_stable_sort_does(data, values):
    half = data.draw(st.integers(0, len(values) - 1))
    own, side = np.array(values, np.int32), np.ones(len(values), np.bool_)
    mark_counted(own, own.min(), own.max(), half, np.empty(8, np.int32), side)
    assert set(np.flatnonzero(side)) == set(np.argsort(own, kind="stable")[:half])


@examples(200)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=4))
def test_pools_that_group_alike_are_left_out(sizes):
    buckets = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    values = np.random.default_rng(sum(sizes)).permutation(len(buckets)).astype(np.int32)
    scratch, found = split_scratch(len(buckets), 1, 1), []
    for pool in BUCKET_ROWS:
        mark(values, buckets, pool, scratch)
        found.append(scratch.side.tolist())
    different = different_pools(buckets)
    assert all(side in found[:different] for side in found)
    assert different == 1 + (len(sizes) > 1) * (1 + (min(sizes[:-1], default=0) < BUCKET_ROWS[1]))
