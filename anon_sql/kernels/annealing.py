"""Simulated annealing of the classes of a group: rows change places with rows near their like.

Source: Kirkpatrick, Gelatt and Vecchi 1983. A row asks for the class of one of the rows near
it: it moves there where both sizes allow, else it swaps with a random row of that class.
"""

import numpy as np
from numba import njit

from anon_sql.kernels.class_state import enter, leave, ncp_with
from anon_sql.kernels.distance import draw
from anon_sql.kernels.exchange import keep, lack_by

COOLING = 1024  # proposals between two changes of temperature
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


@njit(cache=True, nogil=True)
def warmth(s):
    """Mean decrease of |E| * NCP(E) by a row that leaves, over the rows whose leaving helps.

    The temperatures' unit. 0.0 where no class would lose less without any one of its rows.
    """
    total, count = 0.0, 0
    for row in range(s.home.size):
        at = s.home[row]
        gain = s.ncp[at] - ncp_with(s, at, row, -1)
        if gain > 1e-12:
            total += s.size[at] * gain
            count += 1
    return total / max(count, 1)


@njit(cache=True, nogil=True)
def anneal(s, guard, near, k, most, proposals, hot, cold, seed):
    """Change the state by so many proposals while it cools from hot to cold (units of loss).

    s: ClassState; guard: kernels.exchange.Guard; near int32[m, …]; class sizes stay in k … most.
    What is returned is added to the sum of |E| * NCP(E) and, at the guard's price, what the
    classes lack.
    """
    m, change = np.uint64(s.home.size), 0.0
    guarded = guard.rules.total.size > 0
    heat, cooling = hot, (cold / hot) ** (COOLING / proposals)
    for step in range(proposals):
        if step % COOLING == COOLING - 1:
            heat *= cooling
        bits = draw(seed, np.uint64(2 * step))
        more = draw(seed, np.uint64(2 * step + 1))
        row = np.int64(((bits & LOW) * m) >> HALF)
        like = near[row, np.int64((bits >> HALF) % np.uint64(near.shape[1]))]
        here, there = s.home[row], s.home[like]
        if here == there:
            continue
        p, q = s.size[here], s.size[there]
        before = p * s.ncp[here] + q * s.ncp[there]
        accepted = -heat * np.log((np.float64(more >> HALF) + 0.5) / 4294967296.0)
        other = s.members[there, np.int64(((more & LOW) * np.uint64(q)) >> HALF)]
        for swap in range(0 if p > k and q < most else 1, 2):
            if swap == 1 and other == like:
                continue
            back = other if swap == 1 else np.int32(-1)
            left, right = ncp_with(s, here, row, back), ncp_with(s, there, back, row)
            increase = (p - 1 + swap) * left + (q + 1 - swap) * right - before
            if guarded:
                increase += lack_by(s, guard, here, there, row, back, accepted - increase)
            if increase < accepted:
                leave(s, here, row)
                if swap == 1:
                    leave(s, there, other)
                    enter(s, here, other)
                enter(s, there, row)
                s.ncp[here], s.ncp[there] = left, right
                if guarded:
                    keep(guard, here, there)
                change += increase
                break
    return change
