"""Make and interpret labels of a column with a hierarchy: nodes of its tree."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import valid
from anon_sql.core.columns import is_number
from anon_sql.core.hierarchy.hierarchical import Hierarchical
from anon_sql.core.hierarchy.tree import Tree
from anon_sql.core.labels import grammar
from anon_sql.errors import AnonError

NULLS, MIXED = -1, -2  # in place of a node: the class has only NULLs, or NULLs and values
Codes = npt.NDArray[np.int32]
Starts = npt.NDArray[np.int64]


def node_labels(
    function: str,
    column: Hierarchical,
    sql_type: str,
    order: Codes,
    starts: Starts,
    starred: bool,
    given: Codes | None,
    *,
    typed: bool,
) -> tuple[pa.Array, Codes]:
    """Return the distinct labels and the label of each class, int32[m].

    order, starts, starred: as in ``labels.make.Classes``. given: int32[n], the node of each row
    that the method chose (-1 for NULL), None if it chose none. Raises AnonError for numbers in
    the format 'typed' if the nodes of the hierarchy are not ranges.
    """
    nodes = nodes_of(column, order, starts, given)
    if starred:
        nodes[-1] = MIXED
    used, inverse = np.unique(nodes, return_inverse=True)
    label_of, tree = inverse.astype(np.int32), column.tree
    if not typed:
        return pa.array([node_text(tree, node) for node in used.tolist()], pa.string()), label_of
    if not is_number(function, column.name, sql_type):
        sets = [_leaves(tree, node) for node in used.tolist()]
        return pa.array(sets, pa.list_(pa.string())), label_of
    if not tree.intervals:
        raise AnonError(
            function,
            "format := 'typed' needs a hierarchy whose nodes are ranges of a column's numbers",
            f"another for {column.name}",
            "use format := 'label'",
        )
    ends = [_ends(tree, node) for node in used.tolist()]
    return pa.array(ends, pa.struct([("min", pa.string()), ("max", pa.string())])), label_of


def nodes_of(
    column: Hierarchical, order: Codes, starts: Starts, given: Codes | None
) -> npt.NDArray[np.int64]:
    """Return the node of each class, NULLS or MIXED, int64[m]; arguments as in ``node_labels``."""
    from anon_sql.kernels.hash import grouping

    if given is not None:
        chosen: npt.NDArray[np.int64] = given[order[starts[:-1]]].astype(np.int64)
        return chosen
    present = column.codes < column.null_code
    low, high, nulls = grouping.extremes(order, starts, column.codes.astype(np.int64), present)
    nodes = column.tree.ancestor(
        np.where(low < 0, 0, column.codes[low]), np.where(high < 0, 0, column.codes[high])
    )
    shown: npt.NDArray[np.int64] = np.where(low < 0, NULLS, np.where(nulls > 0, MIXED, nodes))
    return shown


def node_text(tree: Tree, node: int) -> str | None:
    """Return the label of a node that ``nodes_of`` returned; None (NULL) for NULLS."""
    return None if node == NULLS else grammar.STAR if node == MIXED else tree.texts[node]


def allowed_leaves(
    column: Hierarchical, shown: pa.Array
) -> tuple[npt.NDArray[np.bool_], list[Sequence[int]]]:
    """Return which labels are suppressed, and the leaves that each label covers, ascending.

    The number of leaves is the code of NULL. A label that is no node covers nothing.
    """
    tree, null = column.tree, column.null_code
    leaf_of = {name: leaf for leaf, name in enumerate(tree.names[: tree.leaves])}
    if pa.types.is_string(shown.type):
        star = np.array([label == grammar.STAR for label in shown.to_pylist()], dtype=np.bool_)
    else:
        star = ~valid(shown)
    allowed: list[Sequence[int]] = []
    for label, starred in zip(shown.to_pylist(), star, strict=True):
        if starred:
            allowed.append(range(null + 1))
        elif label is None or label in ([], {"min": None, "max": None}):
            allowed.append([null])
        elif isinstance(label, str):
            node = tree.node_of.get(label)
            allowed.append([] if node is None else range(tree.first[node], tree.last[node] + 1))
        elif isinstance(label, dict):
            low, high = leaf_of.get(label["min"]), leaf_of.get(label["max"])
            allowed.append([] if low is None or high is None else range(low, high + 1))
        else:
            allowed.append(sorted(leaf_of[name] for name in label if name in leaf_of))
    return star, allowed


def _leaves(tree: Tree, node: int) -> list[str] | None:
    """Return the typed label of a node of a text column: its leaves, None for the whole domain."""
    if node == NULLS:
        return []
    return None if node in (MIXED, tree.root) else tree.members(node)


def _ends(tree: Tree, node: int) -> dict[str, str | None] | None:
    """Return the typed label of a node of a column of numbers, None for the whole domain."""
    if node == NULLS:
        return {"min": None, "max": None}
    if node in (MIXED, tree.root):
        return None
    members = tree.members(node)
    return {"min": members[0], "max": members[-1]}
