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

HALF = np.uint64(32)
FEW = 12  # units of a part that are joined one after the other, the nearest first
TRIES = 20  # random parts that are tried where units or blocks cannot be divided equally


@kernel
def divide(points, weight, rules, rows, block, least, draws):
    """Return the group of each row, int32[n], from 0.

    points: float64[n, d]; weight: float64[d], the largest distance in each column. rows: int32[m],
    rows that are legal together, block after block; they are put in another order, and the other
    rows have the group -1. block: rows of a block. least: fewer rows are never legal. draws:
    uint64[r], secret random numbers; where they are used up, nodes stay whole.
    """
    group = np.full(points.shape[0], -1, np.int32)
    first, end = np.empty(rows.size + 1, np.int64), np.empty(rows.size + 1, np.int64)
    size, width = np.empty(rows.size + 1, np.int64), np.empty(rows.size + 1, np.int64)
    first[0], end[0], size[0], width[0] = 0, rows.size, block, 1
    todo, groups, drawn = 1, 0, 0
    while todo > 0:
        todo -= 1
        low, high, wide = first[todo], end[todo], width[todo]
        node, blocks = rows[low:high], (high - low) // size[todo]
        unit = wide if blocks == 1 else size[todo]
        _sort(node, unit)
        parts = _parts(node.size, unit, least)
        if parts == 0:
            own = _apart(node.size, unit, least)
            split, tries = False, 0
            while own > 0 and not split and tries < TRIES and drawn + own // unit <= draws.size:
                drawn = _draw(node, unit, own // unit, draws, drawn)
                split = legal_rows(rules, node[:own]) and legal_rows(rules, node[own:])
                tries += 1
            if not split:
                group[node] = groups
                groups += 1
                continue
            for at in range(2):
                start, stop = (low, low + own) if at == 0 else (low + own, high)
                first[todo], end[todo], width[todo] = start, stop, wide
                size[todo] = stop - start if blocks == 1 else unit
                todo += 1
            continue
        part = node.size // parts
        separate(points, weight, node, unit)
        legal = True
        for at in range(parts):
            legal = legal and legal_rows(rules, node[at * part : (at + 1) * part])
        if legal:
            for at in range(parts):
                first[todo], end[todo] = low + at * part, low + (at + 1) * part
                size[todo], width[todo] = (part if blocks == 1 else unit), wide
                todo += 1
            continue
        join(points, weight, node, unit, parts)
        if blocks > 1:  # rows of blocks that are joined become units
            unit *= parts
            for at in range(0, node.size, unit):
                join(points, weight, node[at : at + unit], wide, parts)
        first[todo], end[todo], width[todo] = low, high, wide * parts
        size[todo] = node.size if blocks == 1 else unit
        todo += 1
    return group


@kernel
def _sort(node, unit):
    """Sort units by their first row, in place, so that no choice shows in their order."""
    units = node.size // unit
    keys, places = np.empty(units, np.uint64), np.empty(units, np.int32)
    for at in range(units):
        keys[at], places[at] = np.uint64(node[at * unit]), at
    merge_sort(keys, places)
    _rearrange(node, unit, places)


@kernel
def _rearrange(node, unit, places):
    """Put units in the order of places, in place."""
    before = node.copy()
    for at in range(places.size):
        for inner in range(unit):
            node[at * unit + inner] = before[places[at] * unit + inner]


@kernel
def _parts(rows, unit, least):
    """Return into how many equal parts rows in units are divided, 2 or 3; 0 for none."""
    for parts in range(2, 4):
        if rows // unit % parts == 0 and rows // parts >= least:
            return parts
    return 0


@kernel
def _apart(rows, unit, least):
    """Return how many rows, whole units, are split off so that the others can be halved."""
    own = unit
    while own < least:
        own += 2 * unit
    return own if rows // unit % 2 > 0 and rows - own >= 2 * least else 0


@kernel
def _draw(node, unit, count, draws, drawn):
    """Put so many random units first, in place; return how many draws are used up."""
    units = node.size // unit
    for at in range(count):
        other = at + np.int64(((draws[drawn] >> HALF) * np.uint64(units - at)) >> HALF)
        drawn += 1
        for inner in range(unit):
            a, b = at * unit + inner, other * unit + inner
            node[a], node[b] = node[b], node[a]
    return drawn


@kernel
def separate(points, weight, node, width):
    """Put units in the order of their place between two units that are far apart, in place."""
    units = np.arange(node.size // width)
    one, other = _far(points, weight, node, width, units)
    _along(points, weight, node, width, units, one, other)
    _rearrange(node, width, units)


@kernel
def _far(points, weight, node, width, units):
    """Return two units of a list, int64[u], that are far apart."""
    one = other = units[0]
    for _ in range(2):
        one, most = other, -1.0
        for at in range(units.size):
            away = _distance(points, weight, node, width, units[at], one)
            if away > most:
                most, other = away, units[at]
    return one, other


@kernel
def _along(points, weight, node, width, units, one, other):
    """Sort a list of units, in place, by how much nearer they are to one unit than to another."""
    nearer = np.empty(units.size)
    for at in range(units.size):
        nearer[at] = _distance(points, weight, node, width, units[at], one)
        nearer[at] -= _distance(points, weight, node, width, units[at], other)
    keys, places = np.empty(units.size, np.uint64), np.empty(units.size, np.int32)
    low = nearer.min()
    for at in range(units.size):
        keys[at], places[at] = np.uint64((nearer[at] - low) * UNIT), at
    merge_sort(keys, places)
    before = units.copy()
    for at in range(units.size):
        units[at] = before[places[at]]


@kernel
def _distance(points, weight, node, width, one, other):
    """Return the distance of two units: the sum over the rows at the same place in each."""
    total = 0.0
    for inner in range(width):
        a, b = node[one * width + inner], node[other * width + inner]
        for c in range(weight.size):
            total += min(abs(points[a, c] - points[b, c]), weight[c])
    return total


@kernel
def join(points, weight, node, width, parts):
    """Put each unit of the first part beside a near one of every other part, in place.

    Two parts are sorted and halved alike, again and again, until few units are left.
    """
    units = node.size // width // parts
    joined, part = np.empty_like(node), units * width
    first, end = np.empty(units + 1, np.int64), np.empty(units + 1, np.int64)
    for of in range(parts):
        both = np.concatenate((node[:part], node[of * part : (of + 1) * part]))
        ours, theirs, mate = np.arange(units), np.arange(units, 2 * units), np.arange(units)
        todo = 1 if of > 0 else 0
        first[0], end[0] = 0, units
        while todo > 0:
            todo -= 1
            low, high = first[todo], end[todo]
            a, b = ours[low:high], theirs[low:high]
            if high - low <= FEW:
                _match(points, weight, both, width, a, b, mate)
                continue
            one, other = _far(points, weight, both, width, a)
            _along(points, weight, both, width, a, one, other)
            _along(points, weight, both, width, b, one, other)
            middle = (low + high) // 2
            first[todo], end[todo] = low, middle
            first[todo + 1], end[todo + 1] = middle, high
            todo += 2
        for at in range(units):
            for inner in range(width):
                joined[(at * parts + of) * width + inner] = both[mate[at] * width + inner]
    node[:] = joined


@kernel
def _match(points, weight, both, width, ours, theirs, mate):
    """Write for each unit of a list which one of another list, of equal length, joins it."""
    many = ours.size
    away, free = np.empty((many, many)), np.ones((2, many), np.bool_)
    for i in range(many):
        for j in range(many):
            away[i, j] = _distance(points, weight, both, width, ours[i], theirs[j])
    for _ in range(many):
        least, a, b = np.inf, 0, 0
        for i in range(many):
            for j in range(many):
                if free[0, i] and free[1, j] and away[i, j] < least:
                    least, a, b = away[i, j], i, j
        mate[ours[a]] = theirs[b]
        free[0, a] = free[1, b] = False
