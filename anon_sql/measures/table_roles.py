"""Roles for functions that look at a table by itself and need no quasi-identifier."""

from typing import Any

import pyarrow as pa

from anon_sql.arrow import first
from anon_sql.calls.plan import settle
from anon_sql.measures.checked import types_of
from anon_sql.measures.sensitive import require_any, require_bound
from anon_sql.registry import udf

_COLUMN = pa.struct([("name", pa.string()), ("shared", pa.bool_())])


@udf("__anon_table_sensitive", "VARCHAR[]")
def sensitive_columns(function: Any, types: Any, scope: Any, seen: Any) -> pa.Array:
    """The sensitive columns of a call, or an AnonError."""
    name, call = first(function), first(scope)
    roles = settle(name, types_of(types), call, first(seen), needs_quasi=False)
    require_bound(name, roles.sensitive, call)
    require_any(name, roles.sensitive)
    return pa.array([list(roles.sensitive)], pa.list_(pa.string()))


@udf("__anon_table_columns", "STRUCT(name VARCHAR, shared BOOLEAN)[]")
def all_columns(function: Any, types: Any, scope: Any, seen: Any) -> pa.Array:
    """Every column, and whether it is no identifier, or an AnonError."""
    columns = types_of(types)
    roles = settle(first(function), columns, first(scope), first(seen), needs_quasi=False)
    told = [{"name": name, "shared": name not in roles.identifier} for name in columns]
    return pa.array([told], pa.list_(_COLUMN))
