"""Order rows greedily within a window, each near the rows just before it.

Of the next rows of a given order the one is taken that widens two boxes least: the box of the last
few rows and the box of the last many. Source: this project, after k-member (Byun et al. 2007),
which grows a group by the row of least increase; here groups are cut afterwards.

What a candidate adds to the boxes of a column is kept until they change, which is rare if rows are
near each other.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import NUMBER, SET

AWAY = 2.0  # times the weight: NULL in a NUMBER or TREE column, at least a weight from any value


@kernel
def moving_window(points, rows, model, width, few, many):
    """Return rows in a better order, int32[m].

    Ties go to the lower position; the next row takes the position of the one that was chosen.

    points: float64[n, d], the points of the rows in each column.
    rows: int32[m], in the given order.
    model: ``LossModel``, the meaning of the points.
    width: int, number of candidates.
    few, many: int, rows in each of the two boxes, few <= many.
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

    span: float32[r, 4], low and high of few, low and high of many.
    recent: float32[r, many], the last values.
    seen: int32[s, many], the last codes.
    repeats: int64[r + s], how many of the last ones are equal.
    first: int64[s + 1], where the codes of a set begin in ``counts``.
    counts: int64[2, codes], rows of each code in each box.
    size: int64[2, s], codes of each set.
    price: float64[s], of a code that a box lacks.
    prices: float32[2, s], in each box as it is, where a second code costs twice as much.
    """

    span: npt.NDArray[np.float32]
    recent: npt.NDArray[np.float32]
    seen: npt.NDArray[np.int32]
    repeats: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    price: npt.NDArray[np.float64]
    prices: npt.NDArray[np.float32]


class Window(NamedTuple):
    """The w candidates.

    row: int64[w], which rows.
    values: float32[r, w].
    codes: int32[s, w].
    miss: float32[s, w], the number of boxes that lack the code.
    widening: float32[r + s, w], of both boxes in each column, kept until they change.
    score: float32[w], its sum.
    """

    row: npt.NDArray[np.int64]
    values: npt.NDArray[np.float32]
    codes: npt.NDArray[np.int32]
    miss: npt.NDArray[np.float32]
    widening: npt.NDArray[np.float32]
    score: npt.NDArray[np.float32]


@kernel(borrows=True)
def choose_all(values, codes, boxes, window, few, many, order):
    """Write the rows in the order in which they are chosen; see ``moving_window``.

    Its parts take single rows of arrays, since tuples of arrays are copied at a call.

    values: float32[r, m], of all rows, from ``load``.
    codes: int32[s, m], of all rows, from ``load``.
    boxes: ``Boxes``, changed.
    window: ``Window``, changed.
    few, many: int, rows in each of the two boxes.
    order: int64[m], written.
    """
    span, recent, seen, repeats, first, counts, size, price, prices = boxes
    ids, candidate_values, candidate_codes, miss, widening, score = window
    m, w, ranges, sets = order.size, ids.size, values.shape[0], codes.shape[0]
    loaded, j, place = w, 0, 0
    for i in range(m):
        row = ids[j]
        order[i] = row
        last_place, changed = place, False
        place = i % many
        for c in range(ranges):
            value = values[c, row]
            repeats[c] = repeats[c] + 1 if i > 0 and recent[c, last_place] == value else 1
            if repeats[c] <= many and move_span(span[c], recent[c], value, i, few):
                widen(candidate_values[c, :w], span[c], widening[c, :w])
                changed = True
        for c in range(sets):
            code, set_column = codes[c, row], ranges + c
            repeats[set_column] = (
                repeats[set_column] + 1 if i > 0 and seen[c, last_place] == code else 1
            )
            if repeats[set_column] <= many and move_set(
                candidate_codes[c, :w],
                miss[c, :w],
                seen[c],
                counts[:, first[c] :],
                size[:, c],
                code,
                i,
                few,
            ):
                for box in range(2):
                    prices[box, c] = (2 if size[box, c] == 1 else 1) * price[c]
                lack(miss[c, :w], prices[0, c], prices[1, c], widening[set_column, :w])
                changed = True
        if loaded < m:
            row = loaded
            loaded += 1
        else:
            w -= 1
            row = ids[w]
        ids[j], total = row, np.float32(0)
        for c in range(ranges):
            candidate_values[c, j] = values[c, row]
            widening[c, j] = widening_of(
                values[c, row], span[c, 0], span[c, 1], span[c, 2], span[c, 3]
            )
            total += widening[c, j]
        for c in range(sets):
            code = codes[c, row]
            candidate_codes[c, j], code_place = code, first[c] + code
            miss[c, j] = np.float32((counts[0, code_place] == 0) + (counts[1, code_place] == 0))
            widening[ranges + c, j] = price_of(miss[c, j], prices[0, c], prices[1, c])
            total += widening[ranges + c, j]
        score[j] = total
        if changed:
            add_up(widening, score[:w])
        j = least(score[:w])


@kernel
def columns_of(kind):
    """Return the columns that are not sets, and those that are, int64[r] and int64[s].

    kind: int64[d], of ``LossModel``.
    """
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
    """Write the values and codes of rows as candidates have them, column by column.

    points: float64[n, d], the points of the rows in each column.
    rows: int32[m], in the given order.
    model: ``LossModel``, the meaning of the points.
    ranges, sets: int64[r], int64[s], from ``columns_of``.
    values: float32[r, m], written.
    codes: int32[s, m], written.
    """
    for i in range(rows.size):
        row = rows[i]
        for c in range(ranges.size):
            column = ranges[c]
            value, weight = points[row, column], model.weight[column]
            if value == model.null[column]:
                value = AWAY * weight
            elif model.kind[column] != NUMBER:
                value = value * weight / max(model.null[column], 1.0)
            values[c, i] = np.float32(value)
        for c in range(sets.size):
            codes[c, i] = np.int32(points[row, sets[c]])


@kernel(borrows=True)
def move_span(span, recent, value, i, few):
    """Add a value to both boxes of a range and remove the oldest; return whether one changes.

    span: float32[4], of ``Boxes``, changed.
    recent: float32[many], the last values, changed.
    value: float32.
    i: int, values before.
    few: int, rows in the first box.
    """
    many, changed = recent.size, i == 0
    for box in range(2):
        memory, low, high = many if box else few, 2 * box, 2 * box + 1
        if i == 0:
            span[low], span[high] = value, value
            continue
        new_low, new_high = min(span[low], value), max(span[high], value)
        if i >= memory:
            old = recent[(i - memory) % many]
            if old <= span[low] or old >= span[high]:
                new_low, new_high = value, value
                for back in range(1, memory):
                    past = recent[(i - back) % many]
                    new_low, new_high = min(new_low, past), max(new_high, past)
        changed |= new_low != span[low] or new_high != span[high]
        span[low], span[high] = new_low, new_high
    recent[i % many] = value
    return changed


@kernel(borrows=True)
def move_set(codes, miss, seen, counts, size, code, i, few):
    """Add a code to both boxes of a set and remove the oldest; return whether one changes.

    codes: int32[w], of the candidates.
    miss: float32[w], number of boxes that lack the code of each candidate; changed.
    seen: int32[many], the last codes, changed.
    counts: int64[2, …], rows of each code in each box, changed.
    size: int64[2], codes in each box, changed.
    code: int32.
    i: int, codes before.
    few: int, rows in the first box.
    """
    many, changed = seen.size, False
    for box in range(2):
        memory = many if box else few
        old = seen[(i - memory) % many] if i >= memory else np.int32(-1)
        if old == code:
            continue
        if old >= 0:
            counts[box, old] -= 1
            if counts[box, old] == 0:
                size[box] -= 1
                mark(codes, old, np.float32(box + 1), miss)
                changed = True
        counts[box, code] += 1
        if counts[box, code] == 1:
            size[box] += 1
            mark(codes, code, np.float32(0), miss)
            changed = True
    seen[i % many] = code
    return changed


@kernel(borrows=True)
def mark(codes, code, weight, miss):
    """Set the weight of the candidates that have a code.

    codes: int32[w], of the candidates.
    code: int32.
    weight: float32, number of boxes that lack the code.
    miss: float32[w], written.
    """
    for j in range(codes.size):
        miss[j] = weight if codes[j] == code else miss[j]


@kernel(borrows=True)
def widening_of(x, low, high, further_low, further_high):
    """Return by how much a value widens both boxes of a range.

    x: float32, the value.
    low, high: float32, the box of few.
    further_low, further_high: float32, the box of many.
    """
    zero = np.float32(0)
    below, above = low - x, x - high
    near = below if below > above else above
    below, above = further_low - x, x - further_high
    far = below if below > above else above
    return (near if near > zero else zero) + (far if far > zero else zero)


@kernel(borrows=True)
def widen(x, span, out):
    """Write by how much each value widens both boxes of a range.

    x: float32[w], the values.
    span: float32[4], of ``Boxes``.
    out: float32[w], written.
    """
    low, high, further_low, further_high = span[0], span[1], span[2], span[3]
    for j in range(x.size):
        out[j] = widening_of(x[j], low, high, further_low, further_high)


@kernel(borrows=True)
def price_of(missing, near, far):
    """Return the price of a code that some boxes lack.

    missing: float32, how many boxes; 1 is the box of few, 2 are both.
    near, far: float32, the price in the box of few and in the box of many.
    """
    total = near if missing > np.float32(0) else np.float32(0)
    return total + far if missing > np.float32(1) else total


@kernel(borrows=True)
def lack(miss, near, far, out):
    """Write the price of each code of a set.

    miss: float32[w], number of boxes that lack it.
    near, far: float32, as in ``price_of``.
    out: float32[w], written.
    """
    for j in range(miss.size):
        out[j] = price_of(miss[j], near, far)


@kernel(borrows=True)
def add_up(widening, score):
    """Write the sums over columns, one column after another.

    widening: float32[d, w or more].
    score: float32[w], written.
    """
    d, w = widening.shape[0], score.size
    for j in range(w):
        score[j] = np.float32(0)
    for c in range(0, d - 1, 2):
        first, second = widening[c], widening[c + 1]
        for j in range(w):
            score[j] = score[j] + first[j] + second[j]
    if d % 2:
        first = widening[d - 1]
        for j in range(w):
            score[j] += first[j]


BLOCK_SCORES = 128  # whose least is taken at once


@kernel(borrows=True, fastmath={"nnan", "nsz"})
def least(score):
    """Return the first position of the least score.

    Without NaN the order in which minima are taken does not matter.

    score: float32[w], none of which is below 0.
    """
    lowest, position = np.float32(np.inf), 0
    for begin in range(0, score.size, BLOCK_SCORES):
        block = score[begin : begin + BLOCK_SCORES]
        low = block[0]
        for j in range(block.size):
            low = block[j] if block[j] < low else low
        if low < lowest:
            lowest, position = low, begin
        if lowest == 0:
            break
    for j in range(position, score.size):
        if score[j] == lowest:
            return j
    return position
