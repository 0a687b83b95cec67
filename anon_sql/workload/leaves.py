"""The values that released labels stand for in a column that has a hierarchy."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.arrow import first
from anon_sql.columns import is_number
from anon_sql.errors import AnonError
from anon_sql.hierarchy import Tree, grow
from anon_sql.paths import Row
from anon_sql.registry import udf

_LISTS = pa.list_(pa.list_(pa.string()))


@udf("__anon_query_leaves", "VARCHAR[][]")
def query_leaves(function: Any, name: Any, kind: Any, said: Any, paths: Any) -> pa.Array:
    """The leaves below each label, in the order of the paths; NULL for ``*`` and for NULL.

    kind: type of the raw column; said: a struct a label: star, empty, low (a printed label, or
    with high the ends of a typed number), members (of a typed text); paths: the hierarchy's rows,
    ordered by leaf, NULL where the column has none. Leaves that the type cannot hold are left out.
    """
    rows = first(paths)
    if not rows:
        return pa.array([None], _LISTS)
    asker, column = first(function), first(name)
    tree, order = grown(asker, column, first(kind), rows)
    found = [_below(asker, column, tree, order, label) for label in first(said) or []]
    return pa.array([found], _LISTS)


def grown(
    function: str, name: str, kind: str, rows: Sequence[Mapping[str, Any]]
) -> tuple[Tree, dict[str, int]]:
    """The tree of a column, and the place of each leaf that its type can hold."""
    texts = [row["value"] if row["shown"] is None else row["shown"] for row in rows]
    listed = [
        Row(text, row["value"], row["level"], row["label"])
        for text, row in zip(texts, rows, strict=True)
    ]
    number = is_number(function, name, kind)
    like = frozenset(row["label"] for row in rows if number and row["castable"])
    order: dict[str, int] = {}
    for row in rows:
        if row["shown"] is not None:
            order.setdefault(row["shown"], len(order))
    return grow(function, name, listed, None, like), order


def below(tree: Tree, order: Mapping[str, int], node: int) -> list[str]:
    """The leaves below a node that the column's type can hold, in their order."""
    names = tree.names[tree.first[node] : tree.last[node] + 1]
    return sorted((leaf for leaf in names if leaf in order), key=order.__getitem__)


def _below(
    function: str, name: str, tree: Tree, order: Mapping[str, int], label: Mapping[str, Any]
) -> list[str] | None:
    if label["star"] or label["empty"]:
        return None
    if label["members"] is not None:
        return list(label["members"])
    try:
        if label["high"] is None:
            return below(tree, order, tree.node_of[label["low"]])
        ends = sorted(tree.names.index(label[end], 0, tree.leaves) for end in ("low", "high"))
    except (KeyError, ValueError):
        rule = f"a label of {name} must be a node of its hierarchy or *"
        raise AnonError(function, rule, "another") from None
    node = tree.ancestor(np.array(ends[:1]), np.array(ends[1:]))[0]
    return below(tree, order, int(node))
