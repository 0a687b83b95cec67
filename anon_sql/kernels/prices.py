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

    At [e, u] is the price per row of the k + e rows from the u-th on.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    rows: int32[m], in the order that is cut.
    k: int, least rows of a class.
    price: float64, of a shortfall of 1.
    priced: bool[b], the attributes that count.
    """
    prices, max_values = np.zeros((k, rows.size), np.float32), np.int64(1)
    for attribute in range(priced.size):
        max_values = max(max_values, rules.non_null[attribute] + 1)
    scratch = (
        np.empty(max_values, np.int64),
        np.empty(max_values, np.int32),
        np.empty(max_values, np.int64),
    )
    key_rows = np.empty(rules.value.shape[1], np.int32)
    for attribute in range(priced.size):
        if priced[attribute]:
            for key in range(key_rows.size):
                key_rows[key] = 0
            add_prices(rules, attribute, rows, k, price, key_rows, scratch, prices)
    return prices


@kernel(borrows=True, inlined=True)
def add_prices(rules, attribute, rows, k, price, key_rows, scratch, prices):
    """Add the prices of one attribute to ``prices``.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    attribute: int, the attribute of the rules, 0 … b - 1.
    rows: int32[m], in the order that is cut.
    k: int, least rows of a class.
    price: float64, of a shortfall of 1.
    key_rows: int32[keys], scratch, 0 for each key; the rows of the run with each key.
    scratch: int64[v], int32[v], int64[v], with room for all values and NULL.
    prices: float32[k, m], as in ``shortfall_prices``.
    """
    tally, values, counts = scratch
    persons = is_persons(rules, attribute)
    keys = rules.keys[attribute]
    for value in range(tally.size):
        tally[value] = 0
    for last in range(k - 1):
        count_key(rules, attribute, keys[rows[last]], 1, key_rows, tally, persons)
    for start in range(rows.size - k + 1):
        lengths = min(k, rows.size - start - k + 1)
        for extra in range(lengths):
            last = start + k + extra - 1
            count_key(rules, attribute, keys[rows[last]], 1, key_rows, tally, persons)
            if persons:
                shortfall = float(tally[0] * max(0, rules.k - tally[0]))
            else:
                size = 0
                for value in range(rules.non_null[attribute] + 1):
                    if tally[value] > 0:
                        values[size], counts[size] = value, tally[value]
                        size += 1
                shortfall = short_of_values(rules, attribute, values[:size], counts[:size])
            prices[extra, start] += np.float32(price * shortfall / (k + extra))
        for extra in range(1, lengths):
            last = start + k + extra - 1
            count_key(rules, attribute, keys[rows[last]], -1, key_rows, tally, persons)
        count_key(rules, attribute, keys[rows[start]], -1, key_rows, tally, persons)


@kernel(widened=True, borrows=True, inlined=True)
def count_key(rules, attribute, key, change, key_rows, tally, persons):
    """Count one row more or less of a key in the run.

    rules: ``Rules``, what a class must satisfy besides its number of rows.
    attribute: int, the attribute of the rules, 0 … b - 1.
    key: int, the row's key.
    change: int, 1 for a row more, -1 for a row less.
    key_rows: int32[keys], rows of the run with each key.
    tally: int64[v], rows, or pairs of value and person, with each value; persons at 0.
    persons: bool, whether the attribute is the persons, who count as one value.
    """
    value = np.int64(0) if persons else np.int64(rules.value[attribute, key])
    before = key_rows[key]
    key_rows[key] += change
    if rules.pairs:
        tally[value] += np.int64(key_rows[key] > 0) - np.int64(before > 0)
    else:
        tally[value] += change
