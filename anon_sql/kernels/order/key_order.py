"""Sort the positions of keys by radix sort, in parts; equal keys stay in order of position."""

import numpy as np

from anon_sql.kernels.kernel import kernel

DIGIT = 11  # bits of a digit


@kernel
def order_between(keys, low, high, last):
    """Return the positions of keys with low <= key < high, ascending by key, int32[…].

    keys: uint64[n]. The upper bound is inclusive where ``last`` is true.
    """
    count = 0
    for at in range(keys.size):
        count += low <= keys[at] and (keys[at] < high or (last and keys[at] == high))
    own, order = np.empty(count, np.uint64), np.empty(count, np.int32)
    count = 0
    for at in range(keys.size):
        if low <= keys[at] and (keys[at] < high or (last and keys[at] == high)):
            own[count], order[count] = keys[at], at
            count += 1
    other, next_order = np.empty(count, np.uint64), np.empty(count, np.int32)
    buckets = 1 << DIGIT
    digits = -(-64 // DIGIT)
    places = np.zeros((digits, buckets), np.int64)
    for at in range(count):
        for digit in range(digits):
            places[digit, (own[at] >> np.uint64(digit * DIGIT)) & np.uint64(buckets - 1)] += 1
    for digit in range(digits if count > 0 else 0):
        place, total, shift = places[digit], 0, np.uint64(digit * DIGIT)
        if place[(own[0] >> shift) & np.uint64(buckets - 1)] == count:
            continue  # the same digit in all
        for bucket in range(buckets):
            here = place[bucket]
            place[bucket] = total
            total += here
        for at in range(count):
            bucket = (own[at] >> shift) & np.uint64(buckets - 1)
            to = place[bucket]
            place[bucket] = to + 1
            other[to], next_order[to] = own[at], order[at]
        own, other, order, next_order = other, own, next_order, order
    return order
