"""Join units, sets of rows that stay together, into classes that lose little information.

A unit is described by its box. ends, float64[u, 4b]: of each NUMBER or TREE column minus the lowest
point, and the highest. NULL is a highest point of infinity; then the lowest one is infinite, too,
if there is nothing but NULL. bits, uint64[u, 2b]: of each SET column a bit for each code. Small
sets share a word, and the last of the b blocks is filled up, so that each block is read in one go.
The loss of a class is that of the union of its boxes.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.distance import draw
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import NUMBER, SET, LossModel, range_loss

HALF = np.uint64(32)
LOW = np.uint64(2**32 - 1)
PAIRS, FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
EIGHTS, ONES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
ENDS, WORDS = 4, 2  # of a block
FAN = 8  # classes, or nodes of them, in a node
ROUNDED = 1e-6  # more than rounding changes a loss


class Layout(NamedTuple):
    """Where the columns of a box are.

    first: int64[d], the place of the two ends, or the first word of a SET column. words: int64[d],
    how many words a SET column has. field: uint64[d], its bits in each of them. null: uint64[d],
    the bit of NULL, counted over all words. cost: float64[d, 2h], the loss of so many codes of a
    SET column, and from h on with NULL among them. blocks: b.
    """

    first: npt.NDArray[np.int64]
    words: npt.NDArray[np.int64]
    field: npt.NDArray[np.uint64]
    null: npt.NDArray[np.uint64]
    cost: npt.NDArray[np.float64]
    blocks: int


def layout(model: LossModel) -> Layout:
    """Return where boxes have the columns of a model."""
    sets = model.kind == SET
    codes = np.where(sets, model.null + 1, 0).astype(np.int64)
    d, half = len(codes), int(codes.max(initial=0)) + 1
    first, words, null = (np.zeros(d, np.int64) for _ in range(3))
    field, cost = np.zeros(d, np.uint64), np.zeros((d, 2 * half))
    end = 0  # bits that are taken
    for c in np.flatnonzero(sets):
        if end % 64 + codes[c] > 64:
            end += -end % 64
        first[c], words[c], null[c] = end // 64, -(-codes[c] // 64), end + codes[c] - 1
        whole = 2 ** min(int(codes[c]), 64) - 1
        field[c] = np.uint64(whole << end % 64)
        cost[c, 2:half] = model.weight[c] * np.arange(2, half) / model.values[c]
        cost[c, half + 2 :] = model.weight[c]
        end += int(codes[c])
    first[~sets] = 2 * np.arange(d - sets.sum())
    blocks = max(-(-2 * int(d - sets.sum()) // ENDS), -(-end // (64 * WORDS)))
    return Layout(first, words, field, null.astype(np.uint64), cost, blocks)


@kernel
def boxes(points, model, places, starts, rows):
    """Return the boxes of units; unit u has rows[starts[u]] … rows[starts[u + 1] - 1]."""
    many = starts.size - 1
    ends, bits = empty(many, places)
    for u in range(many):
        for at in range(starts[u], starts[u + 1]):
            for c in range(points.shape[1]):
                value, first = points[rows[at], c], places.first[c]
                if model.kind[c] == SET:
                    one = np.int64(places.null[c]) - np.int64(model.null[c]) + np.int64(value)
                    bits[u, one // 64] |= np.uint64(1) << np.uint64(one % 64)
                elif value == model.null[c]:
                    ends[u, first + 1] = np.inf
                else:
                    ends[u, first] = max(ends[u, first], -value)
                    ends[u, first + 1] = max(ends[u, first + 1], value)
    return ends, bits


@kernel
def empty(many, places):
    """Return boxes without any row."""
    blocks = places.blocks
    return np.full((many, ENDS * blocks), -np.inf), np.zeros((many, WORDS * blocks), np.uint64)


@kernel(borrows=True, inlined=True)
def _ones(bits):
    """Return the number of ones in a word."""
    bits -= (bits >> np.uint64(1)) & PAIRS
    bits = (bits & FOURS) + ((bits >> np.uint64(2)) & FOURS)
    bits = (bits + (bits >> np.uint64(4))) & EIGHTS
    return np.int64((bits * ONES) >> np.uint64(56))


@kernel(borrows=True, inlined=True)
def _loss(model, places, box, units, many, whole):
    """Return the NCP of the first ``many`` of some units together, the sum over the columns.

    whole: the box of a unit, which is overwritten by that of all of them.
    """
    ends, bits = box
    for block in range(places.blocks):
        e, w, u = ENDS * block, WORDS * block, units[0]
        a, b, c, d = ends[u, e], ends[u, e + 1], ends[u, e + 2], ends[u, e + 3]
        x, y = bits[u, w], bits[u, w + 1]
        for at in range(1, many):
            u = units[at]
            a, b = _larger(ends[u, e], a), _larger(ends[u, e + 1], b)
            c, d = _larger(ends[u, e + 2], c), _larger(ends[u, e + 3], d)
            x, y = x | bits[u, w], y | bits[u, w + 1]
        whole[0][0, e], whole[0][0, e + 1] = a, b
        whole[0][0, e + 2], whole[0][0, e + 3] = c, d
        whole[1][0, w], whole[1][0, w + 1] = x, y
    return _loss_of(model, places, whole, 0)


@kernel(borrows=True, inlined=True)
def _larger(value, other):
    return value if value > other else other


@kernel(borrows=True, inlined=True)
def _loss_of(model, places, box, u):
    """Return the NCP of a unit."""
    ends, bits = box
    total, half = 0.0, places.cost.shape[1] // 2
    for c in range(places.first.size):
        first = places.first[c]
        if model.kind[c] == SET:  # without a branch that the processor mispredicts
            distinct, null = 0, places.null[c]
            for w in range(first, first + places.words[c]):
                distinct += _ones(bits[u, w] & places.field[c])
            seen = (bits[u, null >> np.uint64(6)] >> (null & np.uint64(63))) & np.uint64(1)
            total += places.cost[c, distinct + np.int64(seen) * half]
        elif ends[u, first + 1] < np.inf:
            total += range_loss(model, c, -ends[u, first], ends[u, first + 1])
        elif ends[u, first] > -np.inf:
            total += model.weight[c]
    return total


@kernel(borrows=True)
def _join(box, at, wider, u, whole, to):
    """Write the box of two units, of different arrays, into a third."""
    for e in range(box[0].shape[1]):
        whole[0][to, e] = max(box[0][at, e], wider[0][u, e])
    for w in range(box[1].shape[1]):
        whole[1][to, w] = box[1][at, w] | wider[1][u, w]


@kernel(borrows=True)
def _growth(model, places, hull, node, box, u):
    """Return by how much the NCP of a class of a node grows, at least, if it takes unit u."""
    least = 0.0
    for c in range(places.first.size):
        first = places.first[c]
        if model.kind[c] == NUMBER:
            high, wide = box[0][u, first + 1], hull[0][node, first + 1]
            if high < np.inf and wide < np.inf:
                least += max(0.0, high - wide)
                least += max(0.0, box[0][u, first] - hull[0][node, first])
        elif model.kind[c] == SET:
            other, null = 0, places.null[c]
            for w in range(first, first + places.words[c]):
                other += _ones(box[1][u, w] & ~hull[1][node, w] & places.field[c])
            w = null >> np.uint64(6)
            hidden = (box[1][u, w] | hull[1][node, w]) >> (null & np.uint64(63))
            if hidden & np.uint64(1) == np.uint64(0):
                least += model.weight[c] * other / model.values[c]
    return least


@kernel
def _tree(count):
    """Return the first node below each node of a tree of classes, int64[t - count + 1].

    The first nodes are the classes, the last one is the root; those below one are consecutive.
    """
    below, nodes = np.empty(count + 2, np.int64), 0
    start, end = 0, count
    while end - start > 1:
        for first in range(start, end, FAN):
            below[nodes] = first
            nodes += 1
        start, end = end, count + nodes
    below[nodes] = end - 1
    return below[: nodes + 1]


@kernel
def place(box, model, places, size, home, count):
    """Give each unit without a class (home -1) the class that grows least; changes home int32[u].

    size: int64[u], the rows that count. count: the number of classes. Of several such classes it
    is the first. Classes are the leaves of a tree: the box of a node is that of all its classes,
    total and own are the fewest rows and the lowest loss of them.
    """
    below = _tree(count)
    many = count + below.size - 1
    whole, joined, above = empty(many, places), empty(1, places), np.full(many, -1)
    total, own = np.zeros(many, np.int64), np.zeros(many)
    for u in range(home.size):
        if home[u] >= 0:
            total[home[u]] += size[u]
            _join(whole, home[u], box, u, whole, home[u])
    for at in range(count):
        own[at] = _loss_of(model, places, whole, at)
    for node in range(count, many):
        first = below[node - count]
        total[node], own[node] = total[first], own[first]
        for at in range(first, below[node - count + 1]):
            total[node], own[node] = min(total[node], total[at]), min(own[node], own[at])
            _join(whole, node, whole, at, whole, node)
            above[at] = node
    stack, bounds = np.empty(many, np.int64), np.empty(many)
    for u in range(home.size):
        if home[u] < 0:
            best = _cheapest(
                box, model, places, size[u], whole, total, own, below, u, stack, bounds, joined
            )
            home[u] = best
            total[best] += size[u]
            at = best
            while at >= 0:
                _join(whole, at, box, u, whole, at)
                at = above[at]
            own[best] = _loss_of(model, places, whole, best)


@kernel(borrows=True)
def _cheapest(box, model, places, rows, whole, total, own, below, u, stack, bounds, joined):
    """Return the class that grows least if it takes unit u, which has so many rows that count.

    stack, bounds: room for nodes, and for the least by which a class of each grows; the nearest
    is looked at first. joined: room for a box.
    """
    count = total.size - below.size + 1
    best, least, held = -1, np.inf, 1
    stack[0], bounds[0] = total.size - 1, 0.0
    while held > 0:
        held -= 1
        node = stack[held]
        if bounds[held] > least + ROUNDED:
            continue
        if node < count:
            _join(whole, node, box, u, joined, 0)
            growth = _loss_of(model, places, joined, 0) * (total[node] + rows)
            growth -= own[node] * total[node]
            if growth < least or (growth == least and node < best):
                best, least = node, growth
            continue
        bottom = held
        for at in range(below[node - count], below[node - count + 1]):
            bound = _growth(model, places, whole, at, box, u) * (total[at] + rows)
            bound += own[at] * rows
            if bound <= least + ROUNDED:
                to = held
                while to > bottom and bounds[to - 1] < bound:
                    stack[to], bounds[to] = stack[to - 1], bounds[to - 1]
                    to -= 1
                stack[to], bounds[to] = at, bound
                held += 1
    return best


@kernel
def anneal(  # noqa: PLR0912, PLR0915
    box, model, places, size, home, count, k, near, proposals, hot, cold, seed
):
    """Move and exchange units between classes, by simulated annealing; changes home int32[u].

    near: int32[u, …], units near each unit. Classes keep at least k rows that count. hot, cold:
    first and last temperature, in rows times NCP.
    """
    many = home.size
    number, total = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for u in range(many):
        number[home[u]] += 1
        total[home[u]] += size[u]
    room = 2 * number.max() + 8
    members, place_ = np.full((count, room), -1, np.int32), np.zeros(many, np.int64)
    number[:] = 0
    for u in range(many):
        at = home[u]
        members[at, number[at]] = u
        place_[u] = number[at]
        number[at] += 1
    loss, whole = np.zeros(count), empty(1, places)
    for at in range(count):
        loss[at] = _loss(model, places, box, members[at], number[at], whole)
    heat, cooling = hot, (cold / hot) ** (1.0 / max(proposals, 1))
    for step in range(proposals):
        heat *= cooling
        bits = draw(seed, np.uint64(2 * step))
        one = np.int64(((bits & LOW) * np.uint64(many)) >> HALF)
        like = near[one, np.int64((bits >> HALF) % np.uint64(near.shape[1]))]
        if like < 0 or home[like] == home[one]:
            continue
        here, there = home[one], home[like]
        bits = draw(seed, np.uint64(2 * step + 1))
        limit = -heat * np.log((np.float64(bits >> HALF) + 0.5) / 4294967296.0)
        x = np.int64(-1)
        if (
            total[here] - size[one] < k
            or number[there] == room
            or bits & np.uint64(3) == np.uint64(0)
        ):
            x = members[there, np.int64((bits & LOW) % np.uint64(number[there]))]
        back = size[x] if x >= 0 else 0
        left, right = total[here] - size[one] + back, total[there] + size[one] - back
        if left < k or right < k:
            continue
        # the exchange is made, judged, and taken back unless it is accepted
        last = number[here] - 1
        if x >= 0:
            members[here, place_[one]], members[there, place_[x]] = x, one
        else:
            members[here, place_[one]] = members[here, last]
            members[there, number[there]] = one
        mine = _loss(model, places, box, members[here], last + (x >= 0), whole)
        theirs = _loss(model, places, box, members[there], number[there] + (x < 0), whole)
        change = mine * left - loss[here] * total[here] - loss[there] * total[there]
        if change + theirs * right >= limit:
            if x >= 0:
                members[there, place_[x]] = x
            else:
                members[here, last] = members[here, place_[one]]
            members[here, place_[one]] = one
            continue
        if x >= 0:
            place_[one], place_[x] = place_[x], place_[one]
            home[x] = here
        else:
            place_[members[here, place_[one]]] = place_[one]
            number[here] = last
            place_[one] = number[there]
            number[there] += 1
        home[one] = there
        total[here], total[there] = left, right
        loss[here], loss[there] = mine, theirs
