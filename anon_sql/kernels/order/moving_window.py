"""Order rows greedily within a window, each near the rows just before it.

Of the next rows of a given order the one is taken that widens two boxes least: that of the last few
rows and that of the last many. Source: this project, after k-member (Byun et al. 2007), which grows
a group by the row of least increase; here groups are cut afterwards.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss.ncp import NUMBER, SET

AWAY = 2.0  # times the weight: NULL in a NUMBER or TREE column, at least a weight from any value


@kernel
def moving_window(points, rows, model, width, few, many):
    """Return rows int32[m] in a better order, int32[m].

    points: float64[n, d]. width: number of candidates. few <= many: rows in each of the two boxes.
    Ties go to the lower slot; the next row takes the slot of the one that was taken.
    """
    m = rows.size
    w = min(width, m)
    ranges, sets = columns_of(model.kind)
    values, miss = np.empty((ranges.size, w), np.float32), np.empty((sets.size, w), np.float32)
    codes, scores = np.empty((sets.size, w), np.int32), np.empty(w, np.float32)
    recent, seen = np.empty((ranges.size, many), np.float32), np.empty((sets.size, many), np.int32)
    box = np.empty((ranges.size, 4), np.float32)  # low and high of few, low and high of many
    first = np.zeros(sets.size + 1, np.int64)
    for c in range(sets.size):
        first[c + 1] = first[c] + np.int64(model.null[sets[c]]) + 1
    held, size = np.zeros((2, first[-1]), np.int64), np.zeros((2, sets.size), np.int64)
    candidates = values, codes, miss
    ids, order = rows[:w].copy(), np.empty(m, np.int32)
    for j in range(w):
        load(points, ids[j], model, ranges, sets, candidates, j, held, first)
    taken = w
    for at in range(m):
        j = choose(candidates, box, size, sets, model, scores[:w]) if at > 0 else 0
        order[at] = ids[j]
        for c in range(ranges.size):
            move_box(box[c], recent[c], values[c, j], at, few, many)
        for c in range(sets.size):
            new, offset = codes[c, j], first[c]
            for which, memory in ((0, few), (1, many)):
                old = seen[c, (at - memory) % many] if at >= memory else np.int32(-1)
                if old == new:
                    continue
                if old >= 0:
                    held[which, offset + old] -= 1
                    if held[which, offset + old] == 0:
                        size[which, c] -= 1
                        mark(codes[c, :w], old, np.float32(which + 1), miss[c, :w])
                held[which, offset + new] += 1
                if held[which, offset + new] == 1:
                    size[which, c] += 1
                    mark(codes[c, :w], new, np.float32(0), miss[c, :w])
            seen[c, at % many] = new
        if taken < m:
            ids[j] = rows[taken]
            load(points, ids[j], model, ranges, sets, candidates, j, held, first)
            taken += 1
        else:
            w -= 1
            ids[j] = ids[w]
            take_slot(candidates, j, w)
    return order


@kernel
def columns_of(kind):
    """Return the columns that are not sets, and those that are, int64[…]; kind: int64[d]."""
    ranges, sets = np.empty(kind.size, np.int64), np.empty(kind.size, np.int64)
    r = s = 0
    for c in range(kind.size):
        if kind[c] == SET:
            sets[s] = c
            s += 1
        else:
            ranges[r] = c
            r += 1
    return ranges[:r], sets[:s]


@kernel
def load(points, row, model, ranges, sets, candidates, j, held, first):
    """Make a row the candidate of slot j; miss: the number of boxes that lack its value."""
    values, codes, miss = candidates
    for c in range(ranges.size):
        column = ranges[c]
        value, weight = points[row, column], model.weight[column]
        if value == model.null[column]:
            value = AWAY * weight
        elif model.kind[column] != NUMBER:
            value = value * weight / max(model.null[column], 1.0)
        values[c, j] = np.float32(value)
    for c in range(sets.size):
        code = np.int32(points[row, sets[c]])
        codes[c, j] = code
        miss[c, j] = (held[0, first[c] + code] == 0) + (held[1, first[c] + code] == 0)


@kernel
def take_slot(candidates, j, last):
    """Make the candidate of the last slot that of slot j."""
    values, codes, miss = candidates
    for c in range(values.shape[0]):
        values[c, j] = values[c, last]
    for c in range(codes.shape[0]):
        codes[c, j], miss[c, j] = codes[c, last], miss[c, last]


@kernel
def move_box(box, recent, value, at, few, many):
    """Add a value to both boxes of a column and remove the oldest.

    box: float32[4]; recent: float32[many], the last values.
    """
    for which, memory in ((0, few), (1, many)):
        low, high = 2 * which, 2 * which + 1
        if at == 0:
            box[low], box[high] = value, value
            continue
        if at >= memory:
            old = recent[(at - memory) % many]
            if old <= box[low] or old >= box[high]:
                box[low], box[high] = value, value
                for back in range(1, memory):
                    past = recent[(at - back) % many]
                    box[low], box[high] = min(box[low], past), max(box[high], past)
                continue
        box[low], box[high] = min(box[low], value), max(box[high], value)
    recent[at % many] = value


@kernel
def mark(codes, code, weight, miss):
    """Set the weight of the candidates that hold a code; codes int32[w], miss float32[w]."""
    for j in range(codes.size):
        miss[j] = weight if codes[j] == code else miss[j]


@kernel
def choose(candidates, box, size, sets, model, scores):
    """Return the slot of the candidate that widens the boxes least; scores: float32[w], scratch."""
    values, _, miss = candidates
    zero, one, w = np.float32(0), np.float32(1), scores.size
    for j in range(w):
        scores[j] = zero
    for c in range(values.shape[0]):
        x = values[c]
        a, b, further_a, further_b = box[c, 0], box[c, 1], box[c, 2], box[c, 3]
        for j in range(w):
            below, above = a - x[j], x[j] - b
            near = below if below > above else above
            below, above = further_a - x[j], x[j] - further_b
            far = below if below > above else above
            scores[j] += (near if near > zero else zero) + (far if far > zero else zero)
    for c in range(miss.shape[0]):
        missing, values_of, weight = miss[c], model.values[sets[c]], model.weight[sets[c]]
        near = np.float32((2 if size[0, c] == 1 else 1) * weight / values_of)
        far = np.float32((2 if size[1, c] == 1 else 1) * weight / values_of)
        for j in range(w):
            part = near if missing[j] > zero else zero
            scores[j] += part + far if missing[j] > one else part
    return least(scores)


@kernel(fastmath={"nnan", "nsz"})
def least(scores):
    """Return the first position of the least of float32[w].

    Without NaN the order in which minima are taken does not matter.
    """
    best = scores[0]
    for j in range(scores.size):
        best = scores[j] if scores[j] < best else best
    for j in range(scores.size):
        if scores[j] == best:
            return j
    return 0
