"""merge_sort is numpy's stable argsort, and sort_codes its sort."""

import numpy as np
import pytest

from anon_sql.kernels.sorting import merge_sort, sort_codes

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("most", [1, 5, 2**31 - 1])
@pytest.mark.parametrize("rows", [0, 1, 2, 16, 17, 33, 1000])
def test_merge_sort_and_sort_codes(rows, most):
    rng = np.random.default_rng(rows)
    codes = rng.integers(0, most, rows, dtype=np.int32)
    keys, order = codes.astype(np.uint64) << np.uint64(32), np.arange(rows, dtype=np.int32)
    merge_sort(keys, order)
    assert np.array_equal(order, np.argsort(codes, kind="stable"))
    assert np.array_equal(keys >> np.uint64(32), np.sort(codes))
    expected = np.sort(codes - most // 2)
    codes -= most // 2
    sort_codes(codes)
    assert np.array_equal(codes, expected)
