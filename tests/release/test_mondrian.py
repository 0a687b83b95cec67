"""mondrian on real data: k, no row lost, and less loss than the known implementations."""

import numpy as np
import pytest

from anon_sql.core.running import Workers
from anon_sql.kernels.mondrian import mondrian_partition
from anon_sql.methods.legal_classes import merge_until_legal
from anon_sql.methods.method import Call
from anon_sql.methods.mondrian import Mondrian, mondrian
from anon_sql.methods.searching import total_loss
from anon_sql.privacy.constraint import Sensitive, constraint
from anon_sql.privacy.l_diversity import LDiversity
from tests.conftest import QUASI
from tests.oracles import gcp, sizes, table_of

NUMERIC = ["age", "fnlwgt", "capital_gain", "capital_loss", "hours_per_week"]
# GCP of the Python peer, strict and relaxed, at k = 5, 25, 100.
PEER = {
    ("mixed", "strict"): [0.0938, 0.1722, 0.2767],
    ("mixed", "relaxed"): [0.0985, 0.2008, 0.3381],
    ("numeric", "strict"): [0.0260, 0.0624, 0.1110],
    ("numeric", "relaxed"): [0.0376, 0.0838, 0.1656],
}


@pytest.mark.parametrize(
    ("columns", "partitioning"),
    [
        *(("mixed", "strict"), ("numeric", "relaxed")),
        pytest.param("mixed", "relaxed", marks=pytest.mark.slow),
        pytest.param("numeric", "strict", marks=pytest.mark.slow),
    ],
)
def test_adult_satisfies_k_and_loses_less_than_the_peer(adult, columns, partitioning):
    quasi = QUASI if columns == "mixed" else NUMERIC
    adult.execute("CREATE TABLE plain AS FROM adult")  # without the comments
    for k, most in zip((5, 25, 100), PEER[columns, partitioning], strict=True):
        adult.execute(
            "CREATE OR REPLACE TABLE r AS "
            f"FROM mondrian('plain', k := {k}, partitioning := '{partitioning}', qids := {quasi}, keep := ['*'])"
        )
        found = sizes(adult, "r", quasi)
        assert min(found) >= k
        assert sum(found) == 30_162
        loss = adult.execute(f"SELECT gcp('plain', 'r', qids := {quasi})").fetchall()[0][0]
        assert loss <= most
    assert gcp(adult, "plain", "r", quasi) == pytest.approx(loss)


def test_the_next_column_is_tried_only_where_that_is_asked_for(con):
    """Both columns span 1; a cannot be cut, b can: 'widest' leaves one class."""
    con.execute(
        "CREATE TABLE t AS SELECT if(i = 0, 0, 10) AS a, i // 5 AS b FROM range(10) AS r(i)"
    )
    call = "FROM mondrian('t', k := 4, qids := ['a', 'b'], keep := ['*'], columns := '{}')"
    assert set(con.execute(call.format("widest")).fetchall()) == {("[0, 10]", "[0, 1]")}
    assert set(con.execute(call.format("any")).fetchall()) == {("[0, 10]", "0"), ("10", "1")}


def test_relaxed_classes_are_below_2k(people):
    """No two rows of this table are born on one day, so no two classes print alike."""
    for k in (3, 7, 20):
        call = f"mondrian('people', k := {k}, partitioning := 'relaxed')"
        found = sizes(people, call, ["age", "city", "sex", "born"])
        assert k <= min(found) <= max(found) <= 2 * k - 1


def test_the_cheaper_of_two_ways_is_kept():
    """Asking for l before each cut and merging after cuts for k: now one loses less, now the other."""
    better, workers = set(), Workers("test", 1)
    for rare in (0.1, 0.5):
        for seed in range(4):
            rng = np.random.default_rng(seed)
            table = table_of(rng.integers(0, 40, (200, 2)) / 39)
            words = Sensitive("w", (rng.random(200) < rare).astype(np.int32), 2, False)
            rule = constraint(3, [words], None, [LDiversity(l=2)])

            def lost(classes, table=table, rule=rule):
                return total_loss(table, merge_until_legal(table, classes, rule, workers), workers)

            ways = [
                lost(
                    mondrian_partition(
                        table.points, table.model, 3, rules, workers=workers
                    ).classes()
                )
                for rules in (rule.rules, None)
            ]
            kept = mondrian(table, Call("mondrian", rule, 42, workers, Mondrian()))
            assert lost(kept.classes) == pytest.approx(min(ways))
            better.add(int(np.argmin(ways)))
    assert better == {0, 1}
