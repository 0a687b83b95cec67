"""workload_error: query_error, summed up."""

from statistics import mean, median

import pytest


@pytest.mark.parametrize("form", ["label", "typed"])
def test_it_is_the_summary_of_query_error(people, form):
    people.execute(f"CREATE TABLE r AS FROM rayden('people', k := 5, format := '{form}')")
    people.execute("SET VARIABLE w = (SELECT list(query) FROM query_workload('people', n := 50))")
    rows = people.execute("FROM query_error('people', 'r', getvariable('w'))").fetchall()
    found = people.execute("FROM workload_error('people', 'r', getvariable('w'))").fetchall()[0]
    errors = [row[6] for row in rows if row[6] is not None]
    assert found[0] == 50
    assert found[1:3] == pytest.approx((mean(errors), median(errors)))
    assert found[2] <= found[3] <= max(errors)
    assert found[4] == 1
    widths = [(row[5] - row[4]) / row[2] for row in rows if row[2]]
    assert found[5] == pytest.approx(median(widths))


def test_a_release_of_classes_of_one_is_without_error(people):
    people.execute("CREATE TABLE r AS FROM rayden('people', k := 1)")
    people.execute("SET VARIABLE w = (SELECT list(query) FROM query_workload('people', n := 30))")
    found = people.execute("FROM workload_error('people', 'r', getvariable('w'))").fetchall()
    assert found[0][1:] == pytest.approx((0, 0, 0, 1, 0), abs=1e-9)


def test_literal_answers_have_no_bounds(people):
    people.execute("CREATE TABLE r AS FROM rayden('people', k := 5)")
    query = "['SELECT count(*) FROM raw WHERE age > 30']"
    found = people.execute(f"FROM workload_error('people', 'r', {query}, mode := 'literal')")
    assert found.fetchall()[0][4:] == (None, None)
