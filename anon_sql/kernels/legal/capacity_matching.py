"""Match rows to slots that take several rows each, as many rows as possible.

Method: augmenting paths (Kuhn 1955). A first pass assigns rows where there is room, those with a
single choice first. Each row left starts a breadth-first search for a slot with room, along which
rows move on. The slots that a failed search visited can never be freed again, so that no later
search enters them.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel


@kernel
def _fill(ends, slots, capacity, base, state):
    """Assign rows where there is room, those with a single choice first; return how many."""
    members, used, slot_of, place_of = state
    count = 0
    for single in (True, False):
        for row in range(len(slot_of)):
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
    return count


@kernel
def _search(start, ends, slots, capacity, base, state, trail, steps):
    """Return a slot with room that is reachable from a row, or -1, and the steps left.

    trail: for each slot the search that visited it last (-1: a dead end), the row through which it
    was reached, and the queue of slots.
    """
    members, used, _, _ = state
    seen, through, queue = trail
    search, row = start + 1, start
    head, tail, member = 0, 0, 0
    while True:
        steps -= ends[row + 1] - ends[row] + 1
        if steps < 0:
            return -1, steps
        for at in range(ends[row], ends[row + 1]):
            slot = slots[at]
            if seen[slot] >= 0 and seen[slot] != search:
                seen[slot], through[slot] = search, row
                if used[slot] < capacity[slot]:
                    return slot, steps
                queue[tail] = slot
                tail += 1
        if head < tail and member == used[queue[head]]:
            head, member = head + 1, 0
        if head == tail:
            for at in range(tail):
                seen[queue[at]] = -1
            return -1, steps
        row = members[base[queue[head]] + member]
        member += 1


@kernel
def _move(slot, base, state, through):
    """Move rows along the trail that ends in a slot with room."""
    members, used, slot_of, place_of = state
    place = base[slot] + used[slot]
    used[slot] += 1
    while slot >= 0:
        row = through[slot]
        left, hole = slot_of[row], place_of[row]
        slot_of[row], place_of[row] = slot, place
        members[place] = row
        slot, place = left, hole


@kernel
def matched(ends, slots, capacity, steps):
    """Return the size of a maximum matching; -1 where that takes more than ``steps`` steps.

    ends: int64[n + 1], slots: int32[…]; row r may go to slots[ends[r]] … slots[ends[r + 1] - 1].
    capacity: int64[m], rows that each slot takes. A step is a look at one slot of a row.
    """
    rows, many = len(ends) - 1, len(capacity)
    base = np.zeros(many + 1, dtype=np.int64)
    base[1:] = np.cumsum(capacity)
    state = (  # the rows in each slot, how many, and where each row is
        np.empty(base[many], dtype=np.int32),
        np.zeros(many, dtype=np.int64),
        np.full(rows, -1, dtype=np.int32),
        np.zeros(rows, dtype=np.int64),
    )
    trail = (
        np.zeros(many, dtype=np.int64),
        np.empty(many, dtype=np.int32),
        np.empty(many, dtype=np.int32),
    )
    count = _fill(ends, slots, capacity, base, state)
    for row in range(rows):
        if state[2][row] >= 0:
            continue
        slot, steps = _search(row, ends, slots, capacity, base, state, trail, steps)
        if steps < 0:
            return -1
        if slot >= 0:
            _move(slot, base, state, trail[1])
            count += 1
    return count
