"""What ``check_hierarchy`` finds: values that a hierarchy lacks, and all that keeps it from being
a tree."""

from typing import Any

import pyarrow as pa

from anon_sql import paths
from anon_sql.arrow import first, lists
from anon_sql.calls.binding import HELPER
from anon_sql.columns import is_number
from anon_sql.hierarchical import tree_rows, uncovered
from anon_sql.registry import udf

_NAMES = ("attribute", "fault", "name", "found")
_FAULT = pa.struct([(name, pa.string()) for name in _NAMES])
_FUNCTION = "check_hierarchy"


@udf("__anon_hierarchy_faults", f"STRUCT({', '.join(f'{name} VARCHAR' for name in _NAMES)})[]")
def faults(types: Any, trees: Any, held: Any) -> pa.Array:
    """A row per fault, column by column; held: the distinct values of each column as a list."""
    found, values_of = [], lists(held)
    for name, listed in lists(trees).items():
        if listed is None or name == HELPER + "zero":
            continue
        sql_type, values = first(types)[name], values_of[name]
        is_number(_FUNCTION, name, sql_type)
        if values is not None:
            lacking = uncovered(sql_type, values, listed)
            shown = sorted(map(str, lacking.to_pylist()), key=str.encode)
            found += [(name, "not covered", value, "no row") for value in shown]
        wrong = paths.read(tree_rows(_FUNCTION, name, listed)).faults()
        found += [(name, fault.fault, fault.name, fault.found) for fault in wrong]
    return pa.array([[dict(zip(_NAMES, row, strict=True)) for row in found]], pa.list_(_FAULT))
