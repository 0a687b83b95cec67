"""The labels of classes in a column that has a hierarchy, and the proof that they are true."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import labels
from anon_sql.arrow import one_list
from anon_sql.calls.truthful import require_truth
from anon_sql.columns import is_number
from anon_sql.errors import AnonError
from anon_sql.hierarchical import Hierarchical
from anon_sql.hierarchy import Tree

NULLS, MIXED = -1, -2  # nodes of classes that hold NULL alone, and NULL beside values
_SET = pa.list_(pa.string())


def described(
    plan: Mapping[str, Any],
    column: Hierarchical,
    classes: npt.NDArray[np.int32],
    order: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    starred: bool,
    given: npt.NDArray[np.int32] | None,
) -> dict[str, pa.ListArray]:
    """label: which of the texts a class has, from 1; or for the typed format of the sets, which
    are leaves, or the two ends of a number. Raises AnonError where a value is not below its label.

    classes, order, starts, starred: as in ``describe``; given: a node for each row (-1 for NULL)
    where the method has chosen one.
    """
    nodes = nodes_of(column, order, starts, given)
    if starred:
        nodes[-1] = MIXED
    used, inverse = np.unique(nodes, return_inverse=True)
    label_of = inverse.astype(np.int32)
    tree, function = column.tree, plan["function"]
    at = plan["quasi"].index(column.name)
    number = is_number(function, column.name, plan["types"][at])
    if plan["format"] == "typed":
        if number and not tree.intervals:
            raise AnonError(
                function,
                "format := 'typed' needs a hierarchy whose nodes are ranges of a column's numbers",
                f"another for {column.name}",
                "use format := 'label'",
            )
        sets = [_set(tree, node, number) for node in used.tolist()]
        allowed = [_allowed_by_set(column, names, number) for names in sets]
        shown = {"sets": one_list(sets, _SET)}
    else:
        texts = [node_text(tree, node) for node in used.tolist()]
        allowed = [_allowed_by_text(column, text) for text in texts]
        shown = {"texts": one_list(texts, pa.string())}
    require_truth(function, column, allowed, label_of, classes)
    return {"label": one_list(label_of + 1, pa.int32()), **shown}


def nodes_of(
    column: Hierarchical,
    order: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    given: npt.NDArray[np.int32] | None,
) -> npt.NDArray[np.int64]:
    """The node of each class, NULLS or MIXED; order, starts: the rows class by class; given: as in
    ``described``."""
    from anon_sql.kernels import grouping

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
    """How a node of ``nodes_of`` is printed."""
    return None if node == NULLS else labels.STAR if node == MIXED else tree.texts[node]


def _set(tree: Tree, node: int, ends: bool) -> list[str] | None:
    if node == NULLS:
        return []
    if node in (MIXED, tree.root):
        return None
    members = tree.members(node)
    return [members[0], members[-1]] if ends else members


def _allowed_by_text(column: Hierarchical, text: str | None) -> Sequence[int]:
    """The codes that a label stands for when it is read, ascending."""
    if text is None:
        return [column.null_code]
    if text == labels.STAR:
        return range(column.null_code + 1)
    node = column.tree.node_of[text]
    return range(column.tree.first[node], column.tree.last[node] + 1)


def _allowed_by_set(column: Hierarchical, names: list[str] | None, ends: bool) -> Sequence[int]:
    if names is None:
        return range(column.null_code + 1)
    if not names:
        return [column.null_code]
    codes = sorted(column.tree.node_of[labels.text(name)] for name in names)
    return range(codes[0], codes[-1] + 1) if ends else codes
