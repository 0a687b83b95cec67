"""Find the raw rows that a released row may come from: equal kept values, covered by its label."""

import numpy as np

from anon_sql.kernels.kernel import kernel

LARGE = 64  # raw rows of equal kept values above which they are sorted and searched


@kernel
def member(code, first, last, flat):
    """Return whether flat[first] … flat[last - 1], ascending, has a code, or is empty."""
    left, right = first, last
    while left < right:
        middle = (left + right) >> 1
        if flat[middle] < code:
            left = middle + 1
        else:
            right = middle
    return first == last or (left < last and flat[left] == code)


@kernel
def covers(codes, row, labels, own):
    """Return whether a class's label covers a row: each code within the ends and, if a set, in it.

    Takes whole arrays and positions, since a view of a row would cost more than the test.
    """
    low, high, start, end, flat = labels
    for at in range(codes.shape[1]):
        if codes[row, at] < low[own, at] or codes[row, at] > high[own, at]:
            return False
    for at in range(codes.shape[1]):
        if not member(codes[row, at], start[own, at], end[own, at], flat):
            return False
    return True


@kernel
def _within(codes, rows, first, last, column, low):
    """Return the first position whose code in a column, ascending there, is at least ``low``."""
    while first < last:
        middle = (first + last) >> 1
        if codes[rows[middle], column] < low:
            first = middle + 1
        else:
            last = middle
    return first


@kernel
def covered(codes, rows, first, last, classes, column, labels, most):
    """Return the raw rows that each slot's label covers, listed up to ``most`` of them in all.

    codes: int32[n, d]. rows: int32[n], the raw rows by hash. first, last, classes: int64[m], each
    slot's range of ``rows`` and its class. column: the one in which ranges of more than LARGE rows
    ascend. labels: low, high, start, end int32[c, d] and flat int64[…]; low and high are the ends
    of a class's label, flat[start:end] the ascending codes of a set.

    Returns the list int32[…], slot by slot (empty where it would exceed ``most``), the number of
    rows each slot covers int64[m], and whether each raw row is covered bool[n].
    """
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
    return found[: total if total <= most else 0], many, known
