"""The words of a statement, by which the shell finds its end."""

import duckdb
import pytest

from anon_sql.apps.shell.statements import finished

pytestmark = [pytest.mark.quick, pytest.mark.oldest]


def test_places_of_tokens_are_in_bytes():
    text = "SELECT 'ä' ;"
    at = [place for place, _ in duckdb.tokenize(text)]
    assert text.encode()[at[-1] :] == b";"


@pytest.mark.parametrize("comment", ["-- a; b", "/* a; b */"])
def test_a_comment_is_no_token_or_one_of_its_own_kind(comment):
    """DuckDB 1.5 leaves comments out."""
    begin = "SELECT 1; "
    within = [(at, kind) for at, kind in duckdb.tokenize(begin + comment) if at >= len(begin)]
    assert within in ([], [(len(begin), duckdb.token_type.comment)])


@pytest.mark.parametrize("text", ["'a;b'", '"a;b"', "$$a;b$$"])
def test_a_semicolon_within_quotes_is_no_token(text):
    encoded = f"SELECT {text}".encode()
    assert all(not encoded[at:].startswith(b";") for at, _ in duckdb.tokenize(encoded.decode()))


@pytest.mark.parametrize("text", ["SELECT 'a;", 'SELECT "a;', "SELECT 1 /* a;", "SELECT $$a;"])
def test_a_text_that_has_not_ended_is_open(text):
    assert not finished(text)
    end = {"'": "'", '"': '"', "/": "*/", "$": "$$"}[text.replace("1 ", "")[7]]
    assert finished(f"{text}{end};")
