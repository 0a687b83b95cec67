"""cof_score: scores within given classes, and the threshold that makes an outlier."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawing import examples
from tests.inserting import insert
from tests.sentence import fails


def classed(con, values, classes):
    con.execute("CREATE OR REPLACE TABLE t (x DOUBLE, class_id VARCHAR)")
    insert(con, "t", list(zip(values, classes, strict=True)))


def test_a_row_far_from_its_class_is_the_outlier(con):
    classed(con, [0, 1, 2, 3, 4, 5, 6, 7, 8, 60], ["a"] * 10)
    found = con.execute(
        "SELECT x, cof, outlier FROM cof_score('t', k := 3, quasi := ['x'])"
    ).fetchall()
    assert [x for x, _, outlier in found if outlier] == [60]
    assert max(found, key=lambda row: row[1])[0] == 60


@pytest.mark.parametrize("variant", ["rayden", "tang", "pyod"])
def test_scores_by_hand(con, variant):
    """Rows 0, 1, 3 scaled by 3, all others as neighbours."""
    classed(con, [0, 1, 3], ["a"] * 3)
    # neighbours by distance: 0: 1, 3; 1: 0, 3; 3: 1, 0
    cost = {
        "rayden": [1 * 1 + 2 * 2, 1 * 1 + 2 * 3, 1 * 2 + 2 * 1],  # l * d(r_l, r_l-1)
        "tang": [2 * 1 + 1 * 2, 2 * 1 + 1 * 2, 2 * 2 + 1 * 1],
        "pyod": [2 * 1 + 1 * 2, 2 * 1 + 1 * 2, 2 * 2 + 1 * 1],
    }[variant]
    wanted = [2 * cost[r] / (sum(cost) - cost[r]) for r in range(3)]
    found = con.execute(
        f"SELECT cof FROM cof_score('t', k := 2, quasi := ['x'], variant := '{variant}') ORDER BY x"
    ).fetchall()
    assert [score for (score,) in found] == pytest.approx(wanted)


def test_pyod_finds_the_same_in_sql(con):
    from pyod.models.cof import COF

    values = np.random.default_rng(5).random(60)
    classed(con, values.tolist(), ["a"] * 60)
    model = COF(n_neighbors=8, method="fast")
    model.fit(values[:, None])
    found = con.execute(
        "SELECT x, cof FROM cof_score('t', k := 8, quasi := ['x'], variant := 'pyod')"
    )
    score = dict(found.fetchall())
    assert [score[x] for x in values] == pytest.approx(model.decision_scores_, rel=1e-5)


def test_rows_without_a_class_have_no_score(con):
    classed(con, [0, 1, 2, 3, 50], ["a", "a", "a", "b", None])
    found = con.execute(
        "SELECT cof, outlier FROM cof_score('t', k := 2, quasi := ['x']) ORDER BY x"
    )
    assert found.fetchall()[3:] == [(1.0, False), (None, None)]


def test_columns_that_must_and_must_not_be_there(con):
    con.execute("CREATE TABLE t AS SELECT i % 3 AS a, i % 2 AS cof FROM range(30) r(i)")
    assert fails(con, "FROM cof_score('t', quasi := ['a'])") == (
        "cof_score: the table must not have a column cof, got cof; rename it"
    )
    con.execute("ALTER TABLE t RENAME cof TO class")
    assert fails(con, "FROM cof_score('t', quasi := ['a'])") == (
        "cof_score: classes must name a column of the table, got 'class_id'; "
        "did you mean class? (a, class)"
    )
    assert (
        len(con.execute("FROM cof_score('t', quasi := ['a'], classes := 'CLASS')").fetchall()) == 30
    )


@pytest.mark.parametrize("variant", ["rayden", "tang", "pyod"])
def test_a_threshold_is_compared_with_each_factor(con, variant):
    """In any class, infinite factors included, whatever alpha is; exactly, also at a factor."""

    @examples(25)
    @given(
        st.lists(st.tuples(st.integers(0, 6), st.sampled_from("ab")), min_size=6, max_size=25),
        st.integers(1, 6),
        st.floats(0, 3),
    )
    def holds(rows, k, drawn):
        classed(con, [x for x, _ in rows], [place for _, place in rows])
        call = f"cof_score('t', k := {k}, quasi := ['x'], variant := '{variant}'"
        factors = [f for (f,) in con.execute(f"SELECT cof FROM {call})").fetchall()]
        finite = sorted(f for f in factors if math.isfinite(f))
        for threshold in (0, 1, drawn, *finite[-1:]):
            found = con.execute(
                f"SELECT cof, outlier FROM {call}, threshold := {threshold!r}::DOUBLE, alpha := 0)"
            ).fetchall()
            assert sorted(f for f, _ in found) == sorted(factors)
            assert all(outlier == (factor > threshold) for factor, outlier in found)

    holds()


def test_no_threshold_is_the_rule_of_alpha(con):
    classed(con, [0, 1, 2, 3, 4, 5, 6, 7, 8, 60], ["a"] * 10)
    call = "FROM cof_score('t', k := 3, quasi := ['x'], alpha := 0.5{}) ORDER BY x"
    plain = con.execute(call.format("")).fetchall()
    assert con.execute(call.format(", threshold := NULL")).fetchall() == plain
    assert fails(con, call.format(", threshold := -0.1")) == (
        "cof_score: threshold must be a number of at least 0, got -0.1"
    )


def test_rows_without_a_class_are_no_outliers(con):
    classed(con, [0, 1, 2, 3, 50], ["a", "a", "a", "b", None])
    found = con.execute(
        "SELECT outlier FROM cof_score('t', k := 2, quasi := ['x'], threshold := 0)"
    )
    assert sorted(map(str, found.fetchall())) == ["(None,)"] + 4 * ["(True,)"]
