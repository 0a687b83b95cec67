"""Bring classes below k to k rows: by rows of a class that can spare them, or by merging.

Source: Xu et al. 2006, top-down greedy, last step.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.distance import NULL, coded, count_loss, full_loss, span_loss
from anon_sql.kernels.kernel import Runner, kernel
from anon_sql.kernels.loss import SET, LossModel
from anon_sql.kernels.vp_tree import nth

WORK = 1 << 22  # pairs of classes visited in a call, some .1 s
BITS = 64
MOST = 1 << 62  # above the loss of any class
NEXT = 0  # index in Groups.state: the next class


class Groups(NamedTuple):
    """State of m classes, with room for two more in which a loan of rows is tried.

    size: int64[m + 2], 0 where a class was taken in. head: int32[m + 2], after: int32[n], a class's
    rows as a linked list, -1 at its end. low, high, nulls: int64[m + 2, d], values (none where high
    is below 0) and NULLs. words: uint64[m + 2, …], sets as bit masks, those of column c from
    base[c] on. null: int64[d], the code of NULL. losses: int64[d, …], loss of each number of
    distinct values. state: int64[1].
    """

    size: npt.NDArray[np.int64]
    head: npt.NDArray[np.int32]
    after: npt.NDArray[np.int32]
    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]
    nulls: npt.NDArray[np.int64]
    words: npt.NDArray[np.uint64]
    base: npt.NDArray[np.int64]
    null: npt.NDArray[np.int64]
    losses: npt.NDArray[np.int64]
    state: npt.NDArray[np.int64]


@kernel(borrows=True)
def ones(word):
    """Return the number of set bits of a uint64."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel(inline="always")
def together(groups, model, a, b, most):
    """Return the loss of the union of two classes, in billionths (if above most: any such)."""
    total = np.int64(0)
    for c in range(model.kind.size):
        null = groups.nulls[a, c] + groups.nulls[b, c] > 0
        if model.kind[c] == SET:
            count = 0
            for at in range(groups.base[c], groups.base[c + 1]):
                count += ones(groups.words[a, at] | groups.words[b, at])
            own = full_loss(model, c) if count else np.int64(0)
            total += own if null else groups.losses[c, count]
        else:
            low = min(groups.low[a, c], groups.low[b, c])
            high = max(groups.high[a, c], groups.high[b, c])
            if high >= 0:
                total += full_loss(model, c) if null else span_loss(model, c, low, high)
        if total > most:
            break
    return total


@kernel
def clear(groups, at):
    """Empty a class's content, but not its list of rows."""
    groups.size[at] = 0
    for c in range(groups.low.shape[1]):
        groups.low[at, c], groups.high[at, c], groups.nulls[at, c] = NULL, -1, 0
    for word in range(groups.words.shape[1]):
        groups.words[at, word] = 0


@kernel
def enter(groups, model, at, codes):
    """Add the values of a row, int32[d], to a class's content."""
    groups.size[at] += 1
    for c in range(model.kind.size):
        value = np.int64(codes[c])
        if value == groups.null[c]:
            groups.nulls[at, c] += 1
        elif model.kind[c] == SET:
            word = groups.base[c] + value // BITS
            groups.words[at, word] |= np.uint64(1) << np.uint64(value % BITS)
        else:
            groups.low[at, c] = min(groups.low[at, c], value)
            groups.high[at, c] = max(groups.high[at, c], value)


@kernel
def fill(groups, model, codes, classes):
    """Put every row into its class, int32[n]."""
    for at in range(groups.size.size):
        clear(groups, at)
    for row in range(classes.size - 1, -1, -1):
        at = classes[row]
        enter(groups, model, at, codes[row])
        groups.after[row] = groups.head[at]
        groups.head[at] = row


@kernel
def spread(groups, classes):
    """Write the class of every row into classes, int32[n]."""
    for at in range(groups.size.size):
        row = groups.head[at]
        while row >= 0:
            classes[row] = at
            row = groups.after[row]


@kernel
def take_in(groups, a, b):
    """Let class a take in class b."""
    for c in range(groups.low.shape[1]):
        groups.low[a, c] = min(groups.low[a, c], groups.low[b, c])
        groups.high[a, c] = max(groups.high[a, c], groups.high[b, c])
        groups.nulls[a, c] += groups.nulls[b, c]
    for word in range(groups.words.shape[1]):
        groups.words[a, word] |= groups.words[b, word]
    groups.size[a] += groups.size[b]
    groups.size[b] = 0
    row = groups.head[b]
    while row >= 0:
        following = groups.after[row]
        groups.after[row] = groups.head[a]
        groups.head[a] = row
        row = following
    groups.head[b] = -1


@kernel
def nearest(groups, model, a, least):
    """Return the class of at least ``least`` rows of least loss together with class a, or -1.

    Ties go to the lower class.
    """
    best, loss = -1, np.int64(MOST)
    for b in range(groups.size.size - 2):
        if b != a and groups.size[b] >= least:
            found = together(groups, model, a, b, loss)
            if found < loss:
                best, loss = b, found
    return best


@kernel
def copy(groups, to, origin):
    """Copy the content of one class to another, but not its list of rows."""
    groups.size[to] = groups.size[origin]
    for c in range(groups.low.shape[1]):
        groups.low[to, c], groups.high[to, c] = groups.low[origin, c], groups.high[origin, c]
        groups.nulls[to, c] = groups.nulls[origin, c]
    for word in range(groups.words.shape[1]):
        groups.words[to, word] = groups.words[origin, word]


@kernel
def lend(groups, model, codes, a, donor, k, costs, lent):
    """Try to bring class a to k rows by those of a donor of least loss together with it.

    Leaves the resulting content of a and of the donor in the last two classes, and marks the rows
    in lent, bool[n]. costs: int64[2, n], scratch.
    """
    grown, rest = groups.size.size - 2, groups.size.size - 1
    wanted, count, row = k - groups.size[a], 0, groups.head[donor]
    while row >= 0:
        clear(groups, rest)
        enter(groups, model, rest, codes[row])
        costs[0, count] = costs[1, count] = together(groups, model, a, rest, MOST)
        count += 1
        row = groups.after[row]
    edge = nth(costs[1, :count], wanted - 1)
    for at in range(count):
        wanted -= costs[0, at] < edge
    copy(groups, grown, a)
    clear(groups, rest)
    row = groups.head[donor]
    for at in range(count):
        tie = costs[0, at] == edge
        lent[row] = costs[0, at] < edge or (tie and wanted > 0)
        wanted -= tie
        enter(groups, model, grown if lent[row] else rest, codes[row])
        row = groups.after[row]


@kernel
def hand_over(groups, a, donor, lent):
    """Carry out the loan that ``lend`` tried."""
    copy(groups, a, groups.size.size - 2)
    copy(groups, donor, groups.size.size - 1)
    row, last = groups.head[donor], np.int32(-1)
    groups.head[donor] = -1
    while row >= 0:
        following = groups.after[row]
        if lent[row]:
            groups.after[row] = groups.head[a]
            groups.head[a] = row
        else:
            groups.after[row] = last
            groups.head[donor] = last = row
        row = following


@kernel
def grow_classes(groups, model, codes, k, work, costs, lent):
    """Bring classes to k rows until ``work`` pairs are visited; return the number left to do."""
    m, looked = groups.size.size - 2, 0
    grown, rest = m, m + 1
    while looked < work and groups.state[NEXT] < m:
        a = groups.state[NEXT]
        if groups.size[a] == 0 or groups.size[a] >= k:
            groups.state[NEXT] += 1
            continue
        b = nearest(groups, model, a, 1)
        donor = nearest(groups, model, a, 2 * k - groups.size[a])
        looked += 2 * m
        if donor >= 0:
            size, alone = groups.size, together(groups, model, a, a, MOST) * groups.size[a]
            merged = (size[a] + size[b]) * together(groups, model, a, b, MOST)
            merged -= alone + size[b] * together(groups, model, b, b, MOST)
            lend(groups, model, codes, a, donor, k, costs, lent)
            looked += size[donor]
            borrowed = size[grown] * together(groups, model, grown, grown, MOST)
            borrowed += size[rest] * together(groups, model, rest, rest, MOST)
            borrowed -= alone + size[donor] * together(groups, model, donor, donor, MOST)
            if borrowed < merged:
                hand_over(groups, a, donor, lent)
                continue
        take_in(groups, a, b)
    return m - groups.state[NEXT]


def regroup(
    points: npt.NDArray[np.float64],
    model: LossModel,
    classes: npt.NDArray[np.int32],
    k: int,
    workers: Runner,
) -> npt.NDArray[np.int32]:
    """Return class ids int32[n] after every class below k has grown; some ids are no longer used.

    points: float64[n, d], n >= k. In the order of their ids, each short class takes the cheaper way
    by the increase of |E| * NCP over all classes involved: it takes in the class of least NCP with
    it, or the rows of least loss from the nearest class that keeps k of its own. Time grows with
    the square of the classes.
    """
    n, width = points.shape
    m = int(classes.max()) + 1
    codes = np.empty((n, width), np.int32)
    coded(np.ascontiguousarray(points, dtype=np.float64), model, codes)
    word_counts = np.where(model.kind == SET, model.null.astype(np.int64) // BITS + 1, 0)
    base = np.concatenate([[0], np.cumsum(word_counts)])
    losses = np.zeros((width, BITS * int(word_counts.max(initial=0)) + 1), np.int64)
    for column in np.flatnonzero(model.kind == SET):
        for count in range(int(model.values[column]) + 1):
            losses[column, count] = count_loss(model, column, count, False)
    low, high, nulls = np.zeros((3, m + 2, width), np.int64)
    groups = Groups(
        size=np.zeros(m + 2, np.int64),
        head=np.full(m + 2, -1, np.int32),
        after=np.full(n, -1, np.int32),
        low=low,
        high=high,
        nulls=nulls,
        words=np.zeros((m + 2, int(base[-1])), np.uint64),
        base=base.astype(np.int64),
        null=np.where(model.kind == SET, model.null, NULL).astype(np.int64),
        losses=losses,
        state=np.zeros(1, np.int64),
    )
    fill(groups, model, codes, classes)
    lent, costs = np.zeros(n, np.bool_), np.empty((2, n), np.int64)
    workers.repeat(grow_classes, (groups, model, codes, k, WORK, costs, lent), m)
    found = np.empty(n, np.int32)
    spread(groups, found)
    return found
