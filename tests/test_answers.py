"""What the SQL functions answer is what was recorded; see ``tests.answers``."""

import duckdb
import pytest

from tests.answers import RECORD, answers

pytestmark = pytest.mark.slow


def test_the_answers_are_those_recorded():
    version, *recorded = RECORD.read_text("utf-8").splitlines()
    if version != f"duckdb {duckdb.__version__}":
        pytest.skip(f"the answers were recorded with {version}")
    assert list(answers()) == recorded
