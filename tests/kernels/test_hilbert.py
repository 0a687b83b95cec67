"""The Hilbert key is a curve: every cell once, and each step to a neighbour."""

from itertools import product

import numpy as np
import pytest

from anon_sql.kernels.orders import Grid, hilbert_key

pytestmark = pytest.mark.quick


def grid(d, bits):
    """Points are cells."""
    none = np.full(d, -1, np.int64)
    return Grid(
        np.arange(d),
        np.full(d, np.nan),
        np.ones(d),
        np.full(d, 2**bits - 1),
        none,
        none * 0,
        np.zeros(0),
    )


def twin(cells, bits):
    """Skilling's procedure on one row, as he prints it."""
    x, top = list(cells), 1 << (bits - 1)
    q = top
    while q > 1:
        for i in range(len(x)):
            if x[i] & q:
                x[0] ^= q - 1
            else:
                t = (x[0] ^ x[i]) & (q - 1)
                x[0] ^= t
                x[i] ^= t
        q >>= 1
    for i in range(1, len(x)):
        x[i] ^= x[i - 1]
    t, q = 0, top
    while q > 1:
        if x[-1] & q:
            t ^= q - 1
        q >>= 1
    x = [value ^ t for value in x]
    return int("".join(str(value >> bit & 1) for bit in range(bits - 1, -1, -1) for value in x), 2)


@pytest.mark.parametrize(("d", "bits"), [(1, 5), (2, 4), (3, 3), (5, 2), (9, 1)])
def test_each_step_goes_to_a_neighbour(d, bits):
    points = np.array(list(product(range(2**bits), repeat=d)), dtype=float)
    keys = hilbert_key(points, 0, len(points), grid(d, bits), bits)
    assert sorted(keys.tolist()) == list(range(len(points)))
    steps = np.abs(np.diff(points[np.argsort(keys)], axis=0))
    assert (steps.sum(axis=1) == 1).all()


@pytest.mark.parametrize(("d", "bits"), [(1, 31), (2, 31), (8, 7), (21, 3), (63, 1)])
def test_keys_are_the_twins(d, bits):
    points = np.random.default_rng(d).integers(0, 2**bits, (700, d)).astype(float)
    found = hilbert_key(points, 0, 700, grid(d, bits), bits)
    assert found.tolist() == [twin([int(x) for x in row], bits) for row in points]
    assert hilbert_key(points, 300, 555, grid(d, bits), bits).tolist() == found[300:555].tolist()
