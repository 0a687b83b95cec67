"""query_error: queries and calls that it refuses, and no error shows a value of the data."""

import re

import duckdb
import pytest

from tests.measure import test_query_error
from tests.measure.test_query_error import ask, literal
from tests.sentence import fails

con = test_query_error.con

HOSTILE = [
    ("SELECT count(*) FROM t; DROP TABLE t", "2 statements"),
    ("DROP TABLE t", "DROP"),
    ("COPY t TO 'x.csv'", "COPY"),
    ("INSERT INTO t SELECT * FROM t", "INSERT"),
    ("PRAGMA database_list", "PRAGMA"),
    ("SELECT count(*) FROM t UNION ALL SELECT 1", "UNION"),
    ("SELECT count(*) FROM other", "another table in FROM"),
    ("SELECT count(*) FROM main.other", "another table in FROM"),
    ("SELECT count(*) FROM '/etc/passwd'", "another table in FROM"),
    ("SELECT count(*) FROM 't.csv'", "another table in FROM"),
    ("SELECT count(*) FROM read_text('/etc/passwd')", "a function in FROM"),
    ("SELECT count(*) FROM glob('*')", "a function in FROM"),
    ("SELECT count(*) FROM (SELECT * FROM t)", "SUBQUERY in FROM"),
    ("SELECT count(*) FROM t, other", "JOINS"),
    ("SELECT count(*) FROM t JOIN other USING (age)", "JOINS"),
    ("SELECT count(*) FROM t AS other", "ALIAS in FROM"),
    ("SELECT count(*) FROM t TABLESAMPLE 10%", "SAMPLE in FROM"),
    ("WITH t AS (FROM other) SELECT count(*) FROM t", "WITH"),
    ("SELECT count(*) FROM t WHERE age IN (SELECT 1)", "QUERY in IN"),
    ("SELECT count(*) FROM t WHERE EXISTS (SELECT 1)", "the function exists in WHERE"),
    ("SELECT count(*) FROM t WHERE city = getenv('HOME')", "the function getenv in WHERE"),
    ("SELECT count(*) FROM t WHERE age > random()", "the function rand in WHERE"),
    ("SELECT count(*) FROM t WHERE age + 1 > 3", "ADD in WHERE"),
    ("SELECT count(*) FROM t WHERE age::VARCHAR > '3'", "CAST in WHERE"),
    ("SELECT count(*) FROM t WHERE age = ?", "PLACEHOLDER in WHERE"),
    ("SELECT count(*) FROM t WHERE age > NULL", "NULL in WHERE"),
    ("SELECT count(*) FROM t WHERE other.age > 3", "a qualified column in WHERE"),
    ("SELECT count(*) FROM t WHERE __anon_rows > 3", "a column whose name begins with __anon_"),
    ("SELECT count(*) FROM t WHERE city ILIKE 'a'", "ILIKE in WHERE"),
    ("SELECT count(*) FROM t WHERE city LIKE 'a' ESCAPE 'x'", "ESCAPE in WHERE"),
    ("SELECT count(*) FROM t WHERE TRUE", "BOOLEAN in WHERE"),
    ("SELECT count(*) FROM t WHERE 1 = 1", "EQ without a column in WHERE"),
    ("SELECT count(*) FROM t WHERE age > 1e300", "a number with an exponent beyond 2^53"),
    ("SELECT count(*) FROM t GROUP BY ALL", "ALL in GROUP BY"),
    ("SELECT ill, count(*) FROM t GROUP BY CUBE (ill)", "CUBE in GROUP BY"),
    ("SELECT count(*) FROM t HAVING count(*) > 1", "HAVING"),
    ("SELECT count(*) FROM t ORDER BY 1", "ORDER"),
    ("SELECT count(*) FROM t LIMIT 1", "LIMIT"),
    ("SELECT count(*) FROM t QUALIFY 1 = 1", "QUALIFY"),
    ("SELECT DISTINCT count(*) FROM t", "DISTINCT"),
    ("SELECT count(DISTINCT ill) FROM t", "DISTINCT in count"),
    ("SELECT count(*) FILTER (WHERE age > 3) FROM t", "FILTER in SELECT"),
    ("SELECT count(*) OVER () FROM t", "WINDOW in SELECT"),
    ("SELECT median(pay) FROM t", "the function median in SELECT"),
    ("SELECT sum(pay + 1) FROM t", "ADD in sum"),
    ("SELECT * FROM t", "STAR in SELECT"),
    ("SELECT ill, count(*) FROM t", "a column that is not in GROUP BY in SELECT"),
    ("SELECT count(*)", "a SELECT without FROM"),
    ("SELECT count(*), sum(pay) FROM t", "2; write one query for each"),
    ("SELECT sum(age) FROM t", "sum of a quasi-identifier"),
    ("SELECT city, count(*) FROM t GROUP BY city", "a quasi-identifier in GROUP BY"),
    ("SELECT count(*) FROM t WHERE age > pay", "a comparison of two columns in WHERE"),
    ("SELECT sum(ill) FROM t", "No function matches"),
    ("SELECT min(ill) FROM t", "ill of type VARCHAR"),
    ("SELECT count(*) FROM t WHERE nothing > 3", "nothing"),
    ("SELECT count(*", "what cannot be parsed"),
    ("", "nothing"),
    ("SELECT count(*) FROM t WHERE " + "(" * 4000 + "age = 1" + ")" * 4000, "cannot be parsed"),
]


@pytest.mark.parametrize(("query", "named"), HOSTILE, ids=lambda text: text[:40])
def test_all_but_one_select_over_the_raw_table_is_refused(con, query, named):
    con.execute("CREATE OR REPLACE TABLE other AS SELECT 1 AS age")
    before = con.execute("SELECT count(*) FROM t").fetchall()
    for mode in ("estimate", "literal"):
        with pytest.raises(duckdb.Error) as raised:
            ask(con, [query], "rayden", mode=mode)
        assert named in str(raised.value)
    assert con.execute("SELECT count(*) FROM t").fetchall() == before


def test_calls_that_cannot_be_answered(con):
    query = "SELECT count(*) FROM raw WHERE age > 3"

    def call(queries, rest, raw="t", released="rayden"):
        listed = ", ".join(map(literal, queries))
        return fails(con, f"FROM query_error('{raw}', '{released}', [{listed}]{rest})")

    both = ", quasi := ['age', 'city']"
    assert call([], both).startswith("query_error: queries must be a list of SELECT")
    assert call([query], both + ", mode := 'x'") == (
        "query_error: mode must be one of 'estimate', 'literal', got 'x'; "
        "choose from estimate, literal"
    )
    swapped = call(["SELECT count(*) FROM raw"], both, "rayden", "t")
    assert "the raw table must come first" in swapped
    # A generalized column that quasi leaves out would be taken for a kept one.
    wrong = call(["SELECT count(*) FROM raw WHERE city = 'a'"], ", quasi := ['age']")
    assert "name it in quasi where it is generalized" in wrong
    con.execute("CREATE OR REPLACE TABLE wide AS SELECT * REPLACE (pay::BIGINT AS pay) FROM rayden")
    assert call(["SELECT sum(pay) FROM raw"], both, released="wide") == (
        "query_error: a kept column must have one type in both, got pay as INTEGER and as BIGINT; "
        "name it in quasi where it is generalized"
    )


SECRETS = {  # values that DuckDB's errors show
    "city": ("VARCHAR", "'Bonn' || i % 3", ["= 5", "= true", "IN (1, -2)", "<> DATE '2020-01-01'"]),
    "kept": ("VARCHAR", "'Bonn' || i % 3", ["= 5", "= n", "= TIME '10:00:00'"]),
    "wide": ("HUGEINT", "'170141183460469231731687303715884105727'", ["> 0.5", "= 1.25"]),
    "part": ("DECIMAL(38,0)", "'99999999999999999999999999999999999999'", ["> 0.125"]),
    "large": ("UHUGEINT", "'340282366920938463463374607431768211455'", ["> -1", "< 7.5"]),
    "born": ("DATE", "DATE '5000000-01-01'", ["> TIMESTAMPTZ '2020-01-01 00:00:00'"]),
    "said": ("ENUM('hidden')", "'hidden'", ["= true"]),
}
SHOWN = re.compile(r"Bonn|\d{25,}|5000000|hidden")


@pytest.mark.parametrize("relation", ["s", "made"])
@pytest.mark.parametrize("quasi", [["city", "wide", "large", "born"], ["n"]])
def test_no_error_shows_a_value(con, relation, quasi):
    """As columns of the call or as kept ones; of a table and of a CTE, whose types are not known
    when the statement is bound."""
    made = ", ".join(f"({value})::{kind} AS {name}" for name, (kind, value, _) in SECRETS.items())
    con.execute(f"CREATE OR REPLACE TABLE s AS SELECT {made}, i % 7 AS n FROM range(40) AS r(i)")
    shown = ", ".join(f"{name}::VARCHAR AS {name}" for name in quasi)
    con.execute(f"CREATE OR REPLACE TABLE sr AS SELECT * REPLACE ({shown}) FROM s")
    for name, (_, _, conditions) in SECRETS.items():
        for part in [f"{name} {condition}" for condition in conditions]:
            query = literal(f"SELECT count(*) FROM raw WHERE NOT ({part}) OR n > 3")
            if "= n" in part and "n" in quasi:
                continue
            with pytest.raises(duckdb.Error) as raised:
                con.execute(
                    f"WITH made AS (FROM s) FROM query_error('{relation}', 'sr', [{query}], "
                    f"quasi := {quasi})"
                ).fetchall()
            assert not SHOWN.search(str(raised.value))
            assert f"values of its own type, got another type on {name}" in str(raised.value)


def test_texts_that_are_numbers_are_compared_as_numbers(con):
    con.execute(
        "CREATE OR REPLACE TABLE z AS SELECT '0' || i % 5 AS zip, i % 3 AS n FROM range(30) AS r(i)"
    )
    for relation in ("z", "made"):
        query = literal("SELECT count(*) FROM raw WHERE zip IN (1, 2) AND n > 0.5")
        call = f"'{relation}', 'z', [{query}], quasi := ['zip']"
        rows = con.execute(f"WITH made AS (FROM z) FROM query_error({call})").fetchall()
        assert rows[0][2:6] == (8, 8, 8, 8)
