"""Ids of connections, statements and transactions.

The rows that are handed over belong to a statement of a connection. What a failed statement left is
deleted when its connection starts another. A call is compared with the catalog in its transaction.
"""

import duckdb
import pytest

pytestmark = [pytest.mark.quick, pytest.mark.oldest]

CONNECTION = "SELECT current_connection_id()"
QUERY = "SELECT current_query_id()"
TRANSACTION = "SELECT txid_current()"


def one(con, query):
    ((found,),) = con.execute(query).fetchall()
    return found


@pytest.fixture
def bare():
    return duckdb.connect()


def test_a_connection_keeps_its_id(bare):
    assert one(bare, CONNECTION) == one(bare, CONNECTION)


def test_connections_and_cursors_of_a_database_have_ids_of_their_own(bare):
    cursors = [bare.cursor() for _ in range(3)]
    assert len({one(con, CONNECTION) for con in (bare, *cursors)}) == 4


@pytest.mark.parametrize("query", [QUERY, TRANSACTION])
def test_every_statement_has_an_id_of_its_own(bare, query):
    found = [one(bare, query) for _ in range(5)]
    assert len(set(found)) == 5


@pytest.mark.parametrize(
    "call", ["current_connection_id()", "current_query_id()", "txid_current()"]
)
def test_an_id_is_one_throughout_a_statement(bare, call):
    bare.execute(f"CREATE MACRO inside() AS TABLE SELECT {call} AS id")
    query = f"""
        WITH here AS MATERIALIZED (SELECT {call} AS id)
        SELECT count(DISTINCT id) FROM (
            FROM here UNION ALL FROM inside() UNION ALL SELECT {call} FROM range(5000))"""
    assert one(bare, query) == 1


def test_an_open_transaction_has_one_id_and_its_statements_have_their_own(bare):
    bare.execute("BEGIN")
    assert one(bare, TRANSACTION) == one(bare, TRANSACTION)
    assert one(bare, QUERY) != one(bare, QUERY)
