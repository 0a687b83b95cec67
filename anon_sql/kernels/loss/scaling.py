"""Scale whole numbers to points in [0, 1]."""

import numpy as np

from anon_sql.kernels.kernel import kernel


@kernel
def scaled(keys, present, null):
    """Return points float64[n], least key 0 and largest key 1, and the distance of these keys.

    keys: int64[n]; present: bool[n]; null: the point of NULL. A difference of keys is exact before
    it is rounded; where all keys are equal, points are 0.
    """
    least, most = np.int64(2**63 - 1), np.int64(-(2**63))
    for row in range(keys.size):
        if present[row]:
            least, most = min(least, keys[row]), max(most, keys[row])
    width = np.float64(np.uint64(most - least)) if least <= most else 0.0
    points = np.full(keys.size, null)
    for row in range(keys.size):
        if present[row]:
            above = np.float64(np.uint64(keys[row] - least))
            points[row] = above / width if width > 0 else 0.0
    return points, width
