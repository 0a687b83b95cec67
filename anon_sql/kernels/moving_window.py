"""Order rows greedily within a window, each near the rows just before it.

Of the next rows of a given order the one is taken that widens two boxes least: that of the last few
rows and that of the last many. Source: this project, after k-member (Byun et al. 2007), which grows
a group by the row of least increase; here groups are cut afterwards.

What a candidate adds to the boxes of a column is kept until they change, which is rare where rows
are near each other.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import NUMBER, SET

AWAY = 2.0  # times the weight: NULL in a NUMBER or TREE column, at least a weight from any value


@kernel
def moving_window(points, rows, model, width, few, many):
    """Return rows int32[m] in a better order, int32[m].

    points: float64[n, d]. width: number of candidates. few <= many: rows in each of the two boxes.
    Ties go to the lower position; the next row takes the position of the one that was chosen.
    """
    m, columns = rows.size, model.kind.size
    w = min(width, m)
    ranges, sets = columns_of(model.kind)
    values, codes = np.empty((ranges.size, m), np.float32), np.empty((sets.size, m), np.int32)
    load(points, rows, model, ranges, sets, values, codes)
    first = np.zeros(sets.size + 1, np.int64)
    for c in range(sets.size):
        first[c + 1] = first[c] + np.int64(model.null[sets[c]]) + 1
    boxes = Boxes(
        np.empty((ranges.size, 4), np.float32),
        np.empty((ranges.size, many), np.float32),
        np.empty((sets.size, many), np.int32),
        np.zeros(columns, np.int64),
        first,
        np.zeros((2, first[-1]), np.int64),
        np.zeros((2, sets.size), np.int64),
        model.weight[sets] / model.values[sets],
        np.zeros((2, sets.size), np.float32),
    )
    miss, widening = np.full((sets.size, w), np.float32(2)), np.zeros((columns, w), np.float32)
    window = Window(
        np.arange(w), values[:, :w].copy(), codes[:, :w].copy(), miss, widening, widening[0].copy()
    )
    order = np.empty(m, np.int64)
    choose_all(values, codes, boxes, window, few, many, order)
    return rows[order]


class Boxes(NamedTuple):
    """The boxes of the last few and the last many rows, over r ranges and s sets.

    span: float32[r, 4], low and high of few, low and high of many. recent: float32[r, many], seen:
    int32[s, many], the last values. alike: int64[r + s], how many of the last ones are equal.
    counts: int64[2, …], rows of each code in each box, those of a set from first[c] on; size:
    int64[2, s], codes of each set. price: float64[s], of a code that a box lacks; prices:
    float32[2, s], in each box as it is, where a second code costs twice as much.
    """

    span: npt.NDArray[np.float32]
    recent: npt.NDArray[np.float32]
    seen: npt.NDArray[np.int32]
    alike: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    price: npt.NDArray[np.float64]
    prices: npt.NDArray[np.float32]


class Window(NamedTuple):
    """The w candidates.

    at: int64[w], which rows. values: float32[r, w], codes: int32[s, w]. miss: float32[s, w], the
    number of boxes that lack the code. widening: float32[r + s, w], of both boxes in each column,
    kept until they change; score: float32[w], its sum.
    """

    at: npt.NDArray[np.int64]
    values: npt.NDArray[np.float32]
    codes: npt.NDArray[np.int32]
    miss: npt.NDArray[np.float32]
    widening: npt.NDArray[np.float32]
    score: npt.NDArray[np.float32]


@kernel(borrows=True)
def choose_all(values, codes, boxes, window, few, many, order):
    """Write the rows in the order in which they are chosen; see ``moving_window``.

    Its parts take single rows of arrays, since tuples of arrays are copied at a call.
    """
    span, recent, seen, alike, first, counts, size, price, prices = boxes
    ids, own_values, own_codes, miss, widening, score = window
    m, w, ranges, sets = order.size, ids.size, values.shape[0], codes.shape[0]
    loaded, j, now = w, 0, 0
    for at in range(m):
        row = ids[j]
        order[at] = row
        before, changed = now, False
        now = at % many
        for c in range(ranges):
            value = values[c, row]
            alike[c] = alike[c] + 1 if at > 0 and recent[c, before] == value else 1
            if alike[c] <= many and move_span(span[c], recent[c], value, at, few):
                widen(own_values[c, :w], span[c], widening[c, :w])
                changed = True
        for c in range(sets):
            code, own = codes[c, row], ranges + c
            alike[own] = alike[own] + 1 if at > 0 and seen[c, before] == code else 1
            if alike[own] <= many and move_set(
                own_codes[c, :w],
                miss[c, :w],
                seen[c],
                counts[:, first[c] :],
                size[:, c],
                code,
                at,
                few,
            ):
                for which in range(2):
                    prices[which, c] = (2 if size[which, c] == 1 else 1) * price[c]
                lack(miss[c, :w], prices[0, c], prices[1, c], widening[own, :w])
                changed = True
        if loaded < m:
            row = loaded
            loaded += 1
        else:
            w -= 1
            row = ids[w]
        ids[j], total = row, np.float32(0)
        for c in range(ranges):
            own_values[c, j] = values[c, row]
            widening[c, j] = widening_of(
                values[c, row], span[c, 0], span[c, 1], span[c, 2], span[c, 3]
            )
            total += widening[c, j]
        for c in range(sets):
            code = codes[c, row]
            own_codes[c, j], place = code, first[c] + code
            miss[c, j] = np.float32((counts[0, place] == 0) + (counts[1, place] == 0))
            widening[ranges + c, j] = price_of(miss[c, j], prices[0, c], prices[1, c])
            total += widening[ranges + c, j]
        score[j] = total
        if changed:
            add_up(widening, score[:w])
        j = least(score[:w])


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
def load(points, rows, model, ranges, sets, values, codes):
    """Write the values and codes of rows as candidates have them, column by column."""
    for at in range(rows.size):
        row = rows[at]
        for c in range(ranges.size):
            column = ranges[c]
            value, weight = points[row, column], model.weight[column]
            if value == model.null[column]:
                value = AWAY * weight
            elif model.kind[column] != NUMBER:
                value = value * weight / max(model.null[column], 1.0)
            values[c, at] = np.float32(value)
        for c in range(sets.size):
            codes[c, at] = np.int32(points[row, sets[c]])


@kernel(borrows=True)
def move_span(span, recent, value, at, few):
    """Add a value to both boxes of a range and remove the oldest; return whether one changes.

    span: float32[4]; recent: float32[many], the last values.
    """
    many, changed = recent.size, at == 0
    for which in range(2):
        memory, low, high = many if which else few, 2 * which, 2 * which + 1
        if at == 0:
            span[low], span[high] = value, value
            continue
        least_value, most_value = min(span[low], value), max(span[high], value)
        if at >= memory:
            old = recent[(at - memory) % many]
            if old <= span[low] or old >= span[high]:
                least_value, most_value = value, value
                for back in range(1, memory):
                    past = recent[(at - back) % many]
                    least_value, most_value = min(least_value, past), max(most_value, past)
        changed |= least_value != span[low] or most_value != span[high]
        span[low], span[high] = least_value, most_value
    recent[at % many] = value
    return changed


@kernel(borrows=True)
def move_set(codes, miss, seen, counts, size, code, at, few):
    """Add a code to both boxes of a set and remove the oldest; return whether one changes.

    codes, miss: of the candidates. seen: int32[many], the last codes. counts: int64[2, …], of the
    rows of each code in each box; size: int64[2], of the codes.
    """
    many, changed = seen.size, False
    for which in range(2):
        memory = many if which else few
        old = seen[(at - memory) % many] if at >= memory else np.int32(-1)
        if old == code:
            continue
        if old >= 0:
            counts[which, old] -= 1
            if counts[which, old] == 0:
                size[which] -= 1
                mark(codes, old, np.float32(which + 1), miss)
                changed = True
        counts[which, code] += 1
        if counts[which, code] == 1:
            size[which] += 1
            mark(codes, code, np.float32(0), miss)
            changed = True
    seen[at % many] = code
    return changed


@kernel(borrows=True)
def mark(codes, code, weight, miss):
    """Set the weight of the candidates that hold a code; codes int32[w], miss float32[w]."""
    for j in range(codes.size):
        miss[j] = weight if codes[j] == code else miss[j]


@kernel(borrows=True)
def widening_of(x, low, high, further_low, further_high):
    """Return by how much a value widens both boxes of a range."""
    zero = np.float32(0)
    below, above = low - x, x - high
    near = below if below > above else above
    below, above = further_low - x, x - further_high
    far = below if below > above else above
    return (near if near > zero else zero) + (far if far > zero else zero)


@kernel(borrows=True)
def widen(x, span, out):
    """Write ``widening_of`` each value of x, float32[w]."""
    a, b, further_a, further_b = span[0], span[1], span[2], span[3]
    for j in range(x.size):
        out[j] = widening_of(x[j], a, b, further_a, further_b)


@kernel(borrows=True)
def price_of(missing, near, far):
    """Return the price of a code that so many boxes lack, the nearer one first."""
    part = near if missing > np.float32(0) else np.float32(0)
    return part + far if missing > np.float32(1) else part


@kernel(borrows=True)
def lack(miss, near, far, out):
    """Write ``price_of`` each code of a set; miss: float32[w]."""
    for j in range(miss.size):
        out[j] = price_of(miss[j], near, far)


@kernel(borrows=True)
def add_up(widening, score):
    """Write the sums over columns of float32[d, w or more], one column after another."""
    d, w = widening.shape[0], score.size
    for j in range(w):
        score[j] = np.float32(0)
    for c in range(0, d - 1, 2):
        one, other = widening[c], widening[c + 1]
        for j in range(w):
            score[j] = score[j] + one[j] + other[j]
    if d % 2:
        one = widening[d - 1]
        for j in range(w):
            score[j] += one[j]


BLOCK = 128  # scores whose least is taken at once


@kernel(borrows=True, fastmath={"nnan", "nsz"})
def least(score):
    """Return the first position of the least of float32[w], none of which is below 0.

    Without NaN the order in which minima are taken does not matter.
    """
    best, found = np.float32(np.inf), 0
    for begin in range(0, score.size, BLOCK):
        block = score[begin : begin + BLOCK]
        low = block[0]
        for j in range(block.size):
            low = block[j] if block[j] < low else low
        if low < best:
            best, found = low, begin
        if best == 0:
            break
    for j in range(found, score.size):
        if score[j] == best:
            return j
    return found
