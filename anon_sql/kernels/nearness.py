"""How much a class would lose by taking in another: the increase of |E| * NCP(E)."""

import numpy as np
from numba import njit

from anon_sql.kernels.grouping import distinct, extremes


@njit(cache=True, nogil=True)
def profiles(points, numeric, order, starts):
    """Of each class: low, high float64[m, d] of its numbers, has_null bool[m, d], and its sets.

    A column's set is ends[column, class] … ends[column, class + 1] in flat[column, …].
    """
    count, width = len(starts) - 1, points.shape[1]
    low, high = np.full((count, width), np.inf), np.full((count, width), -np.inf)
    has_null = np.zeros((count, width), dtype=np.bool_)
    ends = np.zeros((width, count + 1), dtype=np.int64)
    flat = np.zeros((width, len(order)), dtype=np.int32)
    for column in range(width):
        values = points[:, column].copy()
        if numeric[column]:
            present = values <= 1.0
            least, most, nulls = extremes(
                order, starts, (values * 2.0**52).astype(np.int64), present
            )
            for at in range(count):
                has_null[at, column] = nulls[at] > 0
                if least[at] >= 0:
                    low[at, column], high[at, column] = values[least[at]], values[most[at]]
        else:
            found, codes = distinct(order, starts, values.astype(np.int32))
            ends[column] = found
            flat[column, : len(codes)] = codes
    return low, high, has_null, ends, flat


@njit(cache=True, nogil=True)
def loss(a, b, numeric, values, low, high, has_null, ends, flat):
    """NCP summed over the columns of the union of classes a and b (the same twice: of one).

    values int64[d]: distinct values of each categorical column in the table.
    """
    total = 0.0
    for column in range(len(numeric)):
        if numeric[column]:
            least = min(low[a, column], low[b, column])
            most = max(high[a, column], high[b, column])
            if has_null[a, column] or has_null[b, column]:
                total += 1.0 if least <= most else 0.0
            else:
                total += most - least
            continue
        i, j, size = ends[column, a], ends[column, b], 0
        last_i, last_j = ends[column, a + 1], ends[column, b + 1]
        while i < last_i or j < last_j:
            left = flat[column, i] if i < last_i else np.int32(2**31 - 1)
            right = flat[column, j] if j < last_j else np.int32(2**31 - 1)
            i += left <= right
            j += right <= left
            size += 1
        total += size / values[column] if size > 1 else 0.0
    return total


@njit(cache=True, nogil=True)
def nearest(short, targets, numeric, values, starts, low, high, has_null, ends, flat):
    """For each class of ``short`` the class of ``targets`` that grows least; ties: the first.

    short, targets int64[…] of class ids -> int64[len(short)].
    """
    found = np.empty(len(short), dtype=np.int64)
    alone = np.empty(len(targets))
    for at in range(len(targets)):
        b = targets[at]
        alone[at] = (starts[b + 1] - starts[b]) * loss(
            b, b, numeric, values, low, high, has_null, ends, flat
        )
    for at in range(len(short)):
        a = short[at]
        size = starts[a + 1] - starts[a]
        best = np.inf
        for other in range(len(targets)):
            b = targets[other]
            together = size + starts[b + 1] - starts[b]
            increase = (
                together * loss(a, b, numeric, values, low, high, has_null, ends, flat)
                - alone[other]
            )
            if increase < best - 1e-9:
                best = increase
                found[at] = b
    return found
