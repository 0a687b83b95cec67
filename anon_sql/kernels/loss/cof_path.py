"""Compute the path from a row through its nearest neighbours and its chaining distance.

Costs are in units of 1e-9 * k(k + 1) / 2: whole numbers, which float64 adds exactly. The unit
cancels in the factor, a ratio.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel

VARIANTS = ("rayden", "tang", "pyod")
RAYDEN, TANG = 0, 1


@kernel
def nearest(keys, own, k, members, reach):
    """Write ``own`` and its k nearest positions, by (key, position), into members, int32[k + 1].

    keys: int64[m], distance keys from row ``own``. reach: int64[k], scratch.
    """
    members[0] = own
    found = 0
    for at in range(keys.size):
        distance = keys[at]
        if at == own or (found == k and distance >= reach[k - 1]):
            continue  # at equal distance the lower position is already in
        place = min(found, k - 1)
        found = place + 1
        while place > 0 and reach[place - 1] > distance:
            reach[place] = reach[place - 1]
            members[place + 1] = members[place]
            place -= 1
        reach[place] = distance
        members[place + 1] = at


@kernel
def path_cost(between, members, variant, gap, waiting):
    """Return the average chaining distance of members[0] over its neighbours, in the module's unit.

    between: int64[., .], keys between members. gap: int64[k], waiting: int32[k], scratch.

    - rayden: from each neighbour to the next farther one, later steps weigh more.
    - tang: from the set so far to the nearest neighbour outside, earlier steps weigh more (Tang et
      al. 2002).
    - pyod: neighbours by distance, each from the nearest one before it (PyOD's implementation).
    """
    k = members.size - 1
    cost = 0.0
    if variant == RAYDEN:
        for step in range(1, k + 1):
            cost += float(step) * float(between[members[step], members[step - 1]])
        return cost
    if variant == TANG:
        for at in range(k):
            waiting[at] = members[at + 1]
            gap[at] = between[members[0], members[at + 1]]
        for step in range(1, k + 1):
            left = k + 1 - step
            best = 0
            for at in range(1, left):
                closer = gap[at] < gap[best]
                if closer or (gap[at] == gap[best] and waiting[at] < waiting[best]):
                    best = at
            cost += float(left) * float(gap[best])
            joined = waiting[best]
            waiting[best], gap[best] = waiting[left - 1], gap[left - 1]
            for at in range(left - 1):
                gap[at] = min(gap[at], between[joined, waiting[at]])
        return cost
    for step in range(1, k + 1):
        least = between[members[step], members[0]]
        for before in range(1, step):
            least = min(least, between[members[step], members[before]])
        cost += float(k + 1 - step) * float(least)
    return cost


@kernel
def factors(costs, neighbours, low, out):
    """Write the COF of rows low … into out: k times the own cost over the neighbours' costs.

    0/0 is 1. costs: float64[m] of a leaf. neighbours: int32[rows, 1 + k], own position first.
    """
    k = neighbours.shape[1] - 1
    for r in range(neighbours.shape[0]):
        around = 0.0
        for step in range(1, k + 1):
            around += costs[neighbours[r, step]]
        own = costs[neighbours[r, 0]]
        if around > 0.0:
            out[low + r] = k * own / around
        else:
            out[low + r] = np.inf if own > 0.0 else 1.0
