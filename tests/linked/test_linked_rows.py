"""Numbers, orders and keys of rows agree with those of numpy and Arrow."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from anon_sql.linked.release import in_random_order
from anon_sql.linked.rows import holders, lexical, numbered, places_of, several

RNG = np.random.default_rng(7)
EXTREMES = [-(2**63), -1, 0, 1, 2**63 - 1]


def test_equal_numbers_alone_have_one_number():
    values = np.r_[RNG.integers(-50, 50, 1000), EXTREMES, EXTREMES]
    codes = numbered(values)
    pairs = set(zip(values.tolist(), codes.tolist(), strict=True))
    assert len(pairs) == len(set(values.tolist())) == len(set(codes.tolist()))
    assert sorted(set(codes.tolist())) == list(range(len(pairs)))
    assert several(values) == len(values) - len(pairs)
    assert several(values[:0]) == 0


def test_rows_are_ordered_as_by_numpy():
    first = RNG.integers(-2, 3, 2000).astype(np.int32)
    second = np.r_[RNG.integers(-(2**63), 2**63 - 1, 1995), EXTREMES]
    third = RNG.integers(0, 2**64, 2000, np.uint64)
    for keys in ((first,), (first, second), (first, first, third), (second, third)):
        assert (lexical(*keys) == np.lexsort(keys[::-1])).all()


def test_holders_are_counted_once():
    group, code, person = (RNG.integers(0, n, 500).astype(np.int32) for n in (5, 4, 9))
    groups, held = holders(group, code, person)
    each = {}
    for one in zip(group.tolist(), code.tolist(), person.tolist(), strict=True):
        each.setdefault(one[:2], set()).add(one[2])
    expected = sorted((of, len(persons)) for (of, _), persons in each.items())
    assert sorted(zip(groups.tolist(), held.tolist(), strict=True)) == expected


@pytest.mark.parametrize("kind", [pa.int64(), pa.int8(), pa.uint64(), pa.string(), pa.float64()])
def test_keys_are_found_as_by_arrow(kind):
    keys = pa.array(range(90, 10, -1)).cast(kind)
    named = pa.array([*range(0, 110, 3), None, 50, 50]).cast(kind)
    found = pc.fill_null(pc.index_in(named, keys, skip_nulls=True), -1)
    assert places_of(named, keys).tolist() == found.to_pylist()
    assert places_of(named, keys[:0]).tolist() == [-1] * len(named)


def test_equal_hashes_are_in_a_random_order():
    hashes = np.repeat(np.array([5, 2**64 - 1, 9], np.uint64), 200)
    orders = [in_random_order(hashes) for _ in range(2)]
    for order in orders:
        assert sorted(order.tolist()) == list(range(600))
        assert (np.diff(hashes[order].astype(object)) >= 0).all()
    assert (orders[0] != orders[1]).any()
