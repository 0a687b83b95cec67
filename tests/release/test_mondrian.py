"""mondrian: which columns are cut, sizes of classes, and the cheaper of two ways."""

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
from tests.oracles import sizes, table_of


def test_the_next_column_is_tried_only_where_that_is_asked_for(con):
    """Both columns span 1; a cannot be cut, b can: 'widest' leaves one class."""
    con.execute(
        "CREATE TABLE t AS SELECT if(i = 0, 0, 10) AS a, i // 5 AS b FROM range(10) AS r(i)"
    )
    call = "FROM mondrian('t', k := 4, quasi := ['a', 'b'], keep := ['*'], columns := '{}')"
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
