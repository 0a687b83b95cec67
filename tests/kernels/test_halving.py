"""Groups whose values can be exchanged, against a plain division of lists of units."""

import numpy as np
import pytest

from anon_sql.kernels import halving
from anon_sql.privacy.constraint import Sensitive, constraint
from anon_sql.privacy.max_share import MaxShare


def away(points, weight, one, other):
    return sum(
        min(abs(a - b), w)
        for first, second in zip(one, other, strict=True)
        for a, b, w in zip(points[first], points[second], weight, strict=True)
    )


def far(points, weight, units):
    """Return two units that are far apart."""
    one = other = units[0]
    for _ in range(2):
        one = other
        other = max(units, key=lambda unit: away(points, weight, unit, one))
    return one, other


def along(points, weight, units, one, other):
    def nearer(unit):
        return away(points, weight, unit, one) - away(points, weight, unit, other)

    return sorted(units, key=nearer)


def matched(points, weight, ours, theirs):
    """Return pairs of near units of two lists."""
    if len(ours) > halving.GREEDY_UNITS:
        ends = far(points, weight, ours)
        a, b = along(points, weight, ours, *ends), along(points, weight, theirs, *ends)
        half = len(a) // 2
        low = matched(points, weight, a[:half], b[:half])
        return low | matched(points, weight, a[half:], b[half:])
    left, right, found = list(ours), list(theirs), {}
    while left:
        one, other = min(
            ((a, b) for a in left for b in right), key=lambda pair: away(points, weight, *pair)
        )
        found[one] = other
        left.remove(one)
        right.remove(other)
    return found


def joined(points, weight, parts):
    """Return the units of the first part, each with a near one of every other part."""
    mates = [matched(points, weight, parts[0], part) for part in parts[1:]]
    return [sum((mate[unit] for mate in mates), unit) for unit in parts[0]]


def division(rows, unit, least):
    for parts in (2, 3):
        if rows // unit % parts == 0 and rows // parts >= least:
            return parts
    return 0


def blocks_of(units, width):
    """Return units as a node: one block, or a block of units of so many rows for each."""
    if width is None:
        return [units]
    return [[u[at : at + width] for at in range(0, len(u), width)] for u in units]


def twin(points, weight, legal, blocks, least, draws):
    """Return groups, lists of rows. A block is a list of units, and a unit a tuple of rows."""
    todo, groups, numbers = [blocks], [], iter(draws)
    while todo:
        node = sorted(todo.pop(), key=lambda block: block[0][0])
        alone = len(node) == 1
        units = sorted(node[0]) if alone else [sum(block, ()) for block in node]
        rows, unit, width = sum(map(len, units)), len(units[0]), None if alone else len(node[0][0])

        parts = division(rows, unit, least)
        if parts == 0:
            own = unit
            while own < least:
                own += 2 * unit
            chosen = None
            if len(units) % 2 and rows - own >= 2 * least:
                for _ in range(halving.TRIES):
                    for at in range(own // unit):
                        other = at + (int(next(numbers)) >> 32) * (len(units) - at) // 2**32
                        units[at], units[other] = units[other], units[at]
                    split = units[: own // unit], units[own // unit :]
                    if all(legal([r for u in side for r in u]) for side in split):
                        chosen = split
                        break
            if chosen:
                todo += [blocks_of(side, width) for side in chosen]
            else:
                groups.append(sorted(r for u in units for r in u))
            continue
        units = along(points, weight, units, *far(points, weight, units))
        size = len(units) // parts
        sides = [units[at * size : (at + 1) * size] for at in range(parts)]
        if all(legal([r for u in side for r in u]) for side in sides):
            todo += [blocks_of(side, width) for side in sides]
        elif alone:
            todo.append([joined(points, weight, sides)])
        else:
            whole = joined(points, weight, sides)
            halves = [
                blocks_of([u[p * unit : (p + 1) * unit] for p in range(parts)], width)
                for u in whole
            ]
            todo.append([joined(points, weight, own) for own in halves])
    return groups


@pytest.mark.parametrize("rows", [8, 30, 48, 96, 120, 210])
@pytest.mark.parametrize(("block", "least", "values"), [(8, 2, 3), (6, 3, 5), (0, 2, 4)])
@pytest.mark.parametrize("seed", range(3))
def test_groups_are_those_of_the_plain_division(rows, block, least, values, seed):
    rng = np.random.default_rng(seed)
    block = block or rows
    rows -= rows % block
    points, weight = rng.integers(0, 30, (rows, 3)).astype(float), np.array([25.0, 40.0, 8.0])
    # values depend on the points, so that parts are often not legal
    codes = np.where(rng.random(rows) < 0.4, points[:, 0] // 10, rng.integers(0, values, rows))
    codes = np.minimum(codes, values - 1).astype(np.int32)
    limits = constraint(
        1, [Sensitive("s", codes, values, False)], None, [MaxShare(max_share=1 / least)]
    )
    if rows == 0 or not limits.allows(np.arange(rows)):
        return
    order, draws = rng.permutation(rows).astype(np.int32), rng.integers(0, 2**64, 4000, np.uint64)
    made = halving.divide(points, weight, limits.rules, order.copy(), block, least, draws)

    def legal(own):
        return len(own) >= 1 and np.bincount(codes[own]).max() * least <= len(own)

    blocks = [[(int(row),) for row in order[at : at + block]] for at in range(0, rows, block)]
    wanted = twin(points.tolist(), weight.tolist(), legal, blocks, least, draws)
    assert sorted(np.flatnonzero(made == g).tolist() for g in range(made.max() + 1)) == sorted(
        wanted
    )
    assert all(legal(group) for group in wanted)


def test_groups_are_small_and_some_are_joined():
    rng = np.random.default_rng(1)
    points = rng.integers(0, 30, (400, 2)).astype(float)
    codes = np.minimum(points[:, 0] // 6, 4).astype(np.int32)
    limits = constraint(1, [Sensitive("s", codes, 5, False)], None, [MaxShare(max_share=0.5)])
    draws = rng.integers(0, 2**64, 4000, np.uint64)
    made = halving.divide(
        points, np.full(2, 30.0), limits.rules, np.arange(400, dtype=np.int32), 16, 2, draws
    )
    assert np.bincount(made).mean() < 8
    assert all(len(set(codes[made == group])) > 1 for group in range(made.max() + 1))


def test_without_random_numbers_an_odd_number_of_blocks_stays_whole():
    codes = np.arange(5, dtype=np.int32)
    limits = constraint(1, [Sensitive("s", codes, 5, False)], None, [MaxShare(max_share=0.5)])
    points, rows = np.arange(5.0)[:, None], np.arange(5, dtype=np.int32)
    made = halving.divide(points, np.ones(1), limits.rules, rows, 1, 1, np.zeros(0, np.uint64))
    assert made.tolist() == [0] * 5
