"""The way of each sensitive value up its hierarchy, for the hierarchical distance of Li et al."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.arrow import first, lists
from anon_sql.errors import AnonError
from anon_sql.hierarchical import tree_rows
from anon_sql.hierarchy import Tree, grow
from anon_sql.registry import udf

_STEPS = pa.list_(
    pa.struct(
        [
            ("name", pa.string()),
            ("value", pa.binary()),
            ("node", pa.int64()),
            ("parent", pa.int64()),
            ("height", pa.int64()),
            ("tallest", pa.int64()),
        ]
    )
)
_NULL = b""  # the key of NULL, which is a child of the root


@udf(
    "__anon_tree_steps",
    "STRUCT(name VARCHAR, value BLOB, node BIGINT, parent BIGINT, height BIGINT, tallest BIGINT)[]",
)
def tree_steps(function: Any, trees: Any, values: Any) -> pa.Array:
    """For every value that is listed, and NULL, the nodes from its leaf to below the root.

    values: name of the column, key and printed text. height: of the parent; tallest: of the root
    (Li et al. 2007, hierarchical distance). Raises AnonError for a value that the hierarchy lacks.
    """
    held: dict[str, list[dict[str, Any]]] = {}
    for entry in first(values) or []:
        held.setdefault(entry["name"], []).append(entry)
    steps: list[tuple[str, bytes, int, int, int, int]] = []
    for name, listed in lists(trees).items():
        if listed is None or name not in held:
            continue
        tree = grow(first(function), name, tree_rows(first(function), name, listed))
        height = heights(tree).tolist()
        tallest = height[tree.root]
        steps.append((name, _NULL, len(tree.names), tree.root, tallest, tallest))
        leaf_of = {leaf: node for node, leaf in enumerate(tree.names[: tree.leaves])}
        missing = sum(entry["shown"] not in leaf_of for entry in held[name])
        if missing:
            raise AnonError(
                first(function),
                f"the hierarchy must cover every value of {name}",
                f"{missing:,} value{'' if missing == 1 else 's'} that it lacks",
                "check_hierarchy() lists them",
            )
        for entry in held[name]:
            node = leaf_of[entry["shown"]]
            while node != tree.root:
                above = int(tree.parent[node])
                steps.append((name, entry["value"], node, above, height[above], tallest))
                node = above
    keys = [field.name for field in _STEPS.value_type]
    return pa.array([[dict(zip(keys, step, strict=True)) for step in steps]], _STEPS)


def heights(tree: Tree) -> npt.NDArray[np.int64]:
    """Of each node the edges to the deepest leaf below it."""
    height = np.zeros(len(tree.names), dtype=np.int64)
    inner = range(len(tree.names) - 1, tree.root, -1)  # children stand after their parents
    for node in (*range(tree.leaves), *inner):
        above = tree.parent[node]
        height[above] = max(height[above], height[node] + 1)
    return height
