"""Merge classes until each satisfies k, l and t.

The class of largest shortfall per row takes in the neighbour of least cost: the increase of |E| *
NCP(E) divided by the decrease of the shortfall of both. Classes are numbered along a curve through
the table, so that neighbours have near numbers. Source: this project.
"""

import heapq
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.distance import loss, profiles
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.legality import contents, short_of, short_of_k, union
from anon_sql.kernels.loss import SET
from anon_sql.kernels.sorting import merge_sort

NEIGHBOURS = 256  # tried first, half of them before the class and half after it


class Classes(NamedTuple):
    """State of m classes while they merge. The first six fields as in ``distance.profiles``.

    size: int64[m], rows; 0 for a class that was taken in. ncp, shortfall: float64[m]. key_counts[b,
    begin[b, c] : stop[b, c]]: those of class c in attribute b (see ``contents``). before, after:
    int64[m], the next class on either side, a class's own number at an end. becomes: int64[m], the
    class that took it in, or its own number. used: int64[d + b], length of flat and of key_counts
    written so far.
    """

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    nulls: npt.NDArray[np.int64]
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


@kernel
def classes_of(points, model, rules, order, starts):
    """Return the state of classes of rows: order int32[n], starts int64[m + 1]."""
    count, columns, kinds = starts.size - 1, points.shape[1], rules.total.size
    low, high, nulls, first, end, codes = profiles(points, model, order, starts)
    flat = np.empty((columns, 2 * order.size), np.int32)
    for column in range(columns):
        for at in range(order.size):
            flat[column, at] = codes[column, at]
    key_counts = np.empty((kinds, 2 * order.size), np.int64)
    begin, stop = np.zeros((kinds, count), np.int64), np.zeros((kinds, count), np.int64)
    used = np.zeros(columns + kinds, np.int64)
    for column in range(columns):
        for own in range(count):
            used[column] = max(used[column], end[column, own])
    for attribute in range(kinds):
        at = 0
        for own in range(count):
            class_counts = contents(rules, attribute, order[starts[own] : starts[own + 1]])
            for i in range(class_counts.size):
                key_counts[attribute, at + i] = class_counts[i]
            begin[attribute, own], stop[attribute, own] = at, at + class_counts.size
            at += class_counts.size
        used[columns + attribute] = at
    ids, size = np.empty(count, np.int64), np.empty(count, np.int64)
    before, after = np.empty(count, np.int64), np.empty(count, np.int64)
    for own in range(count):
        ids[own], size[own] = own, starts[own + 1] - starts[own]
        before[own], after[own] = max(own - 1, 0), min(own + 1, count - 1)
    ncp, shortfall = np.zeros(count), np.zeros(count)
    s = Classes(
        low, high, nulls, first, end, flat, size, ncp, shortfall,
        key_counts, begin, stop, before, after, ids, used,
    )  # fmt: skip
    for own in range(count):
        ncp[own] = loss(own, own, model, low, high, nulls, first, end, flat)
        shortfall[own] = shortfall_of(s, rules, own, own)
    return s


@kernel
def key_counts_of(s, rules, attribute, a, b):
    """Return the key counts of the union of classes a and b; of one class where a == b."""
    own = s.key_counts[attribute, s.begin[attribute, a] : s.stop[attribute, a]]
    if a == b:
        return own
    return union(rules, own, s.key_counts[attribute, s.begin[attribute, b] : s.stop[attribute, b]])


@kernel
def shortfall_of(s, rules, a, b):
    """Return the shortfall of the union of classes a and b (a == b: of one); 0.0 if legal."""
    total = short_of_k(rules, s.size[a] + (s.size[b] if b != a else 0))
    for attribute in range(rules.total.size):
        total += short_of(rules, attribute, key_counts_of(s, rules, attribute, a, b))
    return total


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


@kernel
def partner(s, model, rules, a):
    """Return the class that class a should take in.

    It is the one of least increase of loss per decrease of shortfall; where none decreases the
    shortfall, the one of least increase.
    """
    best, found, least, cheapest = np.inf, -1, np.inf, -1
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
            ncp = loss(a, b, model, s.low, s.high, s.nulls, s.first, s.end, s.flat)
            cost = (s.size[a] + s.size[b]) * ncp - s.size[a] * s.ncp[a] - s.size[b] * s.ncp[b]
            if cost < least:
                least, cheapest = cost, b
            separate = s.shortfall[a] + s.shortfall[b]
            if cost >= best * separate:
                continue  # even if no shortfall were left
            decrease = separate - shortfall_of(s, rules, a, b)
            if decrease > 0 and cost / decrease < best:
                best, found = cost / decrease, b
    return found if found >= 0 else cheapest


@kernel
def absorb(s, model, rules, a, b):
    """Let class a take in class b."""
    s.ncp[a] = loss(a, b, model, s.low, s.high, s.nulls, s.first, s.end, s.flat)
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
        if model.kind[column] == SET:
            own = s.flat[column, s.first[column, a] : s.end[column, a]]
            other = s.flat[column, s.first[column, b] : s.end[column, b]]
            both = united(own, other)
            put(s.flat[column], s.first[column], s.end[column], s, column, a, both)
    for attribute in range(rules.total.size):
        both = key_counts_of(s, rules, attribute, a, b)
        put(
            s.key_counts[attribute],
            s.begin[attribute],
            s.stop[attribute],
            s,
            columns + attribute,
            a,
            both,
        )


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
