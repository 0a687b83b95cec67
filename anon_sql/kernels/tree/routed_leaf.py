"""Follow a routing tree from its root to the leaf of each row."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_sql.kernels.kernel import kernel


class Nodes(NamedTuple):
    """A routing tree as arrays, the root first.

    column: int32[m], the column that a node tests; -1 for a leaf. yes, no: int32[m], the node for
    rows that pass and for others; the number of a leaf is its ``yes``. null: bool[m], whether NULL
    passes. at_most: bool[m], whether the test compares with one point by <=; else the points
    first[i] … last[i] - 1, int32[m] each, are listed, and none for a test for NULL.
    """

    column: npt.NDArray[np.int32]
    yes: npt.NDArray[np.int32]
    no: npt.NDArray[np.int32]
    null: npt.NDArray[np.bool_]
    at_most: npt.NDArray[np.bool_]
    first: npt.NDArray[np.int32]
    last: npt.NDArray[np.int32]


@kernel
def routed_leaf(nodes, keys, present, points):
    """Return int32[n], the number of the leaf of each row.

    keys: int64[d, n], of the values of each column; present: bool[d, n], not NULL; points:
    int64[p], the keys of the cut points.
    """
    leaf = np.empty(keys.shape[1], dtype=np.int32)
    for row in range(leaf.size):
        node = 0
        while nodes.column[node] >= 0:
            column = nodes.column[node]
            if not present[column, row]:
                passes = nodes.null[node]
            elif nodes.at_most[node]:
                passes = keys[column, row] <= points[nodes.first[node]]
            else:
                passes = False
                for at in range(nodes.first[node], nodes.last[node]):
                    passes = passes or keys[column, row] == points[at]
            node = nodes.yes[node] if passes else nodes.no[node]
        leaf[row] = nodes.yes[node]
    return leaf
