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
        "ledger_new: key must be the one that all entries of the ledger were made with, got another"
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
