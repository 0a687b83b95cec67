"""Order rows by growing groups of k within a window, each by the row of least increase of loss.

Source: k-member (Byun et al. 2007; ``kernels.cluster.k_member``). Departures: a group begins with
the first waiting row, not the farthest, and only the next rows of a given order are tried, so that
time grows linearly with the rows. The groups are cut anew afterwards.
"""

import numpy as np

from anon_sql.kernels.cluster.k_member import LENGTH, Growth, enter, joined
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss.coded import coded, count_loss
from anon_sql.kernels.loss.ncp import SET


@kernel
def grown_order(points, rows, model, width, k):
    """Return rows int32[m] in a better order, int32[m].

    points: float64[n, d]. width: number of waiting rows, one of which is taken at a time; ties go
    to the row that comes first.
    """
    m, order = rows.size, np.empty(rows.size, np.int32)
    codes = np.empty((m, model.kind.size), np.int32)
    coded(points[rows], model, codes)
    growth = window_of(codes, model, min(width, m))
    slots = np.arange(m)
    coming, first = min(width, m), 0
    for at in range(m):
        fresh = at % k == 0
        if fresh:
            while slots[first] < 0:
                first += 1
        row = first if fresh else cheapest(growth)
        slot = slots[row]
        slots[row] = -1
        order[at] = rows[row]
        enter(growth, model, codes, row, fresh)
        if coming < m:
            wait(growth, model, codes, coming, slot)
            slots[coming] = slot
            coming += 1
        else:
            last = growth.state[LENGTH] - 1
            growth.state[LENGTH] = last
            growth.columns[:, slot] = growth.columns[:, last]
            growth.rows[slot], growth.cost[slot] = growth.rows[last], growth.cost[last]
            if slot < last:
                slots[growth.rows[slot]] = slot
    return order


@kernel
def window_of(codes, model, width):
    """Return an empty class and the first waiting rows."""
    d, null_codes = model.kind.size, np.append(model.null[model.kind == SET], 0.0)
    most, leaves = np.int64(null_codes.max()) + 1, np.int64(model.null.max()) + 1
    held = np.zeros((4, d), np.int64)
    state = np.zeros(5, np.int64)
    state[LENGTH] = width
    return Growth(
        np.arange(width).astype(np.int32),
        codes[:width].T.copy(),
        np.zeros(width, np.int64),
        held[0],
        held[1],
        held[2],
        held[3],
        np.zeros((d, most), np.bool_),
        np.zeros(leaves, np.int64),
        state,
    )


@kernel
def cheapest(growth):
    """Return the waiting row of least cost, ties to the first."""
    length = growth.state[LENGTH]
    cost, rows = growth.cost[:length], growth.rows[:length]
    least, first = cost[0], np.int32(2**31 - 1)
    for at in range(length):
        least = cost[at] if cost[at] < least else least
    for at in range(length):
        first = rows[at] if cost[at] == least and rows[at] < first else first
    return np.int64(first)


@kernel
def wait(growth, model, codes, row, slot):
    """Put a row into a slot of the window, with its cost for the current class."""
    growth.rows[slot] = row
    total = np.int64(0)
    for c in range(model.kind.size):
        code = codes[row, c]
        growth.columns[c, slot] = code
        if model.kind[c] == SET:
            members, null = growth.members[c], np.int64(model.null[c])
            grown = growth.distinct[c] + (not members[code])
            total += count_loss(model, c, grown, members[null] or code == null)
        else:
            total += joined(model, c, growth.low[c], growth.high[c], growth.nulls[c], code)
    growth.cost[slot] = total
