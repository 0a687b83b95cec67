"""Merge classes until each satisfies k, l and t.

The class of largest shortfall per row takes in the neighbour of least cost: the increase of |E| *
NCP(E) divided by the decrease of the shortfall of both. Classes are numbered along a curve through
the table, so that neighbours have near numbers. No array is made while a neighbour is looked for.
Source: this project.
"""

import heapq
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.legality import COUNT, contents, short_of_k, short_of_values, union
from anon_sql.kernels.loss import SET, range_loss, set_loss
from anon_sql.kernels.regrouping import ones
from anon_sql.kernels.sorting import merge_sort, sort_codes

NEIGHBOURS = 256  # tried first, half of them before the class and half after it
BITS = 64  # most codes of a set that is a mask; others are lists


class Classes(NamedTuple):
    """State of m classes while they merge.

    low, high: float64[m, d], the least and the largest point; 0.0 in a set that has any. nulls:
    int64[m, d]. masks: uint64[m, d], sets of columns of at most BITS codes. flat[c, first[c, a] :
    end[c, a]]: the set of class a in any other column, ascending. size: int64[m], rows; 0 for a
    class that was taken in. ncp, shortfall: float64[m]. key_counts[b, begin[b, a] : stop[b, a]]:
    those of class a in attribute b (see ``contents``). before, after: int64[m], the next class on
    either side, a class's own number at an end. becomes: int64[m], the class that took it in, or
    its own number. used: int64[d + b], length of flat and of key_counts written so far. values:
    int32[…], counts: int64[…], scratch.
    """

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    nulls: npt.NDArray[np.int64]
    masks: npt.NDArray[np.uint64]
    first: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    flat: npt.NDArray[np.int32]
    size: npt.NDArray[np.int64]
    ncp: npt.NDArray[np.float64]
    shortfall: npt.NDArray[np.float64]
    key_counts: npt.NDArray[np.int64]
    begin: npt.NDArray[np.int64]
    stop: npt.NDArray[np.int64]
    before: npt.NDArray[np.int64]
    after: npt.NDArray[np.int64]
    becomes: npt.NDArray[np.int64]
    used: npt.NDArray[np.int64]
    values: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]


@kernel
def classes_of(points, model, rules, order, starts):
    """Return the state of classes of rows: order int32[n], starts int64[m + 1]."""
    count, columns, kinds = starts.size - 1, points.shape[1], rules.total.size
    long = False
    for column in range(columns):
        long |= is_list(model, column)
    low, high = np.full((count, columns), np.inf), np.full((count, columns), -np.inf)
    nulls, masks = np.zeros((count, columns), np.int64), np.zeros((count, columns), np.uint64)
    first, end = np.zeros((columns, count), np.int64), np.zeros((columns, count), np.int64)
    begin, stop = np.zeros((kinds, count), np.int64), np.zeros((kinds, count), np.int64)
    flat = np.empty((columns, 2 * order.size if long else 0), np.int32)
    key_counts = np.empty((kinds, 2 * order.size), np.int64)
    size, becomes = np.empty(count, np.int64), np.empty(count, np.int64)
    before, after = np.empty(count, np.int64), np.empty(count, np.int64)
    used = np.zeros(columns + kinds, np.int64)
    values, counts = np.empty(order.size, np.int32), np.empty(order.size, np.int64)
    s = Classes(
        low, high, nulls, masks, first, end, flat, size, np.zeros(count), np.zeros(count),
        key_counts, begin, stop, before, after, becomes, used, values, counts,
    )  # fmt: skip
    for own in range(count):
        s.becomes[own], s.size[own] = own, starts[own + 1] - starts[own]
        s.before[own], s.after[own] = max(own - 1, 0), min(own + 1, count - 1)
        rows = order[starts[own] : starts[own + 1]]
        for column in range(columns):
            outline(s, points, model, own, column, rows)
        for attribute in range(kinds):
            content = contents(rules, attribute, rows)
            at = columns + attribute
            put(s.key_counts[attribute], s.begin[attribute], s.stop[attribute], s, at, own, content)
        s.ncp[own] = loss_below(s, model, own, own, np.inf)
        s.shortfall[own] = shortfall_of(s, rules, own, own)
    return s


@kernel(borrows=True, inlined=True)
def is_list(model, column):
    """Return whether the sets of a column are lists."""
    return model.kind[column] == SET and model.null[column] > BITS


@kernel
def outline(s, points, model, own, column, rows):
    """Write the values of a class's rows, int32[m], in a column."""
    known = 0
    codes = np.empty(rows.size if is_list(model, column) else 0, np.int32)
    for row in rows:
        value = points[row, column]
        if value == model.null[column]:
            s.nulls[own, column] += 1
        elif model.kind[column] != SET:
            s.low[own, column] = min(s.low[own, column], value)
            s.high[own, column] = max(s.high[own, column], value)
        else:
            s.low[own, column] = s.high[own, column] = 0.0
            if codes.size == 0:
                s.masks[own, column] |= np.uint64(1) << np.uint64(value)
            else:
                codes[known] = np.int32(value)
                known += 1
    if known > 0:
        sort_codes(codes[:known])
        size = 1
        for at in range(1, known):
            if codes[at] != codes[at - 1]:
                codes[size] = codes[at]
                size += 1
        put(s.flat[column], s.first[column], s.end[column], s, column, own, codes[:size])


@kernel(borrows=True, inlined=True)
def loss_below(s, model, a, b, most):
    """Return the NCP, summed over columns, of the union of classes a and b (a == b: of one).

    Returns infinity where the NCP is at least ``most``.
    """
    total = 0.0
    for column in range(model.kind.size):
        low = min(s.low[a, column], s.low[b, column])
        high = max(s.high[a, column], s.high[b, column])
        if s.nulls[a, column] + s.nulls[b, column] > 0:
            total += model.weight[column] if low <= high else 0.0
        elif model.kind[column] != SET:
            total += range_loss(model, column, low, high)
        elif is_list(model, column):
            total += set_loss(model, column, codes_in_either(s, column, a, b))
        else:
            mask = s.masks[a, column] | s.masks[b, column]
            total += set_loss(model, column, ones(mask))
        if total >= most:
            total = np.inf  # what is summed so far may, less rounding, pass for the whole
            break
    return total


@kernel(borrows=True, inlined=True)
def codes_in_either(s, column, a, b):
    """Return the number of codes in the lists of classes a and b."""
    i, j, size = s.first[column, a], s.first[column, b], 0
    last_i, last_j = s.end[column, a], s.end[column, b]
    while i < last_i or j < last_j:
        left = s.flat[column, i] if i < last_i else np.int32(2**31 - 1)
        right = s.flat[column, j] if j < last_j else np.int32(2**31 - 1)
        i += left <= right
        j += right <= left
        size += 1
    return size


@kernel(borrows=True, inlined=True)
def shortfall_of(s, rules, a, b):
    """Return the shortfall of the union of classes a and b (a == b: of one); 0.0 if legal."""
    total = short_of_k(rules, s.size[a] + (s.size[b] if b != a else 0))
    for attribute in range(rules.total.size):
        size = fold_both(s, rules, attribute, a, b)
        total += short_of_values(rules, attribute, s.values[:size], s.counts[:size])
    return total


@kernel(borrows=True, inlined=True)
def fold_both(s, rules, attribute, a, b):
    """Write the values of the union of classes a and b, and their counts, into the scratch.

    Returns how many values.
    """
    size = np.int64(0)
    i, last_i = s.begin[attribute, a], s.stop[attribute, a]
    j, last_j = s.begin[attribute, b], s.stop[attribute, b] if a != b else s.begin[attribute, b]
    while i < last_i or j < last_j:
        left = s.key_counts[attribute, i] if i < last_i else np.int64(2**63 - 1)
        right = s.key_counts[attribute, j] if j < last_j else np.int64(2**63 - 1)
        key, count = min(left >> 32, right >> 32), np.int64(0)
        if left >> 32 == key:
            i, count = i + 1, left & COUNT
        if right >> 32 == key:
            j, count = j + 1, max(count, right & COUNT) if rules.pairs else count + (right & COUNT)
        value = rules.value[attribute, key]
        if size > 0 and s.values[size - 1] == value:
            s.counts[size - 1] += count
        else:
            s.values[size], s.counts[size] = value, count
            size += 1
    return size


@kernel
def merge(s, model, rules, steps):
    """Merge classes, ``steps`` times at most; return how many are left, or 0 where all are legal.

    Ends with one class at worst.
    """
    left = 0
    heap = [(0.0, np.int64(-1), 0.0) for _ in range(0)]
    for own in range(s.size.size):
        left += s.size[own] > 0
        if s.size[own] > 0 and s.shortfall[own] > 0:
            heap.append((-s.shortfall[own] / s.size[own], np.int64(own), s.shortfall[own]))
    heapq.heapify(heap)
    while len(heap) > 0 and steps > 0 and left > 1:
        _, a, recorded = heapq.heappop(heap)
        if s.size[a] == 0 or s.shortfall[a] != recorded:
            continue  # taken in or grown since it was pushed
        absorb(s, model, rules, a, partner(s, model, rules, a))
        steps, left = steps - 1, left - 1
        if s.shortfall[a] > 0:
            heapq.heappush(heap, (-s.shortfall[a] / s.size[a], a, s.shortfall[a]))
    return left if len(heap) > 0 and left > 1 else 0


@kernel(borrows=True, inlined=True)
def partner(s, model, rules, a):
    """Return the class that class a should take in.

    It is the one of least increase of loss per decrease of shortfall; where none decreases the
    shortfall, the one of least increase.
    """
    best, found, least, cheapest = np.inf, np.int64(-1), np.inf, np.int64(-1)
    back, on, seen, until = a, a, 0, NEIGHBOURS
    while s.before[back] != back or s.after[on] != on:
        if seen >= until and found >= 0:
            break
        until *= 2 if seen >= until else 1
        for side in range(2):
            b = s.before[back] if side == 0 else s.after[on]
            if b == (back if side == 0 else on):
                continue
            back, on = (b, on) if side == 0 else (back, b)
            seen += 1
            size, separate = s.size[a] + s.size[b], s.shortfall[a] + s.shortfall[b]
            alone = s.size[a] * s.ncp[a] + s.size[b] * s.ncp[b]
            enough = best * separate if found >= 0 else np.inf  # even if no shortfall were left
            cost = size * loss_below(s, model, a, b, (enough + alone) / size) - alone
            if cost >= enough:
                continue
            if cost < least:
                least, cheapest = cost, b
            decrease = separate - shortfall_of(s, rules, a, b)
            if decrease > 0 and cost / decrease < best:
                best, found = cost / decrease, b
    return found if found >= 0 else cheapest


@kernel
def absorb(s, model, rules, a, b):
    """Let class a take in class b."""
    s.ncp[a] = loss_below(s, model, a, b, np.inf)
    s.shortfall[a] = shortfall_of(s, rules, a, b)
    s.size[a] += s.size[b]
    s.size[b] = 0
    s.becomes[b] = a
    s.before[s.after[b]] = s.before[b] if s.before[b] != b else s.after[b]
    s.after[s.before[b]] = s.after[b] if s.after[b] != b else s.before[b]
    columns = s.low.shape[1]
    for column in range(columns):
        s.low[a, column] = min(s.low[a, column], s.low[b, column])
        s.high[a, column] = max(s.high[a, column], s.high[b, column])
        s.nulls[a, column] += s.nulls[b, column]
        s.masks[a, column] |= s.masks[b, column]
        if is_list(model, column):
            own = s.flat[column, s.first[column, a] : s.end[column, a]]
            other = s.flat[column, s.first[column, b] : s.end[column, b]]
            both = united(own, other)
            put(s.flat[column], s.first[column], s.end[column], s, column, a, both)
    for attribute in range(rules.total.size):
        own = s.key_counts[attribute, s.begin[attribute, a] : s.stop[attribute, a]]
        other = s.key_counts[attribute, s.begin[attribute, b] : s.stop[attribute, b]]
        both, at = union(rules, own, other), columns + attribute
        put(s.key_counts[attribute], s.begin[attribute], s.stop[attribute], s, at, a, both)


@kernel
def united(a, b):
    """Return the codes of either of two sets, int32[…], all ascending."""
    both, i, j, size = np.empty(a.size + b.size, np.int32), 0, 0, 0
    while i < a.size or j < b.size:
        left = j == b.size or (i < a.size and a[i] <= b[j])
        right = i == a.size or (j < b.size and b[j] <= a[i])
        both[size] = a[i] if left else b[j]
        i, j, size = i + left, j + right, size + 1
    return both[:size]


@kernel
def put(store, first, end, s, kind, a, content):
    """Append the content of class a to a store; compact the store where there is no room."""
    if s.used[kind] + content.size > store.size:
        at, places = 0, np.empty(first.size, np.uint64)
        classes = np.empty(first.size, np.int32)
        for own in range(first.size):
            places[own], classes[own] = first[own], own
        merge_sort(places, classes)
        for own in classes:
            if s.size[own] > 0 and own != a:
                size = end[own] - first[own]
                for i in range(size):
                    store[at + i] = store[first[own] + i]
                first[own], end[own] = at, at + size
                at += size
        s.used[kind] = at
    first[a] = s.used[kind]
    end[a] = first[a] + content.size
    for i in range(content.size):
        store[first[a] + i] = content[i]
    s.used[kind] = end[a]
