"""Which raw rows a released row may stem from: same kept values, every value in its label."""

import numpy as np
from numba import njit


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
def covers(code, low, high, start, end, flat):
    """Whether each code of a row lies between the ends of its label and, in a set, is a member."""
    for at in range(len(code)):
        if code[at] < low[at] or code[at] > high[at]:
            return False
    for at in range(len(code)):
        left, right = start[at], end[at]
        if left == right:
            continue
        while left < right:
            middle = (left + right) >> 1
            if flat[middle] < code[at]:
                left = middle + 1
            else:
                right = middle
        if left == end[at] or flat[left] != code[at]:
            return False
    return True


@njit(cache=True, nogil=True)
def covered(codes, rows, first, last, classes, labels, most):
    """Of each slot the raw rows that its label covers, as far as ``most`` of them can be listed.

    codes int64[n, d]; rows int32[n]: the raw rows by hash; first, last, classes int64[m]: of each
    slot its stretch of ``rows`` and its class; labels: low, high, start, end int64[c, d] and flat:
    the ends of each class's label, and the stretch of flat that holds a set's codes, ascending.
    Returns the ends int64[m + 1] of each slot's list, the list int32 (empty where there are more
    than ``most``), how many each slot covers int64[m], and whether each raw row is covered bool[n].
    """
    low, high, start, end, flat = labels
    ends = np.zeros(len(first) + 1, dtype=np.int64)
    found = np.empty(min(most, 2 * len(rows) + 16), dtype=np.int32)
    many = np.zeros(len(first), dtype=np.int64)
    known = np.zeros(len(codes), dtype=np.bool_)
    total = 0
    for slot in range(len(first)):
        own = classes[slot]
        for place in range(first[slot], last[slot]):
            row = rows[place]
            if not covers(codes[row], low[own], high[own], start[own], end[own], flat):
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
