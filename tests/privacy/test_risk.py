"""risk: of a prosecutor, a journalist and a marketer, by hand and against a plain count."""

from collections import Counter

import pytest

from tests.sentence import fails


def risk(con, released, raw="raw", quasi="['a']", **more):
    given = "".join(f", {name} := {value}" for name, value in more.items())
    found = con.execute(f"FROM risk('{raw}', '{released}', quasi := {quasi}{given})")
    assert [name for name, *_ in found.description] == [
        *("rows", "prosecutor", "prosecutor_mean", "prosecutor_at_risk"),
        *("journalist", "journalist_at_risk", "marketer", "k_map", "presence_min", "presence_max"),
        *("population_unique", "estimator", "pitman", "zayatz", "snb"),
    ]
    row = found.fetchall()[0]
    assert row[10:] == (None,) * 5  # no sample
    return row[:10]


def prosecutor(con, *given, **more):
    found = risk(con, *given, **more)
    assert found[4:] == (None,) * 6  # nobody knows the population
    return found[:4]


def test_by_hand(wards, shape):
    """Classes of 4 and 3, and 3 starred beside 2 that are left out."""
    mean = pytest.approx((1 + 1 + 3 / 5) / 10)
    assert prosecutor(wards, shape) == (10, 1 / 3, mean, 7)
    assert prosecutor(wards, shape, threshold=0.25) == (10, 1 / 3, mean, 3)
    assert prosecutor(wards, shape, threshold=0) == (10, 1 / 3, mean, 10)
    assert prosecutor(wards, shape, threshold="1 / 3") == (10, 1 / 3, mean, 0)


def test_rows_left_out_are_not_at_risk(wards):
    wards.execute("CREATE TABLE less AS FROM label WHERE a = '[0, 3]'")
    assert prosecutor(wards, "less") == (4, 0.25, 0.25, 4)


def test_an_empty_release(wards):
    wards.execute("CREATE TABLE none AS FROM label LIMIT 0")
    assert prosecutor(wards, "none") == (0, None, None, 0)


def test_against_a_plain_count(people, shape):
    people.execute(f"CREATE TABLE r AS FROM rayden('people', k := 3, format := '{shape}')")
    rows = people.execute("SELECT age, city, sex, born FROM r").fetchall()
    counts = Counter(map(repr, rows)).values()
    found = people.execute("FROM risk('people', 'r')").fetchall()[0][:4]
    at_risk = sum(count for count in counts if 1 / count > 0.2)
    assert found == (120, 1 / min(counts), pytest.approx(len(counts) / 120), at_risk)
    assert found[1] == people.execute("SELECT 1 / k_anonymity('people', 'r')").fetchall()[0][0]


def test_a_population_by_hand(wards, shape):
    """Twelve rows of the raw table and others: labels match 4 + 2, 3 + 1 and, for *, all."""
    wards.execute(
        "CREATE TABLE many AS SELECT a::BIGINT AS A FROM raw UNION ALL VALUES (0), (3), (5)"
    )
    wards.execute("INSERT INTO many VALUES (90), (NULL)")
    marketer = pytest.approx((4 / 6 + 3 / 4 + 3 / 17) / 10)
    assert risk(wards, shape, population="'many'")[4:] == (1 / 4, 3, marketer, 4, 5 / 17, 3 / 4)
    found = risk(wards, shape, population="'many'", threshold=0.05)
    assert found[3:7] == (10, 1 / 4, 10, marketer)


def test_the_table_as_its_population(wards, shape):
    """Who is left out can only be among the starred."""
    found = risk(wards, shape, population="'raw'")
    assert found[1:7] == (1 / 3, pytest.approx(2.6 / 10), 7, 1 / 3, 7, pytest.approx(2.25 / 10))
    assert found[7:] == (3, 5 / 12, 1)


def test_a_person_whom_no_label_matches_is_not_in_the_table(wards, shape):
    wards.execute(f"DELETE FROM {shape} WHERE a IS NULL OR a::VARCHAR = '*'")
    wards.execute("CREATE TABLE many AS SELECT a::BIGINT AS a FROM raw")
    assert risk(wards, shape, population="'many'")[8:] == (0, 1)
    wards.execute("DELETE FROM many WHERE a > 6")
    assert risk(wards, shape, population="'many'")[8:] == (1, 1)


def test_a_population_against_a_plain_count(people, shape):
    people.execute(f"CREATE TABLE r AS FROM anonymize('people', k := 3, format := '{shape}')")
    people.execute(
        "CREATE TABLE all_ AS FROM people UNION ALL SELECT * FROM people WHERE sex = 'f'"
    )
    people.execute("CREATE TABLE shown AS FROM anonymize('people', k := 3)")
    matches = people.execute(
        """
        SELECT f, count(*) FROM (SELECT *, count(*) AS f FROM (SELECT age, city, sex, born FROM shown) GROUP BY ALL) AS s
        JOIN all_ AS a ON
            (s.age = '*' OR s.age IS NULL AND a.age IS NULL
                OR a.age BETWEEN anon_min(s.age)::BIGINT AND anon_max(s.age)::BIGINT)
            AND (s.city = '*' OR s.city IS NULL AND a.city IS NULL
                OR list_contains(anon_values(s.city), a.city))
            AND (s.sex = '*' OR list_contains(anon_values(s.sex), a.sex))
            AND (s.born = '*' OR a.born BETWEEN anon_min(s.born)::DATE AND anon_max(s.born)::DATE)
        GROUP BY s.age, s.city, s.sex, s.born, f
        """
    ).fetchall()
    assert sum(f for f, _ in matches) == 120
    found = people.execute("FROM risk('people', 'r', 'all_', threshold := 0.1)").fetchall()[0]
    assert found[4] == 1 / min(many for _, many in matches)
    assert found[5] == sum(f for f, many in matches if many < 10)
    assert found[6] == pytest.approx(sum(f / many for f, many in matches) / 120)


def test_a_population_with_a_hierarchy(con):
    con.execute("CREATE TABLE t AS SELECT i % 10 AS a FROM range(40) AS made(i)")
    con.execute("CREATE TABLE many AS SELECT i % 10 AS a FROM range(100) AS made(i)")
    con.execute("CREATE TABLE tree AS FROM numeric_hierarchy('t', 'a', [5])")
    for shape in ("label", "typed"):
        given = "k := 12, quasi := ['a'], hierarchy := 'tree'"
        con.execute(f"CREATE OR REPLACE TABLE r AS FROM datafly('t', {given}, format := '{shape}')")
        found = con.execute(
            "FROM risk('t', 'r', 'many', quasi := ['a'], hierarchy := 'tree')"
        ).fetchall()
        assert found[0][4:7] == (1 / 50, 0, pytest.approx(2 / 5 / 20))


@pytest.mark.parametrize(
    ("population", "said"),
    [
        (
            "SELECT a FROM raw WHERE a <> 5",
            "the population must hold every row of the raw table, got a label that "
            "matches fewer people in it than rows in the release; population names a table of all who could be in the raw table",
        ),
        (
            "SELECT a AS age, s FROM raw",
            "the population must have every quasi-identifier, got no column called a; choose from age, s",
        ),
        (
            "SELECT a::VARCHAR AS a FROM raw",
            "the population's columns must have the types of the raw table's, got a as INTEGER in the "
            "raw table and as VARCHAR in the population",
        ),
    ],
)
def test_populations_that_are_none(wards, shape, population, said):
    wards.execute(f"CREATE TABLE few AS {population}")
    given = f"'raw', '{shape}', 'few', quasi := ['a']"
    assert fails(wards, f"FROM risk({given})") == f"risk: {said}"


@pytest.mark.parametrize(("threshold", "got"), [("2", "2"), ("-0.1", "-0.1"), ("NULL", "NULL")])
def test_a_threshold_that_is_none(wards, threshold, got):
    said = fails(wards, f"FROM risk('raw', 'label', quasi := ['a'], threshold := {threshold})")
    assert said == f"risk: threshold must be a number of at least 0 and at most 1, got {got}"


def test_what_it_refuses(wards, shape):
    assert fails(wards, f"FROM risk('raw', '{shape}')").startswith(
        "risk: at least one quasi-identifier is needed"
    )
    assert fails(wards, f"FROM risk('{shape}', 'raw', quasi := ['a'])").startswith(
        "risk: the raw table must come first and its release second, got "
    )
