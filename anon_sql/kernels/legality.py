"""Measure how far a class falls short of its constraints; 0.0 where it satisfies them.

Count the keys of a class in each attribute. An attribute is a sensitive column; without persons a
key is a sensitive value. With persons a key is a pair of value and person, which counts once
however many rows share it, and the last attribute is the persons themselves.

Sources: Machanavajjhala et al. 2006 (l-diversity: distinct, entropy, recursive); Li, Li and
Venkatasubramanian 2007 (t-closeness: equal and ordered distance); for bounds on shares see
``privacy.constraint``. Departure: each sensitive column is tested by itself, not the joint
condition of several. Counts are compared as whole numbers, the class's times the table's rows and
conversely, so that no quotient is rounded.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.sorting import sort_codes

DISTINCT, ENTROPY, RECURSIVE = 0, 1, 2
COUNT = np.int64(2**32 - 1)  # mask of the bits that hold a count


class Rules(NamedTuple):
    """What k, l, t, beta and delta require of a class, and the table's own counts, in b attributes.

    There is one attribute for each sensitive column. k: least number of rows, or of persons where
    there are any. l, kind, c: diversity; l = 1 requires nothing. t: largest distance; t = 1
    requires nothing.

    keys: int32[b, n], key of each row. value: int32[b, …], value of each key, ascending with the
    key. pairs: whether a key counts once. known: int64[b], number of values that are not NULL;
    values are numbered in ascending order, NULL last. ordered: bool[b], whether the distance goes
    by rank or treats all pairs of values alike.

    table_counts: int64[b, …], count of each value in the table; total: int64[b], their sum. below:
    float64[b, …], count of values up to and including each; area: float64[b, …], sum of ``below``
    over the values before each. least, most: float64[b, …], bounds on the share of each value, not
    for the persons; of width 0 where there are none. persons: whether the last attribute is the
    persons.
    """

    k: int
    l: float  # noqa: E741 - the field's name for it
    kind: int
    c: float
    t: float
    keys: npt.NDArray[np.int32]
    value: npt.NDArray[np.int32]
    pairs: bool
    known: npt.NDArray[np.int64]
    ordered: npt.NDArray[np.bool_]
    table_counts: npt.NDArray[np.int64]
    total: npt.NDArray[np.int64]
    below: npt.NDArray[np.float64]
    area: npt.NDArray[np.float64]
    least: npt.NDArray[np.float64]
    most: npt.NDArray[np.float64]
    persons: bool


@kernel
def contents(rules, attribute, rows):
    """Return the key counts of rows int32[m]: int64[…], ascending, a key above 32 bits of count."""
    keys = np.empty(rows.size, np.int32)
    for at in range(rows.size):
        keys[at] = rules.keys[attribute, rows[at]]
    sort_codes(keys)
    key_counts = np.empty(keys.size, np.int64)
    size = 0
    for at in range(keys.size):
        if at > 0 and keys[at] == keys[at - 1]:
            key_counts[size - 1] += not rules.pairs
        else:
            key_counts[size] = (np.int64(keys[at]) << 32) + 1
            size += 1
    return key_counts[:size].copy()


@kernel
def union(rules, a, b):
    """Return the key counts of the union of the disjoint row sets that a and b count."""
    both = np.empty(a.size + b.size, np.int64)
    i = j = size = 0
    while i < a.size or j < b.size:
        left = a[i] >> 32 if i < a.size else np.int64(2**31)
        right = b[j] >> 32 if j < b.size else np.int64(2**31)
        both[size] = a[i] if left <= right else b[j]
        if left == right and not rules.pairs:
            both[size] += b[j] & COUNT
        i += 1 if left <= right else 0
        j += 1 if right <= left else 0
        size += 1
    return both[:size]


@kernel
def fold(rules, attribute, key_counts, values, counts):
    """Write the values of key counts, ascending, and their counts; return how many values."""
    size = 0
    for at in range(key_counts.size):
        value, count = rules.value[attribute, key_counts[at] >> 32], key_counts[at] & COUNT
        if size > 0 and values[size - 1] == value:
            counts[size - 1] += count
        else:
            values[size], counts[size] = value, count
            size += 1
    return size


def no_rules(rows: int) -> Rules:
    """Return rules without an attribute, which every class of the rows satisfies."""
    none = np.zeros((0, 1))
    return Rules(
        k=1, l=1.0, kind=DISTINCT, c=3.0, t=1.0,
        keys=np.zeros((0, rows), np.int32), value=none.astype(np.int32), pairs=False,
        known=np.zeros(0, np.int64), ordered=np.zeros(0, np.bool_),
        table_counts=none.astype(np.int64), total=np.zeros(0, np.int64),
        below=none, area=none, least=none[:, :0], most=none[:, :0], persons=False,
    )  # fmt: skip


LEAST = 1e-9  # smallest shortfall of an illegal class
EXACT = 1 + 1e-12  # tolerance, since sums of whole numbers beyond 2**53 are rounded


@kernel(borrows=True, inlined=True)
def short_of_l(rules, attribute, values, counts):
    """Return the missing diversity times the number of rows; 0.0 where l is satisfied.

    values: int32[v] ascending; counts: int64[v] of each.
    """
    known = counts.size
    if known > 0 and values[known - 1] == rules.known[attribute]:
        known -= 1
    total = 0
    for at in range(counts.size):
        total += counts[at]
    if rules.kind == ENTROPY:
        rows, logs = 0.0, 0.0
        for at in range(known):
            rows += counts[at]
            logs += counts[at] * np.log(counts[at])
        entropy = np.log(rows) - logs / rows if known > 0 else -np.inf
        enough = entropy >= np.log(rules.l) - 1e-9
        return 0.0 if enough else max(total * (rules.l - np.exp(entropy)), LEAST)
    if known < rules.l:
        return total * (rules.l - known)
    if rules.kind == RECURSIVE:
        most, rest = recursive_parts(counts[:known], int(rules.l))
        return 0.0 if most < rules.c * rest else max(most - rules.c * rest, LEAST)
    return 0.0


@kernel(borrows=True, inlined=True)
def recursive_parts(counts, nth):
    """Return the largest of at least ``nth`` counts, and the sum from the n-th largest on."""
    most, rest = np.int64(0), np.int64(0)
    for at in range(counts.size):
        most, rest = max(most, counts[at]), rest + counts[at]
    above, place = np.int64(2**62), np.int64(-1)  # the last that was taken from the rest
    for _ in range(nth - 1):
        largest, found = np.int64(-1), np.int64(-1)
        for at in range(counts.size):
            count = counts[at]
            follows = count < above or (count == above and at > place)  # ties by place
            if follows and count > largest:
                largest, found = count, np.int64(at)
        above, place = largest, found
        rest -= largest
    return most, rest


@kernel(borrows=True, inlined=True)
def short_of_t(rules, attribute, values, counts):
    """Return the excess of the distance over t times the number of rows; 0.0 where t is satisfied.

    values: int32[v] ascending; counts: int64[v] of each.
    """
    n, m = float(rules.total[attribute]), 0.0
    for at in range(counts.size):
        m += counts[at]
    distance, sizes = 0.0, 2.0 * m * n
    if not rules.ordered[attribute]:
        there = 0.0  # rows of the table with values of the class
        for at in range(counts.size):
            table_count = float(rules.table_counts[attribute, values[at]])
            distance += abs(n * counts[at] - m * table_count)
            there += table_count
        distance += m * (n - there)
    else:
        last = rules.known[attribute] - 1
        sizes = max(last, 1) * m * n
        sofar, after = 0.0, np.int64(0)  # one type, compiled once
        for at in range(counts.size + 1):  # the class's sum is constant between two of its values
            until = values[at] if at < counts.size else last
            distance += gap(rules, attribute, n * sofar, m, after, until)
            if at < counts.size:
                sofar += counts[at]
                after = until
    if distance <= rules.t * sizes * EXACT:
        return 0.0
    return max(m * (distance / sizes - rules.t), LEAST)


@kernel(borrows=True, inlined=True)
def gap(rules, attribute, level, m, first, end):
    """Return the sum of |level - m * below| over the values first … end - 1."""
    low, high = first, end
    while low < high:
        middle = (low + high) // 2
        if m * rules.below[attribute, middle] <= level:
            low = middle + 1
        else:
            high = middle
    under = level * (low - first) - m * (rules.area[attribute, low] - rules.area[attribute, first])
    over = m * (rules.area[attribute, end] - rules.area[attribute, low]) - level * (end - low)
    return under + over


@kernel(borrows=True, inlined=True)
def short_of_shares(rules, attribute, values, counts):
    """Return how many rows are beyond the bounds on shares; 0.0 where all shares are within.

    values: int32[v] ascending; counts: int64[v] of each.
    """
    m, beyond = 0, 0.0
    for at in range(counts.size):
        m += counts[at]
    for at in range(counts.size):
        beyond += max(counts[at] - m * rules.most[attribute, values[at]] * EXACT, 0.0)
    at = 0
    for value in range(rules.least.shape[1]):
        count = 0
        if at < counts.size and values[at] == value:
            count = counts[at]
            at += 1
        beyond += max(m * rules.least[attribute, value] - count * EXACT, 0.0)
    return max(beyond, LEAST) if beyond > 0 else 0.0


@kernel
def short_of(rules, attribute, key_counts):
    """Return the shortfall of a class in one attribute; 0.0 where there is none."""
    values, counts = np.empty(key_counts.size, np.int32), np.empty(key_counts.size, np.int64)
    size = fold(rules, attribute, key_counts, values, counts)
    return short_of_values(rules, attribute, values[:size], counts[:size])


@kernel(borrows=True, inlined=True)
def short_of_values(rules, attribute, values, counts):
    """Return the shortfall of a class in one attribute, given its values and their counts.

    values: int32[v] ascending; counts: int64[v] of each.
    """
    if is_persons(rules, attribute):
        return short_of_persons(rules, counts.size)
    shortfall = short_of_l(rules, attribute, values, counts) if rules.l > 1 else 0.0
    shortfall += short_of_t(rules, attribute, values, counts) if rules.t < 1 else 0.0
    bounded = rules.most.shape[1] > 0
    return shortfall + (short_of_shares(rules, attribute, values, counts) if bounded else 0.0)


@kernel(borrows=True, inlined=True)
def is_persons(rules, attribute):
    """Return whether the values of an attribute are persons."""
    return rules.persons and attribute == rules.total.size - 1


@kernel(borrows=True, inlined=True)
def short_of_persons(rules, persons):
    """Return the shortfall of so many persons below k."""
    return float(persons * max(0, rules.k - persons))


@kernel(borrows=True, inlined=True)
def short_of_k(rules, rows):
    """Return the shortfall of so many rows below k; persons are an attribute of their own."""
    return 0.0 if rules.persons else float(rows * max(0, rules.k - rows))


@kernel
def shortfalls(rules, order, starts):
    """Return the shortfall of each class, float64[m]: 0.0 if and only if it is legal.

    order: int32[…], starts: int64[m + 1], the rows class by class.
    """
    shortfall = np.zeros(starts.size - 1)
    for at in range(shortfall.size):
        rows = order[starts[at] : starts[at + 1]]
        shortfall[at] = short_of_k(rules, rows.size)
        for attribute in range(rules.total.size):
            shortfall[at] += short_of(rules, attribute, contents(rules, attribute, rows))
    return shortfall
