"""What classes lack of what l, t and persons ask, while rows change places between them.

What is lacking has a price, so that a search which gains by less loss gains by legality too.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from anon_sql.kernels.bags import Rules
from anon_sql.kernels.legality import short_of_values


class Guard(NamedTuple):
    """rules: ``bags.Rules``, of no bag where nothing is asked, keys of the group's rows. price: of
    what is lacking, in units of loss. lacks: float64[C], what each class lacks; tried: float64[2],
    what the two classes of the exchange last asked for would. keys, values, counts: int32[room]."""

    rules: Any
    price: float
    lacks: npt.NDArray[np.float64]
    tried: npt.NDArray[np.float64]
    keys: npt.NDArray[np.int32]
    values: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]


def guard_of(
    rules: Rules, rows: npt.NDArray[np.int32], classes: int, room: int, price: float
) -> Guard:
    """A guard of rows, int32[m], in so many classes of at most ``room`` rows, as yet unknown."""
    own = rules._replace(keys=np.ascontiguousarray(rules.keys[:, rows]))
    return Guard(
        own,
        price,
        lacks=np.zeros(classes),
        tried=np.zeros(2),
        keys=np.empty(room + 1, np.int32),
        values=np.empty(room + 1, np.int32),
        counts=np.empty(room + 1, np.int64),
    )


@njit(cache=True, nogil=True)
def survey(s, guard):
    """Count what each class of a ClassState lacks; their sum."""
    for at in range(s.size.size):
        guard.lacks[at] = lacking_with(s, guard, at, -1, -1)
    return guard.lacks.sum()


@njit(cache=True, nogil=True)
def lack_by(s, guard, here, there, row, back, least):
    """The price of what both classes would lack more once row went there, back (or -1: none) here.

    Where even the best outcome is not below ``least``, that bound instead.
    """
    before = guard.lacks[here] + guard.lacks[there]
    guard.tried[0], guard.tried[1] = guard.lacks[here], guard.lacks[there]
    if back >= 0 and alike(guard.rules, row, back):
        return 0.0
    if -guard.price * before >= least:
        return -guard.price * before
    guard.tried[0] = lacking_with(s, guard, here, row, back)
    guard.tried[1] = lacking_with(s, guard, there, back, row)
    return guard.price * (guard.tried[0] + guard.tried[1] - before)


@njit(cache=True, nogil=True)
def keep(guard, here, there):
    """The exchange last asked for was made."""
    guard.lacks[here], guard.lacks[there] = guard.tried[0], guard.tried[1]


@njit(cache=True, nogil=True)
def alike(rules, a, b):
    """Whether two rows hold the same in every bag."""
    same = True
    for bag in range(rules.total.size):
        same &= rules.keys[bag, a] == rules.keys[bag, b]
    return same


@njit(cache=True, nogil=True)
def lacking_with(s, guard, at, out, inn):
    """What class ``at`` lacks without row out, with row inn (-1: no row); rows are enough."""
    rules, keys = guard.rules, guard.keys
    total = 0.0
    for bag in range(rules.total.size):
        own, count = rules.keys[bag], 0
        for place in range(s.size[at] + (inn >= 0)):
            row = s.members[at, place] if place < s.size[at] else inn
            if row == out:
                continue
            key, slot = own[row], count
            while slot > 0 and keys[slot - 1] > key:
                keys[slot] = keys[slot - 1]
                slot -= 1
            keys[slot] = key
            count += 1
        size = 0
        for i in range(count):
            again = i > 0 and keys[i] == keys[i - 1]
            if again and rules.pairs:
                continue
            value = rules.value[bag, keys[i]]
            if size > 0 and guard.values[size - 1] == value:
                guard.counts[size - 1] += 1
            else:
                guard.values[size], guard.counts[size] = value, 1
                size += 1
        total += short_of_values(rules, bag, guard.values[:size], guard.counts[:size])
    return total
