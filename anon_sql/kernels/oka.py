"""Cluster by one pass of k-means (OKA): rows join the nearest centre, large classes give rows away.

Source: Lin and Wei 2008, one-pass k-means stage and adjustment stage. A centre is the mean of the
numbers and, of categories, the winner of a running majority vote (Boyer and Moore): exact if one
category has more than half the rows, and updated at once in the memory of one code.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.distance import NULL, coded, draw, full_loss, span_loss
from anon_sql.kernels.kernel import Runner, kernel
from anon_sql.kernels.loss import NUMBER, SET, LossModel

CALL_DISTANCES = 1 << 27  # in one column, computed in a call, some .2 s
NEXT = 0  # index in a state: the next row


class Centres(NamedTuple):
    """State of m classes.

    centre: int32[d, m], NULL among its values.
    sum, nulls: int64[d, m], of a NUMBER column.
    counts: int64[d, m], number of values of a NUMBER column; in another column the vote's count.
    size: int64[m], rows.
    distance: int64[m], scratch, of a row to each centre.
    """

    centre: npt.NDArray[np.int32]
    sum: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    nulls: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    distance: npt.NDArray[np.int64]


@kernel
def apart(model, column, a, b):
    """Return the distance of two codes in one column, in billionths.

    It is the NCP of the two; in a SET column 0 or the column's full loss.

    model: ``LossModel``, the meaning of the points.
    column: int, the column, 0 … d - 1.
    a, b: int32, the codes.
    """
    if a == b:
        return np.int64(0)
    if model.kind[column] == SET or NULL in (a, b):
        return full_loss(model, column)
    return span_loss(model, column, min(a, b), max(a, b))


@kernel
def measure(centres, model, codes):
    """Write the distance of a row to every centre into ``centres.distance``.

    centres: ``Centres``, changed.
    model: ``LossModel``, the meaning of the points.
    codes: int32[d], of the row.
    """
    distance = centres.distance
    for class_id in range(distance.size):
        distance[class_id] = 0
    for c in range(model.kind.size):
        x, row, full = codes[c], centres.centre[c], full_loss(model, c)
        if model.kind[c] == NUMBER and x != NULL:
            for class_id in range(distance.size):
                y = row[class_id]
                distance[class_id] += full if y == NULL else abs(np.int64(x) - np.int64(y))
        elif model.kind[c] == SET:
            for class_id in range(distance.size):
                distance[class_id] += full if row[class_id] != x else 0
        else:
            for class_id in range(distance.size):
                distance[class_id] += apart(model, c, x, row[class_id])


@kernel
def join(centres, model, codes, class_id):
    """Add a row to a class and update its centre.

    centres: ``Centres``, changed.
    model: ``LossModel``, the meaning of the points.
    codes: int32[d], of the row.
    class_id: int, the class.
    """
    centres.size[class_id] += 1
    for c in range(model.kind.size):
        x = codes[c]
        if model.kind[c] != NUMBER:
            if centres.counts[c, class_id] == 0:
                centres.centre[c, class_id] = x
            centres.counts[c, class_id] += 1 if centres.centre[c, class_id] == x else -1
            continue
        if x == NULL:
            centres.nulls[c, class_id] += 1
        else:
            centres.sum[c, class_id] += x
            centres.counts[c, class_id] += 1
        count = centres.counts[c, class_id]
        if count >= max(1, centres.nulls[c, class_id]):
            centres.centre[c, class_id] = (2 * centres.sum[c, class_id] + count) // (2 * count)
        else:
            centres.centre[c, class_id] = NULL


@kernel
def gather(centres, model, codes, order, classes, state, budget):
    """Let rows without a class join the nearest centre; return how many rows are left.

    centres: ``Centres``, changed.
    model: ``LossModel``, the meaning of the points.
    codes: int32[n, d], from ``coded``.
    order: int32[…], rows in the order in which they pass.
    classes: int32[n], -1 for none; written.
    state: int64[2], at NEXT the next position in ``order``, changed.
    budget: int, distances in one column to compute.
    """
    computed = 0
    while computed < budget and state[NEXT] < order.size:
        row = order[state[NEXT]]
        state[NEXT] += 1
        if classes[row] >= 0:
            continue
        measure(centres, model, codes[row])
        computed += centres.distance.size * model.kind.size
        best = 0
        for class_id in range(centres.distance.size):
            if centres.distance[class_id] < centres.distance[best]:
                best = class_id
        classes[row] = best
        join(centres, model, codes[row], best)
    return order.size - state[NEXT]


@kernel
def distances(centres, model, codes, classes, distance):
    """Write the distance of each row to its class's centre into ``distance``.

    centres: ``Centres``.
    model: ``LossModel``, the meaning of the points.
    codes: int32[n, d], from ``coded``.
    classes: int32[n], class of each row.
    distance: int64[n], written.
    """
    for row in range(classes.size):
        distance[row] = 0
        for c in range(model.kind.size):
            distance[row] += apart(model, c, codes[row, c], centres.centre[c, classes[row]])


@kernel
def place(centres, model, codes, order, k, classes, state, budget):
    """Let rows join the nearest class; return how many rows are left.

    Classes below k come first while there are any.

    centres: ``Centres``, changed.
    model: ``LossModel``, the meaning of the points.
    codes: int32[n, d], from ``coded``.
    order: int32[…], rows in the order in which they pass.
    k: int, least rows of a class.
    classes: int32[n], written.
    state: int64[2], changed: at NEXT the next position in ``order``, at 1 the rows missing in
        classes below k.
    budget: int, distances in one column to compute.
    """
    computed = 0
    while computed < budget and state[NEXT] < order.size:
        row = order[state[NEXT]]
        state[NEXT] += 1
        measure(centres, model, codes[row])
        computed += centres.distance.size * model.kind.size
        best = -1
        for class_id in range(centres.distance.size):
            is_open = state[1] == 0 or centres.size[class_id] < k
            if is_open and (best < 0 or centres.distance[class_id] < centres.distance[best]):
                best = class_id
        classes[row] = best
        state[1] -= centres.size[best] < k
        centres.size[best] += 1
    return order.size - state[NEXT]


@kernel
def draws(seed, numbers):
    """Write a random number for each row into ``numbers``.

    seed: uint64.
    numbers: uint64[n], written.
    """
    for row in range(numbers.size):
        numbers[row] = draw(seed, np.uint64(row))


def oka(
    points: npt.NDArray[np.float64], model: LossModel, k: int, *, seed: int, workers: Runner
) -> npt.NDArray[np.int32]:
    """Return class ids int32[n] of n // k classes of at least k rows; n >= k.

    Rows pass in order of their values, columns as declared. Time grows with the square of n,
    divided by k.

    points: float64[n, d], rows in canonical order.
    model: ``LossModel``, the meaning of the points.
    k: least rows of a class.
    seed: decides the rows with which classes begin, and the order of those given away.
    workers: runs the kernels.
    """
    n, width = points.shape
    m = n // k
    codes = np.empty((n, width), np.int32)
    coded(np.ascontiguousarray(points, dtype=np.float64), model, codes)
    random_numbers = np.empty(n, np.uint64)
    draws(np.uint64(seed % 2**64), random_numbers)
    order = np.lexsort(codes.T[::-1]).astype(np.int32)
    sums, counts, nulls = np.zeros((3, width, m), np.int64)
    centres = Centres(
        np.zeros((width, m), np.int32),
        sums,
        counts,
        nulls,
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
    )
    classes = np.full(n, -1, np.int32)
    for class_id, row in enumerate(np.sort(np.argsort(random_numbers, kind="stable")[:m])):
        join(centres, model, codes[row], class_id)
        classes[row] = class_id
    state = np.zeros(2, np.int64)
    workers.repeat(gather, (centres, model, codes, order, classes, state, CALL_DISTANCES), n)
    distance = np.empty(n, np.int64)
    distances(centres, model, codes, classes, distance)
    rows = np.lexsort((np.arange(n), distance, classes))
    rank = np.arange(n) - np.searchsorted(classes[rows], classes[rows])
    surplus = rows[rank >= k]
    centres.size[:] = np.minimum(centres.size, k)
    state[:] = 0, int((k - centres.size).sum())
    surplus = surplus[np.lexsort((surplus, random_numbers[surplus]))].astype(np.int32)
    workers.repeat(
        place, (centres, model, codes, surplus, k, classes, state, CALL_DISTANCES), len(surplus)
    )
    return classes
