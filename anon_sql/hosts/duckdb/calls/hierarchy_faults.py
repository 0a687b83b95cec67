"""Find the faults of a hierarchy for ``check_hierarchy``: missing values and broken trees."""

from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first, lists
from anon_sql.core.columns import is_number
from anon_sql.core.hierarchy import paths
from anon_sql.core.hierarchy.hierarchical import tree_rows, uncovered
from anon_sql.core.hierarchy.rows import rows_of
from anon_sql.core.roles import fold
from anon_sql.hosts.duckdb.calls.binding import types_of
from anon_sql.hosts.duckdb.calls.taking import given_paths
from anon_sql.hosts.duckdb.registry import sql_type, udf

_FAULT = pa.struct([(name, pa.string()) for name in ("attribute", "fault", "name", "found")])
_FUNCTION = "check_hierarchy"


@udf("__anon_hierarchy_faults", sql_type(pa.list_(_FAULT)))
def hierarchy_faults(types: Any, held: Any, listed: Any, time_zone: Any) -> pa.Array:
    """Return one row per fault, column by column.

    held: lists of the distinct values of columns; listed: the rows of the hierarchy.
    """
    given, values_of = given_paths(listed), lists(held)
    attributes = given.field("attribute").unique().to_pylist() if given is not None else []
    folded = {fold(name) for name in attributes if name is not None}
    named = {name: kind for name, kind in types_of(types).items() if fold(name) in folded}
    for name, kind in named.items():
        is_number(_FUNCTION, name, kind)
    found = []
    for name, rows in rows_of(given, named, first(time_zone)).items():
        values = values_of[name]
        if values is not None:
            lacking = uncovered(named[name], values, rows)
            shown = sorted(map(str, lacking.to_pylist()), key=str.encode)
            found += [(name, "not covered", value, "no row") for value in shown]
        wrong = paths.read(tree_rows(_FUNCTION, name, rows)).faults()
        found += [(name, fault.fault, fault.name, fault.found) for fault in wrong]
    rows = [dict(zip(_FAULT.names, row, strict=True)) for row in found]
    return pa.array([rows], pa.list_(_FAULT))
