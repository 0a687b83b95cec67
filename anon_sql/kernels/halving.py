"""Divide rows into groups whose values can be exchanged; ``methods/transparent.py`` proves it.

A node is a range of rows. It consists of blocks of equal size, and a block of units: ``width``
consecutive rows that stay together. A node is divided into equal parts by the distances of its
blocks, and a block by those of its units. If every part is legal, each becomes a node. Otherwise
each unit is joined with a near one of every other part, and the node is divided again.
"""

import numpy as np

from anon_sql.kernels.distance import UNIT
from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.sides import legal_rows
from anon_sql.kernels.sorting import merge_sort

HALF_BITS = np.uint64(32)
GREEDY_UNITS = 12  # of a part that are joined one after the other, the nearest first
TRIES = 20  # random parts that are tried where units or blocks cannot be divided equally


@kernel
def divide(points, weight, rules, rows, block, least, draws):
    """Return the group of each row, int32[n], from 0; -1 for rows that are not divided.

    points: float64[n, d], the points of the rows in each column.
    weight: float64[d], the largest distance in each column.
    rules: ``Rules``, what a group must satisfy.
    rows: int32[m], rows that are legal together, block after block; they are put in another order.
    block: int, rows of a block.
    least: int, least rows of a legal group.
    draws: uint64[r], secret random numbers; if they are used up, nodes stay whole.
    """
    group = np.full(points.shape[0], -1, np.int32)
    first, end = np.empty(rows.size + 1, np.int64), np.empty(rows.size + 1, np.int64)
    size, width = np.empty(rows.size + 1, np.int64), np.empty(rows.size + 1, np.int64)
    first[0], end[0], size[0], width[0] = 0, rows.size, block, 1
    todo, groups, drawn = 1, 0, 0
    while todo > 0:
        todo -= 1
        low, high, node_width = first[todo], end[todo], width[todo]
        node, blocks = rows[low:high], (high - low) // size[todo]
        unit = node_width if blocks == 1 else size[todo]
        _sort(node, unit)
        parts = _parts(node.size, unit, least)
        if parts == 0:
            separate_rows = _apart(node.size, unit, least)
            split, tries = False, 0
            while (
                separate_rows > 0
                and not split
                and tries < TRIES
                and drawn + separate_rows // unit <= draws.size
            ):
                drawn = _draw(node, unit, separate_rows // unit, draws, drawn)
                split = legal_rows(rules, node[:separate_rows]) and legal_rows(
                    rules, node[separate_rows:]
                )
                tries += 1
            if not split:
                group[node] = groups
                groups += 1
                continue
            for part_id in range(2):
                start, stop = (
                    (low, low + separate_rows) if part_id == 0 else (low + separate_rows, high)
                )
                first[todo], end[todo], width[todo] = start, stop, node_width
                size[todo] = stop - start if blocks == 1 else unit
                todo += 1
            continue
        part = node.size // parts
        separate(points, weight, node, unit)
        legal = True
        for part_id in range(parts):
            legal = legal and legal_rows(rules, node[part_id * part : (part_id + 1) * part])
        if legal:
            for part_id in range(parts):
                first[todo], end[todo] = low + part_id * part, low + (part_id + 1) * part
                size[todo], width[todo] = (part if blocks == 1 else unit), node_width
                todo += 1
            continue
        join(points, weight, node, unit, parts)
        if blocks > 1:  # rows of blocks that are joined become units
            unit *= parts
            for part_id in range(0, node.size, unit):
                join(points, weight, node[part_id : part_id + unit], node_width, parts)
        first[todo], end[todo], width[todo] = low, high, node_width * parts
        size[todo] = node.size if blocks == 1 else unit
        todo += 1
    return group


@kernel
def _sort(node, unit):
    """Sort units by their first row, in place, so that no choice shows in their order.

    node: int32[m], rows of the node, unit after unit; they are put in another order.
    unit: int, rows of a unit.
    """
    units = node.size // unit
    keys, places = np.empty(units, np.uint64), np.empty(units, np.int32)
    for i in range(units):
        keys[i], places[i] = np.uint64(node[i * unit]), i
    merge_sort(keys, places)
    _rearrange(node, unit, places)


@kernel
def _rearrange(node, unit, places):
    """Put units in the order of ``places``, in place.

    node: int32[m], rows of the node, unit after unit; they are put in another order.
    unit: int, rows of a unit.
    places: int32[u], the old place of each unit.
    """
    before = node.copy()
    for i in range(places.size):
        for place in range(unit):
            node[i * unit + place] = before[places[i] * unit + place]


@kernel
def _parts(rows, unit, least):
    """Return into how many equal parts the rows of a node are divided, 2 or 3; 0 for none.

    rows: int, rows of the node.
    unit: int, rows of a unit.
    least: int, least rows of a part.
    """
    for parts in range(2, 4):
        if rows // unit % parts == 0 and rows // parts >= least:
            return parts
    return 0


@kernel
def _apart(rows, unit, least):
    """Return how many rows, whole units, are split off so that the others can be halved, or 0.

    rows: int, rows of the node.
    unit: int, rows of a unit.
    least: int, least rows of a part.
    """
    apart = unit
    while apart < least:
        apart += 2 * unit
    return apart if rows // unit % 2 > 0 and rows - apart >= 2 * least else 0


@kernel
def _draw(node, unit, count, draws, drawn):
    """Put random units first, in place; return how many draws are used up.

    node: int32[m], rows of the node, unit after unit; they are put in another order.
    unit: int, rows of a unit.
    count: int, how many units are drawn.
    draws: uint64[r], secret random numbers.
    drawn: int, draws that are used up before.
    """
    units = node.size // unit
    for place in range(count):
        other = place + np.int64(
            ((draws[drawn] >> HALF_BITS) * np.uint64(units - place)) >> HALF_BITS
        )
        drawn += 1
        for offset in range(unit):
            a, b = place * unit + offset, other * unit + offset
            node[a], node[b] = node[b], node[a]
    return drawn


@kernel
def separate(points, weight, node, width):
    """Put units in the order of their place between two units that are far apart, in place.

    points: float64[n, d], the points of the rows in each column.
    weight: float64[d], the largest distance in each column.
    node: int32[m], rows of the node, unit after unit; they are put in another order.
    width: int, rows of a unit.
    """
    units = np.arange(node.size // width)
    first_pole, second_pole = _far(points, weight, node, width, units)
    _along(points, weight, node, width, units, first_pole, second_pole)
    _rearrange(node, width, units)


@kernel
def _far(points, weight, node, width, units):
    """Return two units that are far apart: the farthest from the farthest from the first.

    points: float64[n, d], the points of the rows in each column.
    weight: float64[d], the largest distance in each column.
    node: int32[m], rows of the node, unit after unit.
    width: int, rows of a unit.
    units: int64[u], the units that are compared.
    """
    first_pole = second_pole = units[0]
    for _ in range(2):
        first_pole, farthest = second_pole, -1.0
        for i in range(units.size):
            distance = _distance(points, weight, node, width, units[i], first_pole)
            if distance > farthest:
                farthest, second_pole = distance, units[i]
    return first_pole, second_pole


@kernel
def _along(points, weight, node, width, units, first_pole, second_pole):
    """Sort units, in place, by how much nearer they are to one unit than to another.

    points: float64[n, d], the points of the rows in each column.
    weight: float64[d], the largest distance in each column.
    node: int32[m], rows of the node, unit after unit.
    width: int, rows of a unit.
    units: int64[u]; they are put in another order.
    first_pole, second_pole: int, the two units.
    """
    nearer = np.empty(units.size)
    for i in range(units.size):
        nearer[i] = _distance(points, weight, node, width, units[i], first_pole)
        nearer[i] -= _distance(points, weight, node, width, units[i], second_pole)
    keys, places = np.empty(units.size, np.uint64), np.empty(units.size, np.int32)
    smallest = nearer.min()
    for i in range(units.size):
        keys[i], places[i] = np.uint64((nearer[i] - smallest) * UNIT), i
    merge_sort(keys, places)
    unsorted = units.copy()
    for i in range(units.size):
        units[i] = unsorted[places[i]]


@kernel
def _distance(points, weight, node, width, one, other):
    """Return the distance of two units: the sum over the rows at the same place in each.

    points: float64[n, d], the points of the rows in each column.
    weight: float64[d], the largest distance in each column.
    node: int32[m], rows of the node, unit after unit.
    width: int, rows of a unit.
    one, other: int, the two units.
    """
    total = 0.0
    for place in range(width):
        a, b = node[one * width + place], node[other * width + place]
        for c in range(weight.size):
            total += min(abs(points[a, c] - points[b, c]), weight[c])
    return total


@kernel
def join(points, weight, node, width, parts):
    """Put each unit of the first part beside a near one of every other part, in place.

    Two parts are sorted and halved in the same way, again and again, until few units are left.

    points: float64[n, d], the points of the rows in each column.
    weight: float64[d], the largest distance in each column.
    node: int32[m], rows of the node, unit after unit; they are put in another order.
    width: int, rows of a unit.
    parts: int, number of parts.
    """
    units = node.size // width // parts
    joined, part = np.empty_like(node), units * width
    first, end = np.empty(units + 1, np.int64), np.empty(units + 1, np.int64)
    for part_id in range(parts):
        pair_rows = np.concatenate((node[:part], node[part_id * part : (part_id + 1) * part]))
        left, right, mate = np.arange(units), np.arange(units, 2 * units), np.arange(units)
        todo = 1 if part_id > 0 else 0
        first[0], end[0] = 0, units
        while todo > 0:
            todo -= 1
            begin, stop = first[todo], end[todo]
            a, b = left[begin:stop], right[begin:stop]
            if stop - begin <= GREEDY_UNITS:
                _match(points, weight, pair_rows, width, a, b, mate)
                continue
            first_pole, second_pole = _far(points, weight, pair_rows, width, a)
            _along(points, weight, pair_rows, width, a, first_pole, second_pole)
            _along(points, weight, pair_rows, width, b, first_pole, second_pole)
            middle = (begin + stop) // 2
            first[todo], end[todo] = begin, middle
            first[todo + 1], end[todo + 1] = middle, stop
            todo += 2
        for unit_id in range(units):
            for place in range(width):
                joined[(unit_id * parts + part_id) * width + place] = pair_rows[
                    mate[unit_id] * width + place
                ]
    node[:] = joined


@kernel
def _match(points, weight, pair_rows, width, left, right, mate):
    """Write into ``mate`` which unit of one list joins each unit of another, nearest pairs first.

    points: float64[n, d], the points of the rows in each column.
    weight: float64[d], the largest distance in each column.
    pair_rows: int32[m], rows of both parts, unit after unit.
    width: int, rows of a unit.
    left, right: int64[u], the units of the two lists.
    mate: int64[units], written for the units in ``left``.
    """
    count = left.size
    distances, free = np.empty((count, count)), np.ones((2, count), np.bool_)
    for i in range(count):
        for j in range(count):
            distances[i, j] = _distance(points, weight, pair_rows, width, left[i], right[j])
    for _ in range(count):
        shortest, a, b = np.inf, 0, 0
        for i in range(count):
            for j in range(count):
                if free[0, i] and free[1, j] and distances[i, j] < shortest:
                    shortest, a, b = distances[i, j], i, j
        mate[left[a]] = right[b]
        free[0, a] = free[1, b] = False
