"""The public readers of labels, as SQL calls them: each distinct label is read once."""

from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first
from anon_sql.core.hierarchy.paths import Row
from anon_sql.core.hierarchy.tree import grow
from anon_sql.core.labels import grammar
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.calls.taking import given_paths
from anon_sql.hosts.duckdb.registry import sql_type, udf

_LIST = pa.list_(pa.string())
_NODES = pa.map_(pa.string(), _LIST)


def _end(at: int) -> Any:
    """Return a function that parses a label and returns its lower (0) or upper (1) end."""

    def read(label: str) -> str | None:
        ends = grammar.bounds(label)
        return None if ends is None else ends[at]

    return read


@udf("__anon_low", "VARCHAR")
def low(shown: Any) -> pa.Array:
    """Return the printed lower end of each label."""
    return grammar.each("anon_min", shown, _end(0), pa.string())


@udf("__anon_high", "VARCHAR")
def high(shown: Any) -> pa.Array:
    """Return the printed upper end of each label."""
    return grammar.each("anon_max", shown, _end(1), pa.string())


@udf("__anon_values", sql_type(_LIST))
def values(shown: Any) -> pa.Array:
    """Return the text values of each label; NULL for a range and for ``*``."""
    return grammar.each("anon_values", shown, grammar.values, _LIST)


@udf("__anon_node_values", sql_type(_NODES))
def node_values(attribute: Any, listed: Any) -> pa.Array:
    """Return a map from the printed label of each node but the root to the values below it.

    Each label is included with and without quotes, because a column of numbers prints a label in
    quotes if it could be a number.
    """
    name, paths = first(attribute), given_paths(listed)
    rows = [] if paths is None or not isinstance(name, str) else paths.to_pylist()
    own = [row for row in rows if row["attribute"] and fold(row["attribute"]) == fold(name)]
    if not own:
        rule = "attribute must name one that the hierarchy has"
        raise AnonError("anon_values", rule, f"'{name}'" if isinstance(name, str) else "NULL")
    given = [Row(row["value"], row["value"], row["level"], row["label"]) for row in own]
    tree = grow("anon_values", name, given)
    nodes = [node for node in range(len(tree.names)) if node != tree.root]
    found = {grammar.quoted(tree.names[node]): tree.members(node) for node in nodes}
    found |= {tree.texts[node]: tree.members(node) for node in nodes}
    return pa.array([list(found.items())], _NODES)
