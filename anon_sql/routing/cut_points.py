"""Give the cut points of a routing tree in the types of their columns."""

import pyarrow as pa

from anon_sql.core.columns import is_number
from anon_sql.core.printing import cast
from anon_sql.pipeline.request import Request
from anon_sql.routing.route_tree import Tree


def cut_points(request: Request, tree: Tree) -> pa.Table:
    """Return a row: ``cut_0``, ``cut_1``, …, text as VARCHAR, and ``cut_none``, which is 0."""
    kinds = [
        kind if is_number(request.function, each.column, kind) else "VARCHAR"
        for each in tree.points
        for kind in [request.quasi[each.column]]
    ]
    values = cast([pa.array([each.text], pa.string()) for each in tree.points], kinds)
    columns = {f"cut_{at}": value for at, value in enumerate(values)}
    return pa.table({**columns, "cut_none": pa.array([0], pa.int32())})
