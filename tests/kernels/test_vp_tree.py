"""VP-tree leaves equal those of a plain recursion, whatever the threads."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.core.running import Workers
from anon_sql.kernels import vp_tree
from anon_sql.kernels.sides import Leaves
from anon_sql.kernels.vp_tree import (
    CANDIDATES,
    CHILDREN,
    CUTS,
    PER_TRY,
    SAMPLE,
    VANTAGES,
    vp_partition,
)
from tests.drawing import examples

pytestmark = pytest.mark.quick


def twin_draw(seed, at):
    z = (seed + at * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


def twin_keys(points, rows, v, metric):
    total = np.zeros(len(rows))
    for column in points.T:
        difference = np.minimum(np.abs(column[rows] - column[v]), 1.0)
        total += difference**2 if metric == "euclid" else difference
    distance = np.sqrt(total) if metric == "euclid" else total / points.shape[1]
    return [int(x) for x in np.rint(distance * 1e9)]


def twin_vantage(points, rows, metric, vantage, stream, first):
    def some(at):
        return rows[twin_draw(stream, first + at) % len(rows)]

    if vantage == "random":
        return some(0)
    if vantage == "farthest":
        keys = twin_keys(points, rows, some(0), metric)
        return rows[keys.index(max(keys))]
    sample = [some(CANDIDATES + at) for at in range(SAMPLE)]
    spreads = []
    for candidate in [some(at) for at in range(CANDIDATES)]:
        keys = [float(x) for x in twin_keys(points, sample, candidate, metric)]
        total = squares = 0.0
        for x in keys:
            total, squares = total + x, squares + x * x
        spreads.append((squares - total * total / SAMPLE, candidate))
    return max(spreads, key=lambda spread: spread[0])[1]


def twin_leaves(points, rows, k, rule, stream):
    metric, vantage, cut, tries = rule
    m = len(rows)
    for attempt in range(tries if m >= 2 * k else 0):
        v = twin_vantage(points, rows, metric, vantage, stream, CHILDREN + attempt * PER_TRY)
        keys = twin_keys(points, rows, v, metric)
        ranked = sorted(zip(keys, rows, strict=True))
        if cut == "median":
            a, b = ranked[(m - 1) // 2][0], ranked[m // 2][0]
            near = [row for x, row in ranked if 2 * x <= a + b]
        else:
            rank = (m + 1) // 2 if cut == "balanced" else k * ((m // k) // 2)
            near = [row for _, row in ranked[:rank]]
        far = sorted(set(rows) - set(near))
        if len(near) >= k and len(far) >= k:
            left = twin_leaves(points, sorted(near), k, rule, twin_draw(stream, 0))
            return left + twin_leaves(points, far, k, rule, twin_draw(stream, 1))
    return [rows]


def twin(points, k, metric, vantage, cut, tries, seed):
    rows, rule = list(range(len(points))), (metric, vantage, cut, tries)
    return twin_leaves(points, rows, k, rule, twin_draw(seed % 2**64, 0))


def partition(points, k, metric="gower", threads=1, **how):
    return vp_partition(points, k, metric=metric, workers=Workers("test", threads), **how)


def as_lists(leaves):
    return [part.tolist() for part in np.split(leaves.order, leaves.starts[1:-1])]


def mixed(n, seed):
    """Two numbers of which one has NULLs, and three categories, one of them skewed."""
    rng = np.random.default_rng(seed)
    points = np.column_stack(
        [rng.random(n), rng.integers(0, 12, n) / 11, *rng.integers(0, 6, (2, n)), np.zeros(n)]
    )
    points[:, 4] = np.minimum(rng.geometric(0.4, n), 20)
    points[rng.random(n) < 0.1, 1] = 3.0
    return points


tied = st.tuples(st.integers(1, 60), st.integers(1, 4)).flatmap(
    lambda shape: st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0, 7.0]), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)
rules = st.tuples(
    st.sampled_from(["gower", "euclid"]),
    st.sampled_from(VANTAGES),
    st.sampled_from(CUTS),
    st.sampled_from([1, 4]),
    st.integers(-(2**40), 2**64),
)


@examples(200)
@given(tied, st.integers(1, 8), rules)
def test_leaves_are_the_twins(values, k, rule):
    points = np.array(values)
    metric, vantage, cut, tries, seed = rule
    found = partition(points, k, metric, vantage=vantage, cut=cut, tries=tries, seed=seed)
    assert as_lists(found) == twin(points, k, *rule)


@pytest.mark.parametrize(("vantage", "cut"), list(product(VANTAGES, CUTS)))
def test_leaves_of_many_rows_are_the_twins(vantage, cut):
    points = mixed(6000, 3)  # above the rows that are copied side by side
    found = partition(points, 25, vantage=vantage, cut=cut, tries=2, seed=5)
    assert as_lists(found) == twin(points, 25, "gower", vantage, cut, 2, 5)


@pytest.mark.parametrize("cut", CUTS)
def test_threads_and_jobs_do_not_show(cut, monkeypatch):
    points = mixed(5000, 4)
    points[1000:3000] = points[1000]  # a node that the median cannot divide
    alone = partition(points, 4, cut=cut, tries=3, seed=2)
    for rows, threads in product((50, 1500), (1, 2, 4)):
        monkeypatch.setattr(vp_tree, "JOB_ROWS", rows)
        assert as_lists(partition(points, 4, cut=cut, tries=3, seed=2, threads=threads)) == (
            as_lists(alone)
        )


@pytest.mark.parametrize(("vantage", "k"), list(product(VANTAGES, (2, 10, 33))))
def test_leaf_sizes(vantage, k):
    points = mixed(4321, 6)
    sizes = {
        cut: np.diff(partition(points, k, vantage=vantage, cut=cut, tries=8, seed=1).starts)
        for cut in CUTS
    }
    assert min(part.min() for part in sizes.values()) >= k
    assert sizes["balanced"].max() <= 2 * k - 1
    assert (sizes["aligned"] > k).sum() <= 1
    assert sizes["aligned"].max() <= 2 * k - 1


def test_lower_position_wins_a_tie():
    same = np.zeros((10, 2))
    assert as_lists(partition(same, 5)) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert as_lists(partition(same, 3, cut="aligned")) == [[0, 1, 2], [3, 4, 5], [6, 7, 8, 9]]
    assert as_lists(partition(same, 5, cut="median", tries=8)) == [list(range(10))]


def test_more_tries_leave_fewer_large_leaves():
    points = mixed(3000, 8)[:, 2:]
    most = [np.diff(partition(points, 5, cut="median", tries=t).starts) for t in (1, 8)]
    assert len(most[0]) < len(most[1])


def test_other_seed_other_leaves():
    points = mixed(300, 9)
    assert as_lists(partition(points, 5, seed=1)) != as_lists(partition(points, 5, seed=2))


def test_below_2k_rows_there_is_one_class():
    for n in (1, 4, 9):
        leaves = partition(mixed(n, 1), 5)
        assert leaves.classes().tolist() == [0] * n


def test_leaves_and_classes_are_one_another():
    leaves = partition(mixed(500, 2), 7)
    classes = leaves.classes()
    assert (classes.dtype, leaves.order.dtype, leaves.starts.dtype) == (
        np.int32,
        np.int32,
        np.int64,
    )
    again = Leaves.of(classes)
    assert as_lists(again) == as_lists(leaves)
    assert classes[leaves.order].tolist() == sorted(classes)
