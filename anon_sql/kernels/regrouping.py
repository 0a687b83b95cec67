"""Bring classes below k to k rows: by rows of a class that can spare them, or by merging.

Source: Xu et al. 2006, top-down greedy, last step. The nearest class is searched in a tree over the
classes in the order of their ids, which for leaves of a tree of splits means that neighbours are
alike. A node has what all classes below it have in common: whatever that loses together with a
class, each of them loses at least.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.distance import NULL, coded, count_loss, full_loss, span_loss
from anon_sql.kernels.kernel import Runner, kernel
from anon_sql.kernels.loss import SET, LossModel
from anon_sql.kernels.vp_tree import nth

WORK = 1 << 21  # classes and nodes visited in a call, some .1 s
BITS = 64
MOST = 1 << 62  # above the loss of any class
FAN = 4  # classes below a node of the tree, and nodes below one above
NEXT, SEEN = 0, 1  # in Groups.state: the next class, classes and nodes visited in a call


class Groups(NamedTuple):
    """State of m classes, with room for two more in which a loan of rows is tried, and their tree.

    size: int64[m + 2 + nodes], 0 where a class was taken in, of a node that of the largest class.
    head: int32[m + 2], after: int32[n], a class's rows as a linked list, -1 at its end. low, high,
    nulls: int64[m + 2 + nodes, d], values (none where high is below 0) and NULLs. words: uint64[m +
    2 + nodes, …], sets as bit masks, those of column c from base[c] on. null: int64[d], the code of
    NULL. losses: int64[d, …], loss of each number of distinct values. levels: int64[…, 3], of the
    classes and each level of nodes: the first, how many, and the classes below one. stack: int64[…,
    2], scratch. state: int64[2].
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
    levels: npt.NDArray[np.int64]
    stack: npt.NDArray[np.int64]
    state: npt.NDArray[np.int64]


@kernel(borrows=True)
def ones(word):
    """Return the number of set bits of a uint64."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel(borrows=True, inline="always")
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


@kernel(borrows=True)
def clear(groups, at):
    """Empty a class's content, but not its list of rows."""
    groups.size[at] = 0
    for c in range(groups.low.shape[1]):
        groups.low[at, c], groups.high[at, c], groups.nulls[at, c] = NULL, -1, 0
    for word in range(groups.words.shape[1]):
        groups.words[at, word] = 0


@kernel(borrows=True)
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


@kernel(borrows=True)
def bound(groups, level, at):
    """Write the size of the largest class below a node, and what all of them have in common.

    Of values that is the highest low and the lowest high, which may lie below it.
    """
    node, size = groups.levels[level, 0] + at, np.int64(0)
    for c in range(groups.low.shape[1]):
        groups.low[node, c], groups.high[node, c], groups.nulls[node, c] = -1, NULL, NULL
    for word in range(groups.words.shape[1]):
        groups.words[node, word] = ~np.uint64(0)
    first, many = groups.levels[level - 1, 0], groups.levels[level - 1, 1]
    for child in range(first + at * FAN, first + min(at * FAN + FAN, many)):
        if groups.size[child] == 0:
            continue
        size = max(size, groups.size[child])
        for c in range(groups.low.shape[1]):
            groups.low[node, c] = max(groups.low[node, c], groups.low[child, c])
            groups.high[node, c] = min(groups.high[node, c], groups.high[child, c])
            groups.nulls[node, c] = min(groups.nulls[node, c], groups.nulls[child, c])
        for word in range(groups.words.shape[1]):
            groups.words[node, word] &= groups.words[child, word]
    groups.size[node] = size


@kernel(borrows=True)
def bound_above(groups, a):
    """Write the nodes above a class that has changed."""
    for level in range(1, groups.levels.shape[0]):
        a //= FAN
        bound(groups, level, a)


@kernel(borrows=True)
def fill(groups, model, codes, classes):
    """Put every row into its class, int32[n], and make the tree."""
    for at in range(groups.head.size):
        clear(groups, at)
    for row in range(classes.size - 1, -1, -1):
        at = classes[row]
        enter(groups, model, at, codes[row])
        groups.after[row] = groups.head[at]
        groups.head[at] = row
    for level in range(1, groups.levels.shape[0]):
        for at in range(groups.levels[level, 1]):
            bound(groups, level, at)


@kernel(borrows=True)
def spread(groups, classes):
    """Write the class of every row into classes, int32[n]."""
    for at in range(groups.head.size):
        row = groups.head[at]
        while row >= 0:
            classes[row] = at
            row = groups.after[row]


@kernel(borrows=True)
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


@kernel(borrows=True)
def push(groups, level, parent, own, depth):
    """Put what is below a parent, of a level, on the stack, but ``own``; return the new depth."""
    for at in range(min(parent * FAN + FAN, groups.levels[level, 1]) - 1, parent * FAN - 1, -1):
        groups.stack[depth, 0], groups.stack[depth, 1] = level, at
        depth += at != own
    return depth


@kernel(borrows=True)
def nearest(groups, model, a, least):
    """Return the class of at least ``least`` rows of least loss together with class a, or -1.

    Ties go to the lower class. Begins beside class a, and goes up.
    """
    best, loss, own = np.int64(-1), np.int64(MOST), np.int64(a)
    for level in range(groups.levels.shape[0] - 1):
        depth = push(groups, level, own // FAN, own, 0)
        own //= FAN
        while depth > 0:
            depth -= 1
            step, at = groups.stack[depth, 0], groups.stack[depth, 1]
            node = groups.levels[step, 0] + at
            groups.state[SEEN] += 1
            if groups.size[node] < least:
                continue
            found = together(groups, model, a, node, loss)
            if found > loss or (found == loss and at * groups.levels[step, 2] > best):
                continue
            if step == 0:
                best, loss = at, found
            else:
                depth = push(groups, step - 1, at, -1, depth)
    return best


@kernel(borrows=True)
def copy(groups, to, origin):
    """Copy the content of one class to another, but not its list of rows."""
    groups.size[to] = groups.size[origin]
    for c in range(groups.low.shape[1]):
        groups.low[to, c], groups.high[to, c] = groups.low[origin, c], groups.high[origin, c]
        groups.nulls[to, c] = groups.nulls[origin, c]
    for word in range(groups.words.shape[1]):
        groups.words[to, word] = groups.words[origin, word]


@kernel(borrows=True)
def lend(groups, model, codes, a, donor, k, costs, lent):
    """Try to bring class a to k rows by those of a donor of least loss together with it.

    Leaves the resulting content of a and of the donor in the last two classes, and marks the rows
    in lent, bool[n]. costs: int64[2, n], scratch.
    """
    grown, rest = groups.head.size - 2, groups.head.size - 1
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


@kernel(borrows=True)
def hand_over(groups, a, donor, lent):
    """Carry out the loan that ``lend`` tried."""
    copy(groups, a, groups.head.size - 2)
    copy(groups, donor, groups.head.size - 1)
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


@kernel(borrows=True)
def grow_classes(groups, model, codes, k, work, costs, lent):
    """Bring classes to k rows until ``work`` nodes are visited; return the number left to do."""
    m = groups.head.size - 2
    grown, rest = m, m + 1
    groups.state[SEEN] = 0
    while groups.state[SEEN] < work and groups.state[NEXT] < m:
        a = groups.state[NEXT]
        if groups.size[a] == 0 or groups.size[a] >= k:
            groups.state[NEXT] += 1
            continue
        b = nearest(groups, model, a, 1)
        donor = nearest(groups, model, a, 2 * k - groups.size[a])
        if donor >= 0:
            size, alone = groups.size, together(groups, model, a, a, MOST) * groups.size[a]
            merged = (size[a] + size[b]) * together(groups, model, a, b, MOST)
            merged -= alone + size[b] * together(groups, model, b, b, MOST)
            lend(groups, model, codes, a, donor, k, costs, lent)
            groups.state[SEEN] += size[donor]
            borrowed = size[grown] * together(groups, model, grown, grown, MOST)
            borrowed += size[rest] * together(groups, model, rest, rest, MOST)
            borrowed -= alone + size[donor] * together(groups, model, donor, donor, MOST)
            if borrowed < merged:
                hand_over(groups, a, donor, lent)
                bound_above(groups, a)
                bound_above(groups, donor)
                continue
        take_in(groups, a, b)
        bound_above(groups, a)
        bound_above(groups, b)
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
    it, or the rows of least loss from the nearest class that keeps k of its own.
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
    levels, room = [(0, m, 1)], m + 2
    while (many := levels[-1][1]) > 1:
        levels.append((room, -(-many // FAN), levels[-1][2] * FAN))
        room += levels[-1][1]
    low, high, nulls = np.zeros((3, room, width), np.int64)
    groups = Groups(
        size=np.zeros(room, np.int64),
        head=np.full(m + 2, -1, np.int32),
        after=np.full(n, -1, np.int32),
        low=low,
        high=high,
        nulls=nulls,
        words=np.zeros((room, int(base[-1])), np.uint64),
        base=base.astype(np.int64),
        null=np.where(model.kind == SET, model.null, NULL).astype(np.int64),
        losses=losses,
        levels=np.array(levels, np.int64),
        stack=np.empty((len(levels) * FAN + 1, 2), np.int64),
        state=np.zeros(2, np.int64),
    )
    fill(groups, model, codes, classes)
    lent, costs = np.zeros(n, np.bool_), np.empty((2, n), np.int64)
    workers.repeat(grow_classes, (groups, model, codes, k, WORK, costs, lent), m)
    found = np.empty(n, np.int32)
    spread(groups, found)
    return found
