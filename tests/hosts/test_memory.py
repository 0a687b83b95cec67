"""The estimate of memory grows with what a release holds, and is compared with what is free."""

import pytest

from anon_sql.hosts.duckdb.rows import available, bytes_a_row, rows_that_fit
from anon_sql.methods.anonymize import Anonymize
from anon_sql.pipeline.request import Request

pytestmark = pytest.mark.oldest

QUASI = {f"q{n}": "INTEGER" for n in range(8)}


@pytest.mark.parametrize(
    "more",
    [
        {"quasi": {**QUASI, "q8": "INTEGER"}},
        {"kept": ("a", "b")},
        {"protected": {"a": False}},
        {"entity": "a"},
        {"options": Anonymize(suppression_limit=0.01)},
    ],
)
def test_what_needs_more_memory(more):
    given = {"quasi": QUASI, "kept": ("a",)}
    assert bytes_a_row(Request("test", 2, **{**given, **more})) > bytes_a_row(
        Request("test", 2, **given)
    )


def test_the_rows_that_fit():
    call = Request("test", 2, QUASI)
    rows, said = rows_that_fit(call, "1.0 MiB")
    assert rows * bytes_a_row(call) <= 1 << 20 < (rows + 1) * bytes_a_row(call)
    assert f"more than {rows:,} rows" in said


@pytest.mark.parametrize(
    ("limit", "found"), [("512 bytes", 512), ("1.5 KiB", 1536), ("2.0 MiB", 2 << 20)]
)
def test_the_limit_of_duckdb(limit, found):
    assert available(limit) == found


@pytest.mark.parametrize("limit", [None, "", "80%", "900.0 TiB"])
def test_no_more_than_there_is(limit):
    assert 10**6 < available(limit) < 10**15
