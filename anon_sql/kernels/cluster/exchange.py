"""Price the shortfalls of classes below l, t and the k of persons while rows are exchanged.

The price lets a search for less loss reduce shortfalls too.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.legal.bags import Rules
from anon_sql.kernels.legal.legality import short_of_values

KEYS = 64  # most keys that are counted instead of sorted


class Guard(NamedTuple):
    """Shortfalls of C classes and their price.

    rules: ``bags.Rules`` with the keys of the group's rows; without a bag where nothing is
    required. price: of a shortfall of 1, in units of loss. shortfall: float64[C]. tried:
    float64[2], the shortfalls of the two classes after the exchange last evaluated. keys, values:
    int32[room], counts: int64[room], scratch. tally: int64[keys] where there are few keys, which
    are then counted instead of sorted, else of length 0.
    """

    rules: Any
    price: float
    shortfall: npt.NDArray[np.float64]
    tried: npt.NDArray[np.float64]
    keys: npt.NDArray[np.int32]
    values: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]
    tally: npt.NDArray[np.int64]


def few_keys(rules: Rules) -> bool:
    """Return whether counting the keys of a class takes time proportional to its rows."""
    return rules.value.shape[1] <= KEYS


def guard_of(
    rules: Rules, rows: npt.NDArray[np.int32], classes: int, room: int, price: float
) -> Guard:
    """Return a guard of rows int32[m] in ``classes`` classes of at most ``room`` rows.

    The shortfalls are not yet computed; see ``survey``.
    """
    own = rules._replace(keys=np.ascontiguousarray(rules.keys[:, rows]))
    return Guard(
        own,
        price,
        shortfall=np.zeros(classes),
        tried=np.zeros(2),
        keys=np.empty(room + 1, np.int32),
        values=np.empty(room + 1, np.int32),
        counts=np.empty(room + 1, np.int64),
        tally=np.zeros(rules.value.shape[1] if few_keys(rules) else 0, np.int64),
    )


@kernel(widened=True)
def survey(s, guard):
    """Compute the shortfall of each class of a ClassState and return their sum."""
    for at in range(s.size.size):
        guard.shortfall[at] = shortfall_with(s, guard, at, -1, -1)
    return guard.shortfall.sum()


@kernel(widened=True)
def exchange_price(s, guard, here, there, row, back, least):
    """Return the price of the change of both shortfalls by an exchange of rows.

    ``row`` moves from class ``here`` to ``there``, ``back`` the other way. back: -1 for no row.
    Returns a lower bound of the price where even that is not below ``least``.
    """
    before = guard.shortfall[here] + guard.shortfall[there]
    guard.tried[0], guard.tried[1] = guard.shortfall[here], guard.shortfall[there]
    if back >= 0 and alike(guard.rules, row, back):
        return 0.0
    if -guard.price * before >= least:
        return -guard.price * before
    guard.tried[0] = shortfall_with(s, guard, here, row, back)
    guard.tried[1] = shortfall_with(s, guard, there, back, row)
    return guard.price * (guard.tried[0] + guard.tried[1] - before)


@kernel(widened=True)
def keep(guard, here, there):
    """Record the shortfalls after the exchange last evaluated."""
    guard.shortfall[here], guard.shortfall[there] = guard.tried[0], guard.tried[1]


@kernel(widened=True)
def alike(rules, a, b):
    """Return whether two rows have equal keys in every bag."""
    same = True
    for bag in range(rules.total.size):
        same &= rules.keys[bag, a] == rules.keys[bag, b]
    return same


@kernel(widened=True)
def shortfall_with(s, guard, at, out, inn):
    """Return the shortfall of class ``at`` without row ``out`` and with row ``inn`` (-1: no row).

    The number of rows is not tested.
    """
    rules = guard.rules
    total = 0.0
    for bag in range(rules.total.size):
        size = _counted(s, guard, bag, at, out, inn)
        total += short_of_values(rules, bag, guard.values[:size], guard.counts[:size])
    return total


@kernel(widened=True)
def _counted(s, guard, bag, at, out, inn):
    """Write the values of a class and their counts into the guard; return how many values."""
    rules, size = guard.rules, 0
    if guard.tally.size == 0:
        count = _sorted_keys(s, guard, bag, at, out, inn)
        for i in range(count):
            again = i > 0 and guard.keys[i] == guard.keys[i - 1]
            size = _count(guard, bag, size, guard.keys[i], 0 if again and rules.pairs else 1)
        return size
    own, tally = rules.keys[bag], guard.tally
    tally[:] = 0
    for place in range(s.size[at]):
        tally[own[s.members[at, place]]] += 1
    if out >= 0:
        tally[own[out]] -= 1
    if inn >= 0:
        tally[own[inn]] += 1
    for key in range(tally.size):
        if tally[key] > 0:
            size = _count(guard, bag, size, key, 1 if rules.pairs else tally[key])
    return size


@kernel(widened=True)
def _count(guard, bag, size, key, more):
    """Add to the count of a key's value, the last of ``size`` or a new one; return how many."""
    value = guard.rules.value[bag, key]
    if size > 0 and guard.values[size - 1] == value:
        guard.counts[size - 1] += more
        return size
    guard.values[size], guard.counts[size] = value, more
    return size + 1


@kernel(widened=True)
def _sorted_keys(s, guard, bag, at, out, inn):
    """Write the keys of a class into the guard, ascending; return how many rows it has."""
    own, keys, count = guard.rules.keys[bag], guard.keys, 0
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
    return count
