"""Where the leaves of a hierarchy stand on a line, so that subtrees stand apart."""

import numpy as np
from numba import njit

APART = 4  # chosen on Adult, from 1 to 10: the higher, the more the large subtrees stand apart


@njit(cache=True, nogil=True)
def leaf_places(model, column):
    """Ascending places of the leaves of a TREE column, float64[leaves], from 0 to below leaves.

    The gap between two neighbours is what a class loses that holds both, to the power of APART:
    an order that looks for short ranges then keeps small subtrees together.
    """
    leaves, base = np.int64(model.null[column]), model.base[column]
    places = np.zeros(leaves)
    for leaf in range(leaves - 1):
        node = leaf
        while model.last[base + node] <= leaf:
            node = model.parent[base + node]
        places[leaf + 1] = places[leaf] + model.share[base + node] ** APART
    if leaves > 1:
        places *= (leaves - 0.5) / places[-1]
    return places
