"""NCP of every run of neighbouring rows that may be a class, over many first rows at once.

A run starts at a *unit* and is ``per_k`` to ``2 * per_k - 1`` units long. A unit is a row; where
k is above UNITS it is k / UNITS rows, so that time and memory do not grow with k.

Each loop runs over neighbouring starts and slices that lie side by side, so that the compiler
turns it into vector instructions. A set's size needs no set: a run of s units from u gains a new
value in its last unit iff that value was last seen s units or more before.
"""

import numpy as np
from numba import njit

from anon_sql.kernels.ncp import NUMBER, SET, range_loss

EXACT = 512  # largest k for which a unit is a row
UNITS = 128  # units in k rows beyond
FAR = np.float32(1e9)  # a NULL of a TREE column, beyond all leaves; a value not seen before


@njit(cache=True, nogil=True)
def unit_start(unit, k, per_k):
    """The first row of a unit, so that any per_k units in a row are exactly k rows."""
    return unit * k // per_k


@njit(cache=True, nogil=True)
def outlines(points, rows, model, k, per_k):
    """What a run needs to know of its units, one line a column: low, high, fresh, null.

    points float64[n, d], rows int32[m], in the order that is cut. low, high float32[d, units]: a
    NULL number stays 3, so that it makes any range 1 or more. fresh float32[d, units]: how far
    back the unit's value was last seen (SET columns, unit = row). null float32[d, units]: 1 where
    a unit of a SET column holds NULL. 2 * per_k units of padding follow. The last unit takes the
    rows that make no whole one.
    """
    m, columns = rows.size, points.shape[1]
    units = m * per_k // k
    length = units + 2 * per_k
    low, high = np.zeros((columns, length), np.float32), np.zeros((columns, length), np.float32)
    fresh, null = np.zeros((columns, length), np.float32), np.zeros((columns, length), np.float32)
    far = np.full(columns, np.inf)
    for c in range(columns):
        if model.kind[c] != NUMBER:
            far[c] = model.null[c]
    if per_k == k:
        for at in range(m):
            row = rows[at]
            for c in range(columns):
                value = np.float32(points[row, c])
                low[c, at] = FAR if points[row, c] == far[c] else value
    else:
        for u in range(units):
            a = unit_start(u, k, per_k)
            b = unit_start(u + 1, k, per_k) if u + 1 < units else m
            for c in range(columns):
                least, most = np.float32(np.inf), np.float32(-np.inf)
                for at in range(a, b):
                    value = np.float32(points[rows[at], c])
                    if points[rows[at], c] == far[c]:
                        value = FAR
                    least, most = min(least, value), max(most, value)
                low[c, u], high[c, u] = least, most
    for c in range(columns):
        if model.kind[c] == SET:
            last = np.full(np.int64(model.null[c]) + 2, -(2**40), np.int64)
            for u in range(units):
                if per_k == k:
                    code = last.size - 1 if low[c, u] == FAR else np.int64(low[c, u])
                    null[c, u] = low[c, u] == FAR
                    fresh[c, u] = np.float32(min(u - last[code], 2**30))
                    last[code] = u
                else:
                    null[c, u] = high[c, u] == FAR
        elif per_k == k:
            high[c] = low[c]
    return low, high, fresh, null


@njit(cache=True, nogil=True)
def fresh_counts(points, rows, column, values, k, per_k, units):
    """float32[2 * per_k, units + 2 * per_k]: at [s - 1, u] how many values of unit u were not in
    the s - 1 units before it."""
    counts = np.zeros((2 * per_k, units + 2 * per_k), np.float32)
    last = np.full(values + 1, -(2**40), np.int64)
    for u in range(units):
        a = unit_start(u, k, per_k)
        b = unit_start(u + 1, k, per_k) if u + 1 < units else rows.size
        for at in range(a, b):
            code = np.int64(points[rows[at], column])
            back = min(u - last[code], 2 * per_k)
            last[code] = u
            if back > 0:
                counts[back - 1, u] += 1
    for s in range(2 * per_k - 2, -1, -1):
        for u in range(units):
            counts[s, u] += counts[s + 1, u]
    return counts


@njit(cache=True, nogil=True)
def add_range(low, high, per_k, model, column, out):
    """Add the loss of a NUMBER or TREE column; low, high float32[starts + 2 * per_k]."""
    starts = out.shape[1]
    least, most = low[: starts + per_k].copy(), high[: starts + per_k].copy()
    size, length = 1, starts + per_k
    while size < per_k:  # windows of size rows become windows of twice as many, at last of per_k
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
                total[i] += width if width < np.float32(1) else np.float32(1)
        else:
            for i in range(starts):
                if most[i] < FAR:
                    total[i] += np.float32(range_loss(model, column, least[i], most[i]))
                elif least[i] < FAR:
                    total[i] += np.float32(1)


@njit(cache=True, nogil=True)
def add_set(fresh, counts, first, null, nulls, per_k, values, out):
    """Add the loss of a SET column; fresh, null float32[starts + 2 * per_k].

    counts: what fresh_counts made, read from unit ``first`` on, or empty where a unit is a row.
    """
    starts = out.shape[1]
    size, holds = np.zeros(starts, np.float32), np.zeros(starts, np.float32)
    one, share = np.float32(1), np.float32(1 / values)
    for units in range(1, 2 * per_k):
        if counts.shape[0] == 0:
            gap, enough = fresh[units - 1 :], np.float32(units)
            for i in range(starts):
                size[i] += one if gap[i] >= enough else np.float32(0)
        else:
            new = counts[units - 1, first + units - 1 :]
            for i in range(starts):
                size[i] += new[i]
        if nulls:
            more = null[units - 1 :]
            for i in range(starts):
                holds[i] = holds[i] if holds[i] > more[i] else more[i]
        if units < per_k:
            continue
        total = out[units - per_k]
        for i in range(starts):
            part = size[i] * share
            if nulls:
                part = one if holds[i] > np.float32(0) else part
            total[i] += part if size[i] > one else np.float32(0)
