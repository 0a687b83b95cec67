"""A hand-worked release: sensitive values of every kind, a suppressed class, a row left out.

=====  =============  =====  ====================================================
class  label of a     rows   illness (s), stage (n), ward (w, under A: x y, B: z)
=====  =============  =====  ====================================================
1      [0, 3]         4      flu flu flu gout   1 1 2 3   x x y z
2      [4, 6]         3      flu gout NULL      2 2 3     x y y
3      *              3      flu NULL NULL      3 3 3     z z z
-      left out       2      gout ulcer         1 2       x y
=====  =============  =====  ====================================================
"""

import pytest

import anon_sql
from tests.inserting import insert

ROWS = [
    *(("[0, 3]", *row) for row in (("flu", 1, "x"), ("flu", 1, "x"), ("flu", 2, "y"))),
    *(("[0, 3]", "gout", 3, "z"), ("[4, 6]", "flu", 2, "x"), ("[4, 6]", "gout", 2, "y")),
    *(("[4, 6]", None, 3, "y"), ("*", "flu", 3, "z"), ("*", None, 3, "z"), ("*", None, 3, "z")),
    *((None, "gout", 1, "x"), (None, "ulcer", 2, "y")),
]


@pytest.fixture
def wards(con):
    con.execute("CREATE TABLE raw (a INTEGER, s VARCHAR, n INTEGER, w VARCHAR)")
    con.execute("CREATE TABLE label (n INTEGER, a VARCHAR, S VARCHAR, w VARCHAR)")
    insert(con, "raw", [(a, *row[1:]) for a, row in enumerate(ROWS)])
    insert(con, "label", [(n, shown, s, w) for shown, s, n, w in ROWS if shown is not None])
    con.execute(
        "CREATE TABLE typed AS SELECT * REPLACE (CASE WHEN a <> '*' THEN "
        "{'min': anon_min(a)::INTEGER, 'max': anon_max(a)::INTEGER} END AS a) FROM label"
    )
    con.execute(
        "CREATE TABLE tree AS FROM (VALUES ('w', 'x', 1, 'A'), ('w', 'x', 2, 'all'), "
        "('w', 'y', 1, 'A'), ('w', 'y', 2, 'all'), ('w', 'z', 1, 'B'), ('w', 'z', 2, 'all')"
        ") AS made(attribute, value, level, label)"
    )
    return con


@pytest.fixture(params=["label", "typed"])
def shape(request):
    """The name of the release: each format in turn."""
    return request.param


@pytest.fixture
def wide(many_people):
    """``people`` with a column that tells nearly every row, and its release by hand: classes of
    ages, and of cities within."""
    people = many_people
    people.execute("ALTER TABLE people ADD COLUMN weight DOUBLE")
    people.execute("UPDATE people SET weight = person_id / 7")
    anon_sql.declare(people, "people", keep=["weight"])
    people.execute("CREATE TABLE r AS FROM rayden('people', k := 5)")
    return people
