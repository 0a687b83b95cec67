"""The nodes of one attribute's hierarchy as ``anon_values`` reads them."""

from typing import Any

import pyarrow as pa

from anon_sql import labels
from anon_sql.arrow import first
from anon_sql.errors import AnonError
from anon_sql.hierarchy import grow
from anon_sql.paths import Row
from anon_sql.registry import udf

_MAP = pa.map_(pa.string(), pa.list_(pa.string()))


@udf("__anon_node_values", "MAP(VARCHAR, VARCHAR[])")
def node_values(attribute: Any, listed: Any) -> pa.Array:
    """By printed label the values below each node; the root is ``*``, which stands for none.

    A label of a hierarchy stands there twice, bare and in quotes, since a column of numbers
    shows it in quotes where it could be a number.
    """
    name, rows = first(attribute), first(listed) or []
    if not isinstance(name, str) or not rows:
        rule = "attribute must name one that the hierarchy has"
        raise AnonError("anon_values", rule, f"'{name}'" if isinstance(name, str) else "NULL")
    tree = grow("anon_values", name, [Row(r["value"], **r) for r in rows])
    nodes = [node for node in range(len(tree.names)) if node != tree.root]
    found = {labels.quoted(tree.names[node]): tree.members(node) for node in nodes}
    found |= {tree.texts[node]: tree.members(node) for node in nodes}
    return pa.array([list(found.items())], _MAP)
