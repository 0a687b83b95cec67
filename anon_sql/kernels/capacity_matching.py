"""A maximum matching of rows to slots that each take several rows, by augmenting paths.

A first pass puts rows where there is room, those with one choice first. Each row that is left
starts a breadth-first search for a slot with room, along which rows move on (Kuhn 1955). The slots
that a failed search saw can never be freed again, so no later search enters them.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def matched(ends, slots, capacity, steps):
    """How many rows find a slot; -1 where that takes more than ``steps`` looks at a row's slots.

    ends int64[n + 1], slots int32: row r may go to slots[ends[r]] … slots[ends[r + 1] - 1];
    capacity int64[m]: the rows that each slot takes.
    """
    rows, many = len(ends) - 1, len(capacity)
    base = np.zeros(many + 1, dtype=np.int64)
    base[1:] = np.cumsum(capacity)
    members = np.empty(base[many], dtype=np.int32)
    used = np.zeros(many, dtype=np.int64)
    slot_of = np.full(rows, -1, dtype=np.int32)
    place_of = np.zeros(rows, dtype=np.int64)
    count = 0
    for single in (True, False):
        for row in range(rows):
            if (ends[row + 1] - ends[row] == 1) != single:
                continue
            for at in range(ends[row], ends[row + 1]):
                slot = slots[at]
                if used[slot] < capacity[slot]:
                    slot_of[row], place_of[row] = slot, base[slot] + used[slot]
                    members[place_of[row]] = row
                    used[slot] += 1
                    count += 1
                    break
    seen = np.zeros(many, dtype=np.int64)  # the search that saw it last; -1: it leads nowhere
    through = np.empty(many, dtype=np.int32)
    queue = np.empty(many, dtype=np.int32)
    for start in range(rows):
        if slot_of[start] >= 0:
            continue
        search = start + 1
        head, tail, free, row, next_member = 0, 0, -1, start, np.int64(0)
        while free < 0:
            for at in range(ends[row], ends[row + 1]):
                slot = slots[at]
                if seen[slot] >= 0 and seen[slot] != search:
                    seen[slot], through[slot] = search, row
                    queue[tail] = slot
                    tail += 1
                    if used[slot] < capacity[slot]:
                        free = slot
                        break
            steps -= ends[row + 1] - ends[row] + 1
            if steps < 0:
                return -1
            if head < tail and next_member == used[queue[head]]:
                head, next_member = head + 1, 0
            if head == tail:
                break
            row = members[base[queue[head]] + next_member]
            next_member += 1
        if free < 0:
            for at in range(tail):
                seen[queue[at]] = -1
            continue
        place = base[free] + used[free]
        used[free] += 1
        slot = np.int32(free)
        while True:
            row = through[slot]
            left, hole = slot_of[row], place_of[row]
            slot_of[row], place_of[row] = slot, place
            members[place] = row
            if left < 0:
                break
            slot, place = left, hole
        count += 1
    return count
