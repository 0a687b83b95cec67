"""Cut an order of rows into groups of k to 2k - 1 at the least loss, by dynamic programming.

Source: Ghinita et al. 2007, section 4 (one quasi-identifier, after the optimal univariate
microaggregation of Hansen and Mukherjee 2003). Departure: the loss is NCP over all columns.

The NCP of every run of adjacent rows that may be a class is computed, for many first rows at once.
A run starts at a *unit* and is ``per_k`` to ``2 * per_k - 1`` units long. A unit is a row; if k
exceeds MAX_EXACT_K it is k / K_UNITS rows, so that time and memory do not grow with k.

Each loop runs over adjacent starts and contiguous slices, so that the compiler vectorizes it. The
size of a set needs no set: a run of s units from u gains a new value in its last unit if and only
if that value last occurred s units or more before.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import NUMBER, SET, range_loss

MAX_EXACT_K = 512  # largest k for which a unit is a row
K_UNITS = 128  # in k rows, if k is larger
FAR = np.float32(1e9)  # NULL of a TREE column, beyond all leaves; a value without predecessor


@kernel
def unit_begins(rows, k, per_k):
    """Return the first row of each unit, int64[units + 1].

    Any ``per_k`` adjacent units have at least k rows. The last unit takes the remaining rows.

    rows: int, number of rows.
    k: int, least rows of a class.
    per_k: int, units that have at least k rows.
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

    Both are float32[d, units + padding]. NULL in a NUMBER column stays 3, which makes any range the
    widest; NULL in other columns is FAR.

    points: float64[n, d], the points of the rows in each column.
    rows: int32[m], in the order that is cut.
    model: ``LossModel``, the meaning of the points.
    begins: int64[units + 1], from ``unit_begins``.
    padding: int, how many zeros follow.
    """
    columns, units = points.shape[1], begins.size - 1
    low = np.zeros((columns, units + padding), np.float32)
    high = np.zeros((columns, units + padding), np.float32)
    far = model.null.copy()
    for c in range(columns):
        if model.kind[c] == NUMBER:
            far[c] = np.inf
    for u in range(units):
        for i in range(begins[u], begins[u + 1]):
            row = rows[i]
            for c in range(columns):
                value = FAR if points[row, c] == far[c] else np.float32(points[row, c])
                if i == begins[u]:
                    low[c, u], high[c, u] = value, value
                else:
                    low[c, u], high[c, u] = min(low[c, u], value), max(high[c, u], value)
    return low, high


@kernel
def last_seen(codes, null_code, units):
    """Return how many rows back each code occurred before, float32[units].

    codes: float32[units or more], the code of each row; FAR is the code of NULL.
    null_code: int64, the number of NULL.
    units: int, how many rows.
    """
    back = np.zeros(codes.size, np.float32)
    last = np.full(null_code + 1, -(2**40), np.int64)
    for i in range(units):
        code = null_code if codes[i] == FAR else np.int64(codes[i])
        back[i] = min(i - last[code], 2**30)
        last[code] = i
    return back


@kernel
def fresh_counts(codes, rows, null_code, begins, per_k):
    """Return at [s - 1, u] the number of values of unit u that the s - 1 units before it lack.

    Returns float32[2 * per_k, units + 2 * per_k].

    codes: float64[n], codes of the rows of the table.
    rows: int32[m], in the order that is cut.
    null_code: int64, the code of NULL.
    begins: int64[units + 1], from ``unit_begins``.
    per_k: int, units that have at least k rows.
    """
    units = begins.size - 1
    counts = np.zeros((2 * per_k, units + 2 * per_k), np.float32)
    last = np.full(null_code + 1, -(2**40), np.int64)
    for u in range(units):
        for i in range(begins[u], begins[u + 1]):
            code = np.int64(codes[rows[i]])
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
    """Add the loss of a NUMBER or TREE column.

    low, high: float32[starts + 2 * per_k], of each unit, from ``outlines``.
    per_k: int, units that have at least k rows.
    model: ``LossModel``, the meaning of the points.
    column: int, the column, 0 … d - 1.
    out: float32[per_k, starts], of each run, by its length and first unit; changed.
    """
    starts, full = out.shape[1], np.float32(model.weight[column])
    run_low, run_high = low[: starts + per_k].copy(), high[: starts + per_k].copy()
    size, length = 1, starts + per_k
    while size < per_k:  # double the windows' size up to per_k
        step = min(size, per_k - size)
        length -= step
        shorter_low, shorter_high = run_low.copy(), run_high.copy()
        next_low, next_high = shorter_low[step:], shorter_high[step:]
        for i in range(length):
            run_low[i] = shorter_low[i] if shorter_low[i] < next_low[i] else next_low[i]
            run_high[i] = shorter_high[i] if shorter_high[i] > next_high[i] else next_high[i]
        size += step
    for extra in range(per_k):
        if extra > 0:
            next_low, next_high = low[per_k + extra - 1 :], high[per_k + extra - 1 :]
            for i in range(starts):
                run_low[i] = run_low[i] if run_low[i] < next_low[i] else next_low[i]
                run_high[i] = run_high[i] if run_high[i] > next_high[i] else next_high[i]
        total = out[extra]
        if model.kind[column] == NUMBER:
            for i in range(starts):
                width = run_high[i] - run_low[i]
                total[i] += width if width < full else full
        else:
            for i in range(starts):
                if run_high[i] < FAR:
                    first, last = np.float64(run_low[i]), np.float64(run_high[i])
                    total[i] += np.float32(range_loss(model, column, first, last))
                elif run_low[i] < FAR:
                    total[i] += full


@kernel
def add_set(back, counts, first, high, per_k, model, column, out):
    """Add the loss of a SET column.

    back: float32[starts + 2 * per_k], from ``last_seen``.
    counts: float32[…, …], from ``fresh_counts``, or empty if a unit is a row.
    first: int, the unit of ``counts`` that is the first start.
    high: float32[starts + 2 * per_k], of each unit, from ``outlines``.
    per_k: int, units that have at least k rows.
    model: ``LossModel``, the meaning of the points.
    column: int, the column, 0 … d - 1.
    out: float32[per_k, starts], of each run, by its length and first unit; changed.
    """
    starts, zero, one = out.shape[1], np.float32(0), np.float32(1)
    size, run_high = np.zeros(starts, np.float32), high[:starts].copy()
    full = np.float32(model.weight[column])
    share = np.float32(model.weight[column] / model.values[column])
    nulls = False
    for i in range(high.size):
        nulls |= high[i] == FAR
    for units in range(1, 2 * per_k):
        if counts.shape[0] == 0:
            gap, length = back[units - 1 :], np.float32(units)
            for i in range(starts):
                size[i] += one if gap[i] >= length else zero
        else:
            new = counts[units - 1, first + units - 1 :]
            for i in range(starts):
                size[i] += new[i]
        if nulls:
            next_high = high[units - 1 :]
            for i in range(starts):
                run_high[i] = run_high[i] if run_high[i] > next_high[i] else next_high[i]
        if units < per_k:
            continue
        total = out[units - per_k]
        for i in range(starts):
            loss = full if nulls and run_high[i] == FAR else size[i] * share
            total[i] += loss if size[i] > one else zero


BLOCK_COSTS = 1 << 15  # first rows times lengths
NO_PRICES = np.zeros((0, 0), np.float32)


@kernel
def optimal_groups(points, rows, model, k, prices):
    """Return where each group begins, int64[groups + 1], and the least sum of |E| * NCP(E).

    In the sum |E| is counted in units. If k exceeds MAX_EXACT_K only every (k / K_UNITS)-th
    boundary is tried.

    points: float64[n, d], the points of the rows in each column.
    rows: int32[m], in the order that is cut, m >= k.
    model: ``LossModel``, the meaning of the points.
    k: int, least rows of a class.
    prices: float32[k, m], what is added to the NCP of each run, from ``shortfall_prices``;
        NO_PRICES for nothing.
    """
    columns, per_k = points.shape[1], k if k <= MAX_EXACT_K else K_UNITS
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
    least_costs = np.full(units + 2 * per_k, np.inf)
    lengths = np.zeros(units + 2 * per_k, np.int32)
    least_costs[0] = 0.0
    block = max(per_k, BLOCK_COSTS // per_k)
    for begin in range(0, units, block):
        end = min(begin + block, units)
        losses = np.zeros((per_k, end - begin), np.float32)
        for c in range(columns):
            block_low, block_high = (
                low[c, begin : end + 2 * per_k],
                high[c, begin : end + 2 * per_k],
            )
            if model.kind[c] == SET:
                add_set(block_low, counts[c], begin, block_high, per_k, model, c, losses)
            else:
                add_range(block_low, block_high, per_k, model, c, losses)
        for extra in range(prices.shape[0]):
            for i in range(end - begin):
                losses[extra, i] += prices[extra, begin + i]
        longest = units - 2 * per_k + 1
        if (
            begin <= longest < end and rows.size - begins[longest] >= 2 * k
        ):  # the last unit is a larger one
            losses[per_k - 1, longest - begin] = np.inf
        extend(least_costs, lengths, losses, begin, end, per_k)
    return groups_back(lengths, begins, units), least_costs[units]


@kernel
def extend(least_costs, lengths, losses, begin, end, per_k):
    """Carry the least cost from the starts begin … end - 1 to the ends of their groups.

    No group is shorter than per_k, so that per_k starts are final at a time.

    least_costs: float64[units + …], the least cost of the units before each place; changed.
    lengths: int32[units + …], length of the last group of these units; changed.
    losses: float32[per_k, end - begin], NCP of each run, by its length and first unit.
    begin, end: int, the starts.
    per_k: int, units that have at least k rows.
    """
    for first in range(begin, end, per_k):
        count = min(per_k, end - first)
        base = least_costs[first : first + count]
        for extra in range(per_k):
            length = per_k + extra
            ends, choice = least_costs[first + length :], lengths[first + length :]
            loss = losses[extra, first - begin :]
            weight = np.float64(length)
            for i in range(count):
                cost = base[i] + weight * loss[i]
                better = cost < ends[i]
                ends[i] = cost if better else ends[i]
                choice[i] = length if better else choice[i]


@kernel
def groups_back(lengths, begins, units):
    """Return the first row of each group, int64[groups + 1].

    lengths: int32[units + …], length of the last group up to each unit.
    begins: int64[units + 1], from ``unit_begins``.
    units: int, number of units.
    """
    count, unit = 0, units
    while unit > 0:
        unit -= lengths[unit]
        count += 1
    starts = np.empty(count + 1, np.int64)
    unit = units
    for group in range(count, -1, -1):
        starts[group] = begins[unit]
        unit -= lengths[unit]
    return starts


GAP_POWER = 4  # chosen on Adult from 1 to 10; higher values put large subtrees further apart


@kernel
def leaf_places(model, column):
    """Return ascending places of the leaves of a TREE column, float64[leaves], in [0, leaves).

    The gap between two neighbours is the loss of a class that has both, to the power of GAP_POWER,
    so that an order by short ranges keeps small subtrees together.

    model: ``LossModel``, the meaning of the points.
    column: int, the column, 0 … d - 1.
    """
    leaves, base = np.int64(model.null[column]), model.base[column]
    places = np.zeros(leaves)
    for leaf in range(leaves - 1):
        node = leaf
        while model.last[base + node] <= leaf:
            node = model.parent[base + node]
        places[leaf + 1] = places[leaf] + model.share[base + node] ** GAP_POWER
    if leaves > 1:
        places *= (leaves - 0.5) / places[-1]
    return places
