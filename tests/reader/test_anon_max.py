"""anon_max: the upper end of whatever a release shows."""

import pytest

pytestmark = [pytest.mark.quick, pytest.mark.oldest]


@pytest.mark.parametrize(
    ("label", "wanted"),
    [("'[17, 23]'", "23"), ("'39'", "39"), ("'*'", None), ("NULL", None), ("'{a, b}'", None)],
)
def test_labels(con, label, wanted):
    assert con.execute(f"SELECT anon_max({label}::VARCHAR)").fetchall() == [(wanted,)]


def test_ends_are_the_real_extremes_of_a_class(people):
    people.execute(
        "CREATE TABLE r AS FROM rayden('people', k := 8, quasi := ['born', 'sex'], "
        "keep := ['age', 'city', 'score'])"
    )
    ends = people.execute(
        "SELECT DISTINCT anon_min(born)::DATE, anon_max(born)::DATE FROM r"
    ).fetchall()
    born = {value for (value,) in people.execute("SELECT born FROM people").fetchall()}
    assert {end for pair in ends for end in pair} <= born
    assert all(low <= high for low, high in ends)
