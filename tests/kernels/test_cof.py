"""COF, compared with a plain implementation of the papers and with PyOD."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.core.running import Workers
from anon_sql.kernels import cof
from anon_sql.kernels.cof import VARIANTS, cof_score, cof_threshold, outliers
from anon_sql.kernels.sides import Leaves
from tests.drawing import examples

pytestmark = pytest.mark.quick


def twin_distance(a, b, metric):
    difference = [min(abs(x - y), 1.0) for x, y in zip(a, b, strict=True)]
    if metric == "euclid":
        return Fraction(round(sum(x * x for x in difference) ** 0.5 * 1e9), 10**9)
    return Fraction(round(sum(difference) / len(difference) * 1e9), 10**9)


def twin_cof(rows, k, metric, variant):
    """COF of the rows of one leaf, in exact arithmetic."""
    m, k = len(rows), min(k, len(rows) - 1)
    d = [[twin_distance(a, b, metric) for b in rows] for a in rows]
    near = [sorted(set(range(m)) - {r}, key=lambda o, r=r: (d[r][o], o))[:k] for r in range(m)]

    def chaining(r):
        path, costs, waiting = [r], [], list(near[r])
        for l in range(k):  # noqa: E741
            if variant == "tang":
                gap = {o: min(d[o][p] for p in path) for o in waiting}
                o = min(waiting, key=lambda o: (gap[o], o))
                waiting.remove(o)
            else:
                o = near[r][l]
            steps = path[-1:] if variant == "rayden" else path
            costs.append(min(d[o][p] for p in steps))
            path.append(o)
        weights = range(1, k + 1) if variant == "rayden" else range(k, 0, -1)
        return Fraction(2, k * (k + 1)) * sum(w * c for w, c in zip(weights, costs, strict=True))

    if m == 1:
        return [1.0]
    ac = [chaining(r) for r in range(m)]
    scores = []
    for r in range(m):
        around = sum(ac[o] for o in near[r])
        scores.append(float(k * ac[r] / around) if around else (np.inf if ac[r] else 1.0))
    return scores


def score(points, leaves, k, metric="gower", variant="rayden", threads=1):
    return cof_score(
        points, leaves, k, metric=metric, variant=variant, workers=Workers("test", threads)
    )


def one_leaf(n):
    return Leaves.of(np.zeros(n, np.int32))


tied = st.tuples(st.integers(1, 25), st.integers(1, 3)).flatmap(
    lambda shape: st.lists(
        st.lists(st.sampled_from([0.0, 0.2, 0.5, 3.0, 7.0]), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)
settled = examples(100)
chosen = st.tuples(
    st.integers(1, 12), st.sampled_from(["gower", "euclid"]), st.sampled_from(VARIANTS)
)


@settled
@given(tied, chosen, st.integers(1, 4))
def test_scores_are_the_twins(values, how, classes):
    points = np.array(values)
    leaves = Leaves.of(np.unique(np.arange(len(points)) % classes, return_inverse=True)[1])
    found = score(points, leaves, *how)
    for part in np.split(leaves.order, leaves.starts[1:-1]):
        expected = twin_cof(points[part].tolist(), *how)
        np.testing.assert_allclose(found[part], expected, rtol=1e-12)


@pytest.mark.slow
@settled
@given(tied, chosen)
def test_a_leaf_too_large_for_a_square_scores_the_same(values, how):
    points = np.array(values)
    square = score(points, one_leaf(len(points)), *how)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cof, "MATRIX_ROWS", 1)
        patch.setattr(cof, "JOB_DISTANCES", 40)
        walked = score(points, one_leaf(len(points)), *how)
    np.testing.assert_array_equal(square, walked)


@pytest.mark.parametrize("variant", VARIANTS)
def test_threads_and_jobs_do_not_show(variant, monkeypatch):
    points = np.random.default_rng(1).integers(0, 4, (3000, 3)) / 3
    sizes = [2500, 1, 2, 17, 480]
    leaves = Leaves.of(np.repeat(range(5), sizes))
    alone = score(points, leaves, 7, variant=variant)
    for job, threads in ((1000, 1), (1000, 4), (100_000, 2)):
        monkeypatch.setattr(cof, "JOB_DISTANCES", job)
        again = score(points, leaves, 7, variant=variant, threads=threads)
        np.testing.assert_array_equal(again, alone)


@pytest.mark.parametrize("k", [2, 4, 10, 59])  # PyOD takes no 1
def test_pyod_variant_is_pyods(k):
    PyodCof = pytest.importorskip("pyod.models.cof").COF
    points = np.random.default_rng(k).random((60, 3))
    theirs = PyodCof(n_neighbors=k, method="memory").fit(points).decision_scores_
    found = score(points, one_leaf(60), k, "euclid", "pyod")
    np.testing.assert_allclose(found, theirs, rtol=1e-6)


def test_one_neighbour_is_the_same_path_in_every_variant():
    points = np.random.default_rng(2).random((40, 2))
    scores = [score(points, one_leaf(40), 1, variant=variant) for variant in VARIANTS]
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])


def test_rows_that_coincide():
    assert score(np.zeros((6, 2)), one_leaf(6), 3).tolist() == [1.0] * 6
    apart = np.array([[0.0]] * 5 + [[1.0]])
    scores = score(apart, one_leaf(6), 2)
    assert scores.tolist() == [1.0] * 5 + [np.inf]
    assert outliers(scores, one_leaf(6), 2.0).tolist() == [False] * 5 + [True]


def test_threshold_is_mean_plus_alpha_deviations_of_finite_scores():
    scores = np.array([1.0, 5.0, np.inf, 2.0, 2.0, 8.0, 7.0])
    leaves = Leaves.of(np.array([0, 0, 0, 1, 1, 1, 2]))
    found = cof_threshold(scores, leaves.order, leaves.starts, 0.5)
    np.testing.assert_allclose(found, [3 + 0.5 * 2, 4 + 0.5 * np.std([2, 2, 8]), 7])
    assert outliers(scores, leaves, 0.5).tolist() == [False, True, True, False, False, True, False]


@settled
@given(st.integers(1, 5), st.integers(0, 10_000), st.sampled_from(VARIANTS))
def test_no_outlier_in_five_rows_at_alpha_2(n, seed, variant):
    points = np.random.default_rng(seed).random((n, 2))
    leaves = one_leaf(n)
    assert not outliers(score(points, leaves, 10, variant=variant), leaves, 2.0).any()


@pytest.mark.parametrize("alpha", [0.0, 1.0, 3.0])
def test_equal_scores_have_no_outlier(alpha):
    scores = np.full(7, 0.1 + 0.2)
    assert not outliers(scores, one_leaf(7), alpha).any()
