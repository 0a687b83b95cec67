"""The synthetic table: who is in it depends on the seed alone, and it looks like Adult."""

import duckdb
import pytest

import anon_sql
from anon_sql import datasets
from anon_sql.datasets import MADE, QUASI
from anon_sql.errors import AnonError


@pytest.fixture(scope="module")
def con():
    connection = duckdb.connect()
    datasets.adult(connection)
    yield connection
    connection.close()


def one(con, sql):
    ((value,),) = con.execute(sql).fetchall()
    return value


def test_columns_are_adults_quasi_identifiers_and_income(con):
    columns = con.execute("DESCRIBE adult").fetchall()
    numbers = {"age", "education_num"}
    assert [(name, kind) for name, kind, *_ in columns] == [
        (name, "INTEGER" if name in numbers else "VARCHAR") for name in [*QUASI, "income"]
    ]


def test_the_table_says_that_it_is_synthetic(con):
    comment = one(con, "SELECT comment FROM duckdb_tables() WHERE table_name = 'adult'")
    assert comment == MADE
    assert comment.startswith("Generated")


def test_rows_are_those_of_seed_42(con):
    """The same on every version of DuckDB and numpy: benchmarks compare figures."""
    assert one(con, "SELECT count(*) FROM adult") == 30_000
    assert con.execute(
        "SELECT income, count(*), sum(age), sum(education_num) FROM adult "
        "GROUP BY income ORDER BY income"
    ).fetchall() == [("<=50K", 22643, 829842, 218735), (">50K", 7357, 323567, 84809)]
    assert con.execute("FROM adult LIMIT 1").fetchall() == [
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
    datasets.adult(con, 1000, table="other", seed=7, roles=False)
    datasets.adult(con, 1000, table="same", seed=7, roles=False)
    datasets.adult(con, 1000, table="first", roles=False)
    assert con.execute("FROM other").fetchall() == con.execute("FROM same").fetchall()
    assert con.execute("FROM other").fetchall() != con.execute("FROM first").fetchall()


def test_many_rows_have_every_value_and_plausible_dependencies(con):
    datasets.adult(con, 300_000, table="many", roles=False)
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
    datasets.adult(con, 200_000, table="alike", roles=False)
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
    datasets.adult(con, rows, table=f"small{rows}", roles=False)
    assert one(con, f"SELECT count(*) FROM small{rows}") == rows


@pytest.mark.parametrize("name", ["adult", "stays"])
def test_negative_rows_are_refused(con, name):
    rule = rf"^datasets\.{name}: rows must be 0 or more, got -1$"
    with pytest.raises(AnonError, match=rule):
        getattr(datasets, name)(con, -1, table="none")


def test_names_are_quoted(con):
    made = datasets.adult(con, 5, table='a"; DROP TABLE adult; --')
    assert len(made) == 5
    assert one(con, 'SELECT count(*) FROM "a""; DROP TABLE adult; --"') == 5
    assert one(con, "SELECT count(*) FROM adult") == 30_000


@pytest.mark.parametrize("make", [datasets.adult, datasets.people, datasets.stays])
def test_a_table_of_the_user_is_left_alone(make):
    con = duckdb.connect()
    assert make(con, table="mine").fetchall() == make(con, table="mine").fetchall()
    con.execute("CREATE OR REPLACE TABLE mine (own INT)")
    rule = rf"^datasets\.{make.__name__}: the database must have no other table of this name"
    with pytest.raises(AnonError, match=rule):
        make(con, table="mine")
    assert con.execute("FROM mine").fetchall() == []
    assert con.execute("DESCRIBE mine").fetchall()[0][0] == "own"


def test_adults_declare_their_roles():
    con = anon_sql.connect()
    datasets.adult(con, 200)
    assert len(con.execute("FROM rayden('adult', k := 10)").fetchall()) == 200
    declared = con.execute("SELECT role, count(*) FROM anon_roles('adult') GROUP BY ALL ORDER BY 1")
    assert declared.fetchall() == [("quasi", 8), ("sensitive", 1)]


def test_stays_are_what_roles_are_suggested_for():
    con = anon_sql.connect()
    datasets.stays(con, 300)
    suggested = dict(con.execute("SELECT column_name, role FROM suggest_roles('stays')").fetchall())
    assert suggested["name"] == suggested["email"] == "identifier"
    assert suggested["born"] == suggested["postcode"] == "quasi"
    assert suggested["diagnosis"] == "sensitive"
    assert datasets.stays(con, 0).fetchall() == []
