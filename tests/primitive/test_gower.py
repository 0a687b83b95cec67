"""gower: Gower's distance of two records in SQL, against the gower package and by hand."""

import numpy as np
import pytest

from tests.test_roles import fails

RANGES = "MAP {'age': 50.0, 'sex': NULL}"


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ("{'age': 30, 'sex': 'f'}", "{'age': 40, 'sex': 'm'}", (10 / 50 + 1) / 2),
        ("{'age': 30, 'sex': 'f'}", "{'sex': 'f', 'age': 30, 'more': 1}", 0.0),
        ("{'age': NULL::INTEGER, 'sex': 'f'}", "{'age': 40, 'sex': 'm'}", 1.0),
        ("{'AGE': 30, 'sex': NULL::VARCHAR}", "{'age': 40, 'sex': 'm'}", 0.2),
        ("{'age': NULL::INTEGER, 'sex': 'f'}", "{'age': 1, 'sex': NULL::VARCHAR}", None),
    ],
)
def test_by_hand(con, a, b, wanted):
    found = con.sql(f"SELECT gower({a}, {b}, {RANGES})").fetchall()[0][0]
    assert found == (None if wanted is None else pytest.approx(wanted))


def test_the_gower_package_finds_the_same(people):
    import gower

    table = people.sql(
        "SELECT age, sex, city, score FROM people WHERE age IS NOT NULL AND city IS NOT NULL LIMIT 40"
    ).df()
    people.register("complete", table)
    wanted = gower.gower_matrix(table)
    found = people.sql(
        "WITH r AS (SELECT gower_ranges('complete', ['age', 'sex', 'city', 'score']) AS ranges), "
        "n AS (SELECT row_number() OVER () - 1 AS at, c AS record FROM complete AS c) "
        "SELECT a.at, b.at, gower(a.record, b.record, ranges) FROM n AS a, n AS b, r"
    ).fetchall()
    matrix = np.empty(wanted.shape)
    for a, b, distance in found:
        matrix[a, b] = distance
    assert matrix == pytest.approx(wanted, abs=1e-6)


def test_mistakes(con):
    assert fails(con, f"SELECT gower({{'age': 1}}, {{'age': 2}}, {RANGES})").startswith(
        "gower: a record must have every column of ranges, got no sex"
    )
