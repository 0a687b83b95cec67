"""Errors of DuckDB's without values: a planted text never comes through, whatever fails."""

import duckdb
import pytest

from anon_sql.hosts.duckdb.errors import error_text

pytestmark = pytest.mark.oldest

CANARY = "Zanzibarella"
HIDDEN = " (DuckDB's text is not shown: it may quote values)"


@pytest.fixture
def planted(tmp_path):
    con = duckdb.connect()
    con.execute(f"CREATE TABLE t AS SELECT '{CANARY}' AS name, 1 AS \"{CANARY} 12345\"")
    con.execute("CREATE TABLE keys(id VARCHAR PRIMARY KEY)")
    con.execute("INSERT INTO keys SELECT name FROM t")
    return con


def said(con, query):
    """What a failing statement says."""
    with pytest.raises(duckdb.Error) as caught:
        con.execute(query).fetchall()
    text = error_text(caught.value, query)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("expression", "plain"),
    [
        ("name::INT", "Conversion Error: a text cannot be cast to INT32 in column name"),
        ("name::DATE", "Conversion Error: a text cannot be cast to date in column name"),
        ("name::TIME", "Conversion Error: a text cannot be cast to time in column name"),
        (
            "name::DECIMAL(3, 1)",
            "Conversion Error: a text cannot be cast to DECIMAL in column name",
        ),
        ("name::UUID", None),
        ("name::INT[]", None),
        ("name::JSON", None),
        ("name::BIT", None),
        (
            "('x' || chr(10) || name || '''')::INT",
            "Conversion Error: a text cannot be cast to INT32",
        ),
        (
            "(300 + len(name))::TINYINT",
            "Conversion Error: a value of type INT64 cannot be cast to INT8",
        ),
        ("strptime(name, '%d')", "Invalid Input Error: a text does not have the given format"),
        ("json_extract(name, '$.a')", "Invalid Input Error: a text is not JSON"),
        (
            "2147483647::INT + len(name)::INT",
            "Out of Range Error: addition of INT32 is out of range",
        ),
        ("regexp_matches('a', name || '(')", "Invalid Input Error: a value is not accepted"),
        ("error(name)", "Invalid Input Error: a value is not accepted"),
        ("from_base64(name || '?')", "Conversion Error: a value is not accepted"),
        ("date_trunc(name, DATE '2020-01-01')", None),
        ("encode(name)::INT", None),
    ],
)
def test_values_in_expressions(planted, expression, plain):
    text = said(planted, f"SELECT {expression} FROM t")
    assert CANARY not in text
    assert text.endswith(HIDDEN)
    if plain:
        assert text == plain + HIDDEN


def test_values_in_constraints(planted):
    text = said(planted, "INSERT INTO keys SELECT name FROM t")
    assert text == "Constraint Error: a key must be unique" + HIDDEN


def test_values_in_files(planted, tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(f"a,b\n1,2\n{CANARY},3\n")
    reader = f"FROM read_csv('{path}', header := true, auto_detect := false, columns := "
    for columns in ("{'a': 'INT', 'b': 'INT'}", "{'a': 'VARCHAR'}"):
        text = said(planted, reader + columns + ")")
        assert CANARY not in text
        assert "a CSV file cannot be read at line " in text
    path.write_text(f'a,b\n1,"{CANARY}\n')
    columns = "{'a': 'INT', 'b': 'VARCHAR'}"
    assert CANARY not in said(planted, reader + columns + ", quote := '\"', strict_mode := true)")


def test_names_that_look_like_values(planted):
    text = said(planted, f"SELECT {CANARY.lower()} FROM t")
    assert CANARY not in text
    assert text.endswith("(1 that look like values are hidden)")
    assert said(planted, "SELECT nam FROM t").endswith('Candidate bindings: "name"')


def test_a_function_that_fails(planted):
    def fail(text):
        raise KeyError(text)

    planted.create_function("fail", fail, ["VARCHAR"], "VARCHAR")
    text = said(planted, "SELECT fail(name) FROM t")
    assert text == "Invalid Input Error: a function failed with KeyError" + HIDDEN


def test_sentences_of_our_own_that_sql_stops_with(people):
    people.execute("CREATE TABLE release AS FROM rayden('people', keep := ['*'])")
    query = "FROM query_error('people', 'release', ['SELECT sum(age) FROM raw'])"
    assert said(people, query).startswith("query_error: ")
    query = "SELECT anon_values('nobody', hierarchy := 'h', attribute := 'city')"
    people.execute(
        "CREATE TABLE h AS SELECT 'city' AS attribute, 'a' AS value, 1 AS level, 'b' AS label"
    )
    assert said(people, query).startswith("anon_values: a label must be a node of the hierarchy")


def test_errors_without_values_stay(planted, tmp_path):
    path = tmp_path / "small.parquet"
    path.write_text("PAR")
    assert f"File '{path}' too small to be a Parquet file" in said(planted, f"FROM '{path}'")
    assert said(planted, "SELEC 1") == 'Parser Error: syntax error at or near "SELEC"'
    assert said(planted, "FROM nowhere").startswith("Catalog Error: Table with name nowhere does")
