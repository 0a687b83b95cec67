"""What the SQL functions answer is what was recorded; see ``tests.answers``."""

import duckdb
import pytest

from tests.answers import RECORD, Answer, answers

MOST = 20  # calls that are printed


@pytest.mark.slow
def test_the_answers_are_those_recorded():
    version, *lines = RECORD.read_text("utf-8").splitlines()
    if version != f"duckdb {duckdb.__version__}":
        pytest.skip(f"the answers were recorded with {version}")
    recorded = {line.split(" -> ", 1)[0]: line for line in lines}
    found = {answer.call: answer for answer in answers()}
    assert list(found) == list(recorded)
    differ = [
        answer.differs_from(recorded[call])
        for call, answer in found.items()
        if answer.line != recorded[call]
    ]
    assert not differ, "\n".join([f"{len(differ)} answers differ:", *differ[:MOST]])


def test_a_difference_is_the_call_and_the_first_row_that_differs():
    answer = Answer("FROM t", [(1,), (2,), (3,)], "FROM t -> 3 rows 123 abc")
    assert answer.differs_from("FROM t -> 3 rows 456 adc") == "FROM t\n  row 1: (2,)"
    assert answer.differs_from("FROM t -> 2 rows 456 ab") == "FROM t\n  row 2: (3,)"
    assert answer.differs_from("FROM t -> 4 rows 456 abcd").endswith(
        "row 3: missing, of 4 recorded"
    )
    assert "recorded: error no" in answer.differs_from("FROM t -> error no")
    assert "3 rows" in answer.differs_from("FROM t -> 3 rows 456 abc")
