"""anon_mask: as many characters as before, and only the ends of those of a longer text."""

from itertools import product

import pytest

from tests.sentence import fails

pytestmark = [pytest.mark.quick, pytest.mark.oldest]


def mask(con, text, more=""):
    return con.execute(f"SELECT anon_mask($t{more})", {"t": text}).fetchall()[0][0]


@pytest.mark.parametrize("left", range(4))
def test_every_length(con, left):
    asked, wanted = [], []
    for right, length in product(range(4), range(9)):
        text, kept = "abcdefgh"[:length], left + right
        asked.append(f"anon_mask('{text}', {left}, {right})")
        asked.append(f"anon_mask('{text}', keep_right := {right}, keep_left := {left})")
        stars = "*" * (length - kept)
        wanted += 2 * [text[:left] + stars + text[length - right :] if stars else "*" * length]
    assert con.execute(f"SELECT {', '.join(asked)}").fetchall() == [tuple(wanted)]


def test_defaults(con):
    assert mask(con, "4111 1111 1111 1234") == "*" * 15 + "1234"
    assert mask(con, "1234") == "****"
    assert mask(con, "") == ""


def test_null(con):
    assert con.execute("SELECT anon_mask(NULL), anon_mask(NULL::VARCHAR)").fetchall() == [
        (None, None)
    ]


def test_a_character_is_what_a_reader_sees(con):
    """Neither half of an accented letter, a flag or a family is kept."""
    text = "Ze\u0301a👩‍👩‍👧🇩🇪é"
    assert mask(con, text, ", 2, 1") == "Ze\u0301***é"
    assert mask(con, text, ", 0, 2") == "****🇩🇪é"
    assert mask(con, text, ", 3, 3") == "*" * 6


def test_other_types_by_their_text(con):
    found = con.execute("SELECT anon_mask(1234567), anon_mask(DATE '2024-02-29', keep_right := 2)")
    assert found.fetchall() == [("***4567", "********29")]


def test_a_column_of_lengths_and_names_as_they_come(con):
    con.execute(
        """CREATE TABLE t AS SELECT i AS "keep, ""left"" y", 'abcdef' AS "select" FROM range(3) AS r(i)"""
    )
    found = con.execute("""SELECT anon_mask("select", "keep, ""left"" y", 1) FROM t""").fetchall()
    assert found == [("*****f",), ("a****f",), ("ab***f",)]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (", -1", "keep_left must be a whole number of at least 0, got -1"),
        (", keep_right := NULL", "keep_right must be a whole number of at least 0, got NULL"),
        (", keep_right := 1.5", "keep_right must be a whole number of at least 0, got 1.5"),
        (", keep_right := 'x'", "keep_right must be a whole number of at least 0, got a VARCHAR"),
    ],
)
def test_refusals(con, more, sentence):
    assert fails(con, f"SELECT anon_mask('abc'{more})") == f"anon_mask: {sentence}"
    assert mask(con, "abc", ", 9223372036854775807, 9223372036854775807") == "***"
