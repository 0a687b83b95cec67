"""mondrian_cof: M-COF with its hole closed, on made data."""

import numpy as np
import pytest

from anon_sql.core.running import Workers
from anon_sql.kernels.cof import cof_score, outliers
from anon_sql.kernels.mondrian import mondrian_partition
from anon_sql.methods.method import Call
from anon_sql.methods.mondrian_cof import MondrianCof, mondrian_cof, scaled_codes
from anon_sql.privacy.constraint import Constraint
from tests.oracles import sizes, table_of

OPTIONS = {
    "alpha": 2.0,
    "partitioning": "relaxed",
    "repair": "cap",
    "unrecovered": "return",
    "distance": "gower",
    "threshold": None,
}


def call(k, **options):
    workers = Workers("mondrian_cof", 1)
    return Call("mondrian_cof", Constraint(k), 42, workers, MondrianCof(**{**OPTIONS, **options}))


def test_the_papers_hole_is_closed():
    """Line 22 to the letter leaves a class of k - 1: a class of k rows gives up its outlier."""
    rng = np.random.default_rng(0)
    points = np.vstack([rng.random((80, 2)) * 0.02, rng.random((80, 2))])
    table, k, workers = table_of(points), 10, Workers("mondrian_cof", 1)
    leaves = mondrian_partition(
        points, table.model, k, partitioning="relaxed", workers=workers
    )  # 16 leaves of 10
    scores = cof_score(points, leaves, k, metric="gower", variant="rayden", workers=workers)
    detected = outliers(scores, leaves, 2.0)
    assert np.bincount(leaves.classes()[~detected]).min() == k - 1
    for repair in ("cap", "merge"):
        found = mondrian_cof(table, call(k, repair=repair))
        assert np.bincount(found.classes).min() >= k
        assert found.stats["detected"] == detected.sum()


def test_outliers_are_mondrians_own_classes_again(people):
    """An alpha beyond every score leaves Mondrian alone; one of 0 takes many rows out."""
    plain, none, many = (
        sorted(people.execute(f"FROM {release}").fetchall(), key=str)
        for release in (
            "mondrian('people', k := 4)",
            "mondrian_cof('people', k := 4, alpha := 100)",
            "mondrian_cof('people', k := 4, alpha := 0)",
        )
    )
    assert plain == none
    assert plain != many


def test_outliers_without_a_class_of_their_own(people):
    """Fewer than k outliers return; they are left out only where that is asked for."""
    stats = (
        "SELECT detected, recovered, returned, suppressed "
        "FROM mondrian_cof_stats('people', k := 40, repair := 'merge'{})"
    )
    detected, recovered, returned, suppressed = people.execute(stats.format("")).fetchall()[0]
    assert 0 < detected < 40
    assert (recovered, returned, suppressed) == (0, detected, 0)
    dropped = people.execute(
        stats.format(", unrecovered := 'suppress', suppressed := 'drop'")
    ).fetchall()[0]
    assert dropped == (detected, 0, 0, detected)


def test_codes_are_scaled_by_the_columns_last(con):
    """'codes' makes b as near to a as to c, and a and c differ by 1; NULL is 1 from all."""
    import pyarrow as pa

    from anon_sql.core.columns import categories
    from anon_sql.kernels.distance import key, measure_of
    from anon_sql.methods.mondrian_cof import QuasiTable

    column = categories("c", pa.array(["a", "b", "c", None]))
    points = scaled_codes(QuasiTable((column,), np.arange(4)))
    assert points[:3, 0].tolist() == [0.0, 0.5, 1.0]
    measure = measure_of("euclid", 1, None)
    assert [key(points, 3, other, measure) for other in range(4)] == [10**9] * 3 + [0]


@pytest.mark.parametrize("repair", ["cap", "merge"])
@pytest.mark.parametrize("threshold", [0, 1, 1.5])
def test_every_threshold_keeps_k(people, threshold, repair):
    """Also one that makes every row an outlier."""
    options = f"threshold := {threshold}, repair := '{repair}'"
    for more in ("", ", unrecovered := 'suppress'"):
        people.execute(
            f"CREATE OR REPLACE TABLE r AS FROM mondrian_cof('people', k := 7, {options}{more})"
        )
        found = sizes(people, "r", ["age", "city", "sex", "born"])
        assert min(found) >= 7
        assert sum(found) == 120


def test_a_threshold_beyond_every_score_is_an_alpha_beyond_every_score(people):
    """One that no finite factor reaches; NULL is the rule of alpha."""
    made = [
        people.execute(f"FROM mondrian_cof('people', k := 4, {options})").fetchall()
        for options in (
            "alpha := 1e6",
            "threshold := 1e6",
            "alpha := 0",
            "alpha := 0, threshold := NULL",
        )
    ]
    assert made[0] == made[1]
    assert made[2] == made[3]
    assert made[0] != made[2]
