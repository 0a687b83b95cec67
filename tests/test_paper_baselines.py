"""The plain baselines of examples/papers, and the rule by which claims are judged."""

import sys
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

SCRIPTS = Path(__file__).resolve().parents[1] / "examples" / "papers"


@pytest.fixture(scope="module", autouse=True)
def scripts():
    sys.path.insert(0, str(SCRIPTS))
    yield
    sys.path.remove(str(SCRIPTS))


def box_loss(columns, classes):
    """Return the GCP of numbers, by its definition."""
    total = 0.0
    for found in np.unique(classes):
        rows = columns[classes == found]
        total += len(rows) * ((rows.max(axis=0) - rows.min(axis=0)) / np.ptp(columns, axis=0)).sum()
    return total / columns.size


@given(
    rows=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=4, max_size=40),
    k=st.integers(1, 4),
    relaxed=st.booleans(),
)
def test_each_class_of_the_plain_mondrian_has_k_rows(rows, k, relaxed):
    import plain_mondrian

    values = np.array(rows, dtype=float)
    classes = plain_mondrian.partition(values, k, relaxed)
    sizes = np.bincount(classes)
    assert sizes.sum() == len(rows)
    assert sizes.min() >= k
    if relaxed and len({*rows}) == len(rows):  # sets of one row only cannot be divided
        assert sizes.max() < 2 * k
    if not relaxed:
        for row in {*rows}:  # equal rows stay together
            assert len({*classes[(values == row).all(axis=1)]}) == 1


def test_text_is_numbered_in_the_order_of_its_appearance():
    import plain_mondrian

    words = np.array(["b", "a", "b", "c"], dtype=object)
    assert plain_mondrian.numbered([words])[:, 0].tolist() == [0, 1, 0, 2]


@pytest.mark.long
def test_the_plain_mondrian_has_the_loss_of_the_program_that_it_imitates(shared_data):
    import plain_mondrian

    numbers = "age, fnlwgt, capital_loss, capital_gain, hours_per_week"
    found = duckdb.execute(
        f"SELECT {numbers} FROM '{shared_data}/adult.parquet' WHERE split = 'train' AND "
        "columns(['workclass', 'occupation', 'native_country']) IS NOT NULL"
    ).fetchnumpy()
    values = plain_mondrian.numbered(list(found.values()))
    losses = [box_loss(values, plain_mondrian.partition(values, 50, r)) for r in (False, True)]
    assert np.round(losses, 4).tolist() == [0.0840, 0.1187]


def test_the_one_column_rule_gives_the_printed_figures_of_student(shared_data):
    import one_column

    names = '"age", "Medu", "Fedu", "traveltime", "studytime", "G3"'
    found = duckdb.execute(f"SELECT {names} FROM '{shared_data}/student_por.parquet'").fetchnumpy()
    *columns, grades = found.values()
    losses = [
        box_loss(
            np.stack(columns, axis=1),
            one_column.partition(columns, grades, *legal, one_column.RULES[0]),
        )
        for legal in ((1, 1), (2, 2), (5, 2), (10, 2))
    ]
    assert np.round(losses, 4).tolist() == [0.2115, 0.2348, 0.2834, 0.3496]


def test_a_one_column_rule_counts_rows_and_values():
    import one_column

    words, marks = np.array(["a", "a", "b", "b"], dtype=object), np.array([1, 2, 1, 1])
    for rule in one_column.RULES:
        assert len({*one_column.partition([words], marks, 2, 1, rule)}) == 2
        assert len({*one_column.partition([words], marks, 2, 2, rule)}) == 1
        assert len({*one_column.partition([words], marks, 3, 1, rule)}) == 1


@pytest.mark.parametrize(
    ("ours", "printed", "direction", "size"),
    [
        ([6, 6], -40.0, "holds", "as printed"),
        ([5, 5], -40.0, "holds", "as printed"),
        ([4, 4], -40.0, "holds", "larger"),
        ([9, 9], -40.0, "holds", "smaller"),
        ([6, 11], -40.0, "1 of 2 k", "as printed at the best k"),
        ([11, 11], -40.0, "fails", "none"),
        ([6, 6], None, "holds", "\N{EN DASH}"),
        ([6, 9], [-40.0, -40.0], "holds", "as printed at 1 of 2 k"),
    ],
)
def test_a_verdict_has_a_direction_and_a_size(ours, printed, direction, size):
    from verdicts import lower

    told = lower({5: ours[0], 10: ours[1]}, {5: 10, 10: 10}, printed)
    assert (told.direction, told.size) == (direction, size)
    risen = lower({5: 20 - ours[0], 10: 20 - ours[1]}, {5: 10, 10: 10}, printed, sign=-1)
    assert (risen.direction, risen.size) == (direction, size)


def test_a_claim_is_judged_by_its_own_quantifier():
    from verdicts import average, every, most, some

    changes = [-5.0, 1.0, 1.0]
    told = [rule(changes) for rule in (every, some, most, average)]
    assert told == ["1 of 3 k", "holds (1 of 3 k)", "fails (1 of 3 k)", "holds"]
