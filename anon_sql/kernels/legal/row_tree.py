"""Arrange rows as a tree of boxes, so that a label is compared with few of them."""

import numpy as np

from anon_sql.kernels.kernel import kernel

LEAST = 16  # rows of a node; a node of up to twice as many is not divided
PAIRS = 32  # of rows of a node, that are compared


@kernel
def bit(code):
    """Return the member of a set of 64 for a code: different codes may have the same."""
    return np.uint64(1) << np.uint64(code & 63)


@kernel
def arrange(codes, rows, low, high, held, ends):
    """Order rows in place as a tree, and return the number of its nodes.

    codes: int32[m, d], m > 0; rows: int32[m], ordered with them. A node has a stretch of rows, and
    its children the two parts of it. Nodes are written from parent to children and from left to
    right: low, high int32[…, d], their least and greatest code; held uint64[…, d], their codes as a
    set of ``bit``; ends int64[…, 3], where their rows begin and end, and the next node that is not
    below them. There are at most m // 8 + 1 nodes.

    A node is divided in the column in which most pairs of its rows differ, times its width by that
    of all rows, near the middle and between different codes if there are LEAST rows on both sides.
    """
    stack = np.empty((len(rows) // LEAST + 2, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = 0, len(rows)
    top, nodes = 1, 0
    while top:
        top -= 1
        node, first, last = nodes, stack[top, 0], stack[top, 1]
        nodes += 1
        ends[node, 0], ends[node, 1] = first, last
        _bound(codes, first, last, low[node], high[node], held[node])
        if last - first <= 2 * LEAST:
            continue
        middle = (first + last) >> 1
        column, best = -1, 0.0
        for at in range(codes.shape[1]):
            width = high[node, at] - low[node, at]
            if width:
                differ = _differ(codes, first, middle, at) * width
                differ /= high[0, at] - low[0, at]
                if differ > best:
                    column, best = at, differ
        if column < 0:  # all rows are alike
            continue
        left, right = _divide(codes, rows, first, middle, last, column)
        if middle - left <= right - middle and left - first >= LEAST:
            middle = left
        elif last - right >= LEAST:
            middle = right
        elif left - first >= LEAST:
            middle = left
        stack[top, 0], stack[top, 1] = middle, last
        stack[top + 1, 0], stack[top + 1, 1] = first, middle
        top += 2
    for node in range(nodes - 1, -1, -1):
        after = node + 1
        while after < nodes and ends[after, 0] < ends[node, 1]:
            after = ends[after, 2]
        ends[node, 2] = after
    return nodes


@kernel
def _bound(codes, first, last, low, high, held):
    """Write the least and greatest codes of rows first … last - 1, and their codes as a set."""
    for at in range(len(low)):
        low[at] = high[at] = codes[first, at]
        held[at] = 0
    for row in range(first, last):
        for at in range(len(low)):
            code = codes[row, at]
            low[at] = min(low[at], code)
            high[at] = max(high[at], code)
            held[at] |= bit(code)


@kernel
def _differ(codes, first, middle, column):
    """Return how many of some rows before a position and some from there on differ in a column.

    The result is at least 1, since not all rows are alike.
    """
    step = max((middle - first) // PAIRS, 1)
    found = 1
    for row in range(first, middle, step):
        found += codes[row, column] != codes[middle + row - first, column]
    return found


@kernel
def _swap(codes, rows, one, other):
    """Exchange two rows."""
    rows[one], rows[other] = rows[other], rows[one]
    for at in range(codes.shape[1]):
        codes[one, at], codes[other, at] = codes[other, at], codes[one, at]


@kernel
def _divide(codes, rows, first, middle, last, column):
    """Order rows first … last - 1 so that those with the code at the middle are together.

    Codes before them are less, and codes after them are greater. Returns where they begin and end.
    """
    left, right = first, last - 1
    while left < right:
        pivot = codes[(left + right) >> 1, column]
        below, at, above = left, left, right
        while at <= above:
            code = codes[at, column]
            if code < pivot:
                _swap(codes, rows, at, below)
                below += 1
                at += 1
            elif code > pivot:
                _swap(codes, rows, at, above)
                above -= 1
            else:
                at += 1
        if middle < below:
            right = below - 1
        elif middle > above:
            left = above + 1
        else:
            return below, above + 1
    return middle, middle + 1
