"""Hold the values of a class as the bits of one integer, for columns of few values."""

import numpy as np

from anon_sql.kernels.kernel import kernel

BITS = 64


@kernel
def masks_of(classes, count, codes):
    """Return the codes of each class, uint64[count]: bit i is set where a row has code i.

    classes: int32[n], those of ``count`` and above are left out; codes: int32[n], below BITS. Goes
    row by row in memory order; no class is gathered.
    """
    masks = np.zeros(count + 1, dtype=np.uint64)
    for row in range(len(classes)):
        masks[min(classes[row], count)] |= np.uint64(1) << np.uint64(codes[row])
    return masks[:count]


def codes_in(mask: int) -> list[int]:
    """Return the codes of a mask, ascending."""
    return [code for code in range(BITS) if mask >> code & 1]
