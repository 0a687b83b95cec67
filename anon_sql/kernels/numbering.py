"""Numbers for things that are told apart by a hash, in the order in which they first come."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def number(hashes):
    """Where each distinct hash first stands, int32[u], and which of them each one is, int32[m].

    hashes uint64[m], well mixed: their lowest bits choose the slot of an open hash table.
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
