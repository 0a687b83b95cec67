"""ILoss of Byun et al. 2007 (k-member clustering, definition 5): how far labels are generalized.

A number loses what it loses in the NCP, its range / that of the table. A text loses the height of
the subtree below its node / the height of its hierarchy; without one, its hierarchy is flat: any
set is the root.
"""

import numpy as np
import numpy.typing as npt

from anon_sql.core.hierarchy.tree import Tree

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def set_height(counts: Ints) -> Floats:
    """Return the loss of sets of so many texts, 0 or 1."""
    return np.where(counts > 1, 1.0, 0.0)


def node_height(tree: Tree, nodes: Ints) -> Floats:
    """Return the loss of nodes of a hierarchy, 0 for a leaf to 1 for the root."""
    return tree.heights[nodes] / max(int(tree.heights[tree.root]), 1)
