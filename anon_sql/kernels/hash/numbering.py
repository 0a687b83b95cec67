"""Number distinct hashes in the order of their first occurrence, at once or as they come."""

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


@kernel
def number_more(hashes, known, often, slots, count):
    """Return each hash's number, int32[m], and the positions of hashes that are new, int32[u].

    known: uint64[count + m or more], the ``count`` hashes that have numbers; often: int64[…], how
    often each came; slots: int32[a power of two, more than count + m], an open hash table, -1 where
    it is free. All three are changed in place. The upper 32 bits of a hash choose its slot, since
    the hashes of a part of a table's rows may end alike.
    """
    mask = np.uint64(len(slots) - 1)
    number_of = np.empty(len(hashes), dtype=np.int32)
    new = np.empty(len(hashes), dtype=np.int32)
    first = count
    for at in range(len(hashes)):
        slot = (hashes[at] >> np.uint64(32)) & mask
        while slots[slot] >= 0 and known[slots[slot]] != hashes[at]:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = count
            known[count], often[count] = hashes[at], 0
            new[count - first] = at
            count += 1
        often[slots[slot]] += 1
        number_of[at] = slots[slot]
    return number_of, new[: count - first].copy()
