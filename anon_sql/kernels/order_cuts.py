"""Cut an order of rows into groups of k to 2k - 1 at the least loss, by dynamic programming.

Compute the NCP of every run of adjacent rows that may be a class, for many first rows at once. A
run starts at a *unit* and is ``per_k`` to ``2 * per_k - 1`` units long. A unit is a row; where k
exceeds EXACT it is k / UNITS rows, so that time and memory do not grow with k.

Each loop runs over adjacent starts and contiguous slices, so that the compiler vectorizes it. The
size of a set needs no set: a run of s units from u gains a new value in its last unit if and only
if that value last occurred s units or more before.

Source: Ghinita et al. 2007, section 4 (one quasi-identifier, after the optimal univariate
microaggregation of Hansen and Mukherjee 2003). Departure: the loss is NCP over all columns.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import NUMBER, SET, range_loss

EXACT = 512  # largest k for which a unit is a row
UNITS = 128  # units in k rows, where k is larger
FAR = np.float32(1e9)  # NULL of a TREE column, beyond all leaves; a value without predecessor


@kernel
def unit_begins(rows, k, per_k):
    """Return the first row of each unit, int64[units + 1].

    Any ``per_k`` adjacent units have at least k rows. The last unit takes the remaining rows.
    """
    units = rows * per_k // k
    begins = np.empty(units + 1, np.int64)
    for u in range(units):
        begins[u] = u * k // per_k
    begins[units] = rows
    return begins


@kernel
def outlines(points, rows, model, begins, padding):
    """Return the smallest and largest point of each unit in each column.

    Returns low and high, float32[d, units + padding]. points: float64[n, d]; rows: int32[m], in the
    order that is cut. NULL in a NUMBER column stays 3, which makes any range the widest; NULL in
    other columns is FAR. ``padding`` zeros follow.
    """
    columns, units = points.shape[1], begins.size - 1
    low = np.zeros((columns, units + padding), np.float32)
    high = np.zeros((columns, units + padding), np.float32)
    far = model.null.copy()
    for c in range(columns):
        if model.kind[c] == NUMBER:
            far[c] = np.inf
    for u in range(units):
        for at in range(begins[u], begins[u + 1]):
            row = rows[at]
            for c in range(columns):
                value = FAR if points[row, c] == far[c] else np.float32(points[row, c])
                if at == begins[u]:
                    low[c, u], high[c, u] = value, value
                else:
                    low[c, u], high[c, u] = min(low[c, u], value), max(high[c, u], value)
    return low, high


@kernel
def last_seen(codes, null_code, units):
    """Return how many rows back each code occurred before, float32 like codes.

    FAR is the code of NULL.
    """
    back = np.zeros(codes.size, np.float32)
    last = np.full(null_code + 1, -(2**40), np.int64)
    for at in range(units):
        code = null_code if codes[at] == FAR else np.int64(codes[at])
        back[at] = min(at - last[code], 2**30)
        last[code] = at
    return back


@kernel
def fresh_counts(codes, rows, null_code, begins, per_k):
    """Return at [s - 1, u] the number of values of unit u that the s - 1 units before it lack.

    codes: float64[n]. Returns float32[2 * per_k, units + 2 * per_k].
    """
    units = begins.size - 1
    counts = np.zeros((2 * per_k, units + 2 * per_k), np.float32)
    last = np.full(null_code + 1, -(2**40), np.int64)
    for u in range(units):
        for at in range(begins[u], begins[u + 1]):
            code = np.int64(codes[rows[at]])
            back = min(u - last[code], 2 * per_k)
            last[code] = u
            if back > 0:
                counts[back - 1, u] += 1
    for s in range(2 * per_k - 2, -1, -1):
        for u in range(units):
            counts[s, u] += counts[s + 1, u]
    return counts


@kernel
def add_range(low, high, per_k, model, column, out):
    """Add the loss of a NUMBER or TREE column to ``out``, float32[per_k, starts].

    low, high: float32[starts + 2 * per_k].
    """
    starts, full = out.shape[1], np.float32(model.weight[column])
    least, most = low[: starts + per_k].copy(), high[: starts + per_k].copy()
    size, length = 1, starts + per_k
    while size < per_k:  # double the windows' size up to per_k
        step = min(size, per_k - size)
        length -= step
        near, far = least.copy(), most.copy()
        next_low, next_high = near[step:], far[step:]
        for i in range(length):
            least[i] = near[i] if near[i] < next_low[i] else next_low[i]
            most[i] = far[i] if far[i] > next_high[i] else next_high[i]
        size += step
    for extra in range(per_k):
        if extra > 0:
            next_low, next_high = low[per_k + extra - 1 :], high[per_k + extra - 1 :]
            for i in range(starts):
                least[i] = least[i] if least[i] < next_low[i] else next_low[i]
                most[i] = most[i] if most[i] > next_high[i] else next_high[i]
        total = out[extra]
        if model.kind[column] == NUMBER:
            for i in range(starts):
                width = most[i] - least[i]
                total[i] += width if width < full else full
        else:
            for i in range(starts):
                if most[i] < FAR:
                    first, last = np.float64(least[i]), np.float64(most[i])
                    total[i] += np.float32(range_loss(model, column, first, last))
                elif least[i] < FAR:
                    total[i] += full


@kernel
def add_set(back, counts, first, high, per_k, model, column, out):
    """Add the loss of a SET column to ``out``, float32[per_k, starts].

    back: from ``last_seen``; high: float32[starts + 2 * per_k]. counts: from ``fresh_counts``, read
    from unit ``first`` on, or empty where a unit is a row.
    """
    starts, zero, one = out.shape[1], np.float32(0), np.float32(1)
    size, most = np.zeros(starts, np.float32), high[:starts].copy()
    full = np.float32(model.weight[column])
    share = np.float32(model.weight[column] / model.values[column])
    nulls = False
    for i in range(high.size):
        nulls |= high[i] == FAR
    for units in range(1, 2 * per_k):
        if counts.shape[0] == 0:
            gap, enough = back[units - 1 :], np.float32(units)
            for i in range(starts):
                size[i] += one if gap[i] >= enough else zero
        else:
            new = counts[units - 1, first + units - 1 :]
            for i in range(starts):
                size[i] += new[i]
        if nulls:
            more = high[units - 1 :]
            for i in range(starts):
                most[i] = most[i] if most[i] > more[i] else more[i]
        if units < per_k:
            continue
        total = out[units - per_k]
        for i in range(starts):
            part = full if nulls and most[i] == FAR else size[i] * share
            total[i] += part if size[i] > one else zero


STARTS = 1 << 15  # costs in a block: first rows times lengths


NO_PRICES = np.zeros((0, 0), np.float32)


@kernel
def optimal_groups(points, rows, model, k, prices):
    """Return where each group begins, int64[groups + 1], and the least sum of |E| * NCP(E).

    points: float64[n, d]; rows: int32[m], in the order that is cut, m >= k. In the sum |E| is
    counted in units (see ``interval_loss``). Where k exceeds EXACT only every (k / UNITS)-th
    boundary is tried. prices: what is added to the NCP of each run, from ``shortfall_prices``;
    NO_PRICES for nothing.
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
        for extra in range(prices.shape[0]):
            for i in range(b - a):
                losses[extra, i] += prices[extra, a + i]
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


APART = 4  # chosen on Adult from 1 to 10; higher values put large subtrees further apart


@kernel
def leaf_places(model, column):
    """Return ascending places of the leaves of a TREE column, float64[leaves], in [0, leaves).

    The gap between two neighbours is the loss of a class that holds both, to the power of APART, so
    that an order by short ranges keeps small subtrees together.
    """
    leaves, base = np.int64(model.null[column]), model.base[column]
    places = np.zeros(leaves)
    for leaf in range(leaves - 1):
        node = leaf
        while model.last[base + node] <= leaf:
            node = model.parent[base + node]
        places[leaf + 1] = places[leaf] + model.share[base + node] ** APART
    if leaves > 1:
        places *= (leaves - 0.5) / places[-1]
    return places
