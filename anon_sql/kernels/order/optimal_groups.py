"""Cut an order of rows into groups of k to 2k - 1 at the least loss, by dynamic programming.

Source: Ghinita et al. 2007, section 4 (one quasi-identifier, after the optimal univariate
microaggregation of Hansen and Mukherjee 2003). Departure: the loss is NCP over all columns.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss.ncp import SET
from anon_sql.kernels.order.interval_loss import (
    EXACT,
    UNITS,
    add_range,
    add_set,
    fresh_counts,
    last_seen,
    outlines,
    unit_begins,
)

STARTS = 1 << 15  # costs in a block: first rows times lengths


@kernel
def optimal_groups(points, rows, model, k):
    """Return where each group begins, int64[groups + 1], and the least sum of |E| * NCP(E).

    points: float64[n, d]; rows: int32[m], in the order that is cut, m >= k. In the sum |E| is
    counted in units (see ``interval_loss``). Where k exceeds EXACT only every (k / UNITS)-th
    boundary is tried.
    """
    columns, per_k = points.shape[1], k if k <= EXACT else UNITS
    begins = unit_begins(rows.size, k, per_k)
    units = begins.size - 1
    low, high = outlines(points, rows, model, begins, 2 * per_k)
    counts = [np.zeros((0, 0), np.float32) for _ in range(columns)]
    for c in range(columns):
        if model.kind[c] == SET and per_k == k:
            back = last_seen(low[c], np.int64(model.null[c]), units)
            for unit in range(units):
                low[c, unit] = back[unit]
        elif model.kind[c] == SET:
            counts[c] = fresh_counts(points[:, c], rows, np.int64(model.null[c]), begins, per_k)
    best = np.full(units + 2 * per_k, np.inf)
    chosen = np.zeros(units + 2 * per_k, np.int32)
    best[0] = 0.0
    block = max(per_k, STARTS // per_k)
    for a in range(0, units, block):
        b = min(a + block, units)
        losses = np.zeros((per_k, b - a), np.float32)
        for c in range(columns):
            x, y = low[c, a : b + 2 * per_k], high[c, a : b + 2 * per_k]
            if model.kind[c] == SET:
                add_set(x, counts[c], a, y, per_k, model, c, losses)
            else:
                add_range(x, y, per_k, model, c, losses)
        longest = units - 2 * per_k + 1
        if (
            a <= longest < b and rows.size - begins[longest] >= 2 * k
        ):  # the last unit is a larger one
            losses[per_k - 1, longest - a] = np.inf
        extend(best, chosen, losses, a, b, per_k)
    return groups_back(chosen, begins, units), best[units]


@kernel
def extend(best, chosen, losses, a, b, per_k):
    """Carry the least cost from the starts a … b - 1 to the ends of their groups.

    No group is shorter than per_k, so that per_k starts are final at a time.
    """
    for first in range(a, b, per_k):
        count = min(per_k, b - first)
        base = best[first : first + count]
        for extra in range(per_k):
            length = per_k + extra
            ends, choice = best[first + length :], chosen[first + length :]
            loss = losses[extra, first - a :]
            weight = np.float64(length)
            for i in range(count):
                cost = base[i] + weight * loss[i]
                better = cost < ends[i]
                ends[i] = cost if better else ends[i]
                choice[i] = length if better else choice[i]


@kernel
def groups_back(chosen, begins, units):
    """Return the first row of each group, from the length of the last group up to each place."""
    count, at = 0, units
    while at > 0:
        at -= chosen[at]
        count += 1
    starts = np.empty(count + 1, np.int64)
    at = units
    for group in range(count, -1, -1):
        starts[group] = begins[at]
        at -= chosen[at]
    return starts
