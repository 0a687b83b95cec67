"""rewrite_query: golden pairs, compared as text and executed."""

from pathlib import Path

import pytest

from tests.measure.test_query_error import ask, con, literal  # noqa: F401

GOLDEN = sorted(Path(__file__).parent.glob("golden/*.sql"))
CALL = "SELECT rewrite_query({query}, 't', 'rayden', mode := '{mode}', quasi := ['age', 'city'])"


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_pair(con, path):  # noqa: F811
    """The first line of a file is ``-- mode: query``, the rest what it becomes."""
    head, _, expected = path.read_text(encoding="utf-8").partition("\n")
    mode, _, query = head.removeprefix("-- ").partition(": ")
    found = con.execute(CALL.format(query=literal(query), mode=mode)).fetchall()[0][0]
    assert found == expected.rstrip("\n")
    assert con.execute(found).fetchall() == ask(con, [query], "rayden", mode=mode)


def test_there_are_golden_pairs():
    assert len(GOLDEN) >= 4
