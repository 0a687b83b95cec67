"""Price the shortfalls of classes below l, t and the k of persons while rows are exchanged.

The price lets a search for less loss reduce shortfalls too. Source: this project.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.legality import Rules, is_persons, short_of_persons, short_of_values

COUNTED_VALUES = 64  # sensitive values, at most, whose keys are counted as rows are exchanged


class Guard(NamedTuple):
    """Shortfalls of C classes and their price.

    rules: ``Rules`` with the keys of the group's rows; without an attribute if nothing is required.
    price: of a shortfall of 1, in units of loss.
    shortfall: float64[C], of each class.
    tried: float64[2], the shortfalls of the two classes after the exchange last evaluated.
    keys, values: int32[capacity + 1], scratch.
    counts: int64[capacity + 1], scratch.
    tally: int32[b, C, values], rows, or pairs of value and person, of each class by attribute and
        value, and the number of persons at value 0; of width 0 if there are many values, whose keys
        are sorted instead.
    """

    rules: Any
    price: float
    shortfall: npt.NDArray[np.float64]
    tried: npt.NDArray[np.float64]
    keys: npt.NDArray[np.int32]
    values: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]
    tally: npt.NDArray[np.int32]


def few_values(rules: Rules) -> bool:
    """Return whether the keys of each class are counted by value, as rows are exchanged.

    rules: the table's.
    """
    return int(rules.non_null.max(initial=0)) < COUNTED_VALUES


def guard_of(
    rules: Rules, rows: npt.NDArray[np.int32], classes: int, capacity: int, price: float
) -> Guard:
    """Return a guard of a group of rows. The shortfalls are not yet computed; see ``survey``.

    rules: the table's.
    rows: int32[m], rows of the group.
    classes: number of classes.
    capacity: most rows of a class.
    price: of a shortfall of 1, in units of loss.
    """
    group_rules = rules._replace(keys=np.ascontiguousarray(rules.keys[:, rows]))
    values = int(rules.non_null.max(initial=0)) + 1 if few_values(rules) else 0
    return Guard(
        group_rules,
        price,
        shortfall=np.zeros(classes),
        tried=np.zeros(2),
        keys=np.empty(capacity + 1, np.int32),
        values=np.empty(capacity + 1, np.int32),
        counts=np.empty(capacity + 1, np.int64),
        tally=np.zeros((len(rules.total), classes, values), np.int32),
    )


@kernel(widened=True, borrows=True)
def survey(state, guard):
    """Compute the shortfall of each class and return their sum.

    state: ``ClassState``.
    guard: ``Guard``, changed.
    """
    total = 0.0
    guard.tally[:] = 0
    for attribute in range(guard.tally.shape[0] if guard.tally.shape[2] > 0 else 0):
        for row in range(state.home.size):
            class_id = state.home[row]
            if counts_once(state, guard.rules, attribute, class_id, row, state.position[row]):
                guard.tally[attribute, class_id, value_of(guard.rules, attribute, row)] += 1
    for class_id in range(state.size.size):
        guard.shortfall[class_id] = shortfall_with(state, guard, class_id, -1, -1)
        total += guard.shortfall[class_id]
    return total


@kernel(widened=True, borrows=True, inlined=True)
def value_of(rules, attribute, row):
    """Return at which value of ``Guard.tally`` the key of a row is counted.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    attribute: int, the attribute of the rules, 0 … b - 1.
    row: int, the row.
    """
    persons = is_persons(rules, attribute)
    return np.int32(0) if persons else rules.value[attribute, rules.keys[attribute, row]]


@kernel(widened=True, borrows=True, inlined=True)
def counts_once(state, rules, attribute, class_id, row, end):
    """Return whether a row's key counts beside those of the first rows of a class.

    state: ``ClassState``.
    rules: ``Rules``, what a class must satisfy besides its number of rows.
    attribute: int, the attribute of the rules, 0 … b - 1.
    class_id: int, the class.
    row: int, the row.
    end: int, how many rows of the class come first.
    """
    if not rules.pairs:
        return True
    keys = rules.keys[attribute]
    for position in range(end):
        other = state.members[class_id, position]
        if other != row and keys[other] == keys[row]:
            return False
    return True


@kernel(widened=True, borrows=True, inlined=True)
def exchange_price(state, guard, origin, target, row, row_back, limit):
    """Return the price of the change of both shortfalls by an exchange of rows.

    Returns a lower bound of the price if even that is not below the limit.

    state: ``ClassState``.
    guard: ``Guard``, changed.
    origin, target: int, the two classes.
    row, row_back: int, the row that moves to ``target`` and the one that moves back; -1 for none.
    limit: float64, the price from which the exact one does not matter.
    """
    before = guard.shortfall[origin] + guard.shortfall[target]
    guard.tried[0], guard.tried[1] = guard.shortfall[origin], guard.shortfall[target]
    if row_back >= 0 and equal_keys(guard.rules, row, row_back):
        return 0.0
    if -guard.price * before >= limit:
        return -guard.price * before
    guard.tried[0] = shortfall_with(state, guard, origin, row, row_back)
    guard.tried[1] = shortfall_with(state, guard, target, row_back, row)
    return guard.price * (guard.tried[0] + guard.tried[1] - before)


@kernel(widened=True, borrows=True, inlined=True)
def keep(state, guard, origin, target, row, row_back):
    """Record what the exchange last evaluated leaves, before it is made; see ``exchange_price``.

    state: ``ClassState``.
    guard: ``Guard``, changed.
    origin, target: int, the two classes.
    row, row_back: int, the row that moves to ``target`` and the one that moves back; -1 for none.
    """
    guard.shortfall[origin], guard.shortfall[target] = guard.tried[0], guard.tried[1]
    for attribute in range(guard.tally.shape[0] if guard.tally.shape[2] > 0 else 0):
        origin_lost, origin_gained = changed_values(state, guard, attribute, origin, row, row_back)
        target_lost, target_gained = changed_values(state, guard, attribute, target, row_back, row)
        add(guard, attribute, origin, origin_lost, -1)
        add(guard, attribute, origin, origin_gained, 1)
        add(guard, attribute, target, target_lost, -1)
        add(guard, attribute, target, target_gained, 1)


@kernel(widened=True, borrows=True, inlined=True)
def add(guard, attribute, class_id, value, change):
    """Count a key more or less of a class.

    guard: ``Guard``, changed.
    attribute: int, the attribute of the rules, 0 … b - 1.
    class_id: int, the class.
    value: int, where it is counted; -1 for none.
    change: int, 1 or -1.
    """
    if value >= 0:
        guard.tally[attribute, class_id, value] += change


@kernel(widened=True, borrows=True, inlined=True)
def equal_keys(rules, a, b):
    """Return whether two rows have equal keys in every attribute.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    a, b: int, the rows.
    """
    same = True
    for attribute in range(rules.total.size):
        same &= rules.keys[attribute, a] == rules.keys[attribute, b]
    return same


@kernel(widened=True, borrows=True, inlined=True)
def changed_values(state, guard, attribute, class_id, row_out, row_in):
    """Return the values that lose and gain a key if one row leaves and another enters; -1 for none.

    A key that the class has in another row too is neither lost nor gained.

    state: ``ClassState``.
    guard: ``Guard``.
    attribute: int, the attribute of the rules, 0 … b - 1.
    class_id: int, the class.
    row_out, row_in: int, the row that leaves and the one that enters; -1 for none.
    """
    rules, lost, gained = guard.rules, np.int32(-1), np.int32(-1)
    if (
        row_out >= 0
        and row_in >= 0
        and rules.keys[attribute, row_out] == rules.keys[attribute, row_in]
    ):
        return lost, gained
    if row_out >= 0 and counts_once(
        state, rules, attribute, class_id, row_out, state.size[class_id]
    ):
        lost = value_of(rules, attribute, row_out)
    if row_in >= 0 and counts_once(state, rules, attribute, class_id, row_in, state.size[class_id]):
        gained = value_of(rules, attribute, row_in)
    return lost, gained


@kernel(widened=True, borrows=True, inlined=True)
def shortfall_with(state, guard, class_id, row_out, row_in):
    """Return the shortfall of a class without one row and with another; rows are not counted.

    state: ``ClassState``.
    guard: ``Guard``, changed.
    class_id: int, the class.
    row_out, row_in: int, the row that leaves and the one that enters; -1 for none.
    """
    rules = guard.rules
    total = 0.0
    for attribute in range(rules.total.size):
        if guard.tally.shape[2] == 0:
            size = _sorted(state, guard, attribute, class_id, row_out, row_in)
        else:
            lost, gained = changed_values(state, guard, attribute, class_id, row_out, row_in)
            if is_persons(rules, attribute):
                persons = guard.tally[attribute, class_id, 0] - (lost >= 0) + (gained >= 0)
                total += short_of_persons(rules, np.int64(persons))
                continue
            size = _tallied(guard, attribute, class_id, lost, gained)
        total += short_of_values(rules, attribute, guard.values[:size], guard.counts[:size])
    return total


@kernel(widened=True, borrows=True, inlined=True)
def _tallied(guard, attribute, class_id, lost, gained):
    """Write the values of a class and their counts into the guard; return how many values.

    guard: ``Guard``, changed.
    attribute: int, the attribute of the rules, 0 … b - 1.
    class_id: int, the class.
    lost, gained: int, the values that lose and gain a key; -1 for none.
    """
    size = 0
    for value in range(guard.tally.shape[2]):
        count = (
            np.int64(guard.tally[attribute, class_id, value]) - (value == lost) + (value == gained)
        )
        if count > 0:
            guard.values[size], guard.counts[size] = value, count
            size += 1
    return size


@kernel(widened=True, borrows=True, inlined=True)
def _sorted(state, guard, attribute, class_id, row_out, row_in):
    """Write the values as ``_tallied`` does, from the sorted keys of the class's rows.

    state: ``ClassState``.
    guard: ``Guard``, changed.
    attribute: int, the attribute of the rules, 0 … b - 1.
    class_id: int, the class.
    row_out, row_in: int, the row that leaves and the one that enters; -1 for none.
    """
    row_keys, keys, count, size = guard.rules.keys[attribute], guard.keys, 0, 0
    for i in range(state.size[class_id] + (row_in >= 0)):
        row = state.members[class_id, i] if i < state.size[class_id] else row_in
        if row == row_out:
            continue
        key, position = row_keys[row], count
        while position > 0 and keys[position - 1] > key:
            keys[position] = keys[position - 1]
            position -= 1
        keys[position] = key
        count += 1
    for j in range(count):
        is_repeated = j > 0 and keys[j] == keys[j - 1]
        increment = 0 if is_repeated and guard.rules.pairs else 1
        value = guard.rules.value[attribute, keys[j]]
        if size > 0 and guard.values[size - 1] == value:
            guard.counts[size - 1] += increment
        else:
            guard.values[size], guard.counts[size] = value, increment
            size += 1
    return size
