"""Compute the increase of |E| * NCP(E) by which a class would take in another."""

import numpy as np

from anon_sql.kernels.hash.grouping import distinct
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss.ncp import SET, range_loss, set_loss


@kernel
def profiles(points, model, order, starts):
    """Return the values of each class: low, high float64[m, d], nulls int64[m, d], and sets.

    order: int32[n], starts: int64[m + 1], the rows class by class. The set of a class in a SET
    column is flat[column, first[column, class] : end[column, class]], ascending; first, end:
    int64[d, m], flat: int32[d, n]. NULL is counted in ``nulls`` alone.
    """
    count, width = len(starts) - 1, points.shape[1]
    low, high = np.full((count, width), np.inf), np.full((count, width), -np.inf)
    nulls = np.zeros((count, width), dtype=np.int64)
    ends = np.zeros((width, count + 1), dtype=np.int64)
    flat = np.zeros((width, len(order)), dtype=np.int32)
    for column in range(width):
        for at in range(count):
            for place in range(starts[at], starts[at + 1]):
                value = points[order[place], column]
                if value == model.null[column]:
                    nulls[at, column] += 1
                else:
                    low[at, column] = min(low[at, column], value)
                    high[at, column] = max(high[at, column], value)
        if model.kind[column] == SET:
            found, codes = distinct(order, starts, points[:, column].astype(np.int32))
            for at in range(count + 1):
                ends[column, at] = found[at]
            for at in range(len(codes)):
                flat[column, at] = codes[at]
    return low, high, nulls, ends[:, :-1].copy(), ends[:, 1:].copy(), flat


@kernel
def loss(a, b, model, low, high, nulls, first, end, flat):
    """Return the NCP, summed over columns, of the union of classes a and b (a == b: of one)."""
    total = 0.0
    for column in range(len(model.kind)):
        least = min(low[a, column], low[b, column])
        most = max(high[a, column], high[b, column])
        if nulls[a, column] + nulls[b, column] > 0:
            total += model.weight[column] if least <= most else 0.0
        elif model.kind[column] != SET:
            total += range_loss(model, column, least, most)
        else:
            i, j, size = first[column, a], first[column, b], 0
            last_i, last_j = end[column, a], end[column, b]
            while i < last_i or j < last_j:
                left = flat[column, i] if i < last_i else np.int32(2**31 - 1)
                right = flat[column, j] if j < last_j else np.int32(2**31 - 1)
                i += left <= right
                j += right <= left
                size += 1
            total += set_loss(model, column, size)
    return total


@kernel
def nearest(short, targets, model, starts, low, high, nulls, first, end, flat):
    """Return the class of ``targets`` that grows least by each class of ``short``; ties: the first.

    short, targets: int64[…], class ids. Returns int64[len(short)].
    """
    found = np.empty(len(short), dtype=np.int64)
    alone = np.empty(len(targets))
    for at in range(len(targets)):
        b = targets[at]
        alone[at] = (starts[b + 1] - starts[b]) * loss(
            b, b, model, low, high, nulls, first, end, flat
        )
    for at in range(len(short)):
        a = short[at]
        size = starts[a + 1] - starts[a]
        best = np.inf
        for other in range(len(targets)):
            b = targets[other]
            together = size + starts[b + 1] - starts[b]
            increase = (
                together * loss(a, b, model, low, high, nulls, first, end, flat) - alone[other]
            )
            if increase < best - 1e-9:
                best = increase
                found[at] = b
    return found
