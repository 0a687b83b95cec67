"""What a column adds to the others is counted row by row, however many columns and values there
are."""

import random
from collections import Counter

import numpy as np
import pytest

from anon_sql.suggest.combinations import CombinedMarks, counts_of


def alone(rows):
    """How many rows no other row equals."""
    return sum(count == 1 for count in Counter(rows).values())


def marked(values, seed):
    """A mark for each value, as hashes are."""
    drawn = random.Random(seed)
    marks = {value: drawn.getrandbits(64) for value in sorted(set(values))}
    return np.array([marks[value] for value in values], dtype=np.uint64)


@pytest.mark.parametrize("rows", [0, 1, 2, 40, 300])
@pytest.mark.parametrize(("columns", "most"), [(1, 5), (3, 4), (9, 2), (12, 3), (20, 2), (12, 500)])
def test_rows_that_a_column_adds(rows, columns, most):
    drawn = random.Random(rows * columns + most)
    table = [[drawn.randrange(most) for _ in range(rows)] for _ in range(columns)]
    together = CombinedMarks([marked(each, at) for at, each in enumerate(table)], rows)
    for chosen in (list(range(columns)), list(range(1, columns)), list(range(0, columns, 3)), []):

        def unique(names):
            return alone(list(zip(*(table[at] for at in names), strict=True))) if names else 0

        expected = [
            unique({*chosen, at}) - unique(set(chosen))
            if at not in chosen
            else unique(set(chosen)) - unique(set(chosen) - {at})
            for at in range(columns)
        ]
        assert together.unique_by(chosen) == expected


@pytest.mark.parametrize("most", [3, 900, 10**9])
def test_counts_of_a_column_of_many_rows(most):
    drawn = random.Random(most)
    values = [drawn.randrange(most) for _ in range(9_000)]
    found, sizes = counts_of(marked(values, 7)), Counter(values).values()
    assert (found.distinct, found.unique) == (len(sizes), sum(size == 1 for size in sizes))
    assert found.pairs == sum(size * size for size in sizes)
