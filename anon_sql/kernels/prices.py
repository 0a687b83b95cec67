"""Price what every run of adjacent rows that may be a class falls short of l, t and others.

The keys of a run are counted as its first and its last row move, so that a run costs as much time
as it has values. Source: this project.
"""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.legality import is_persons, short_of_values


@kernel
def shortfall_prices(rules, rows, k, price, priced):
    """Return the price of what each run of rows falls short of l, t and others, float32[k, m].

    At [e, u] it is that of the k + e rows from the u-th on, for each of them. rows: int32[m], in
    the order that is cut. price: of a shortfall of 1. priced: bool[b], the attributes that count.
    """
    prices, most = np.zeros((k, rows.size), np.float32), np.int64(1)
    for attribute in range(priced.size):
        most = max(most, rules.known[attribute] + 1)
    scratch = np.empty(most, np.int64), np.empty(most, np.int32), np.empty(most, np.int64)
    held = np.empty(rules.value.shape[1], np.int32)
    for attribute in range(priced.size):
        if priced[attribute]:
            for key in range(held.size):
                held[key] = 0
            add_prices(rules, attribute, rows, k, price, held, scratch, prices)
    return prices


@kernel(borrows=True, inlined=True)
def add_prices(rules, attribute, rows, k, price, held, scratch, prices):
    """Add the prices of one attribute.

    held: int32[keys], 0 for each. scratch: three arrays that have room for all values.
    """
    tally, values, counts = scratch
    persons = is_persons(rules, attribute)
    own = rules.keys[attribute]
    for value in range(tally.size):
        tally[value] = 0
    for last in range(k - 1):
        count_key(rules, attribute, own[rows[last]], 1, held, tally, persons)
    for start in range(rows.size - k + 1):
        lengths = min(k, rows.size - start - k + 1)
        for extra in range(lengths):
            last = start + k + extra - 1
            count_key(rules, attribute, own[rows[last]], 1, held, tally, persons)
            if persons:
                short = float(tally[0] * max(0, rules.k - tally[0]))
            else:
                size = 0
                for value in range(rules.known[attribute] + 1):
                    if tally[value] > 0:
                        values[size], counts[size] = value, tally[value]
                        size += 1
                short = short_of_values(rules, attribute, values[:size], counts[:size])
            prices[extra, start] += np.float32(price * short / (k + extra))
        for extra in range(1, lengths):
            last = start + k + extra - 1
            count_key(rules, attribute, own[rows[last]], -1, held, tally, persons)
        count_key(rules, attribute, own[rows[start]], -1, held, tally, persons)


@kernel(widened=True, borrows=True, inlined=True)
def count_key(rules, attribute, key, more, held, tally, persons):
    """Count one row more or less (1 or -1) of a key; persons are counted as one value."""
    value = np.int64(0) if persons else np.int64(rules.value[attribute, key])
    before = held[key]
    held[key] += more
    if rules.pairs:
        tally[value] += np.int64(held[key] > 0) - np.int64(before > 0)
    else:
        tally[value] += more
