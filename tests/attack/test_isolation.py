"""isolation: which rows predicates match, by hand and against a twin; test_criteria.py has the rest."""

import numpy as np
import pytest

from anon_sql.attacks import criteria
from tests.attack.test_criteria import QUASI, made, rows


def test_by_hand(con):
    """The ends 1, 3, 5 and 9 are those of one person each but 5; a and c have one person each."""
    con.execute("CREATE OR REPLACE TABLE people (age INTEGER, city VARCHAR)")
    con.execute(
        "INSERT INTO people VALUES (1, 'a'), (3, 'b'), (5, 'b'), (5, 'b'), (7, 'c'), (9, 'b')"
    )
    con.execute("CREATE OR REPLACE TABLE release (age VARCHAR, city VARCHAR)")
    con.execute(
        "INSERT INTO release VALUES ('[1, 3]', '{a, b}'), ('[1, 3]', '{a, b}'), ('5', 'b'), ('5', 'b'), "
        "('[7, 9]', '{b, c}'), ('[7, 9]', '{b, c}')"
    )
    one, several = rows(
        con, "isolation('people', 'release', quasi := ['age', 'city'], attempts := NULL)"
    )
    assert (one["attempts"], one["successes"]) == (8, 6)  # 1, 3, 5, 7, 9; a, b, c
    assert several["attempts"] == 6
    assert 0 <= several["successes"] <= 4  # those of 5 and b match two people


def test_a_smaller_control_is_scaled_to_the_size_of_the_table(con):
    """The share of predicates that isolate depends on the number of people, and the gain does not."""
    made(con, ages=200, people=4000, control=1000)
    con.execute("CREATE OR REPLACE TABLE release AS FROM mondrian('people', k := 2, "
                "quasi := ['age', 'height', 'sex'], keep := 'illness')")  # fmt: skip
    (_, small) = rows(con, f"isolation('people', 'release', control := 'control', {QUASI})")
    made(con, ages=200, people=4000, control=4000)
    (_, equal) = rows(con, f"isolation('people', 'release', control := 'control', {QUASI})")
    assert small["rate"] == equal["rate"]
    assert small["control_rate"] == pytest.approx(equal["control_rate"], abs=0.06)


def test_counts_of_predicates_against_a_plain_twin():
    draw = np.random.default_rng(1)
    codes = draw.integers(0, 6, (50, 3))
    counts = draw.integers(1, 4, 50)

    class Groups:
        function, columns = "isolation", ()

    Groups.codes = codes
    attacked = criteria.Attacked(["a", "b", "c"], Groups, counts, 30)
    low = draw.integers(0, 6, (200, 3))
    high = np.minimum(low + draw.integers(0, 3, low.shape), 5)
    predicates = criteria.Predicates(low, high, np.full(low.shape, -1))
    orders = [np.argsort(each, kind="stable") for each in codes.T]
    raw, control = criteria._matching(attacked, predicates, orders)
    for at in range(200):
        holds = ((codes >= low[at]) & (codes <= high[at])).all(axis=1)
        assert raw[at] == counts[:30][holds[:30]].sum()
        assert control[at] == counts[30:][holds[30:]].sum()


def test_the_chance_that_one_of_them_is_drawn():
    """Against drawing: of ten rows, of which three match, four are drawn."""
    draw = np.random.default_rng(0)
    tried = [(draw.choice(10, 4, replace=False) < 3).sum() == 1 for _ in range(20_000)]
    (chance,) = criteria._one_of(np.array([3]), 10, 4)
    assert chance == pytest.approx(np.mean(tried), abs=0.015)
    assert criteria._one_of(np.array([0, 10]), 10, 4).tolist() == [0, 0]


def test_a_release_without_rows_isolates_no_one(con):
    con.execute(
        "CREATE TABLE people AS SELECT i % 7 AS age, 'c' || i % 3 AS city FROM range(30) AS t(i)"
    )
    con.execute("CREATE TABLE release AS SELECT age::VARCHAR AS age, city FROM people LIMIT 0")
    call = "('people', 'release', quasi := ['age', 'city'])"
    assert [row["attempts"] for row in rows(con, f"isolation{call}")] == [0, 0]
    (linked,) = rows(con, f"linkage{call}")
    assert (linked["rate"], linked["naive_rate"]) == (0.0, 0.0)
