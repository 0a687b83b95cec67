"""Improve the classes of a group by simulated annealing: rows move to the classes of near rows.

Source: Kirkpatrick, Gelatt and Vecchi 1983. A row proposes the class of one of the rows near it; it
moves there where both sizes allow, else it is exchanged with a random row of that class.
"""

import numpy as np

from anon_sql.kernels.cluster.class_state import enter, leave, ncp_with
from anon_sql.kernels.cluster.exchange import exchange_price, keep
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss.distance import draw

COOLING = 1024  # proposals between two changes of temperature
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


@kernel
def warmth(s):
    """Return the mean decrease of |E| * NCP(E) by a row that leaves, over rows whose leaving helps.

    It is the unit of temperatures; 0.0 where no class would lose less without one of its rows.
    """
    total, count = 0.0, 0
    for row in range(s.home.size):
        at = s.home[row]
        gain = s.ncp[at] - ncp_with(s, at, row, -1)
        if gain > 1e-12:
            total += s.size[at] * gain
            count += 1
    return total / max(count, 1)


@kernel
def proposed(near, seed, step):
    """Return a random row, a row near it, and random bits for what else the step draws.

    near: int32[m, …], rows near each row.
    """
    bits = draw(seed, np.uint64(2 * step))
    row = np.int64(((bits & LOW) * np.uint64(near.shape[0])) >> HALF)
    like = near[row, np.int64((bits >> HALF) % np.uint64(near.shape[1]))]
    return row, like, draw(seed, np.uint64(2 * step + 1))


@kernel
def tolerated(heat, bits):
    """Return the increase below which a step is taken; bits: random."""
    return -heat * np.log((np.float64(bits >> HALF) + 0.5) / 4294967296.0)


@kernel
def drawn_member(s, at, bits):
    """Return a random row of class ``at`` of a state with members and size; bits: random."""
    return s.members[at, np.int64(((bits & LOW) * np.uint64(s.size[at])) >> HALF)]


@kernel
def anneal(s, guard, near, k, most, proposals, hot, cold, seed):
    """Apply ``proposals`` proposals while cooling from ``hot`` to ``cold``, in units of loss.

    s: ClassState, changed in place. guard: ``exchange.Guard``. near: int32[m, …]. Class sizes stay
    in k … most. Returns the change of the sum of |E| * NCP(E) plus the guard's price times the
    change of the shortfalls.
    """
    change = 0.0
    guarded = guard.rules.total.size > 0
    heat, cooling = hot, (cold / hot) ** (COOLING / proposals)
    for step in range(proposals):
        if step % COOLING == COOLING - 1:
            heat *= cooling
        row, like, more = proposed(near, seed, step)
        here, there = s.home[row], s.home[like]
        if here == there:
            continue
        p, q = s.size[here], s.size[there]
        before = p * s.ncp[here] + q * s.ncp[there]
        accepted, other = tolerated(heat, more), drawn_member(s, there, more)
        for swap in range(0 if p > k and q < most else 1, 2):
            if swap == 1 and other == like:
                continue
            back = other if swap == 1 else np.int32(-1)
            left, right = ncp_with(s, here, row, back), ncp_with(s, there, back, row)
            increase = (p - 1 + swap) * left + (q + 1 - swap) * right - before
            if guarded:
                increase += exchange_price(s, guard, here, there, row, back, accepted - increase)
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
