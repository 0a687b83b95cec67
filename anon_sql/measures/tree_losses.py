"""What each class of a release loses in the columns that have a hierarchy."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.arrow import integers, lists, valid
from anon_sql.calls.binding import HELPER
from anon_sql.hierarchical import like_values, tree_rows
from anon_sql.hierarchy import Tree, grow
from anon_sql.registry import udf
from anon_sql.roles import fold

_NONE = -1.0  # what is no node of the hierarchy
_MAP = pa.map_(pa.string(), pa.list_(pa.float64()))


@udf("__anon_tree_losses", "MAP(VARCHAR, DOUBLE[])")
def tree_losses(told: Any, trees: Any) -> pa.Array:
    """By column name a loss for each class, in the order of the lists; -1 for what is no node.

    The labels of NULL and of suppressed rows lose 0 here: SQL knows better.
    """
    shown = told.combine_chunks() if isinstance(told, pa.ChunkedArray) else told
    names = {fold(field.name): field.name for field in shown.type}
    found = []
    for name, listed in lists(trees).items():
        if listed is not None and name != HELPER + "zero" and fold(name) in names:
            rows = tree_rows("hierarchy", name, listed)
            tree = grow("hierarchy", name, rows, None, like_values(listed))
            column = shown.field(names[fold(name)])
            parts = {f.name: column.field(f.name)[0].values for f in column.type}
            found.append((names[fold(name)], _losses(tree, parts)))
    return pa.array([found], _MAP)


def _losses(tree: Tree, parts: dict[str, pa.Array | None]) -> npt.NDArray[np.float64] | None:
    leaf_of = {name: leaf for leaf, name in enumerate(tree.names[: tree.leaves])}
    if parts["labels"] is not None:
        coded = parts["labels"].dictionary_encode()
        nodes = [tree.node_of.get(label, -1) for label in coded.dictionary.to_pylist()]
        known = np.append(_shares(tree, nodes), 0.0)
        places = np.where(valid(coded), integers(coded.indices.cast(pa.int32())), -1)
        losses: npt.NDArray[np.float64] = known[places]
        return losses
    if parts["sets"] is not None:
        return _shares(tree, [_node(tree, leaf_of, s) for s in parts["sets"].to_pylist()])
    if parts["low"] is None or parts["high"] is None:
        return None
    ends = zip(parts["low"].to_pylist(), parts["high"].to_pylist(), strict=True)
    return _shares(tree, [_above(tree, leaf_of, None if None in e else e) for e in ends])


def _shares(tree: Tree, nodes: Sequence[int]) -> npt.NDArray[np.float64]:
    return np.append(tree.share, _NONE)[np.array(nodes, dtype=np.int64)]


def _node(tree: Tree, leaf_of: dict[str, int], names: list[str] | None) -> int:
    """The node whose leaves are these; -1 where there is none. The first leaf for no names."""
    node = _above(tree, leaf_of, names)
    whole = not names or node < 0 or tree.last[node] - tree.first[node] + 1 == len(set(names))
    return node if whole else -1


def _above(tree: Tree, leaf_of: dict[str, int], names: Sequence[str] | None) -> int:
    """The lowest common ancestor of leaves; the first leaf for none, -1 for another name."""
    leaves = [leaf_of.get(name, -1) for name in names or []]
    if -1 in leaves:
        return -1
    low, high = np.array([min(leaves, default=0)]), np.array([max(leaves, default=0)])
    return int(tree.ancestor(low, high)[0])
