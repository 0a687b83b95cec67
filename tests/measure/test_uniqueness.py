"""Rows that are unique on columns together, against plain counting."""

from collections import Counter
from functools import reduce

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.measures.uniqueness import (
    Numbered,
    codes_of,
    few_together,
    joined,
    steps_text,
    unique_rows,
)

TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.tuples(*[st.sampled_from([None, "a", "b", "c"])] * width), min_size=1, max_size=20
    )
)


def unique_on(columns):
    return reduce(Numbered.beside, map(Numbered.of, columns)).unique()


def unique(rows):
    """Which rows occur once."""
    count = Counter(rows)
    return [count[row] == 1 for row in rows]


@given(TABLES)
def test_columns_together(rows):
    columns = [codes_of(np.array(values, dtype=object)) for values in zip(*rows, strict=True)]
    assert unique_on(columns).tolist() == unique(rows)
    whole = columns[0]
    for codes in columns[1:]:
        whole = joined(whole, codes)
    assert unique_rows(whole).tolist() == unique(rows)
    assert sorted(set(whole.tolist())) == list(range(len(set(rows))))
    total, steps = few_together(
        [str(at) for at in range(len(columns))], lambda name: columns[int(name)].view(np.uint64)
    )
    assert total == sum(unique(rows))
    at = [int(step.column) for step in steps]
    for number, step in enumerate(steps, 1):
        known = [tuple(row[i] for i in at[:number]) for row in rows]
        assert step.rows == sum(unique(known))


def test_numbers_that_would_overflow():
    """Four columns of a million values each have more combinations than an int64."""
    columns = [np.random.default_rng(at).permutation(2**17) for at in range(5)]
    assert unique_on(columns).all()
    columns = [np.append(codes, codes[:3]) for codes in columns]
    assert unique_on(columns).sum() == 2**17 - 3


def test_nothing():
    columns = {"a": np.array([0, 0, 1], np.uint64), "12345": np.array([0, 1, 2], np.uint64)}
    assert few_together([], columns.__getitem__) == (0, [])
    assert unique_on([np.zeros(0, dtype=np.int64)] * 2).tolist() == []
    assert steps_text([], 10) is None
    total, steps = few_together(["a", "12345"], columns.__getitem__)
    assert total == 3
    assert (
        steps_text(steps, 3)
        == "1 column whose name looks like a value alone 100.0% of the rows are unique"
    )
