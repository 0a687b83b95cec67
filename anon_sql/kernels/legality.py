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
COUNT_MASK = np.int64(2**32 - 1)  # mask of the bits that hold a count


class Rules(NamedTuple):
    """What k, l, t, beta and delta require of a class, and the table's own counts, in b attributes.

    There is one attribute for each sensitive column.

    k: least number of rows, or of persons if there are any.
    l, kind, c: diversity, its DISTINCT, ENTROPY or RECURSIVE kind and the c of RECURSIVE; l = 1
        requires nothing.
    t: largest distance; t = 1 requires nothing.
    keys: int32[b, n], key of each row.
    value: int32[b, keys], value of each key, ascending with the key.
    pairs: whether a key counts once.
    non_null: int64[b], number of values that are not NULL; values are numbered in ascending order,
        NULL last.
    ordered: bool[b], whether the distance goes by rank or treats every pair of values in the same
        way.
    table_counts: int64[b, v], count of each value in the table.
    total: int64[b], their sum.
    below: float64[b, v], count of values up to and including each.
    area: float64[b, v], sum of ``below`` over the values before each.
    least, most: float64[b, v], bounds on the share of each value, not for the persons; of width 0
        if there are no bounds.
    persons: whether the last attribute is the persons.
    """

    k: int
    l: float  # noqa: E741 - the field's name for it
    kind: int
    c: float
    t: float
    keys: npt.NDArray[np.int32]
    value: npt.NDArray[np.int32]
    pairs: bool
    non_null: npt.NDArray[np.int64]
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
    """Return the key counts of rows, int64[u]: ascending, a key above 32 bits of count.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    attribute: int, the attribute of the rules, 0 … b - 1.
    rows: int32[m], rows of a class.
    """
    keys = np.empty(rows.size, np.int32)
    for i in range(rows.size):
        keys[i] = rules.keys[attribute, rows[i]]
    sort_codes(keys)
    key_counts = np.empty(keys.size, np.int64)
    size = 0
    for i in range(keys.size):
        if i > 0 and keys[i] == keys[i - 1]:
            key_counts[size - 1] += not rules.pairs
        else:
            key_counts[size] = (np.int64(keys[i]) << 32) + 1
            size += 1
    return key_counts[:size].copy()


@kernel
def union(rules, a, b):
    """Return the key counts of the union of two disjoint sets of rows, int64[u].

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    a, b: int64[…], key counts of the sets, from ``contents``.
    """
    both = np.empty(a.size + b.size, np.int64)
    i = j = size = 0
    while i < a.size or j < b.size:
        left = a[i] >> 32 if i < a.size else np.int64(2**31)
        right = b[j] >> 32 if j < b.size else np.int64(2**31)
        both[size] = a[i] if left <= right else b[j]
        if left == right and not rules.pairs:
            both[size] += b[j] & COUNT_MASK
        i += 1 if left <= right else 0
        j += 1 if right <= left else 0
        size += 1
    return both[:size]


@kernel
def fold(rules, attribute, key_counts, values, counts):
    """Write the values of key counts, ascending, and their counts; return how many values.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    attribute: int, the attribute of the rules, 0 … b - 1.
    key_counts: int64[u], ascending, a key above 32 bits of count.
    values: int32[u], written.
    counts: int64[u], written.
    """
    size = 0
    for i in range(key_counts.size):
        value, count = rules.value[attribute, key_counts[i] >> 32], key_counts[i] & COUNT_MASK
        if size > 0 and values[size - 1] == value:
            counts[size - 1] += count
        else:
            values[size], counts[size] = value, count
            size += 1
    return size


def no_rules(rows: int) -> Rules:
    """Return rules without an attribute, which every class satisfies.

    rows: rows of the table.
    """
    none = np.zeros((0, 1))
    return Rules(
        k=1, l=1.0, kind=DISTINCT, c=3.0, t=1.0,
        keys=np.zeros((0, rows), np.int32), value=none.astype(np.int32), pairs=False,
        non_null=np.zeros(0, np.int64), ordered=np.zeros(0, np.bool_),
        table_counts=none.astype(np.int64), total=np.zeros(0, np.int64),
        below=none, area=none, least=none[:, :0], most=none[:, :0], persons=False,
    )  # fmt: skip


MIN_SHORTFALL = 1e-9  # smallest shortfall of an illegal class
ROUNDING = 1 + 1e-12  # tolerance, since sums of whole numbers beyond 2**53 are rounded


@kernel(borrows=True, inlined=True)
def short_of_l(rules, attribute, values, counts):
    """Return the missing diversity times the number of rows; 0.0 if l is satisfied.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    attribute: int, the attribute of the rules, 0 … b - 1.
    values: int32[v], the class's values, ascending.
    counts: int64[v], rows, or persons, with each value.
    """
    non_null = counts.size
    if non_null > 0 and values[non_null - 1] == rules.non_null[attribute]:
        non_null -= 1
    total = 0
    for i in range(counts.size):
        total += counts[i]
    if rules.kind == ENTROPY:
        rows, logs = 0.0, 0.0
        for i in range(non_null):
            rows += counts[i]
            logs += counts[i] * np.log(counts[i])
        entropy = np.log(rows) - logs / rows if non_null > 0 else -np.inf
        enough = entropy >= np.log(rules.l) - 1e-9
        return 0.0 if enough else max(total * (rules.l - np.exp(entropy)), MIN_SHORTFALL)
    if non_null < rules.l:
        return total * (rules.l - non_null)
    if rules.kind == RECURSIVE:
        largest, rest = recursive_parts(counts[:non_null], int(rules.l))
        return 0.0 if largest < rules.c * rest else max(largest - rules.c * rest, MIN_SHORTFALL)
    return 0.0


@kernel(borrows=True, inlined=True)
def recursive_parts(counts, nth):
    """Return r1 and r_l + … + r_v, of counts r1 >= r2 >= … >= r_v (recursive (c, l)-diversity).

    counts: int64[v], at least ``nth`` of them, in any order.
    nth: int, l.
    """
    r1, tail = np.int64(0), np.int64(0)
    for i in range(counts.size):
        r1, tail = max(r1, counts[i]), tail + counts[i]
    last_count, last_index = np.int64(2**62), np.int64(-1)  # the last that was taken from the rest
    for _ in range(nth - 1):
        largest, index = np.int64(-1), np.int64(-1)
        for i in range(counts.size):
            count = counts[i]
            follows = count < last_count or (
                count == last_count and i > last_index
            )  # ties by place
            if follows and count > largest:
                largest, index = count, np.int64(i)
        last_count, last_index = largest, index
        tail -= largest
    return r1, tail


@kernel(borrows=True, inlined=True)
def short_of_t(rules, attribute, values, counts):
    """Return the excess of the distance over t times the number of rows; 0.0 if t is satisfied.

    The distance of Li, Li and Venkatasubramanian 2007 with P the class and Q the table: 1/2 Σ |p -
    q| if the values have no order, else 1/(v - 1) Σ |Σ (p - q)|.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    attribute: int, the attribute of the rules, 0 … b - 1.
    values: int32[v], the class's values, ascending.
    counts: int64[v], rows, or persons, with each value.
    """
    n, m = float(rules.total[attribute]), 0.0
    for i in range(counts.size):
        m += counts[i]
    distance, sizes = 0.0, 2.0 * m * n
    if not rules.ordered[attribute]:
        class_values_total = 0.0  # rows of the table with values of the class
        for i in range(counts.size):
            table_count = float(rules.table_counts[attribute, values[i]])
            distance += abs(n * counts[i] - m * table_count)
            class_values_total += table_count
        distance += m * (n - class_values_total)
    else:
        last = rules.non_null[attribute] - 1
        sizes = max(last, 1) * m * n
        cumulated, begin = 0.0, np.int64(0)  # one type, compiled once
        for i in range(counts.size + 1):  # the class's sum is constant between two of its values
            until = values[i] if i < counts.size else last
            distance += gap(rules, attribute, n * cumulated, m, begin, until)
            if i < counts.size:
                cumulated += counts[i]
                begin = until
    if distance <= rules.t * sizes * ROUNDING:
        return 0.0
    return max(m * (distance / sizes - rules.t), MIN_SHORTFALL)


@kernel(borrows=True, inlined=True)
def gap(rules, attribute, level, m, first, end):
    """Return the sum of |level - m * below| over some values.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    attribute: int, the attribute of the rules, 0 … b - 1.
    level: float64, what the class's counts sum up to, times the table's rows.
    m: float64, rows of the class.
    first, end: int64, the values first … end - 1.
    """
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
    """Return how many rows are beyond the bounds on shares; 0.0 if all shares are within.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    attribute: int, the attribute of the rules, 0 … b - 1.
    values: int32[v], the class's values, ascending.
    counts: int64[v], rows, or persons, with each value.
    """
    m, beyond = 0, 0.0
    for i in range(counts.size):
        m += counts[i]
    for i in range(counts.size):
        beyond += max(counts[i] - m * rules.most[attribute, values[i]] * ROUNDING, 0.0)
    i = 0
    for value in range(rules.least.shape[1]):
        count = 0
        if i < counts.size and values[i] == value:
            count = counts[i]
            i += 1
        beyond += max(m * rules.least[attribute, value] - count * ROUNDING, 0.0)
    return max(beyond, MIN_SHORTFALL) if beyond > 0 else 0.0


@kernel
def short_of(rules, attribute, key_counts):
    """Return the shortfall of a class in one attribute; 0.0 if there is none.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    attribute: int, the attribute of the rules, 0 … b - 1.
    key_counts: int64[u], ascending, a key above 32 bits of count.
    """
    values, counts = np.empty(key_counts.size, np.int32), np.empty(key_counts.size, np.int64)
    size = fold(rules, attribute, key_counts, values, counts)
    return short_of_values(rules, attribute, values[:size], counts[:size])


@kernel(borrows=True, inlined=True)
def short_of_values(rules, attribute, values, counts):
    """Return the shortfall of a class in one attribute; 0.0 if there is none.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    attribute: int, the attribute of the rules, 0 … b - 1.
    values: int32[v], the class's values, ascending.
    counts: int64[v], rows, or persons, with each value.
    """
    if is_persons(rules, attribute):
        return short_of_persons(rules, counts.size)
    shortfall = short_of_l(rules, attribute, values, counts) if rules.l > 1 else 0.0
    shortfall += short_of_t(rules, attribute, values, counts) if rules.t < 1 else 0.0
    bounded = rules.most.shape[1] > 0
    return shortfall + (short_of_shares(rules, attribute, values, counts) if bounded else 0.0)


@kernel(borrows=True, inlined=True)
def is_persons(rules, attribute):
    """Return whether the values of an attribute are persons.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    attribute: int, the attribute of the rules, 0 … b - 1.
    """
    return rules.persons and attribute == rules.total.size - 1


@kernel(borrows=True, inlined=True)
def short_of_persons(rules, persons):
    """Return the shortfall of a class below k persons.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    persons: int, persons of the class.
    """
    return float(persons * max(0, rules.k - persons))


@kernel(borrows=True, inlined=True)
def short_of_k(rules, rows):
    """Return the shortfall of a class below k rows; persons are an attribute of their own.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    rows: int, rows of the class.
    """
    return 0.0 if rules.persons else float(rows * max(0, rules.k - rows))


@kernel
def shortfalls(rules, order, starts):
    """Return the shortfall of each class, float64[m]: 0.0 if and only if it is legal.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    order: int32[n], rows class by class.
    starts: int64[m + 1], where each class begins in ``order``.
    """
    shortfall = np.zeros(starts.size - 1)
    for class_id in range(shortfall.size):
        rows = order[starts[class_id] : starts[class_id + 1]]
        shortfall[class_id] = short_of_k(rules, rows.size)
        for attribute in range(rules.total.size):
            shortfall[class_id] += short_of(rules, attribute, contents(rules, attribute, rows))
    return shortfall
