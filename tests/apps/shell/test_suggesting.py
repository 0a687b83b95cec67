"""What Tab offers, place by place."""

import pytest

import anon_sql
from anon_sql.apps.shell.completion import present_names, suggest

ROLES = ["quasi", "sensitive", "identifiers", "keep"]


@pytest.fixture(scope="module")
def names():
    """The names of a database that no test changes."""
    with anon_sql.connect() as con:
        yield named(con)


def named(con):
    con.execute(
        'CREATE TABLE people (age INTEGER, "home town" VARCHAR, illness VARCHAR);'
        "INSERT INTO people VALUES (1, 'Bonn', 'secretive');"
        'CREATE TABLE "it\'s" (x INTEGER); CREATE SCHEMA s; CREATE TABLE s.t (y INTEGER);'
        "CREATE TEMP TABLE passing (z INTEGER); CREATE VIEW seen AS FROM people;"
        "ATTACH ':memory:' AS other; CREATE TABLE other.u (w INTEGER)"
    )
    return present_names(con)


def offered(typed, names, kind=None):
    """The texts of the suggestions, of one kind or of all."""
    return [found.text for found in suggest(typed, names) if kind in (None, found.kind)]


def test_tables_and_functions_after_from(names):
    tables = ['"it\'s"', "people", "seen", "s.t", "passing", "other.main.u"]
    assert sorted(offered("SELECT * FROM ", names, "table")) == sorted(tables)
    functions = offered("SELECT * FROM ", names, "function")
    assert {"rayden(", "anon_help(", "utility("} <= set(functions)
    assert "gcp(" not in functions
    assert offered("from PEO", names) == ["people"]
    assert offered("FROM ray", names) == ["rayden(", "rayden_stats("]


def test_tables_and_texts_as_the_first_argument(names):
    assert "'people'" in offered("FROM rayden(", names)
    assert "'\"it''s\"'" in offered("FROM rayden(", names)
    assert offered("FROM rayden('pe", names) == ["people"]
    assert offered("SELECT gcp('people', 'se", names) == ["seen"]
    assert offered("FROM rayden('people', hierarchy := 'pa", names) == ["passing"]


def test_parameters_that_are_not_given_yet(names):
    found = offered("FROM rayden('people', k := 5, ", names)
    assert found[:5] == [*(f"{role} := " for role in ROLES), "l := "]
    assert "k := " not in found
    assert offered("FROM rayden('people', se", names) == ["sensitive := ", "seed := ", "series := "]
    assert offered("FROM rayden('people', quasi := ['age', 'x'], se", names)[0] == "sensitive := "
    assert offered("SELECT round(gcp('people', 'seen', nc", names) == ["ncp := "]


def test_columns_of_the_table_that_is_named(names):
    assert offered("FROM rayden('people', quasi := ['", names) == ["age", "home town", "illness"]
    assert offered("FROM rayden('people', quasi := ['age', 'ho", names) == ["home town"]
    assert offered("FROM rayden('s.t', quasi := ['", names) == ["y"]
    assert offered("FROM people WHERE i", names, "column") == ["illness"]
    assert offered("FROM people SELECT ho", names, "column") == ['"home town"']
    assert offered('FROM people SELECT "ho', names, "column") == ['"home town"']
    assert set(offered("SELECT ", names, "column")) >= {"age", "x", "y", "z", "w"}


def test_values_that_the_help_names(names):
    assert offered("FROM rayden('people', cut := '", names) == ["balanced", "median", "aligned"]
    assert offered("FROM rayden('people', format := 't", names) == ["typed"]
    assert offered("FROM compare('people', methods := ['k_", names) == ["k_member"]
    assert offered("FROM anon_help('gow", names) == ["gower", "gower_ranges"]


def test_values_of_the_data_are_never_offered(names):
    assert offered("FROM people WHERE illness = '", names) == []
    assert offered("FROM people WHERE illness = 'secr", names) == []
    assert offered("FROM rayden('people', quasi := ['secr", names) == []


def test_words_of_sql_and_functions_of_duckdb(names):
    assert offered("SEL", names) == ["SELECT"]
    assert "regexp_matches" in offered("SELECT regexp_m", names)
    assert offered("SELECT k_anon", names) == ["k_anonymity("]


def test_commands(names):
    assert offered("\\h gow", names) == ["gower", "gower_ranges"]
    assert offered("\\d peo", names) == ["people"]


def test_a_finished_call_is_left(names):
    assert "people" in offered("FROM rayden('people') JOIN p", names)
    assert not offered("FROM rayden('people') WHERE ", names, "parameter")
    assert not offered("FROM people -- rayden(\n WHERE ", names, "parameter")


@pytest.mark.parametrize(
    "typed", ["(", ")", "'", '"', "rayden", "rayden(((", "FROM rayden(]", "😀", "$$"]
)
def test_nonsense_is_no_error(names, typed):
    for end in range(len(typed) + 1):
        suggest(typed[:end], names)


def test_a_failed_transaction_has_no_names(con):
    con.execute("BEGIN")
    try:
        con.execute("SELECT error('no')").fetchall()
    except Exception:
        assert present_names(con).tables == {}
    con.execute("ROLLBACK")
