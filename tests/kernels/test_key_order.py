"""Keys come out ascending, equal ones by position."""

from itertools import pairwise

import numpy as np
import pytest

from anon_sql.kernels.orders import order_between

pytestmark = pytest.mark.quick

TOP = 2**64 - 1


@pytest.mark.parametrize("most", [0, 3, 300, 2**40, TOP])
def test_order_is_the_stable_one(most):
    keys = np.random.default_rng(1).integers(0, most, 2000, dtype=np.uint64, endpoint=True)
    assert (
        order_between(keys, np.uint64(0), np.uint64(most), True).tolist()
        == np.argsort(keys, kind="stable").tolist()
    )


def test_parts_make_the_whole():
    keys = np.random.default_rng(2).integers(0, 50, 500, dtype=np.uint64)
    cuts = [0, 7, 20, int(keys.max())]
    parts = [
        order_between(keys, np.uint64(low), np.uint64(high), high == cuts[-1])
        for low, high in pairwise(cuts)
    ]
    assert np.concatenate(parts).tolist() == np.argsort(keys, kind="stable").tolist()
    assert order_between(keys[:0], np.uint64(0), np.uint64(9), True).tolist() == []
