"""Replace codes by the rank of the values that they stand for."""

import numpy as np

from anon_sql.kernels.kernel import kernel


@kernel
def recode(codes, present, rank, null):
    """Return int32[n]: rank[codes], or ``null`` where present is false.

    codes: int32[n]; present: bool[n], or empty where no row is NULL; rank: int32[m].
    """
    ranked = np.empty(len(codes), dtype=np.int32)
    for row in range(len(codes)):
        ranked[row] = null if len(present) and not present[row] else rank[codes[row]]
    return ranked
