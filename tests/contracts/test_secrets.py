"""The text of a secret, of which the token of one of type http is a key for pseudonyms."""

import duckdb
import pytest

from anon_sql.core.duckdb_internals.secrets import SECRET_TEXTS, bearer_token

pytestmark = [pytest.mark.quick, pytest.mark.oldest]


def text_of(con, options):
    con.execute(f"CREATE OR REPLACE SECRET Kept (TYPE http, {options})")
    ((found,),) = con.execute(SECRET_TEXTS, ["KEPT"]).fetchall()
    return found


@pytest.fixture
def opened():
    return duckdb.connect(config={"allow_unredacted_secrets": "true"})


def test_a_token_alone_stands_at_the_end(opened):
    text = text_of(opened, "BEARER_TOKEN 'a long = token, with: signs'")
    assert text.endswith(";scope;bearer_token=a long = token, with: signs")
    assert bearer_token(text) == "a long = token, with: signs"


@pytest.mark.parametrize(
    "options",
    [
        "BEARER_TOKEN 'token', EXTRA_HTTP_HEADERS MAP {'a': 'b'}",
        "EXTRA_HTTP_HEADERS MAP {'a': 'b'}",
        "BEARER_TOKEN 'token', SCOPE 'https://a'",
        "BEARER_TOKEN ''",
        "BEARER_TOKEN 'one;two'",
    ],
)
def test_other_fields_are_not_taken_for_a_token(opened, options):
    assert bearer_token(text_of(opened, options)) is None


def test_a_secret_is_refused_where_the_database_does_not_allow_it():
    con = duckdb.connect()
    with pytest.raises(duckdb.InvalidInputException):
        con.execute(SECRET_TEXTS, ["kept"])
