"""ledger_new: the rows of persons whom no release holds."""

import pytest

import anon_sql
from tests.ledger.released import KEY, enter
from tests.sentence import fails


@pytest.fixture
def months(con):
    """Two months in the ledger, and a third with several rows for each person."""
    anon_sql.ledger(con)
    for name, low in (("may", 0), ("june", 10)):
        con.execute(
            f"CREATE TABLE {name} AS SELECT 'p' || i AS person FROM range({low}, {low + 20}) t(i)"
        )
        enter(con, name, name)
    con.execute(
        "CREATE TABLE july AS SELECT n, NULL::VARCHAR AS x, 'p' || i AS Person "
        "FROM range(25, 35) t(i), range(3) u(n)"
    )
    return con


def test_new_persons_only(months):
    call = "FROM ledger_new('july', 'anon_ledger', entity := 'perSON', key := $key)"
    found = months.execute(f"SELECT * {call} ORDER BY ALL", {"key": KEY})
    assert [column[0] for column in found.description] == ["n", "x", "Person"]
    assert found.fetchall() == [(n, None, f"p{i}") for n in range(3) for i in range(30, 35)]
    enter(months, "july", "july", entity="Person")
    assert months.execute(call, {"key": KEY}).fetchall() == []


@pytest.mark.parametrize(
    "column", ['Per"son', "SELECT 'é' x", " person", "entity", "key_check", "*"]
)
def test_a_column_may_have_any_name(con, column):
    anon_sql.ledger(con)
    quoted = '"' + column.replace('"', '""') + '"'
    con.execute(f"CREATE TABLE may AS SELECT i AS {quoted}, 7 AS digest FROM range(9) t(i)")
    con.execute(f"CREATE TABLE june AS SELECT i AS {quoted} FROM range(5, 12) t(i)")
    enter(con, "may", "May", entity=column)
    found = con.execute(
        "FROM ledger_new('june', 'anon_ledger', entity := $entity, key := $key) ORDER BY ALL",
        {"entity": column, "key": KEY},
    )
    assert found.fetchall() == [(9,), (10,), (11,)]


@pytest.mark.parametrize("column", ["__anon_person_x", "__anon_zero", "__ANON_PERSON_0"])
def test_a_column_of_our_own_names_is_refused_and_loses_no_row(con, column):
    anon_sql.ledger(con)
    con.execute(f"CREATE TABLE may AS SELECT i AS person, 7 AS {column} FROM range(9) t(i)")
    call = f"FROM ledger_new('may', 'anon_ledger', entity := 'person', key := '{KEY}')"
    assert fails(con, call) == (
        f"ledger_new: column names must not begin with __anon_, got {column}"
    )


def test_a_ledger_without_entries(con):
    anon_sql.ledger(con)
    con.execute("CREATE TABLE may AS SELECT i AS person FROM range(9) t(i)")
    call = f"FROM ledger_new('may', 'anon_ledger', entity := 'person', key := '{KEY}')"
    assert len(con.execute(call).fetchall()) == 9
    con.execute("DELETE FROM may")
    assert con.execute(call).fetchall() == []


def test_what_it_refuses(months):
    call = "FROM ledger_new('july', 'anon_ledger', entity := '{}', key := '{}')"
    assert fails(months, call.format("person", "another secret key")) == (
        "ledger_new: key must be the one that all entries of the ledger were made with"
    )
    assert fails(months, call.format("x", KEY)).startswith(
        "ledger_new: entity must say whose each row is, got NULL; leave"
    )
    assert fails(months, call.format("who", KEY)).startswith(
        "ledger_new: entity must name a column of the table, got 'who'; choose from"
    )


@pytest.mark.parametrize("function", ["ledger_new", "ledger_overlap"])
def test_a_table_that_is_no_ledger(months, function):
    months.execute("CREATE TABLE other AS SELECT 1 AS release")
    asked = f"FROM {function}('may', 'other', entity := 'person', key := '{KEY}')"
    assert fails(months, asked) == (
        f"{function}: ledger must be a ledger, got a table with other columns; "
        "anon_sql.ledger(con, 'anon_ledger') makes one"
    )


@pytest.fixture
def newcomers(con):
    """Four new persons, two rows each, with two values of one column and three of the other."""
    anon_sql.ledger(con)
    con.execute(
        "CREATE TABLE may AS SELECT i AS person, 0 AS ill, 'x' AS \"a'd\" FROM range(20) t(i)"
    )
    enter(con, "may", "May")
    con.execute(
        "CREATE TABLE june AS FROM may UNION ALL SELECT 100 + i, [1, 2, NULL][1 + i % 3], 'v' || i % 3 "
        "FROM range(4) t(i), range(2)"
    )
    return con


def asked(con, more, call="SELECT count(DISTINCT person) FROM ledger_new"):
    found = con.execute(f"{call}('june', 'anon_ledger', entity := 'person', key := '{KEY}'{more})")
    return found.fetchall()


OVERLAP = "SELECT persons, shared, round(share, 3) FROM ledger_overlap"


@pytest.mark.parametrize(
    ("more", "waiting"),
    [
        ("k := 4", 0),
        ("k := 5", 4),
        ("l := 2, sensitive := 'ill'", 0),
        ("l := 3, sensitive := 'ILL'", 4),  # NULL does not count
        ("k := 4, l := 3, sensitive := ['a''d']", 0),
        ("k := 4, l := 3, sensitive := ['a''d', 'ill']", 4),
        ("k := NULL, l := NULL", 0),
    ],
)
def test_new_persons_wait_until_there_are_enough(newcomers, more, waiting):
    assert asked(newcomers, f", {more}") == [(4 - waiting,)]
    found = asked(newcomers, f", {more}", OVERLAP)
    assert found == [(20, 20, 0.833), *[(4, 4, 0.167)] * (waiting > 0)]


def test_who_waits_comes_with_the_next(newcomers):
    """Nobody is entered who was not released, and nobody is lost."""
    selected = (
        "CREATE OR REPLACE TABLE new AS FROM ledger_new('{}', 'anon_ledger', entity := 'person', "
    )
    newcomers.execute(selected.format("june") + f"key := '{KEY}', k := 5)")
    enter(newcomers, "new", "June")
    newcomers.execute("CREATE TABLE july AS FROM june UNION ALL SELECT 200, 5, 'z'")
    newcomers.execute(selected.format("july") + f"key := '{KEY}', k := 5)")
    found = newcomers.execute("SELECT DISTINCT person FROM new ORDER BY ALL").fetchall()
    assert found == [(100,), (101,), (102,), (103,), (200,)]
    newcomers.execute("CREATE TABLE nobody AS FROM new LIMIT 0")
    call = (
        "FROM anonymize('nobody', k := 5, quasi := 'ill', sensitive := 'a''d', entity := 'person')"
    )
    assert newcomers.execute(call).fetchall() == []


def test_declared_sensitive_columns_count(newcomers):
    newcomers.execute("COMMENT ON COLUMN june.ill IS 'anon:sensitive'")
    assert asked(newcomers, ", l := 2") == [(4,)]
    assert asked(newcomers, ", l := 3") == [(0,)]


def test_what_waiting_refuses(newcomers):
    for more, said in {
        "k := 0": "ledger_new: k must be a whole number of at least 1, got 0",
        "l := 2": "ledger_new: l needs a sensitive column; pass sensitive := ['illness', …]",
        "l := 0": "ledger_new: l must be a number of at least 1",
        "l := 2, sensitive := 'il'": "ledger_new: sensitive must name columns of the table, got 'il'",
    }.items():
        call = f"FROM ledger_new('june', 'anon_ledger', entity := 'person', key := '{KEY}', {more})"
        assert fails(newcomers, call).startswith(said)
