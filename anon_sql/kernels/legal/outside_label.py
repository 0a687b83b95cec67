"""Count the rows whose value lies outside the label of their class."""

import numpy as np

from anon_sql.kernels.kernel import kernel
from anon_sql.kernels.legal.masks import BITS


@kernel
def outside_set(classes, label_of, codes, ends, flat):
    """Return how many rows have a code that is not in the set of their class's label.

    classes: int32[n], those of m and above do not count. label_of: int32[m], the label of each
    class. codes: int32[n]. ends, flat: the codes of label i are flat[ends[i]] … flat[ends[i + 1] -
    1], ascending. Where every code is below BITS, sets are masks, else they are searched by
    bisection.
    """
    wrong, few = 0, True
    for row in range(codes.size):
        few &= codes[row] < BITS
    masks = np.zeros(ends.size, np.uint64)
    for label in range(ends.size - 1):
        for at in range(ends[label], ends[label + 1]):
            if flat[at] < BITS:
                masks[label] |= np.uint64(1) << np.uint64(flat[at])
    for row in range(codes.size):
        if classes[row] >= label_of.size:
            continue
        label, code = label_of[classes[row]], codes[row]
        if few:
            wrong += (masks[label] >> np.uint64(code)) & np.uint64(1) == 0
            continue
        at, end = ends[label], ends[label + 1]
        while at < end:
            middle = (at + end) // 2
            if flat[middle] < code:
                at = middle + 1
            else:
                end = middle
        wrong += at == ends[label + 1] or flat[at] != code
    return wrong


@kernel
def outside_range(classes, star, present, keys, labelled, low, high):
    """Return how many rows have a value that is not between the ends of their class's label.

    classes: int32[n]. star: bool[m], labels that cover every value. present: bool[n], keys:
    int64[n], the values. labelled: bool[m], low, high: int64[m], the ends, in keys that compare
    with the values'. A label without ends covers NULL only.
    """
    wrong = 0
    for row in range(len(classes)):
        at = classes[row]
        if star[at]:
            continue
        if present[row] and labelled[at]:
            wrong += keys[row] < low[at] or high[at] < keys[row]
        else:
            wrong += present[row] or labelled[at]
    return wrong
