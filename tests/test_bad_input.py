"""Mistakes people make, with the exact sentence they get."""

import duckdb
import pytest

from tests.sentence import fails

pytestmark = [pytest.mark.quick, pytest.mark.oldest]

WHOLE = "rayden: k must be a whole number of at least 1, got "


@pytest.mark.parametrize(
    ("k", "said"),
    [
        ("0", WHOLE + "0"),
        ("-1", WHOLE + "-1"),
        ("2.5", WHOLE + "2.5"),
        ("5.0", WHOLE + "5.0"),
        ("NULL", WHOLE + "NULL"),
        ("'5'", WHOLE + "a VARCHAR"),
        ("true", WHOLE + "a BOOLEAN; write k := 7, since k = 7 is a comparison"),
        ("[5]", WHOLE + "a list"),
        ("121", "rayden: k must be at most the number of rows, 120, got k := 121"),
        ("99999999999", "rayden: k must be at most the number of rows, 120, got k := 2147483647"),
    ],
)
def test_k(people, k, said):
    assert fails(people, f"FROM rayden('people', k := {k})") == said


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (
            "format := 'lable'",
            "format must be one of 'label', 'typed', 'mean', 'median', 'midpoint', got 'lable'; "
            "did you mean label? (label, typed, mean, median, midpoint)",
        ),
        (
            "format := NULL",
            "format must be one of 'label', 'typed', 'mean', 'median', 'midpoint', got NULL",
        ),
        ("suppressed := 1", "suppressed must be one of 'keep', 'drop', got 1"),
        ("seed := -1", "seed must be a whole number of at least 0, got -1"),
        ("seed := 'x'", "seed must be a whole number of at least 0, got a VARCHAR"),
        ("alpha := -0.5", "alpha must be a number of at least 0, got -0.5"),
        ("alpha := 'nan'::DOUBLE", "alpha must be a number of at least 0, got nan"),
        ("threshold := -1", "threshold must be a number of at least 0, got -1"),
        ("threshold := 'inf'::DOUBLE", "threshold must be a number of at least 0, got inf"),
        ("threshold := '2'", "threshold must be a number of at least 0, got a VARCHAR"),
        ("threshold := true", "threshold must be a number of at least 0, got a BOOLEAN"),
        ("threshold := 1, alpha := -1", "alpha must be a number of at least 0, got -1"),
        (
            "cut := 'medain'",
            "cut must be one of 'balanced', 'median', 'aligned', got 'medain'; "
            "did you mean median? (balanced, median, aligned)",
        ),
        (
            "vantage := 'spread'",
            "vantage must be one of 'random', 'max_spread', 'farthest', "
            "got 'spread'; did you mean max_spread? (random, max_spread, farthest)",
        ),
        ("tries := 0", "tries must be a whole number of at least 1, got 0"),
        (
            "repair := 'none'",
            "repair must be one of 'cap', 'merge', got 'none'; choose from cap, merge",
        ),
        ("variant := NULL", "variant must be one of 'rayden', 'tang', 'pyod', got NULL"),
        (
            "unrecovered := 'drop'",
            "unrecovered must be one of 'return', 'suppress', got 'drop'; "
            "choose from return, suppress",
        ),
    ],
)
def test_options(people, option, said):
    assert fails(people, f"FROM rayden('people', {option})") == f"rayden: {said}"


@pytest.mark.parametrize("quasi", ["'Age, city'", "['age,CITY']"])
def test_names_in_one_text(people, quasi):
    got = quasi.strip("[]")
    assert fails(people, f"FROM rayden('people', quasi := {quasi})") == (
        f"rayden: quasi must name columns of the table, got {got}; "
        "write each name as a text of its own, ['age', 'city']"
    )


def test_an_unknown_relation_is_duckdbs_own_error(con):
    with pytest.raises(duckdb.CatalogException, match="Table with name nope does not exist"):
        con.execute("FROM rayden('nope', quasi := ['a'])").fetchall()


def test_k_equals_on_a_table_with_a_column_k(con):
    con.execute("CREATE TABLE t AS SELECT i % 4 AS k, i % 3 AS a FROM range(100) r(i)")
    said = WHOLE + "a BOOLEAN; write k := 7, since k = 7 is a comparison"
    assert fails(con, "FROM rayden('t', k = 7, quasi := ['a'])") == said
    assert fails(con, "FROM rayden('t', k = 7, quasi := ['k'])") == said
    smallest = "SELECT min(n) FROM (SELECT count(*) AS n FROM rayden('t', k := 7, quasi := ['k', 'a']) GROUP BY k, a)"
    assert con.execute(smallest).fetchall()[0][0] >= 7


def test_canon_names_the_columns_that_are_text(people):
    assert fails(people, "FROM canon('people')") == (
        "canon: every quasi-identifier must be numeric, got text in city, sex; "
        "use rayden, or leave them out of quasi"
    )


def test_a_reserved_prefix(con):
    con.execute("CREATE TABLE t AS SELECT 1 AS __anon_hash, 2 AS a")
    with pytest.raises(duckdb.Error):
        con.execute("FROM rayden('t', k := 1, quasi := ['a'])").fetchall()
    con.execute("CREATE TABLE u AS SELECT 1 AS __anon_mine, 2 AS a")
    assert fails(con, "FROM rayden('u', k := 1, quasi := ['a'])") == (
        "rayden: column names must not begin with __anon_, got __anon_mine"
    )


def test_more_rows_than_fit_into_memory(con):
    con.execute("SET memory_limit = '100MiB'")
    con.execute("CREATE VIEW large AS SELECT i % 90 AS age, i % 7 AS x FROM range(5000000) r(i)")
    said = fails(con, "FROM rayden('large', k := 5, quasi := ['age', 'x'])")
    assert said.startswith("rayden: the table must fit into memory, got more than ")
    assert "0.1 GiB of memory there are at about" in said
    assert said.endswith(
        "bytes per row; raise memory_limit, or release it in parts: anon_sql.release(con, …) or anon-sql release"
    )


def test_a_failed_call_makes_no_table(people):
    with pytest.raises(duckdb.Error):
        people.execute("CREATE TABLE release AS FROM rayden('people', k := 121)")
    assert people.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'release'"
    ).fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("function", "call"),
    [
        ("anonymize", "SELECT count(*) FROM anonymize('people', k := size, {roles})"),
        ("utility", "SELECT gcp FROM utility('people', 'people', k := size, {roles})"),
        ("risk", "SELECT prosecutor FROM risk('people', threshold := 1 / size, {roles})"),
        ("audit", "SELECT max(found) FROM audit('people', 'people', k := size, {roles})"),
        ("unique_combinations", "SELECT count(*) FROM unique_combinations('people', size)"),
    ],
)
def test_a_call_runs_once_and_not_for_each_row_around_it(people, function, call):
    call = call.format(roles="quasi := ['age', 'city']")
    said = fails(people, f"SELECT ({call}) FROM (VALUES (2), (3)) AS s(size)")
    assert said == f"{function}: a call must not depend on rows of another relation, got 2 rows"
