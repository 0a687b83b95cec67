"""Compute the NCP of every run of adjacent rows that may be a class, for many first rows at once.

A run starts at a *unit* and is ``per_k`` to ``2 * per_k - 1`` units long. A unit is a row; where k
exceeds EXACT it is k / UNITS rows, so that time and memory do not grow with k.

Each loop runs over adjacent starts and contiguous slices, so that the compiler vectorizes it. The
size of a set needs no set: a run of s units from u gains a new value in its last unit if and only
if that value last occurred s units or more before.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss.ncp import NUMBER, range_loss

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
    starts, whole = out.shape[1], np.float32(model.weight[column])
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
                total[i] += width if width < whole else whole
        else:
            for i in range(starts):
                if most[i] < FAR:
                    first, last = np.float64(least[i]), np.float64(most[i])
                    total[i] += np.float32(range_loss(model, column, first, last))
                elif least[i] < FAR:
                    total[i] += whole


@kernel
def add_set(back, counts, first, high, per_k, model, column, out):
    """Add the loss of a SET column to ``out``, float32[per_k, starts].

    back: from ``last_seen``; high: float32[starts + 2 * per_k]. counts: from ``fresh_counts``, read
    from unit ``first`` on, or empty where a unit is a row.
    """
    starts, zero, one = out.shape[1], np.float32(0), np.float32(1)
    size, most = np.zeros(starts, np.float32), high[:starts].copy()
    whole = np.float32(model.weight[column])
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
            part = whole if nulls and most[i] == FAR else size[i] * share
            total[i] += part if size[i] > one else zero
