"""Number distinct hashes in the order of their first occurrence."""

import numpy as np

from anon_sql.kernels.kernel import kernel


@kernel
def number(hashes):
    """Return the first position of each distinct hash, int32[u], and each hash's number, int32[m].

    hashes: uint64[m], well mixed, since their lowest bits choose the slot of an open hash table.
    """
    size = 16
    while size < 2 * len(hashes):
        size *= 2
    mask = np.uint64(size - 1)
    slots = np.full(size, -1, dtype=np.int32)
    first = np.empty(len(hashes), dtype=np.int32)
    number_of = np.empty(len(hashes), dtype=np.int32)
    count = 0
    for at in range(len(hashes)):
        slot = hashes[at] & mask
        while slots[slot] >= 0 and hashes[first[slots[slot]]] != hashes[at]:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = count
            first[count] = at
            count += 1
        number_of[at] = slots[slot]
    return first[:count].copy(), number_of
