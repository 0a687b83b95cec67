"""Numbers in the order of first appearance, as a dictionary gives them."""

import numpy as np
import pytest

from anon_sql.kernels.hash.numbering import number


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
