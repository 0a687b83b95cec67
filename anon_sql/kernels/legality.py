"""May rows be a class? How far a class falls short of what k, l and t ask; 0.0 where it does not.

Sources: Machanavajjhala et al. 2006 (l: distinct, entropy, recursive); Li, Li and
Venkatasubramanian 2007 (t: equal and ordered distance). Each sensitive column counts by itself,
not their joint condition. Counts are compared as whole numbers, those of the class times the rows
of the table and the other way round, so that no quotient decides.
"""

import numpy as np
from numba import njit

from anon_sql.kernels.bags import ENTROPY, RECURSIVE, contents, fold

LEAST = 1e-9  # what a class falls short at least, when it does
EXACT = 1 + 1e-12  # sums of whole numbers beyond 2**53 are rounded


@njit(cache=True, nogil=True)
def short_of_l(rules, bag, values, counts):
    """How much more diverse the values would have to be, times their number; 0.0 is enough."""
    known = counts.size
    if known > 0 and values[known - 1] == rules.known[bag]:
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
        most = np.sort(counts[:known])[::-1]
        rest = 0
        for at in range(int(rules.l) - 1, known):
            rest += most[at]
        return 0.0 if most[0] < rules.c * rest else max(most[0] - rules.c * rest, LEAST)
    return 0.0


@njit(cache=True, nogil=True)
def short_of_t(rules, bag, values, counts):
    """How far above t the distance from the table is, times the rows; 0.0 is near enough."""
    n, m = float(rules.total[bag]), 0.0
    for at in range(counts.size):
        m += counts[at]
    distance, sizes = 0.0, 2.0 * m * n
    if not rules.ordered[bag]:
        there = 0.0  # rows of the table with values of the class
        for at in range(counts.size):
            held = float(rules.held[bag, values[at]])
            distance += abs(n * counts[at] - m * held)
            there += held
        distance += m * (n - there)
    else:
        last = rules.known[bag] - 1
        sizes = max(last, 1) * m * n
        sofar, after = 0.0, 0
        for at in range(counts.size + 1):  # between two values of the class its sum stays
            until = values[at] if at < counts.size else last
            distance += gap(rules, bag, n * sofar, m, after, until)
            if at < counts.size:
                sofar += counts[at]
                after = until
    if distance <= rules.t * sizes * EXACT:
        return 0.0
    return max(m * (distance / sizes - rules.t), LEAST)


@njit(cache=True, nogil=True)
def gap(rules, bag, level, m, first, end):
    """Sum of |level - m * below| over the values first … end - 1."""
    low, high = first, end
    while low < high:
        middle = (low + high) // 2
        if m * rules.below[bag, middle] <= level:
            low = middle + 1
        else:
            high = middle
    under = level * (low - first) - m * (rules.area[bag, low] - rules.area[bag, first])
    over = m * (rules.area[bag, end] - rules.area[bag, low]) - level * (end - low)
    return under + over


@njit(cache=True, nogil=True)
def short_of(rules, bag, held):
    """What one bag of a class lacks; 0.0 where it lacks nothing."""
    values, counts = np.empty(held.size, np.int32), np.empty(held.size, np.int64)
    size = fold(rules, bag, held, values, counts)
    return short_of_values(rules, bag, values[:size], counts[:size])


@njit(cache=True, nogil=True)
def short_of_values(rules, bag, values, counts):
    """What a class lacks that holds values, ascending, so many times each."""
    if rules.persons and bag == rules.total.size - 1:
        return float(counts.size * max(0, rules.k - counts.size))
    lacking = short_of_l(rules, bag, values, counts) if rules.l > 1 else 0.0
    return lacking + (short_of_t(rules, bag, values, counts) if rules.t < 1 else 0.0)


@njit(cache=True, nogil=True)
def short_of_k(rules, rows):
    """What so many rows lack; persons are counted in their bag."""
    return 0.0 if rules.persons else float(rows * max(0, rules.k - rows))


@njit(cache=True, nogil=True)
def shortfalls(rules, order, starts):
    """What each class lacks, float64[m]: 0.0 iff it may be released."""
    lacking = np.zeros(starts.size - 1)
    for at in range(lacking.size):
        rows = order[starts[at] : starts[at + 1]]
        lacking[at] = short_of_k(rules, rows.size)
        for bag in range(rules.total.size):
            lacking[at] += short_of(rules, bag, contents(rules, bag, rows))
    return lacking
