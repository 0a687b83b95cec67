"""An order in which each row is close to the rows just before it: greedy, within a window.

Of the next WIDTH rows of a given order the one goes next that widens the box of the last few
rows least. Source: this project; the idea of k-member (Byun et al. 2007), a group grown by the
row of least increase, without groups: those are cut afterwards.
"""

import numpy as np
from numba import njit

from anon_sql.kernels.ncp import NUMBER, SET


@njit(cache=True, nogil=True)
def recent_range(recent, count):
    """Smallest and largest of the first ``count`` numbers of a float32 array."""
    least, most = recent[0], recent[0]
    for at in range(1, count):
        least = recent[at] if recent[at] < least else least
        most = recent[at] if recent[at] > most else most
    return least, most


@njit(cache=True, nogil=True)
def mark(codes, code, weight, miss):
    """Give the candidates that hold a code a new weight; int32[w], float32[w]."""
    for j in range(codes.size):
        miss[j] = weight if codes[j] == code else miss[j]


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def least(scores):
    """The first place of the least score of float32[w]; no NaN, so the order is of no matter."""
    best = scores[0]
    for j in range(scores.size):
        best = scores[j] if scores[j] < best else best
    for j in range(scores.size):
        if scores[j] == best:
            return j
    return 0


@njit(cache=True, nogil=True)
def moving_window(points, rows, model, width, memory):
    """rows int32[m] in a better order, int32[m].

    points float64[n, d]; width: candidates; memory: rows the box is of. NULL counts as
    1 away from all values. A tie goes to the candidate in the lower slot.
    """
    m, columns = rows.size, points.shape[1]
    w = min(width, m)
    values, codes = np.zeros((columns, w), np.float32), np.zeros((columns, w), np.int32)
    miss, ids, scores = np.ones((columns, w), np.float32), rows[:w].copy(), np.zeros(w, np.float32)
    recent, low, high = np.zeros((columns, memory), np.float32), np.zeros(columns, np.float32), np.zeros(columns, np.float32)
    scale = np.ones(columns, np.float32)
    size, first = np.zeros(columns, np.int64), np.zeros(columns + 1, np.int64)
    for c in range(columns):
        if model.kind[c] != NUMBER:
            scale[c] = 1 / max(model.null[c], 1.0)
        first[c + 1] = first[c] + (np.int64(model.null[c]) + 1 if model.kind[c] == SET else 0)
    held = np.zeros(first[columns], np.int64)
    order = np.empty(m, np.int32)
    for j in range(w):
        load(points, ids[j], model, scale, values, codes, miss, j, held, first)
    taken = w
    for at in range(m):
        j = choose(values, codes, miss, low, high, size, model, scores, w) if at > 0 else 0
        order[at] = ids[j]
        slot = at % memory
        for c in range(columns):
            if model.kind[c] == SET:
                new, old = codes[c, j], np.int32(recent[c, slot])
                if at >= memory and old == new:
                    continue
                if at >= memory:
                    held[first[c] + old] -= 1
                    if held[first[c] + old] == 0:
                        size[c] -= 1
                        weight = model.values[c] if old == model.null[c] else 1
                        mark(codes[c, :w], old, np.float32(weight), miss[c, :w])
                held[first[c] + new] += 1
                if held[first[c] + new] == 1:
                    size[c] += 1
                    mark(codes[c, :w], new, np.float32(0), miss[c, :w])
                recent[c, slot] = new
            else:
                old = recent[c, slot]
                new_value = values[c, j]
                recent[c, slot] = new_value
                if at == 0:
                    low[c], high[c] = new_value, new_value
                elif at >= memory and (old <= low[c] or old >= high[c]):
                    low[c], high[c] = recent_range(recent[c], memory)
                else:
                    low[c], high[c] = min(low[c], new_value), max(high[c], new_value)
        if taken < m:
            ids[j] = rows[taken]
            load(points, ids[j], model, scale, values, codes, miss, j, held, first)
            taken += 1
        else:
            w -= 1
            ids[j] = ids[w]
            for c in range(columns):
                values[c, j], codes[c, j], miss[c, j] = values[c, w], codes[c, w], miss[c, w]
    return order


@njit(cache=True, nogil=True)
def load(points, row, model, scale, values, codes, miss, j, held, first):
    """A row becomes the candidate of slot j."""
    for c in range(points.shape[1]):
        if model.kind[c] == SET:
            code = np.int32(points[row, c])
            codes[c, j] = code
            if held[first[c] + code] > 0:
                miss[c, j] = 0
            else:
                miss[c, j] = model.values[c] if code == model.null[c] else 1
        else:
            null = points[row, c] == model.null[c]
            values[c, j] = np.float32(3) if null else np.float32(points[row, c] * scale[c])


@njit(cache=True, nogil=True)
def choose(values, codes, miss, low, high, size, model, scores, w):
    """The slot of the candidate that widens the box least."""
    zero, one = np.float32(0), np.float32(1)
    total = scores[:w]
    for j in range(w):
        total[j] = zero
    for c in range(values.shape[0]):
        if model.kind[c] == SET:
            step = np.float32((2 if size[c] == 1 else 1) / model.values[c])
            far = miss[c, :w]
            for j in range(w):
                total[j] += far[j] * step
        else:
            x, a, b = values[c, :w], low[c], high[c]
            for j in range(w):
                below, above = a - x[j], x[j] - b
                wider = below if below > above else above
                wider = wider if wider > zero else zero
                total[j] += wider if wider < one else one
    return least(total)
