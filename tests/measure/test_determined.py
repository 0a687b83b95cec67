"""Columns that determine others, against a prediction of each row from the others in plain
Python."""

import random
from collections import Counter

import numpy as np
import pytest

from anon_sql.measures.determined import avoided_errors, determines, keys_of, mode, numbered
from anon_sql.measures.person_keys import tells_people_apart

pytestmark = pytest.mark.quick


def predicted(keys, values):
    """The share of errors avoided, each row predicted from all others."""
    usual = max(Counter(values).values())
    if usual == len(values):
        return 0.0
    order = sorted(range(len(keys)), key=lambda at: keys[at])
    right = 0
    for place, at in enumerate(order):
        same = Counter(
            values[other] for other in range(len(keys)) if other != at and keys[other] == keys[at]
        )
        if same:
            (most, often), *rest = [*same.most_common(2), (None, 0)]
            right += most == values[at] and often > rest[0][1]
        else:
            beside = [order[each] for each in (place - 1, place + 1) if 0 <= each < len(order)]
            right += any(values[other] == values[at] for other in beside)
    return max(0.0, (right - usual) / (len(values) - usual))


@pytest.mark.parametrize("seed", range(40))
def test_each_row_is_predicted_from_the_others(seed):
    draw = random.Random(seed)
    rows = draw.choice([2, 5, 30, 80])
    keys = [draw.randrange(draw.choice([2, 10, 200])) for _ in range(rows)]
    values = [key % 3 if draw.random() < 0.8 else draw.randrange(4) for key in keys]
    key, value = numbered(np.array(keys)), numbered(np.array(values))
    assert avoided_errors(key, value) == pytest.approx(predicted(keys, values))
    for one, own in enumerate(mode(key, value)):
        counts = Counter(value[key == one].tolist())
        assert counts[int(own)] == max(counts.values())


def test_what_determines_and_what_does_not():
    draw = np.random.default_rng(7)
    age, other = draw.integers(20, 80, 600), draw.integers(0, 3, 600)
    born = draw.permutation(600)  # a different value in every row
    assert determines(numbered(age), numbered(2024 - age))
    assert determines(numbered(age), numbered(age // 10))
    assert not determines(numbered(age // 10), numbered(age))
    assert determines(numbered(born), numbered(born // 30))  # neighbors in the order of the key
    assert not determines(numbered(age), numbered(other))
    assert not determines(numbered(born), numbered(other))
    noisy = np.where(draw.random(600) < 0.05, 99, age // 3)
    assert determines(numbered(age), numbered(noisy))
    assert avoided_errors(numbered(age), np.zeros(600, np.int64)) == 0  # a column of one value


def test_two_columns_together():
    draw = np.random.default_rng(8)
    one, other = draw.integers(0, 5, 400), draw.integers(0, 4, 400)
    value = numbered(one * 7 + other)
    found = {names: determines(key, value) for names, key in keys_of({"a": one, "b": other})}
    assert found == {("a",): False, ("b",): False, ("a", "b"): True}


def test_a_column_that_tells_people_apart():
    draw = np.random.default_rng(9)
    age, zip_code = draw.integers(0, 60, 300), draw.integers(0, 40, 300)
    who = np.repeat(np.arange(1, 301), 4).astype(np.uint64)
    quasi = [np.repeat(age, 4), np.repeat(zip_code, 4)]
    assert tells_people_apart(who, quasi)
    assert not tells_people_apart(who[::4], [each[::4] for each in quasi])  # one row each
    assert not tells_people_apart(np.repeat(zip_code, 4).astype(np.uint64) + 1, quasi)
    assert not tells_people_apart(who, [np.repeat(age % 2, 4)])  # nearly everybody is alike
    finer = np.repeat(zip_code * 3 + draw.integers(0, 3, 300), 4).astype(np.uint64) + 1
    assert not tells_people_apart(finer, [np.repeat(zip_code, 4)])
