"""Units get the class that grows least, and are exchanged as plain Python exchanges them."""

import math
from itertools import pairwise

import numpy as np
import pytest

from anon_sql import kernels
from anon_sql.kernels.units import anneal, boxes, layout, place
from tests.kernels.test_class_state import every_kind, twin_ncp
from tests.kernels.test_vp_tree import twin_draw

pytestmark = pytest.mark.quick


def some_units(n, seed, nulls=0.1):
    """Return points of every kind, their model, the rows of units, and the boxes of these.

    The last column is a set of n values: of one word or of several.
    """
    points, model = every_kind(n, seed, nulls)
    rng = np.random.default_rng(seed)
    unit_of = np.sort(np.append(np.arange(n // 2), rng.integers(0, n // 2, n - n // 2)))
    order, starts = kernels.hashing.group(unit_of.astype(np.int32), n // 2)
    rows = [order[first:end].tolist() for first, end in pairwise(starts)]
    places = layout(model)
    return points, model, rows, places, boxes(points, model, places, starts, order)


def twin_place(points, model, rows, size, home, count):
    """As ``place``, by looking at each class."""
    home = list(home)
    held = [[] for _ in range(count)]
    for unit, at in enumerate(home):
        if at >= 0:
            held[at].append(unit)

    def loss(units):
        return twin_ncp(points, model, [row for unit in units for row in rows[unit]])

    for unit in range(len(home)):
        if home[unit] >= 0:
            continue
        growths = []
        for own in held:
            total = sum(size[each] for each in own)
            growths.append(loss([*own, unit]) * (total + size[unit]) - loss(own) * total)
        home[unit] = growths.index(min(growths))
        held[home[unit]].append(unit)
    return home


@pytest.mark.parametrize("n", [40, 63, 64, 260])
@pytest.mark.parametrize("nulls", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("count", [1, 9, 17])
def test_a_unit_gets_the_first_class_that_grows_least(n, nulls, count):
    points, model, rows, places, box = some_units(n, count, nulls)
    rng = np.random.default_rng(n)
    size = np.array([len(own) for own in rows])
    home = np.append(np.arange(count), rng.integers(-1, count, len(rows) - count)).astype(np.int32)
    wanted = twin_place(points, model, rows, size.tolist(), home.tolist(), count)
    place(box, model, places, size, home, count)
    assert home.tolist() == wanted


def twin_anneal(points, model, rows, size, classes, count, k, near, proposals, hot, cold, seed):
    """As ``anneal``, with losses computed anew."""
    # units of a class in the order the kernel keeps them, since the draw is of a place
    members = [[unit for unit, own in enumerate(classes) if own == at] for at in range(count)]
    home, heat = list(classes), hot
    room = 2 * max(map(len, members)) + 8

    def many(units):
        return sum(size[unit] for unit in units)

    def cost(units):
        return many(units) * twin_ncp(points, model, [row for unit in units for row in rows[unit]])

    for step in range(proposals):
        heat *= (cold / hot) ** (1 / proposals)
        bits, more = twin_draw(seed, 2 * step), twin_draw(seed, 2 * step + 1)
        one = ((bits & 0xFFFFFFFF) * len(home)) >> 32
        like = int(near[one][(bits >> 32) % len(near[one])])
        if home[like] == home[one]:
            continue
        a, b = members[home[one]], members[home[like]]
        other = None
        if many(a) - size[one] < k or len(b) == room or more % 4 == 0:
            other = b[(more & 0xFFFFFFFF) % len(b)]
        left, right = list(a), list(b)
        if other is None:
            left[left.index(one)] = left[-1]
            left.pop()
            right.append(one)
        else:
            left[left.index(one)], right[right.index(other)] = other, one
        if many(left) < k or many(right) < k:
            continue
        limit = -heat * math.log(((more >> 32) + 0.5) / 2**32)
        if cost(left) + cost(right) - cost(a) - cost(b) < limit:
            here, there = home[one], home[like]
            members[here], members[there] = left, right
            home[one] = there
            if other is not None:
                home[other] = here
    return home


@pytest.mark.parametrize(("n", "seed"), [(50, 1), (64, 2), (200, 3)])
def test_annealed_units_are_the_twins(n, seed):
    points, model, rows, places, box = some_units(n, seed)
    rng = np.random.default_rng(seed)
    size = np.array([len(own) for own in rows])
    count = len(rows) // 5
    home = (np.arange(len(rows)) % count).astype(np.int32)
    near = rng.integers(0, len(rows), (len(rows), 4)).astype(np.int32)
    how = (3, near, 1500, 1.0, 0.01, seed)
    wanted = twin_anneal(points, model, rows, size.tolist(), home.tolist(), count, *how)
    anneal(box, model, places, size, home, count, *how[:-1], np.uint64(seed))
    assert home.tolist() == wanted
    assert np.bincount(home, weights=size).min() >= 3
