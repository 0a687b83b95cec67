"""Place the leaves of a hierarchy on a line, so that subtrees lie apart."""

import numpy as np

from anon_sql.kernels.kernel import kernel

APART = 4  # chosen on Adult from 1 to 10; higher values put large subtrees further apart


@kernel
def leaf_places(model, column):
    """Return ascending places of the leaves of a TREE column, float64[leaves], in [0, leaves).

    The gap between two neighbours is the loss of a class that holds both, to the power of APART, so
    that an order by short ranges keeps small subtrees together.
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
