"""The codes of classes as bits, beside Python sets."""

import numpy as np
import pytest

from anon_sql.kernels.loss import BITS, codes_in, masks_of

pytestmark = pytest.mark.quick


def test_as_sets():
    draw = np.random.default_rng(0)
    for _ in range(30):
        rows, count = draw.integers(0, 80), draw.integers(1, 6)
        codes = draw.integers(0, BITS, rows).astype(np.int32)
        classes = draw.integers(0, count + 2, rows).astype(np.int32)  # some do not count
        masks = masks_of(classes, count, codes)
        assert masks.shape == (count,)
        for at, mask in enumerate(masks.tolist()):
            assert codes_in(mask) == sorted(set(codes[classes == at].tolist()))
