"""Price the shortfalls of classes below l, t and the k of persons while rows are exchanged.

The price lets a search for less loss reduce shortfalls too. s is the state of the classes in all of
this file, a ``ClassState``. Source: this project.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.legality import Rules, is_persons, short_of_persons, short_of_values

VALUES = 64  # most sensitive values whose keys are counted as rows are exchanged


class Guard(NamedTuple):
    """Shortfalls of C classes and their price.

    rules: ``Rules`` with the keys of the group's rows; without an attribute where nothing is
    required. price: of a shortfall of 1, in units of loss. shortfall: float64[C]. tried:
    float64[2], the shortfalls of the two classes after the exchange last evaluated. keys, values:
    int32[capacity + 1], counts: int64[capacity + 1], scratch. held: int32[b, C, values], rows, or
    pairs of value and person, of each class by attribute and value, where there are few values,
    and the number of persons at value 0; else of width 0, and keys are sorted.
    """

    rules: Any
    price: float
    shortfall: npt.NDArray[np.float64]
    tried: npt.NDArray[np.float64]
    keys: npt.NDArray[np.int32]
    values: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]
    held: npt.NDArray[np.int32]


def few_values(rules: Rules) -> bool:
    """Return whether the keys of each class are counted by value, as rows are exchanged."""
    return int(rules.known.max(initial=0)) < VALUES


def guard_of(
    rules: Rules, rows: npt.NDArray[np.int32], classes: int, capacity: int, price: float
) -> Guard:
    """Return a guard of rows int32[m] in ``classes`` classes of at most ``capacity`` rows.

    The shortfalls are not yet computed; see ``survey``.
    """
    own = rules._replace(keys=np.ascontiguousarray(rules.keys[:, rows]))
    values = int(rules.known.max(initial=0)) + 1 if few_values(rules) else 0
    return Guard(
        own,
        price,
        shortfall=np.zeros(classes),
        tried=np.zeros(2),
        keys=np.empty(capacity + 1, np.int32),
        values=np.empty(capacity + 1, np.int32),
        counts=np.empty(capacity + 1, np.int64),
        held=np.zeros((len(rules.total), classes, values), np.int32),
    )


@kernel(widened=True, borrows=True)
def survey(s, guard):
    """Compute the shortfall of each class of a ClassState and return their sum."""
    total = 0.0
    guard.held[:] = 0
    for attribute in range(guard.held.shape[0] if guard.held.shape[2] > 0 else 0):
        for row in range(s.home.size):
            at = s.home[row]
            if counts_once(s, guard.rules, attribute, at, row, s.position[row]):
                guard.held[attribute, at, value_of(guard.rules, attribute, row)] += 1
    for at in range(s.size.size):
        guard.shortfall[at] = shortfall_with(s, guard, at, -1, -1)
        total += guard.shortfall[at]
    return total


@kernel(widened=True, borrows=True, inlined=True)
def value_of(rules, attribute, row):
    """Return where ``held`` counts the key of a row."""
    persons = is_persons(rules, attribute)
    return np.int32(0) if persons else rules.value[attribute, rules.keys[attribute, row]]


@kernel(widened=True, borrows=True, inlined=True)
def counts_once(s, rules, attribute, at, row, places):
    """Return whether a row's key counts beside those of the first ``places`` rows of a class."""
    if not rules.pairs:
        return True
    own = rules.keys[attribute]
    for place in range(places):
        other = s.members[at, place]
        if other != row and own[other] == own[row]:
            return False
    return True


@kernel(widened=True, borrows=True, inlined=True)
def exchange_price(s, guard, here, there, row, back, least):
    """Return the price of the change of both shortfalls by an exchange of rows.

    ``row`` moves from class ``here`` to ``there``, ``back`` the other way. back: -1 for no row.
    Returns a lower bound of the price where even that is not below ``least``.
    """
    before = guard.shortfall[here] + guard.shortfall[there]
    guard.tried[0], guard.tried[1] = guard.shortfall[here], guard.shortfall[there]
    if back >= 0 and equal_keys(guard.rules, row, back):
        return 0.0
    if -guard.price * before >= least:
        return -guard.price * before
    guard.tried[0] = shortfall_with(s, guard, here, row, back)
    guard.tried[1] = shortfall_with(s, guard, there, back, row)
    return guard.price * (guard.tried[0] + guard.tried[1] - before)


@kernel(widened=True, borrows=True, inlined=True)
def keep(s, guard, here, there, row, back):
    """Record what the exchange last evaluated leaves, before it is made; see ``exchange_price``."""
    guard.shortfall[here], guard.shortfall[there] = guard.tried[0], guard.tried[1]
    for attribute in range(guard.held.shape[0] if guard.held.shape[2] > 0 else 0):
        gone, come = changed(s, guard, attribute, here, row, back)
        lost, won = changed(s, guard, attribute, there, back, row)
        add(guard, attribute, here, gone, -1)
        add(guard, attribute, here, come, 1)
        add(guard, attribute, there, lost, -1)
        add(guard, attribute, there, won, 1)


@kernel(widened=True, borrows=True, inlined=True)
def add(guard, attribute, at, value, more):
    """Count a key more or less of a class; value: -1 for none."""
    if value >= 0:
        guard.held[attribute, at, value] += more


@kernel(widened=True, borrows=True, inlined=True)
def equal_keys(rules, a, b):
    """Return whether two rows have equal keys in every attribute."""
    same = True
    for attribute in range(rules.total.size):
        same &= rules.keys[attribute, a] == rules.keys[attribute, b]
    return same


@kernel(widened=True, borrows=True, inlined=True)
def changed(s, guard, attribute, at, out, inn):
    """Return the values of ``held`` that lose and gain a key without row ``out`` and with ``inn``.

    -1 for none. A key that the class has in another row too neither goes nor comes.
    """
    rules, gone, come = guard.rules, np.int32(-1), np.int32(-1)
    if out >= 0 and inn >= 0 and rules.keys[attribute, out] == rules.keys[attribute, inn]:
        return gone, come
    if out >= 0 and counts_once(s, rules, attribute, at, out, s.size[at]):
        gone = value_of(rules, attribute, out)
    if inn >= 0 and counts_once(s, rules, attribute, at, inn, s.size[at]):
        come = value_of(rules, attribute, inn)
    return gone, come


@kernel(widened=True, borrows=True, inlined=True)
def shortfall_with(s, guard, at, out, inn):
    """Return the shortfall of class ``at`` without row ``out`` and with row ``inn`` (-1: no row).

    The number of rows is not tested.
    """
    rules = guard.rules
    total = 0.0
    for attribute in range(rules.total.size):
        if guard.held.shape[2] == 0:
            size = _sorted(s, guard, attribute, at, out, inn)
        else:
            gone, come = changed(s, guard, attribute, at, out, inn)
            if is_persons(rules, attribute):
                persons = guard.held[attribute, at, 0] - (gone >= 0) + (come >= 0)
                total += short_of_persons(rules, np.int64(persons))
                continue
            size = _held(guard, attribute, at, gone, come)
        total += short_of_values(rules, attribute, guard.values[:size], guard.counts[:size])
    return total


@kernel(widened=True, borrows=True, inlined=True)
def _held(guard, attribute, at, gone, come):
    """Write the values of a class and their counts into the guard; return how many values.

    gone, come: the values that lose and gain a key.
    """
    size = 0
    for value in range(guard.held.shape[2]):
        count = np.int64(guard.held[attribute, at, value]) - (value == gone) + (value == come)
        if count > 0:
            guard.values[size], guard.counts[size] = value, count
            size += 1
    return size


@kernel(widened=True, borrows=True, inlined=True)
def _sorted(s, guard, attribute, at, out, inn):
    """Write the same from the keys of the class's rows, without ``out`` and with ``inn``."""
    own, keys, count, size = guard.rules.keys[attribute], guard.keys, 0, 0
    for place in range(s.size[at] + (inn >= 0)):
        row = s.members[at, place] if place < s.size[at] else inn
        if row == out:
            continue
        key, position = own[row], count
        while position > 0 and keys[position - 1] > key:
            keys[position] = keys[position - 1]
            position -= 1
        keys[position] = key
        count += 1
    for i in range(count):
        again = i > 0 and keys[i] == keys[i - 1]
        more = 0 if again and guard.rules.pairs else 1
        value = guard.rules.value[attribute, keys[i]]
        if size > 0 and guard.values[size - 1] == value:
            guard.counts[size - 1] += more
        else:
            guard.values[size], guard.counts[size] = value, more
            size += 1
    return size
