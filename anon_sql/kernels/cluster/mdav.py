"""Group rows around the ones far from the mean: MDAV.

Source: Domingo-Ferrer and Torra 2005 (Ordinal, continuous and heterogeneous k-anonymity through
microaggregation), algorithm MDAV-generic, with squared Euclidean distances.
"""

import numpy as np
import numpy.typing as npt
from numba import njit


def mdav(x: npt.NDArray[np.float64], k: int, more: int = 0) -> npt.NDArray[np.int32]:
    """Return the class of each row of float64[n, d], int32[n], from 0 without gaps.

    Classes have k rows, every second one k + ``more``, at most 2k - 1, and the last one up to 2k -
    1. MDAV is ``more`` = 0. n is at least k. Ties go to the first row.
    """
    found: npt.NDArray[np.int32] = _mdav(np.ascontiguousarray(x), k, min(more, k - 1))
    return found


@njit(cache=True, nogil=True)
def _mdav(x, k, more):
    n, d = x.shape
    left = np.arange(n).astype(np.int32)
    home, at, rows = np.full(n, -1, np.int32), 0, n
    keys, near = np.empty(k + more), np.empty(k + more, np.int32)
    middle, around = np.empty(d), np.empty(d)
    while rows >= 2 * k:
        middle[:] = 0.0
        for place in range(rows):
            for c in range(d):
                middle[c] += x[left[place], c] / rows
        around[:] = x[_farthest(x, left, rows, middle)]
        rows = _take(x, left, rows, around, keys[:k], near[:k], home, at)
        at += 1
        if rows >= 2 * k + more:
            around[:] = x[_farthest(x, left, rows, around)]
            rows = _take(x, left, rows, around, keys, near, home, at)
            at += 1
    for place in range(rows):
        home[left[place]] = at
    return home


@njit(cache=True, nogil=True)
def _farthest(x, left, rows, point):
    """Return the row farthest from a point."""
    most, found = -1.0, left[0]
    for place in range(rows):
        away = gap(x, left[place], point)
        if away > most:
            most, found = away, left[place]
    return found


@njit(cache=True, nogil=True)
def _take(x, left, rows, point, keys, near, home, at):
    """Move the rows nearest to a point, as many as ``near`` holds, into class ``at``.

    Returns the number of rows that are left.
    """
    keys[:] = np.inf
    for place in range(rows):
        away = gap(x, left[place], point)
        if away >= keys[-1]:
            continue
        i = keys.size - 1
        while i > 0 and keys[i - 1] > away:
            keys[i], near[i] = keys[i - 1], near[i - 1]
            i -= 1
        keys[i], near[i] = away, left[place]
    for i in range(near.size):
        home[near[i]] = at
    kept = 0
    for place in range(rows):
        if home[left[place]] < 0:
            left[kept] = left[place]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def gap(x, row, point):
    """Return the squared distance of a row from a point."""
    total = 0.0
    for c in range(point.size):
        total += (x[row, c] - point[c]) ** 2
    return total
