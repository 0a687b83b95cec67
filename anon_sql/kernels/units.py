"""Join units, sets of rows that stay together, into classes that lose little information.

A unit is described by its box. ends, float64[u, 4b]: of each NUMBER or TREE column minus the lowest
point, and the highest. NULL is a highest point of infinity; then the lowest one is infinite, too,
if there is nothing but NULL. bits, uint64[u, 2b]: of each SET column a bit for each code. Small
sets share a word, and the last of the b blocks is filled up, so that each block is read in one go.
The loss of a class is that of the union of its boxes. Source: this project.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.distance import draw
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.loss import NUMBER, SET, LossModel, range_loss

HALF_BITS = np.uint64(32)
LOW_MASK = np.uint64(2**32 - 1)
PAIRS, FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
EIGHTS, ONES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
BLOCK_ENDS, BLOCK_WORDS = 4, 2  # of a block
FAN_OUT = 8  # classes, or nodes of them, in a node
ROUNDING_LOSS = 1e-6  # NCP times rows, more than rounding changes a loss


class Layout(NamedTuple):
    """Where the columns of a box are.

    first: int64[d], the place of the two ends, or the first word of a SET column.
    words: int64[d], how many words a SET column has.
    field: uint64[d], its bits in each of them.
    null: uint64[d], the bit of NULL, counted over all words.
    cost: float64[d, 2h], the loss of so many codes of a SET column, and from h on with NULL among
        them.
    blocks: b.
    """

    first: npt.NDArray[np.int64]
    words: npt.NDArray[np.int64]
    field: npt.NDArray[np.uint64]
    null: npt.NDArray[np.uint64]
    cost: npt.NDArray[np.float64]
    blocks: int


def layout(model: LossModel) -> Layout:
    """Return where boxes have the columns of a model.

    model: ``LossModel``, the meaning of the points.
    """
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
    blocks = max(-(-2 * int(d - sets.sum()) // BLOCK_ENDS), -(-end // (64 * BLOCK_WORDS)))
    return Layout(first, words, field, null.astype(np.uint64), cost, blocks)


@kernel
def boxes(points, model, places, starts, rows):
    """Return the boxes of units: ends float64[u, 4b] and bits uint64[u, 2b].

    points: float64[n, d], the points of the rows in each column.
    model: ``LossModel``, the meaning of the points.
    places: ``Layout``, where the columns of a box are.
    starts: int64[u + 1], where each unit begins in ``rows``.
    rows: int32[…], rows unit by unit.
    """
    units = starts.size - 1
    ends, bits = empty(units, places)
    for u in range(units):
        for i in range(starts[u], starts[u + 1]):
            for c in range(points.shape[1]):
                value, first = points[rows[i], c], places.first[c]
                if model.kind[c] == SET:
                    bit = np.int64(places.null[c]) - np.int64(model.null[c]) + np.int64(value)
                    bits[u, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
                elif value == model.null[c]:
                    ends[u, first + 1] = np.inf
                else:
                    ends[u, first] = max(ends[u, first], -value)
                    ends[u, first + 1] = max(ends[u, first + 1], value)
    return ends, bits


@kernel
def empty(units, places):
    """Return boxes without any row: ends float64[u, 4b] and bits uint64[u, 2b].

    units: int, u.
    places: ``Layout``, where the columns of a box are.
    """
    blocks = places.blocks
    return np.full((units, BLOCK_ENDS * blocks), -np.inf), np.zeros(
        (units, BLOCK_WORDS * blocks), np.uint64
    )


@kernel(borrows=True, inlined=True)
def _ones(bits):
    """Return the number of ones in a word.

    bits: uint64.
    """
    bits -= (bits >> np.uint64(1)) & PAIRS
    bits = (bits & FOURS) + ((bits >> np.uint64(2)) & FOURS)
    bits = (bits + (bits >> np.uint64(4))) & EIGHTS
    return np.int64((bits * ONES) >> np.uint64(56))


@kernel(borrows=True, inlined=True)
def _loss(model, places, box, units, count, whole):
    """Return the NCP of some units together, the sum over the columns.

    model: ``LossModel``, the meaning of the points.
    places: ``Layout``, where the columns of a box are.
    box: (ends, bits), the boxes of the units.
    units: int32[…], the units.
    count: int, how many of them, at least 1.
    whole: (ends, bits) of one unit, overwritten by the box of all of them.
    """
    ends, bits = box
    for block in range(places.blocks):
        e, w, u = BLOCK_ENDS * block, BLOCK_WORDS * block, units[0]
        a, b, c, d = ends[u, e], ends[u, e + 1], ends[u, e + 2], ends[u, e + 3]
        x, y = bits[u, w], bits[u, w + 1]
        for i in range(1, count):
            u = units[i]
            a, b = _larger(ends[u, e], a), _larger(ends[u, e + 1], b)
            c, d = _larger(ends[u, e + 2], c), _larger(ends[u, e + 3], d)
            x, y = x | bits[u, w], y | bits[u, w + 1]
        whole[0][0, e], whole[0][0, e + 1] = a, b
        whole[0][0, e + 2], whole[0][0, e + 3] = c, d
        whole[1][0, w], whole[1][0, w + 1] = x, y
    return _loss_of(model, places, whole, 0)


@kernel(borrows=True, inlined=True)
def _larger(value, other):
    """Return the larger of two numbers.

    value, other: float64.
    """
    return value if value > other else other


@kernel(borrows=True, inlined=True)
def _loss_of(model, places, box, u):
    """Return the NCP of a unit.

    model: ``LossModel``, the meaning of the points.
    places: ``Layout``, where the columns of a box are.
    box: (ends, bits), the boxes of the units.
    u: int, the unit.
    """
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
def _join(box, unit, other_box, other_unit, whole, target):
    """Write the box of two units, of different arrays, into a third.

    box: (ends, bits).
    unit: int, in ``box``.
    other_box: (ends, bits).
    other_unit: int, in ``other_box``.
    whole: (ends, bits), written.
    target: int, the unit of ``whole`` that is written.
    """
    for e in range(box[0].shape[1]):
        whole[0][target, e] = max(box[0][unit, e], other_box[0][other_unit, e])
    for w in range(box[1].shape[1]):
        whole[1][target, w] = box[1][unit, w] | other_box[1][other_unit, w]


@kernel(borrows=True)
def _growth(model, places, hull, node, box, u):
    """Return by how much the NCP of a class of a node grows, at least, if it takes a unit.

    model: ``LossModel``, the meaning of the points.
    places: ``Layout``, where the columns of a box are.
    hull: (ends, bits), the boxes of the nodes.
    node: int, the node.
    box: (ends, bits), the boxes of the units.
    u: int, the unit.
    """
    least = 0.0
    for c in range(places.first.size):
        first = places.first[c]
        if model.kind[c] == NUMBER:
            high, wide = box[0][u, first + 1], hull[0][node, first + 1]
            if high < np.inf and wide < np.inf:
                least += max(0.0, high - wide)
                least += max(0.0, box[0][u, first] - hull[0][node, first])
        elif model.kind[c] == SET:
            new_codes, null = 0, places.null[c]
            for w in range(first, first + places.words[c]):
                new_codes += _ones(box[1][u, w] & ~hull[1][node, w] & places.field[c])
            w = null >> np.uint64(6)
            hidden = (box[1][u, w] | hull[1][node, w]) >> (null & np.uint64(63))
            if hidden & np.uint64(1) == np.uint64(0):
                least += model.weight[c] * new_codes / model.values[c]
    return least


@kernel
def _tree(count):
    """Return the first node below each node of a tree of classes, int64[t - count + 1].

    The first nodes are the classes, the last one is the root; those below one are consecutive.

    count: int, classes.
    """
    below, nodes = np.empty(count + 2, np.int64), 0
    start, end = 0, count
    while end - start > 1:
        for first in range(start, end, FAN_OUT):
            below[nodes] = first
            nodes += 1
        start, end = end, count + nodes
    below[nodes] = end - 1
    return below[: nodes + 1]


@kernel
def place(box, model, places, size, home, count):
    """Give each unit without a class the class that grows least; ties go to the first class.

    Classes are the leaves of a tree: the box of a node is that of all its classes; total and
    least_ncp are the fewest rows and the lowest loss of them.

    box: (ends, bits), the boxes of the units.
    model: ``LossModel``, the meaning of the points.
    places: ``Layout``, where the columns of a box are.
    size: int64[u], the rows of a unit that count.
    home: int32[u], the class of each unit, -1 for none; changed.
    count: int, number of classes.
    """
    below = _tree(count)
    nodes = count + below.size - 1
    whole, joined, parent = empty(nodes, places), empty(1, places), np.full(nodes, -1)
    total, least_ncp = np.zeros(nodes, np.int64), np.zeros(nodes)
    for u in range(home.size):
        if home[u] >= 0:
            total[home[u]] += size[u]
            _join(whole, home[u], box, u, whole, home[u])
    for child in range(count):
        least_ncp[child] = _loss_of(model, places, whole, child)
    for node in range(count, nodes):
        first = below[node - count]
        total[node], least_ncp[node] = total[first], least_ncp[first]
        for child in range(first, below[node - count + 1]):
            total[node], least_ncp[node] = (
                min(total[node], total[child]),
                min(least_ncp[node], least_ncp[child]),
            )
            _join(whole, node, whole, child, whole, node)
            parent[child] = node
    stack, bounds = np.empty(nodes, np.int64), np.empty(nodes)
    for u in range(home.size):
        if home[u] < 0:
            best = _cheapest(
                box,
                model,
                places,
                size[u],
                whole,
                total,
                least_ncp,
                below,
                u,
                stack,
                bounds,
                joined,
            )
            home[u] = best
            total[best] += size[u]
            child = best
            while child >= 0:
                _join(whole, child, box, u, whole, child)
                child = parent[child]
            least_ncp[best] = _loss_of(model, places, whole, best)


@kernel(borrows=True)
def _cheapest(
    box, model, places, unit_rows, whole, total, least_ncp, below, u, stack, bounds, joined
):
    """Return the class that grows least if it takes a unit.

    box: (ends, bits), the boxes of the units.
    model: ``LossModel``, the meaning of the points.
    places: ``Layout``, where the columns of a box are.
    unit_rows: int64, rows of the unit that count.
    whole: (ends, bits), the boxes of the nodes.
    total: int64[t], fewest rows of a class of each node.
    least_ncp: float64[t], lowest NCP of a class of each node.
    below: int64[…], from ``_tree``.
    u: int, the unit.
    stack: int64[t], scratch for nodes; the nearest is looked at first.
    bounds: float64[t], scratch: the least by which a class of each of them grows.
    joined: (ends, bits), room for a box.
    """
    count = total.size - below.size + 1
    best_class, least_growth, depth = -1, np.inf, 1
    stack[0], bounds[0] = total.size - 1, 0.0
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if bounds[depth] > least_growth + ROUNDING_LOSS:
            continue
        if node < count:
            _join(whole, node, box, u, joined, 0)
            growth = _loss_of(model, places, joined, 0) * (total[node] + unit_rows)
            growth -= least_ncp[node] * total[node]
            if growth < least_growth or (growth == least_growth and node < best_class):
                best_class, least_growth = node, growth
            continue
        bottom = depth
        for child in range(below[node - count], below[node - count + 1]):
            bound = _growth(model, places, whole, child, box, u) * (total[child] + unit_rows)
            bound += least_ncp[child] * unit_rows
            if bound <= least_growth + ROUNDING_LOSS:
                slot = depth
                while slot > bottom and bounds[slot - 1] < bound:
                    stack[slot], bounds[slot] = stack[slot - 1], bounds[slot - 1]
                    slot -= 1
                stack[slot], bounds[slot] = child, bound
                depth += 1
    return best_class


@kernel
def anneal(  # noqa: PLR0912, PLR0915
    box, model, places, size, home, count, k, near, proposals, hot, cold, seed
):
    """Move and exchange units between classes, by simulated annealing.

    Source: Kirkpatrick, Gelatt and Vecchi 1983.

    box: (ends, bits), the boxes of the units.
    model: ``LossModel``, the meaning of the points.
    places: ``Layout``, where the columns of a box are.
    size: int64[u], the rows of a unit that count.
    home: int32[u], the class of each unit, changed.
    count: int, number of classes.
    k: int, least rows of a class that count.
    near: int32[u, …], units near each unit; -1 for none.
    proposals: int, how many.
    hot, cold: float64, first and last temperature, in rows times NCP.
    seed: uint64.
    """
    units = home.size
    number, total = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for u in range(units):
        number[home[u]] += 1
        total[home[u]] += size[u]
    capacity = 2 * number.max() + 8
    members, position = np.full((count, capacity), -1, np.int32), np.zeros(units, np.int64)
    number[:] = 0
    for u in range(units):
        class_id = home[u]
        members[class_id, number[class_id]] = u
        position[u] = number[class_id]
        number[class_id] += 1
    loss, whole = np.zeros(count), empty(1, places)
    for class_id in range(count):
        loss[class_id] = _loss(model, places, box, members[class_id], number[class_id], whole)
    heat, cooling = hot, (cold / hot) ** (1.0 / max(proposals, 1))
    for step in range(proposals):
        heat *= cooling
        bits = draw(seed, np.uint64(2 * step))
        unit = np.int64(((bits & LOW_MASK) * np.uint64(units)) >> HALF_BITS)
        near_unit = near[unit, np.int64((bits >> HALF_BITS) % np.uint64(near.shape[1]))]
        if near_unit < 0 or home[near_unit] == home[unit]:
            continue
        origin, target = home[unit], home[near_unit]
        bits = draw(seed, np.uint64(2 * step + 1))
        limit = -heat * np.log((np.float64(bits >> HALF_BITS) + 0.5) / 4294967296.0)
        unit_back = np.int64(-1)
        if (
            total[origin] - size[unit] < k
            or number[target] == capacity
            or bits & np.uint64(3) == np.uint64(0)
        ):
            unit_back = members[target, np.int64((bits & LOW_MASK) % np.uint64(number[target]))]
        back_rows = size[unit_back] if unit_back >= 0 else 0
        origin_rows, target_rows = (
            total[origin] - size[unit] + back_rows,
            total[target] + size[unit] - back_rows,
        )
        if origin_rows < k or target_rows < k:
            continue
        # the exchange is made, judged, and taken back unless it is accepted
        last = number[origin] - 1
        if unit_back >= 0:
            members[origin, position[unit]], members[target, position[unit_back]] = unit_back, unit
        else:
            members[origin, position[unit]] = members[origin, last]
            members[target, number[target]] = unit
        origin_loss = _loss(model, places, box, members[origin], last + (unit_back >= 0), whole)
        target_loss = _loss(
            model, places, box, members[target], number[target] + (unit_back < 0), whole
        )
        change = (
            origin_loss * origin_rows - loss[origin] * total[origin] - loss[target] * total[target]
        )
        if change + target_loss * target_rows >= limit:
            if unit_back >= 0:
                members[target, position[unit_back]] = unit_back
            else:
                members[origin, last] = members[origin, position[unit]]
            members[origin, position[unit]] = unit
            continue
        if unit_back >= 0:
            position[unit], position[unit_back] = position[unit_back], position[unit]
            home[unit_back] = origin
        else:
            position[members[origin, position[unit]]] = position[unit]
            number[origin] = last
            position[unit] = number[target]
            number[target] += 1
        home[unit] = target
        total[origin], total[target] = origin_rows, target_rows
        loss[origin], loss[target] = origin_loss, target_loss
