"""by_hash is numpy's stable argsort, whatever the hashes look like."""

import numpy as np
import pytest

from anon_sql.kernels.orders import by_hash

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 1000, 300_000])
def test_spread_hashes_with_duplicates(rows):
    draw = np.random.default_rng(rows)
    hashes = draw.integers(0, 2**64, rows, dtype=np.uint64)
    hashes = hashes[draw.integers(0, max(rows, 1), rows)]
    assert np.array_equal(by_hash(hashes), np.argsort(hashes, kind="stable"))


def test_hashes_that_share_their_leading_bits():
    hashes = np.random.default_rng(1).integers(0, 200, 5000).astype(np.uint64)
    assert np.array_equal(by_hash(hashes), np.argsort(hashes, kind="stable"))
    same = np.full(5000, 2**63, dtype=np.uint64)
    assert np.array_equal(by_hash(same), np.arange(5000))
