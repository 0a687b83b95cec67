"""Cluster by one pass of k-means (OKA): rows join the nearest centre, large classes give rows away.

Source: Lin and Wei 2008. A centre is the mean of the numbers and, of categories, the winner of a
running majority vote (Boyer and Moore): exact where one category has more than half the rows, and
updated at once in the memory of one code.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.distance import NULL, coded, draw, full_loss, span_loss
from anon_sql.kernels.kernel import Runner, kernel
from anon_sql.kernels.loss import NUMBER, SET, LossModel

WORK = 1 << 27  # distances in one column computed in a call, some .2 s
NEXT = 0  # index in a state: the next row


class Centres(NamedTuple):
    """State of m classes.

    centre: int32[d, m], NULL among its values. sum, nulls: int64[d, m], of a NUMBER column. counts:
    int64[d, m], number of values of a NUMBER column, the vote's count elsewhere. size: int64[m].
    far: int64[m], scratch.
    """

    centre: npt.NDArray[np.int32]
    sum: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    nulls: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    far: npt.NDArray[np.int64]


@kernel
def apart(model, column, a, b):
    """Return the distance of two codes in one column, in billionths.

    It is the NCP of the two; in a SET column 0 or the most.
    """
    if a == b:
        return np.int64(0)
    if model.kind[column] == SET or NULL in (a, b):
        return full_loss(model, column)
    return span_loss(model, column, min(a, b), max(a, b))


@kernel
def measure(centres, model, codes):
    """Write the distance of a row, int32[d], to every centre into ``far``."""
    far = centres.far
    for at in range(far.size):
        far[at] = 0
    for c in range(model.kind.size):
        x, row, most = codes[c], centres.centre[c], full_loss(model, c)
        if model.kind[c] == NUMBER and x != NULL:
            for at in range(far.size):
                y = row[at]
                far[at] += most if y == NULL else abs(np.int64(x) - np.int64(y))
        elif model.kind[c] == SET:
            for at in range(far.size):
                far[at] += most if row[at] != x else 0
        else:
            for at in range(far.size):
                far[at] += apart(model, c, x, row[at])


@kernel
def join(centres, model, codes, at):
    """Add a row to a class and update its centre."""
    centres.size[at] += 1
    for c in range(model.kind.size):
        x = codes[c]
        if model.kind[c] != NUMBER:
            if centres.counts[c, at] == 0:
                centres.centre[c, at] = x
            centres.counts[c, at] += 1 if centres.centre[c, at] == x else -1
            continue
        if x == NULL:
            centres.nulls[c, at] += 1
        else:
            centres.sum[c, at] += x
            centres.counts[c, at] += 1
        known = centres.counts[c, at]
        if known >= max(1, centres.nulls[c, at]):
            centres.centre[c, at] = (2 * centres.sum[c, at] + known) // (2 * known)
        else:
            centres.centre[c, at] = NULL


@kernel
def gather(centres, model, codes, order, classes, state, work):
    """Let rows of ``order`` without a class join the nearest centre; return how many are left."""
    looked = 0
    while looked < work and state[NEXT] < order.size:
        row = order[state[NEXT]]
        state[NEXT] += 1
        if classes[row] >= 0:
            continue
        measure(centres, model, codes[row])
        looked += centres.far.size * model.kind.size
        best = 0
        for at in range(centres.far.size):
            if centres.far[at] < centres.far[best]:
                best = at
        classes[row] = best
        join(centres, model, codes[row], best)
    return order.size - state[NEXT]


@kernel
def distances(centres, model, codes, classes, reach):
    """Write the distance of each row to its class's centre into reach, int64[n]."""
    for row in range(classes.size):
        reach[row] = 0
        for c in range(model.kind.size):
            reach[row] += apart(model, c, codes[row, c], centres.centre[c, classes[row]])


@kernel
def place(centres, model, codes, order, k, classes, state, work):
    """Let rows of ``order`` join the nearest class; return how many are left.

    Classes below k come first while there are any. state[1]: rows missing in classes below k.
    """
    looked = 0
    while looked < work and state[NEXT] < order.size:
        row = order[state[NEXT]]
        state[NEXT] += 1
        measure(centres, model, codes[row])
        looked += centres.far.size * model.kind.size
        best = -1
        for at in range(centres.far.size):
            open_ = state[1] == 0 or centres.size[at] < k
            if open_ and (best < 0 or centres.far[at] < centres.far[best]):
                best = at
        classes[row] = best
        state[1] -= centres.size[best] < k
        centres.size[best] += 1
    return order.size - state[NEXT]


@kernel
def draws(seed, numbers):
    """Write a random number for each row into numbers, uint64[n]."""
    for row in range(numbers.size):
        numbers[row] = draw(seed, np.uint64(row))


def oka(
    points: npt.NDArray[np.float64], model: LossModel, k: int, *, seed: int, workers: Runner
) -> npt.NDArray[np.int32]:
    """Return class ids int32[n] of n // k classes of at least k rows; n >= k.

    points: float64[n, d], rows in canonical order. Rows pass in order of their values, columns as
    declared. The seed decides the rows with which classes begin and the order of those given away.
    Time grows with the square of n, divided by k.
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
    for at, row in enumerate(np.sort(np.argsort(random_numbers, kind="stable")[:m])):
        join(centres, model, codes[row], at)
        classes[row] = at
    state = np.zeros(2, np.int64)
    workers.repeat(gather, (centres, model, codes, order, classes, state, WORK), n)
    reach = np.empty(n, np.int64)
    distances(centres, model, codes, classes, reach)
    rows = np.lexsort((np.arange(n), reach, classes))
    rank = np.arange(n) - np.searchsorted(classes[rows], classes[rows])
    surplus = rows[rank >= k]
    centres.size[:] = np.minimum(centres.size, k)
    state[:] = 0, int((k - centres.size).sum())
    surplus = surplus[np.lexsort((surplus, random_numbers[surplus]))].astype(np.int32)
    workers.repeat(place, (centres, model, codes, surplus, k, classes, state, WORK), len(surplus))
    return classes
