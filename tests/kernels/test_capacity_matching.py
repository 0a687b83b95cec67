"""Rows to slots that take several, each row apart or equal ones together, against a plain search."""

import numpy as np
import pytest

from anon_sql.kernels.matching import matched

pytestmark = pytest.mark.quick


def plain(choices, capacity):
    """Each place of a slot by itself; rows try all their places, and move others (Kuhn)."""
    places = [(slot, at) for slot, room in enumerate(capacity) for at in range(room)]
    holder = {}

    def place(row, tried):
        for slot, at in places:
            if slot in choices[row] and (slot, at) not in tried:
                tried.add((slot, at))
                if (slot, at) not in holder or place(holder[slot, at], tried):
                    holder[slot, at] = row
                    return True
        return False

    return sum(place(row, set()) for row in range(len(choices)))


def call(choices, capacity, weights=None, steps=10**6):
    ends = np.cumsum([0, *map(len, choices)]).astype(np.int64)
    slots = np.array([slot for row in choices for slot in row], dtype=np.int32)
    many = np.array([1] * len(choices) if weights is None else weights, dtype=np.int64)
    return matched(ends, slots, many, np.array(capacity, dtype=np.int64), steps, lambda: None)


@pytest.mark.parametrize("seed", range(60))
def test_as_many_as_the_plain_search(seed):
    rng = np.random.default_rng(seed)
    rows, slots = rng.integers(0, 14), rng.integers(1, 6)
    capacity = rng.integers(1, 4, slots).tolist()
    choices = [
        sorted(rng.choice(slots, rng.integers(0, slots + 1), replace=False).tolist())
        for _ in range(rows)
    ]
    assert call(choices, capacity) == plain(choices, capacity)
    weights = rng.integers(1, 5, rows).tolist()
    apart = [row for row, many in zip(choices, weights, strict=True) for _ in range(many)]
    room = [3 * many for many in capacity]
    assert call(choices, room, weights) == plain(apart, room)


def test_rows_move_on_along_a_chain():
    """Row i has slots i and i + 1, and the first pass gives row i slot i; the last has slot 0."""
    choices = [[i, i + 1] for i in range(50)] + [[0]]
    assert call([*choices[:-1], [0, 0]], [1] * 51) == 51
    assert call([*choices, [0], [3]], [1] * 51) == 51


def test_too_long():
    assert call([[0, 1], [0, 1], [0, 1]], [1, 1], steps=2) == -1
    assert call([[0], [1]], [1, 1], steps=0) == 2
