"""Group rows around the ones far from the mean: MDAV.

Source: Domingo-Ferrer and Torra 2005 (Ordinal, continuous and heterogeneous k-anonymity through
microaggregation), algorithm MDAV-generic, with squared Euclidean distances.
"""

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel


def mdav(x: npt.NDArray[np.float64], k: int, more: int = 0) -> npt.NDArray[np.int32]:
    """Return the class of each row of float64[n, d], int32[n], from 0 without gaps.

    Classes have k rows, every second one k + ``more``, at most 2k - 1, and the last one up to 2k -
    1. MDAV is ``more`` = 0. n is at least k. Ties go to the first row.
    """
    home = np.full(len(x), -1, np.int32)
    _mdav(np.ascontiguousarray(x), k, min(more, k - 1), home)
    return home


@kernel
def _mdav(x, k, more, home):
    """Write the class of each row into ``home``, int32[n], which holds -1."""
    n, d = x.shape
    at, rows = 0, n
    left, point = np.empty(n, np.int32), np.empty(d)
    keys, near = np.empty(k + more), np.empty(k + more, np.int32)
    for row in range(n):
        left[row] = row
    while rows >= 2 * k:
        for c in range(d):
            point[c] = 0.0
            for place in range(rows):
                point[c] += x[left[place], c] / rows
        rows = _take(x, left, rows, point, keys, near, k, home, at)
        at += 1
        if rows >= 2 * k + more:
            rows = _take(x, left, rows, point, keys, near, k + more, home, at)
            at += 1
    for place in range(rows):
        home[left[place]] = at


@kernel
def _take(x, left, rows, point, keys, near, count, home, at):
    """Move the row farthest from a point and those nearest to it into class ``at``.

    count: rows of the class. ``point`` becomes the farthest row. Returns how many rows are left.
    """
    most, far = -1.0, left[0]
    for place in range(rows):
        away = gap(x, left[place], point)
        if away > most:
            most, far = away, left[place]
    for c in range(point.size):
        point[c] = x[far, c]
    for i in range(count):
        keys[i] = np.inf
    for place in range(rows):
        away = gap(x, left[place], point)
        if away >= keys[count - 1]:
            continue
        i = count - 1
        while i > 0 and keys[i - 1] > away:
            keys[i], near[i] = keys[i - 1], near[i - 1]
            i -= 1
        keys[i], near[i] = away, left[place]
    for i in range(count):
        home[near[i]] = at
    kept = 0
    for place in range(rows):
        if home[left[place]] < 0:
            left[kept] = left[place]
            kept += 1
    return kept


@kernel
def gap(x, row, point):
    """Return the squared distance of a row from a point."""
    total = 0.0
    for c in range(point.size):
        total += (x[row, c] - point[c]) ** 2
    return total
