"""Numbers in the order of first appearance, as a dictionary gives them."""

import numpy as np
import pytest

from anon_sql.kernels.hashing import number, number_more

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("span", [1, 7, 1 << 62])
def test_as_a_dictionary(span):
    draw = np.random.default_rng(0)
    for size in (0, 1, 2, 100, 3000):
        hashes = draw.integers(0, span, size).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        known = {}
        wanted = [known.setdefault(value, len(known)) for value in hashes.tolist()]
        first, number_of = number(hashes)
        assert number_of.tolist() == wanted
        assert hashes[first].tolist() == list(known)


def test_hashes_that_end_alike():
    """All fall into one slot."""
    hashes = np.arange(500, dtype=np.uint64) << np.uint64(40)
    first, number_of = number(np.concatenate([hashes, hashes]))
    assert number_of.tolist() == [*range(500), *range(500)]
    assert first.tolist() == list(range(500))


@pytest.mark.parametrize("span", [1, 7, 1 << 62])
def test_as_they_come(span):
    draw = np.random.default_rng(1)
    known, often = np.empty(600, np.uint64), np.empty(600, np.int64)
    slots, count, seen = np.full(1024, -1, np.int32), 0, []
    for size in (0, 100, 1, 400):
        hashes = draw.integers(0, span, size).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        seen += hashes.tolist()
        numbers, new = number_more(hashes, known, often, slots, count)
        assert known[numbers].tolist() == hashes.tolist()
        assert known[count : count + len(new)].tolist() == hashes[new].tolist()
        count += len(new)
        assert known[:count].tolist() == list(dict.fromkeys(seen))
        assert often[:count].tolist() == [seen.count(value) for value in dict.fromkeys(seen)]
