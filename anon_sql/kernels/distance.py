"""Compute distances between rows and between classes as comparable integers.

A point holds numeric columns scaled to [0, weight], NULL as 3.0, and categories as whole codes. The
difference in any column is then min(|a - b|, weight): the scaled distance between two numbers, the
weight between two categories and between NULL and a number. A weight is 1 or less.

Gower's distance between pairs of rows is over the columns present in both (Gower 1971). RAYDEN's
equation ("VP-Tree Partitioning Phase") divides by the number of all columns, which treats a missing
value like an equal one; here a column missing on either side does not count, as in Gower's paper.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.hashing import distinct
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import NUMBER, SET, range_loss, set_loss

METRICS = ("gower", "euclid")
GOWER, EUCLID = 0, 1

UNIT = 1e9  # a key counts billionths: distances are rounded before anything compares them

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@kernel
def key(points, i, j, measure):
    """Return the distance between two rows, in units of 1e-9, as int64.

    Gower (1971): the mean difference over the columns. Euclid: the root of the sum of squares.

    points: float64[n, d], the points of the rows in each column.
    i, j: int, the rows.
    measure: (metric, weights), as ``measure_of`` returns it.
    """
    metric, weight = measure
    columns = points.shape[1]
    total = 0.0
    if metric == EUCLID:
        for c in range(columns):
            difference = min(abs(points[i, c] - points[j, c]), weight[c])
            total += difference * difference
        return np.int64(np.rint(np.sqrt(total) * UNIT))
    for c in range(columns):
        total += min(abs(points[i, c] - points[j, c]), weight[c])
    return np.int64(np.rint(total / max(columns, 1) * UNIT))


@kernel
def keys_to(points, rows, v, measure, out):
    """Write the distance key from a row to each of others into ``out``.

    points: float64[n, d], the points of the rows in each column.
    rows: int32[m], the other rows.
    v: int, the row: the vantage point of a VP-tree.
    measure: (metric, weights), as ``measure_of`` returns it.
    out: int64[m], written.
    """
    for i in range(rows.size):
        out[i] = key(points, rows[i], v, measure)


@kernel(borrows=True)
def draw(seed, counter):
    """Return a random number of the stream of a seed (splitmix64), uint64.

    A number of a stream may seed another stream, so that each node of a tree has its own,
    independent of the thread that computes it.

    seed: uint64.
    counter: uint64, which number of the stream.
    """
    z = np.uint64(seed) + np.uint64(counter) * _GAMMA
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@kernel(borrows=True)
def draw_below(seed, counter, bound):
    """Return a random position in 0 … bound - 1, int64.

    seed: uint64, of the stream.
    counter: int, which number of the stream.
    bound: int, at least 1.
    """
    return np.int64(draw(seed, counter) % np.uint64(bound))


def measure_of(
    metric: str, columns: int, weights: npt.NDArray[np.float64] | None
) -> tuple[int, npt.NDArray[np.float64]]:
    """Return the metric and the weights for ``key``.

    metric: 'gower' or 'euclid'.
    columns: number of columns.
    weights: float64[d]; None for 1 each.
    """
    return METRICS.index(metric), np.ones(columns) if weights is None else weights


FULL_LOSS = 1_000_000_000  # a loss of 1 in one column; losses count billionths, as distances do
NULL = 2**31 - 1  # NULL in a NUMBER or TREE column; in a SET column it is the last code


@kernel
def coded(points: Any, model: Any, codes: Any) -> None:
    """Write points as codes, numbers in billionths.

    points: float64[n, d], the points of the rows in each column.
    model: ``LossModel``, the meaning of the points.
    codes: int32[n, d or wider], written.
    """
    n, width = points.shape
    for row in range(n):
        for c in range(width):
            value = points[row, c]
            if model.kind[c] == SET:
                codes[row, c] = np.int32(value)
            elif value == model.null[c]:
                codes[row, c] = NULL
            elif model.kind[c] == NUMBER:
                codes[row, c] = np.int32(np.rint(value * UNIT))
            else:
                codes[row, c] = np.int32(value)


@kernel(borrows=True)
def full_loss(model: Any, column: Any) -> Any:
    """Return the most that a column can lose, in billionths: that of NULL beside values.

    model: ``LossModel``, the meaning of the points.
    column: int, the column, 0 … d - 1.
    """
    return np.int64(np.rint(model.weight[column] * UNIT))


@kernel(borrows=True)
def span_loss(model: Any, column: Any, low: Any, high: Any) -> Any:
    """Return the loss of codes from low to high in a NUMBER or TREE column, in billionths.

    model: ``LossModel``, the meaning of the points.
    column: int, the column, 0 … d - 1.
    low, high: int32, the ends; NULL is not among the codes.
    """
    if model.kind[column] == NUMBER:
        return np.int64(high) - np.int64(low)
    return np.int64(np.rint(range_loss(model, column, float(low), float(high)) * UNIT))


@kernel(borrows=True)
def count_loss(model: Any, column: Any, distinct: Any, null: Any) -> Any:
    """Return the loss of distinct codes in a SET column, in billionths.

    model: ``LossModel``, the meaning of the points.
    column: int, the column, 0 … d - 1.
    distinct: int, number of codes.
    null: bool, whether NULL is among them; it is counted in ``distinct``.
    """
    if null:
        return full_loss(model, column) if distinct > 1 else np.int64(0)
    return np.int64(np.rint(set_loss(model, column, distinct) * UNIT))


@kernel
def pair(a, b, numeric, ranges):
    """Return the Gower distance of two rows; NaN if no column is present in both.

    a, b: float64[d], the rows; NaN is missing.
    numeric: bool[d], whether a column holds numbers.
    ranges: float64[d], largest minus smallest value of each numeric column.
    """
    total, present = 0.0, 0
    for c in range(a.size):
        if np.isnan(a[c]) or np.isnan(b[c]):
            continue
        present += 1
        if not numeric[c]:
            total += a[c] != b[c]
        elif ranges[c] > 0.0:  # a constant column tells no rows apart
            total += abs(a[c] - b[c]) / ranges[c]
    return total / present if present else np.nan


@kernel
def pairs(a, b, numeric, ranges):
    """Return the Gower distance of each row of a to the same row of b, float64[n].

    a, b: float64[n, d], the rows; NaN is missing.
    numeric: bool[d], whether a column holds numbers.
    ranges: float64[d], largest minus smallest value of each numeric column.
    """
    distance = np.empty(a.shape[0])
    for row in range(a.shape[0]):
        distance[row] = pair(a[row], b[row], numeric, ranges)
    return distance


def gower_pairs(
    a: npt.ArrayLike, b: npt.ArrayLike, numeric: npt.ArrayLike, ranges: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """Return the Gower distance of row i of a to row i of b, float64[n].

    The distance is in [0, 1] for values within the ranges, NaN if no column is present in both
    rows.

    a, b: float64[n, d], categories as codes, missing values NaN.
    numeric: bool[d].
    ranges: float64[d], largest minus smallest value of each numeric column; a column contributes 0
        where it is 0 or NaN.
    """
    left, right = (np.ascontiguousarray(side, dtype=np.float64) for side in (a, b))
    kinds, widths = np.asarray(numeric, dtype=np.bool_), np.asarray(ranges, dtype=np.float64)
    return np.asarray(pairs(left, right, kinds, widths), dtype=np.float64)


@kernel
def profiles(points, model, order, starts):
    """Return the values of each class: low, high float64[m, d], nulls int64[m, d], and sets.

    The set of a class in a SET column is flat[column, first[column, class] : end[column, class]],
    ascending; first, end: int64[d, m], flat: int32[d, n]. NULL is counted in ``nulls`` alone.

    points: float64[n, d], the points of the rows in each column.
    model: ``LossModel``, the meaning of the points.
    order: int32[n], rows class by class.
    starts: int64[m + 1], where each class begins in ``order``.
    """
    count, width = len(starts) - 1, points.shape[1]
    low, high = np.full((count, width), np.inf), np.full((count, width), -np.inf)
    nulls = np.zeros((count, width), dtype=np.int64)
    ends = np.zeros((width, count + 1), dtype=np.int64)
    flat = np.zeros((width, len(order)), dtype=np.int32)
    for column in range(width):
        for class_id in range(count):
            for position in range(starts[class_id], starts[class_id + 1]):
                value = points[order[position], column]
                if value == model.null[column]:
                    nulls[class_id, column] += 1
                else:
                    low[class_id, column] = min(low[class_id, column], value)
                    high[class_id, column] = max(high[class_id, column], value)
        if model.kind[column] == SET:
            set_ends, codes = distinct(order, starts, points[:, column].astype(np.int32))
            for class_id in range(count + 1):
                ends[column, class_id] = set_ends[class_id]
            for class_id in range(len(codes)):
                flat[column, class_id] = codes[class_id]
    return low, high, nulls, ends[:, :-1].copy(), ends[:, 1:].copy(), flat


@kernel
def loss(a, b, model, low, high, nulls, first, end, flat):
    """Return the NCP, summed over columns, of the union of two classes.

    a, b: int, the classes; a == b for one class.
    model: ``LossModel``, the meaning of the points.
    low, high, nulls, first, end, flat: what ``profiles`` returns.
    """
    total = 0.0
    for column in range(len(model.kind)):
        lowest = min(low[a, column], low[b, column])
        highest = max(high[a, column], high[b, column])
        if nulls[a, column] + nulls[b, column] > 0:
            total += model.weight[column] if lowest <= highest else 0.0
        elif model.kind[column] != SET:
            total += range_loss(model, column, lowest, highest)
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
def nearest(short, candidates, model, starts, low, high, nulls, first, end, flat):
    """Return the candidate that grows least by each short class, int64[s]; ties: the first.

    short: int64[s], class ids.
    candidates: int64[…], class ids.
    model: ``LossModel``, the meaning of the points.
    starts: int64[m + 1], where each class begins in the order of the rows.
    low, high, nulls, first, end, flat: what ``profiles`` returns.
    """
    nearest_class = np.empty(len(short), dtype=np.int64)
    loss_alone = np.empty(len(candidates))
    for i in range(len(candidates)):
        b = candidates[i]
        loss_alone[i] = (starts[b + 1] - starts[b]) * loss(
            b, b, model, low, high, nulls, first, end, flat
        )
    for i in range(len(short)):
        a = short[i]
        size = starts[a + 1] - starts[a]
        least_increase = np.inf
        for j in range(len(candidates)):
            b = candidates[j]
            together = size + starts[b + 1] - starts[b]
            increase = (
                together * loss(a, b, model, low, high, nulls, first, end, flat) - loss_alone[j]
            )
            if increase < least_increase - 1e-9:
                least_increase = increase
                nearest_class[i] = b
    return nearest_class


@kernel
def single_linkage(points, clusters, rows, nearest):
    """Write the squared distance of some rows to each cluster; their own cluster is measured too.

    points: float64[n, d], the points of the rows in each column.
    clusters: int32[n], the cluster of each row; -1 for none.
    rows: int64[m], the rows.
    nearest: float64[clusters], written: the least squared distance of one of the rows to one of the
        cluster's.
    """
    nearest[:] = np.inf
    for other in range(points.shape[0]):
        cluster = clusters[other]
        if cluster < 0:
            continue
        for row in rows:
            total = 0.0
            for c in range(points.shape[1]):
                total += (points[row, c] - points[other, c]) ** 2
                if total >= nearest[cluster]:
                    break
            nearest[cluster] = min(nearest[cluster], total)


@kernel
def nearest_cluster(points, clusters, rows):
    """Return the cluster of the nearest row that has one, int64[m]; ties to the lowest.

    points: float64[n, d], the points of the rows in each column.
    clusters: int32[n], the cluster of each row; -1 for none.
    rows: int64[m], the rows without a cluster.
    """
    nearest = np.empty(clusters.max() + 1)
    nearest_of = np.empty(rows.size, np.int64)
    for i in range(rows.size):
        single_linkage(points, clusters, rows[i : i + 1], nearest)
        nearest_of[i] = np.argmin(np.rint(np.sqrt(nearest) * 1e9))
    return nearest_of


@kernel
def class_losses(points, model, order, starts):
    """Return |E| * NCP(E) of each class E, float64[m].

    points: float64[n, d], the points of the rows in each column.
    model: ``LossModel``, the meaning of the points.
    order: int32[n], rows class by class.
    starts: int64[m + 1], where each class begins in ``order``.
    """
    low, high, nulls, first, end, flat = profiles(points, model, order, starts)
    losses = np.empty(len(starts) - 1)
    for class_id in range(len(starts) - 1):
        ncp = loss(class_id, class_id, model, low, high, nulls, first, end, flat)
        losses[class_id] = (starts[class_id + 1] - starts[class_id]) * ncp
    return losses
