"""The synthetic table: who is in it depends on the seed alone, and it looks like Adult."""

import duckdb
import pytest

from anon_sql.apps.cli.demo import MADE, QUASI, drop_made, make_adult_like
from anon_sql.errors import AnonError


@pytest.fixture(scope="module")
def con():
    connection = duckdb.connect()
    make_adult_like(connection)
    yield connection
    connection.close()


def one(con, sql):
    ((value,),) = con.execute(sql).fetchall()
    return value


def test_columns_are_adults_quasi_identifiers_and_income(con):
    columns = con.execute("DESCRIBE adult_like").fetchall()
    numbers = {"age", "education_num"}
    assert [(name, kind) for name, kind, *_ in columns] == [
        (name, "INTEGER" if name in numbers else "VARCHAR") for name in [*QUASI, "income"]
    ]


def test_the_table_says_that_it_is_synthetic(con):
    comment = one(con, "SELECT comment FROM duckdb_tables() WHERE table_name = 'adult_like'")
    assert comment == MADE
    assert comment.startswith("Synthetic")


def test_rows_are_those_of_seed_42(con):
    """The same on every version of DuckDB and numpy: benchmarks compare figures."""
    assert one(con, "SELECT count(*) FROM adult_like") == 30_000
    assert con.execute(
        "SELECT income, count(*), sum(age), sum(education_num) FROM adult_like "
        "GROUP BY income ORDER BY income"
    ).fetchall() == [("<=50K", 22643, 829842, 218735), (">50K", 7357, 323567, 84809)]
    assert con.execute("FROM adult_like LIMIT 1").fetchall() == [
        (
            33,
            "Private",
            13,
            "Married-civ-spouse",
            "Prof-specialty",
            "White",
            "Male",
            *("United-States", "<=50K"),
        )
    ]


def test_another_seed_gives_other_rows(con):
    make_adult_like(con, "other", rows=1000, seed=7)
    make_adult_like(con, "same", rows=1000, seed=7)
    make_adult_like(con, "first", rows=1000)
    assert con.execute("FROM other").fetchall() == con.execute("FROM same").fetchall()
    assert con.execute("FROM other").fetchall() != con.execute("FROM first").fetchall()


def test_many_rows_have_every_value_and_plausible_dependencies(con):
    make_adult_like(con, "many", rows=300_000)
    assert con.execute(
        "SELECT min(age), max(age), count(DISTINCT occupation), count(DISTINCT native_country), "
        "count(DISTINCT workclass), count(DISTINCT education_num) FROM many"
    ).fetchall() == [(17, 90, 14, 41, 7, 16)]
    share = "SELECT avg((income = '>50K')::INT) FROM many WHERE "
    assert one(con, share + "education_num >= 14") > 3 * one(con, share + "education_num < 10")
    assert one(con, share + "age < 20") < 0.01
    assert one(con, share + "true") == pytest.approx(0.249, abs=0.01)
    single = "SELECT avg((marital_status = 'Never-married')::INT) FROM many WHERE age < 20"
    assert one(con, single) == pytest.approx(0.97, abs=0.01)
    abroad = (
        "SELECT count(*) FROM many WHERE native_country = 'Vietnam' AND race = 'Asian-Pac-Islander'"
    )
    assert one(con, abroad) > one(con, abroad.replace("race =", "race <>"))
    assert (
        one(con, "SELECT count(*) FROM many WHERE occupation = 'Armed-Forces' AND sex = 'Female'")
        == 0
    )


def test_shares_match_the_real_table(con, shared_data):
    """Marginals of the complete rows of the training file, from which the figures come."""
    con.execute(
        "CREATE OR REPLACE VIEW real AS FROM read_parquet($1) WHERE split = 'train' AND workclass "
        "IS NOT NULL AND occupation IS NOT NULL AND native_country IS NOT NULL".replace(
            "$1", "'" + str(shared_data / "adult.parquet").replace("'", "''") + "'"
        )
    )
    make_adult_like(con, "alike", rows=200_000)
    for column in [*QUASI, "income"]:
        apart = one(
            con,
            f"""
            WITH a AS (SELECT {column} v, count(*) / sum(count(*)) OVER () p FROM real GROUP BY 1),
                b AS (SELECT {column} v, count(*) / sum(count(*)) OVER () p FROM alike GROUP BY 1)
            SELECT max(abs(coalesce(a.p, 0) - coalesce(b.p, 0))) FROM a FULL JOIN b USING (v)
            """,
        )
        assert apart < 0.01, column


@pytest.mark.parametrize("rows", [0, 1])
def test_small_tables(con, rows):
    make_adult_like(con, f"small{rows}", rows=rows)
    assert one(con, f"SELECT count(*) FROM small{rows}") == rows


def test_negative_rows_are_refused(con):
    with pytest.raises(AnonError, match=r"^make_adult_like: rows must be 0 or more, got -1$"):
        make_adult_like(con, "none", rows=-1)


def test_names_are_quoted(con):
    make_adult_like(con, 'a"; DROP TABLE adult_like; --', rows=5)
    assert one(con, 'SELECT count(*) FROM "a""; DROP TABLE adult_like; --"') == 5
    assert one(con, "SELECT count(*) FROM adult_like") == 30_000


def test_only_marked_tables_are_dropped():
    con = duckdb.connect()
    make_adult_like(con, "adult_like", rows=3)
    drop_made(con, ["adult_like", "adult_like_release"])
    con.execute("CREATE TABLE adult_like (mine INT)")
    with pytest.raises(AnonError, match=r"^demo: the database must have no table of this name"):
        drop_made(con, ["adult_like"])
    assert con.execute("FROM adult_like").fetchall() == []
