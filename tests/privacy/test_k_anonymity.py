"""k_anonymity: the smallest class, suppressed rows as one."""

import pytest

pytestmark = pytest.mark.quick


@pytest.fixture
def stars(con):
    """A table of 9 rows and releases of it: 4 + 3 rows, and 2 that are starred or left out."""
    con.execute("CREATE TABLE t AS SELECT i AS a FROM range(9) AS r(i)")
    con.execute(
        "CREATE TABLE r AS SELECT CASE WHEN a < 4 THEN '[0, 3]' WHEN a < 7 THEN '[4, 6]' ELSE '*' END "
        "AS a FROM t"
    )
    return con


def k(con, raw, release, **more):
    given = "".join(f", {name} := {value}" for name, value in more.items())
    return con.execute(f"SELECT k_anonymity('{raw}', '{release}'{given})").fetchall()[0][0]


def test_suppressed_rows_are_one_class(stars):
    assert k(stars, "t", "r", quasi=["a"]) == 2
    stars.execute("CREATE TABLE one AS FROM r LIMIT 8")
    assert k(stars, "t", "one", quasi=["a"]) == 2
    stars.execute("CREATE TABLE none AS FROM r WHERE a <> '*'")
    assert k(stars, "t", "none", quasi=["a"]) == 2
    stars.execute("CREATE TABLE few AS FROM t WHERE a < 7")
    assert k(stars, "few", "none", quasi=["a"]) == 3


def test_typed(stars):
    stars.execute(
        "CREATE TABLE y AS SELECT CASE WHEN a <> '*' THEN {'min': anon_min(a)::BIGINT, "
        "'max': anon_max(a)::BIGINT} END AS a FROM r"
    )
    assert k(stars, "t", "y", quasi=["a"]) == 2


def test_all_suppressed_and_nothing_at_all(stars):
    stars.execute("CREATE TABLE s AS SELECT '*' AS a FROM t")
    assert k(stars, "t", "s", quasi=["a"]) == 9
    stars.execute("CREATE TABLE none AS FROM r LIMIT 0; CREATE TABLE empty AS FROM t LIMIT 0")
    assert k(stars, "t", "none", quasi=["a"]) is None
    assert k(stars, "empty", "none", quasi=["a"]) is None


@pytest.mark.oldest
def test_by_hand(con):
    con.execute("CREATE TABLE t AS SELECT i AS a, i % 2 = 0 AS b FROM range(5) AS r(i)")
    con.execute("CREATE TABLE r AS SELECT '[0, 4]' AS a, b::VARCHAR AS b FROM t")
    assert k(con, "t", "r", quasi=["a"]) == 5
    assert k(con, "t", "r", quasi=["a", "b"]) == 2


@pytest.mark.parametrize("least", [2, 5, 10, 50])
@pytest.mark.parametrize("shape", ["label", "typed"])
def test_a_release_has_at_least_its_k(people, shape, least):
    people.execute(f"CREATE TABLE r AS FROM rayden('people', k := {least}, format := '{shape}')")
    ((smallest,),) = people.execute(
        "SELECT min(n) FROM (SELECT count(*) AS n FROM r GROUP BY age, city, sex, born)"
    ).fetchall()
    assert k(people, "people", "r") == smallest >= least
