"""query_workload: random queries whose selectivity is what was asked for."""

import pytest

from tests.sentence import fails


@pytest.mark.parametrize(("attributes", "wanted"), [(1, 0.05), (2, 0.05), (2, 0.2), (4, 0.1)])
def test_selectivity_is_true_and_near_the_wanted_one(people, attributes, wanted):
    rows = people.execute(
        f"FROM query_workload('people', n := 60, attributes := {attributes}, "
        f"selectivity := {wanted})"
    ).fetchall()
    assert len(rows) == 60
    assert len({query for query, _ in rows}) > 30
    for query, share in rows:
        matched = people.execute(query.replace("FROM raw", "FROM people")).fetchall()[0][0]
        assert matched == round(share * 120)
        assert query.count(" BETWEEN ") + query.count(" IN (") == attributes
    shares = sorted(share for _, share in rows)
    assert abs(shares[30] - wanted) < 0.2 * wanted


def test_the_seed_decides_whatever_the_order_of_rows(people):
    first, other = (
        people.execute(f"FROM query_workload('people', n := 20, seed := {seed})").fetchall()
        for seed in (1, 2)
    )
    assert first != other
    people.execute("CREATE TABLE mixed AS FROM people ORDER BY hash(person_id)")
    quasi = "quasi := ['age', 'city', 'sex', 'born']"
    again = people.execute(f"FROM query_workload('mixed', n := 20, seed := 1, {quasi})").fetchall()
    assert again == first


def test_what_cannot_be_drawn(people):
    def call(rest):
        return fails(people, f"FROM query_workload('people', {rest})")

    assert call("attributes := 5") == (
        "query_workload: attributes must be at most the number of quasi-identifiers, got 5 of 4"
    )
    assert call("selectivity := 2").startswith("query_workload: selectivity must be a number")
    assert call("n := 0").startswith("query_workload: n must be a whole number of at least 1")
    people.execute("CREATE TABLE none AS FROM people LIMIT 0")
    said = fails(people, "FROM query_workload('none', quasi := ['age', 'city'])")
    assert said == "query_workload: the table must have values in its quasi-identifiers"
