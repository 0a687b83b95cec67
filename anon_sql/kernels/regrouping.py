"""Bring classes below k to k rows: by rows of a class that can spare them, or by merging.

Source: Xu et al. 2006, top-down greedy, last step. The nearest class is searched in a tree over the
classes in the order of their ids, since neighbours among the leaves of a tree of splits resemble
each other. A node has what all classes below it have in common: whatever that loses together with a
class, each of them loses at least.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.distance import NULL, coded, count_loss, full_loss, span_loss
from anon_sql.kernels.kernel import Runner, kernel
from anon_sql.kernels.loss import SET, LossModel
from anon_sql.kernels.vp_tree import nth

CALL_NODES = 1 << 21  # and classes, visited in a call, some .1 s
BITS = 64
INFINITE_LOSS = 1 << 62  # in billionths, above the loss of any class
FAN_OUT = 4  # classes below a node of the tree, and nodes below one above
NEXT, SEEN = 0, 1  # in Groups.state: the next class, classes and nodes visited in a call


class Groups(NamedTuple):
    """State of m classes, with room for two more in which a loan of rows is tried, and their tree.

    size: int64[m + 2 + nodes], 0 for a class that was taken in; of a node that of the largest
        class.
    head: int32[m + 2], the first row of a class.
    after: int32[n], the next row of the same class, -1 at its end.
    low, high, nulls: int64[m + 2 + nodes, d], values (none if high is below 0) and NULLs.
    words: uint64[m + 2 + nodes, …], sets as bit masks, those of column c from base[c] on.
    base: int64[d + 1], see ``words``.
    null: int64[d], the code of NULL.
    losses: int64[d, …], loss of each number of distinct values.
    levels: int64[…, 3], of the classes and each level of nodes: the first, how many, and the
        classes below one.
    stack: int64[…, 2], scratch.
    state: int64[2], see NEXT and SEEN.
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
    """Return the number of set bits of a word.

    word: uint64.
    """
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel(borrows=True, inline="always")
def together(groups, model, a, b, limit):
    """Return the loss of the union of two classes, in billionths; any such above the limit.

    groups: ``Groups``, the state.
    model: ``LossModel``, the meaning of the points.
    a, b: int, the classes, or nodes.
    limit: int64, the loss from which the exact one does not matter.
    """
    total = np.int64(0)
    for c in range(model.kind.size):
        null = groups.nulls[a, c] + groups.nulls[b, c] > 0
        if model.kind[c] == SET:
            count = 0
            for word in range(groups.base[c], groups.base[c + 1]):
                count += ones(groups.words[a, word] | groups.words[b, word])
            null_loss = full_loss(model, c) if count else np.int64(0)
            total += null_loss if null else groups.losses[c, count]
        else:
            low = min(groups.low[a, c], groups.low[b, c])
            high = max(groups.high[a, c], groups.high[b, c])
            if high >= 0:
                total += full_loss(model, c) if null else span_loss(model, c, low, high)
        if total > limit:
            break
    return total


@kernel(borrows=True)
def clear(groups, class_id):
    """Empty a class's content, but not its list of rows.

    groups: ``Groups``, the state, changed.
    class_id: int, the class.
    """
    groups.size[class_id] = 0
    for c in range(groups.low.shape[1]):
        groups.low[class_id, c], groups.high[class_id, c], groups.nulls[class_id, c] = NULL, -1, 0
    for word in range(groups.words.shape[1]):
        groups.words[class_id, word] = 0


@kernel(borrows=True)
def enter(groups, model, class_id, codes):
    """Add the values of a row to a class's content.

    groups: ``Groups``, the state, changed.
    model: ``LossModel``, the meaning of the points.
    class_id: int, the class.
    codes: int32[d], of the row.
    """
    groups.size[class_id] += 1
    for c in range(model.kind.size):
        value = np.int64(codes[c])
        if value == groups.null[c]:
            groups.nulls[class_id, c] += 1
        elif model.kind[c] == SET:
            word = groups.base[c] + value // BITS
            groups.words[class_id, word] |= np.uint64(1) << np.uint64(value % BITS)
        else:
            groups.low[class_id, c] = min(groups.low[class_id, c], value)
            groups.high[class_id, c] = max(groups.high[class_id, c], value)


@kernel(borrows=True)
def bound(groups, level, index):
    """Write the size of the largest class below a node, and what all of them have in common.

    Of values that is the highest low and the lowest high, which may lie below it.

    groups: ``Groups``, the state, changed.
    level: int, the node's level, from 1.
    index: int, the node's number in its level.
    """
    node, size = groups.levels[level, 0] + index, np.int64(0)
    for c in range(groups.low.shape[1]):
        groups.low[node, c], groups.high[node, c], groups.nulls[node, c] = -1, NULL, NULL
    for word in range(groups.words.shape[1]):
        groups.words[node, word] = ~np.uint64(0)
    first, children = groups.levels[level - 1, 0], groups.levels[level - 1, 1]
    for child in range(first + index * FAN_OUT, first + min(index * FAN_OUT + FAN_OUT, children)):
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
    """Write the nodes above a class that has changed.

    groups: ``Groups``, the state, changed.
    a: int, the class.
    """
    for level in range(1, groups.levels.shape[0]):
        a //= FAN_OUT
        bound(groups, level, a)


@kernel(borrows=True)
def fill(groups, model, codes, classes):
    """Put every row into its class, and make the tree.

    groups: ``Groups``, the state, changed.
    model: ``LossModel``, the meaning of the points.
    codes: int32[n, d], from ``coded``.
    classes: int32[n], class of each row.
    """
    for index in range(groups.head.size):
        clear(groups, index)
    for row in range(classes.size - 1, -1, -1):
        index = classes[row]
        enter(groups, model, index, codes[row])
        groups.after[row] = groups.head[index]
        groups.head[index] = row
    for level in range(1, groups.levels.shape[0]):
        for index in range(groups.levels[level, 1]):
            bound(groups, level, index)


@kernel(borrows=True)
def spread(groups, classes):
    """Write the class of every row.

    groups: ``Groups``, the state.
    classes: int32[n], written.
    """
    for class_id in range(groups.head.size):
        row = groups.head[class_id]
        while row >= 0:
            classes[row] = class_id
            row = groups.after[row]


@kernel(borrows=True)
def take_in(groups, a, b):
    """Let a class take in another.

    groups: ``Groups``, the state, changed.
    a: int, the class that grows.
    b: int, the class that is taken in.
    """
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
def push(groups, level, parent, excluded, depth):
    """Put the nodes below a parent on the stack; return the new depth of the stack.

    groups: ``Groups``, whose stack is changed.
    level: int, the level of the nodes.
    parent: int, the parent's number in the level above.
    excluded: int, number of the node that is left out; -1 for none.
    depth: int, of the stack.
    """
    for index in range(
        min(parent * FAN_OUT + FAN_OUT, groups.levels[level, 1]) - 1, parent * FAN_OUT - 1, -1
    ):
        groups.stack[depth, 0], groups.stack[depth, 1] = level, index
        depth += index != excluded
    return depth


@kernel(borrows=True)
def nearest(groups, model, a, least):
    """Return the class of least loss together with another, or -1; ties go to the lower class.

    Begins beside the class, and goes up.

    groups: ``Groups``, the state.
    model: ``LossModel``, the meaning of the points.
    a: int, the class.
    least: int, rows that the nearest class must have.
    """
    nearest_class, least_loss, ancestor = np.int64(-1), np.int64(INFINITE_LOSS), np.int64(a)
    for level in range(groups.levels.shape[0] - 1):
        depth = push(groups, level, ancestor // FAN_OUT, ancestor, 0)
        ancestor //= FAN_OUT
        while depth > 0:
            depth -= 1
            node_level, index = groups.stack[depth, 0], groups.stack[depth, 1]
            node = groups.levels[node_level, 0] + index
            groups.state[SEEN] += 1
            if groups.size[node] < least:
                continue
            loss = together(groups, model, a, node, least_loss)
            if loss > least_loss or (
                loss == least_loss and index * groups.levels[node_level, 2] > nearest_class
            ):
                continue
            if node_level == 0:
                nearest_class, least_loss = index, loss
            else:
                depth = push(groups, node_level - 1, index, -1, depth)
    return nearest_class


@kernel(borrows=True)
def copy(groups, target, origin):
    """Copy the content of one class to another, but not its list of rows.

    groups: ``Groups``, the state, changed.
    target: int, the class that is written.
    origin: int, the class that is read.
    """
    groups.size[target] = groups.size[origin]
    for c in range(groups.low.shape[1]):
        groups.low[target, c], groups.high[target, c] = (
            groups.low[origin, c],
            groups.high[origin, c],
        )
        groups.nulls[target, c] = groups.nulls[origin, c]
    for word in range(groups.words.shape[1]):
        groups.words[target, word] = groups.words[origin, word]


@kernel(borrows=True)
def lend(groups, model, codes, a, donor, k, costs, lent):
    """Try to bring a class to k rows by rows of a donor of least loss together with it.

    Leaves the resulting content of the class and of the donor in the last two classes.

    groups: ``Groups``, the state, changed.
    model: ``LossModel``, the meaning of the points.
    codes: int32[n, d], from ``coded``.
    a: int, the class.
    donor: int, the class that lends.
    k: int, least rows of a class.
    costs: int64[2, n], scratch.
    lent: bool[n], written for the donor's rows: whether a row is lent.
    """
    grown, remainder = groups.head.size - 2, groups.head.size - 1
    lacking, count, row = k - groups.size[a], 0, groups.head[donor]
    while row >= 0:
        clear(groups, remainder)
        enter(groups, model, remainder, codes[row])
        costs[0, count] = costs[1, count] = together(groups, model, a, remainder, INFINITE_LOSS)
        count += 1
        row = groups.after[row]
    boundary = nth(costs[1, :count], lacking - 1)
    for i in range(count):
        lacking -= costs[0, i] < boundary
    copy(groups, grown, a)
    clear(groups, remainder)
    row = groups.head[donor]
    for i in range(count):
        tie = costs[0, i] == boundary
        lent[row] = costs[0, i] < boundary or (tie and lacking > 0)
        lacking -= tie
        enter(groups, model, grown if lent[row] else remainder, codes[row])
        row = groups.after[row]


@kernel(borrows=True)
def hand_over(groups, a, donor, lent):
    """Carry out the loan that ``lend`` tried.

    groups: ``Groups``, the state, changed.
    a: int, the class.
    donor: int, the class that lends.
    lent: bool[n], the rows that are lent.
    """
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
def grow_classes(groups, model, codes, k, budget, costs, lent):
    """Bring classes to k rows until the budget is used up; return the number left to do.

    groups: ``Groups``, the state, changed.
    model: ``LossModel``, the meaning of the points.
    codes: int32[n, d], from ``coded``.
    k: int, least rows of a class.
    budget: int, classes and nodes to visit.
    costs: int64[2, n], scratch.
    lent: bool[n], scratch.
    """
    m = groups.head.size - 2
    grown, remainder = m, m + 1
    groups.state[SEEN] = 0
    while groups.state[SEEN] < budget and groups.state[NEXT] < m:
        a = groups.state[NEXT]
        if groups.size[a] == 0 or groups.size[a] >= k:
            groups.state[NEXT] += 1
            continue
        b = nearest(groups, model, a, 1)
        donor = nearest(groups, model, a, 2 * k - groups.size[a])
        if donor >= 0:
            size, loss_alone = (
                groups.size,
                together(groups, model, a, a, INFINITE_LOSS) * groups.size[a],
            )
            merge_increase = (size[a] + size[b]) * together(groups, model, a, b, INFINITE_LOSS)
            merge_increase -= loss_alone + size[b] * together(groups, model, b, b, INFINITE_LOSS)
            lend(groups, model, codes, a, donor, k, costs, lent)
            groups.state[SEEN] += size[donor]
            loan_increase = size[grown] * together(groups, model, grown, grown, INFINITE_LOSS)
            loan_increase += size[remainder] * together(
                groups, model, remainder, remainder, INFINITE_LOSS
            )
            loan_increase -= loss_alone + size[donor] * together(
                groups, model, donor, donor, INFINITE_LOSS
            )
            if loan_increase < merge_increase:
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

    In the order of their ids, each short class takes the cheaper way by the increase of |E| * NCP
    over all classes involved: it takes in the class of least NCP with it, or the rows of least loss
    from the nearest class that keeps k of its own.

    points: float64[n, d], n >= k.
    model: ``LossModel``, the meaning of the points.
    classes: int32[n], class of each row.
    k: least rows of a class.
    workers: runs the kernel.
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
        levels.append((room, -(-many // FAN_OUT), levels[-1][2] * FAN_OUT))
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
        stack=np.empty((len(levels) * FAN_OUT + 1, 2), np.int64),
        state=np.zeros(2, np.int64),
    )
    fill(groups, model, codes, classes)
    lent, costs = np.zeros(n, np.bool_), np.empty((2, n), np.int64)
    workers.repeat(grow_classes, (groups, model, codes, k, CALL_NODES, costs, lent), m)
    regrouped = np.empty(n, np.int32)
    spread(groups, regrouped)
    return regrouped
