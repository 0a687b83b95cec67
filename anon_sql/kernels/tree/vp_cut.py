"""Make one cut of a VP-tree: a vantage point, a radius, and the rows on either side.

Sources: CANON, figure 3; RAYDEN, algorithm 1. Departure: the pseudo-code splits until a set is
smaller than k, which is never legal; a cut is allowed only if both sides keep k rows, as the
papers' text says.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss.distance import draw_below, key, keys_to

VANTAGES = ("random", "max_spread", "farthest")
CUTS = ("balanced", "median", "aligned")
MAX_SPREAD, FARTHEST = 1, 2
MEDIAN, ALIGNED = 1, 2

CANDIDATES, SAMPLE = 6, 24  # of max_spread; doubling both gains 1 % of GCP for twice the time

CHILDREN = 2  # numbers of a node's stream that seed its sides; its draws follow
PER_TRY = 64  # numbers of the stream reserved for one try, more than CANDIDATES + SAMPLE


@kernel
def nth(keys, n):
    """Return the n-th smallest key, counted from 0; reorders keys."""
    low, high = 0, keys.size - 1
    while low < high:
        a, b, c = keys[low], keys[(low + high) >> 1], keys[high]
        pivot = max(min(a, b), min(max(a, b), c))
        less = low
        for i in range(low, high + 1):  # no branch on the data: always swap, sometimes advance
            value = keys[i]
            keys[i] = keys[less]
            keys[less] = value
            less += value < pivot
        if n < less:
            high = less - 1
            continue
        same = less
        for i in range(less, high + 1):
            value = keys[i]
            keys[i] = keys[same]
            keys[same] = value
            same += value == pivot
        if n < same:
            return pivot
        low = same
    return keys[n]


@kernel
def vantage_point(points, rows, measure, vantage, seed, first):
    """Return the row to measure from; draws from the node's stream at ``first`` and after.

    random: as in the papers. farthest: the row farthest from a random row. max_spread (Yianilos
    1993): of a few candidates the one whose distances to a sample vary most.
    """
    m = rows.size
    chosen = rows[draw_below(seed, first, m)]
    if vantage == FARTHEST:
        origin, most = chosen, np.int64(-1)
        for at in range(m):
            distance = key(points, rows[at], origin, measure)
            if distance > most:
                chosen, most = rows[at], distance
    if vantage == MAX_SPREAD:
        widest = -1.0
        for c in range(CANDIDATES):
            candidate = rows[draw_below(seed, first + c, m)]
            total = squares = 0.0
            for s in range(SAMPLE):
                other = rows[draw_below(seed, first + CANDIDATES + s, m)]
                distance = float(key(points, candidate, other, measure))
                total += distance
                squares += distance * distance
            spread = squares - total * total / SAMPLE
            if spread > widest:
                chosen, widest = candidate, spread
    return chosen


@kernel
def cut_node(points, rows, k, rule, seed, scratch):
    """Bring the near rows to the front, both sides ascending; return their number.

    Returns 0 where no cut leaves k rows on both sides. rule: (measure, vantage, cut, tries).
    """
    measure, vantage, cut, tries = rule
    keys, work, spare = scratch
    m = rows.size
    if m < 2 * k:
        return 0
    keys, work = keys[:m], work[:m]
    rank = k * (m // k // 2) if cut == ALIGNED else (m + 1) // 2
    for attempt in range(tries):
        v = vantage_point(points, rows, measure, vantage, seed, CHILDREN + attempt * PER_TRY)
        keys_to(points, rows, v, measure, keys)
        for at in range(m):
            work[at] = keys[at]
        edge = nth(work, rank - 1)
        below = tied = 0
        for at in range(m):
            below += keys[at] < edge
            tied += keys[at] == edge
        # d <= median holds for the same rows whether m is odd or even: those up to the lower
        # middle one, with all its ties
        ties = tied if cut == MEDIAN else rank - below
        if m - below - ties < k:
            continue
        near = far = 0
        for at in range(m):
            row, distance = rows[at], keys[at]
            tie = distance == edge
            is_near = (distance < edge) | (tie & (ties > 0))
            ties -= tie
            rows[near] = row
            spare[far] = row
            near += is_near
            far += not is_near
        for at in range(far):
            rows[near + at] = spare[at]
        return near
    return 0
