"""Which raw rows a released row may stem from: same kept values, every value in its label."""

import numpy as np
from numba import njit

LARGE = 64  # raw rows with the same kept values, from which on they are sorted to be searched


@njit(cache=True, nogil=True)
def runs(raw, released):
    """Where the rows of each slot stand in the raw table, and how many rows only one side has.

    raw uint64[n], released uint64[m]: ascending hashes of kept values, the second of slots. Returns
    first, last int64[m]: raw rows first … last - 1 have the slot's hash.
    """
    first = np.empty(len(released), dtype=np.int64)
    last = np.empty(len(released), dtype=np.int64)
    at = 0
    for slot in range(len(released)):
        if slot and released[slot] == released[slot - 1]:
            first[slot], last[slot] = first[slot - 1], last[slot - 1]
            continue
        while at < len(raw) and raw[at] < released[slot]:
            at += 1
        first[slot] = at
        while at < len(raw) and raw[at] == released[slot]:
            at += 1
        last[slot] = at
    return first, last


@njit(cache=True, nogil=True)
def covers(codes, row, labels, own):
    """Whether each code of a row lies between the ends of a class's label and, in a set, is a
    member. Whole arrays and places in them: a view of a row would cost more than the rest."""
    low, high, start, end, flat = labels
    for at in range(codes.shape[1]):
        if codes[row, at] < low[own, at] or codes[row, at] > high[own, at]:
            return False
    for at in range(codes.shape[1]):
        code, left, last = codes[row, at], start[own, at], end[own, at]
        if left == last:
            continue
        right = last
        while left < right:
            middle = (left + right) >> 1
            if flat[middle] < code:
                left = middle + 1
            else:
                right = middle
        if left == last or flat[left] != code:
            return False
    return True


@njit(cache=True, nogil=True)
def _within(codes, rows, first, last, column, low):
    """The first place from which on a column, ascending there, is at least ``low``."""
    while first < last:
        middle = (first + last) >> 1
        if codes[rows[middle], column] < low:
            first = middle + 1
        else:
            last = middle
    return first


@njit(cache=True, nogil=True)
def covered(codes, rows, first, last, classes, column, labels, most):
    """Of each slot the raw rows that its label covers, as far as ``most`` of them can be listed.

    codes int64[n, d]; rows int32[n]: the raw rows by hash; first, last, classes int64[m]: of each
    slot its stretch of ``rows`` and its class; labels: low, high, start, end int64[c, d] and flat:
    the ends of each class's label, and the stretch of flat that holds a set's codes, ascending;
    column: in which stretches of more than LARGE rows ascend.
    Returns the ends int64[m + 1] of each slot's list, the list int32 (empty where there are more
    than ``most``), how many each slot covers int64[m], and whether each raw row is covered bool[n].
    """
    ends = np.zeros(len(first) + 1, dtype=np.int64)
    found = np.empty(min(most, 2 * len(rows) + 16), dtype=np.int32)
    many = np.zeros(len(first), dtype=np.int64)
    known = np.zeros(len(codes), dtype=np.bool_)
    total = 0
    for slot in range(len(first)):
        own = classes[slot]
        begin, end = first[slot], last[slot]
        if end - begin > LARGE:
            begin = _within(codes, rows, begin, end, column, labels[0][own, column])
        for place in range(begin, end):
            row = rows[place]
            if end - first[slot] > LARGE and codes[row, column] > labels[1][own, column]:
                break
            if not covers(codes, row, labels, own):
                continue
            known[row] = True
            many[slot] += 1
            if total == len(found) and total < most:
                wider = np.empty(min(most, 2 * total), dtype=np.int32)
                wider[:total] = found
                found = wider
            if total < len(found):
                found[total] = row
            total += 1
        ends[slot + 1] = total
    return ends, found[: total if total <= most else 0], many, known
