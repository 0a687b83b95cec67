"""Slots of released rows, numbered as a dictionary of pairs does."""

import numpy as np
import pytest

from anon_sql.kernels.hashing import number_groups

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("seed", range(10))
def test_as_a_dictionary(seed):
    """Classes go on from one call to the next, and one is longer than a call."""
    draw = np.random.default_rng(seed)
    numbers = draw.integers(0, 4, 200, dtype=np.int32)
    classes = np.sort(draw.integers(0, 30, 200, dtype=np.int32))
    classes[60:150] = classes[60]
    known = {}
    wanted = [
        known.setdefault(pair, len(known))
        for pair in zip(numbers.tolist(), classes.tolist(), strict=True)
    ]
    weights = draw.integers(1, 5, 200, dtype=np.int32)
    latest, sizes = np.full(4, -1, np.int32), np.empty(200, np.int64)
    values, owners = np.empty(200, np.int32), np.empty(200, np.int32)
    found, count = [], 0
    for first in range(0, 200, 25):
        some = slice(first, first + 25)
        slots, count = number_groups(
            numbers[some], classes[some], weights[some], latest, values, owners, sizes, count
        )
        found += slots.tolist()
    assert found == wanted
    assert list(zip(values[:count].tolist(), owners[:count].tolist(), strict=True)) == list(known)
    assert sizes[:count].tolist() == [
        sum(weights[row] for row, own in enumerate(wanted) if own == slot) for slot in range(count)
    ]
